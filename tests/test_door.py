"The companions' first cell in an empty folder, and runs that go on where an earlier session kept them."
import json
import os
import shlex
import shutil
import site
import subprocess
import sys
from pathlib import Path

import processes
import pytest

from adversarial_rl.core import commands
from adversarial_rl.core.errors import UsageError
from adversarial_rl.core.machine import platform
from adversarial_rl.record.tracking import read_metrics
from adversarial_rl.show import views
from adversarial_rl.show.companion import Session

ROOT = Path(__file__).resolve().parent.parent
SOURCE = 'https://github.com/adversarial-rl/adversarial_rl'
# The installed packages without this project, whose folder a .pth file names
PACKAGES = 'import sys; sys.path += ' + repr([p for p in (*site.getsitepackages(), *sys.path) if 'site-packages' in p])


def code_cells(name):
    book = json.loads(next((ROOT/'nbs'/'train').glob(f'{name}*.ipynb')).read_text())
    return [''.join(c['source']) for c in book['cells'] if c['cell_type'] == 'code']


def first_cell(folder, source=''):
    "Run it as a newcomer's notebook in this folder does, with another address in place of the project's."
    git = dict(GIT_CONFIG_COUNT='1', GIT_CONFIG_KEY_0=f'url.{source}.insteadOf', GIT_CONFIG_VALUE_0=SOURCE)
    env = {k: v for k, v in os.environ.items() if k != 'PYTHONPATH'} | git | dict(
        PIP_NO_INDEX='1', PIP_FIND_LINKS='', PIP_CONFIG_FILE=os.devnull)
    cell = f'{PACKAGES}\n{code_cells("02")[0]}\nprint(Path.cwd(), set_up.__module__, session.folder("x"))'
    return subprocess.run([sys.executable, '-S', '-c', cell], cwd=folder, env=env, capture_output=True, text=True)


def copied(folder):
    "The project's files, without what a clone does not have."
    names = subprocess.run(['git', 'ls-files', '-co', '--exclude-standard'], cwd=ROOT, capture_output=True, text=True,
                           check=True).stdout.splitlines()
    for name in names:
        if not (ROOT/name).is_file(): continue
        (folder/name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT/name, folder/name)
    return folder


def said_where(done, folder):
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stdout.splitlines()[-1].split() == [str(folder), 'adversarial_rl.show.companion', 'output/x']
    assert ' cores, float32' in done.stdout


def test_it_clones_the_project(tmp_path):
    origin = copied(tmp_path/'origin')
    for words in (['init', '-q'], ['add', '-A'], ['-c', 'user.name=x', '-c', 'user.email=x', 'commit', '-qm', 'x']):
        subprocess.run(['git', *words], cwd=origin, check=True)
    (here := tmp_path/'here').mkdir()
    said_where(first_cell(here, origin), here/'adversarial_rl')
    said_where(first_cell(here, 'nowhere'), here/'adversarial_rl')   # It is there now


def test_it_unpacks_a_zip_beside_the_notebook(tmp_path):
    copied(tmp_path/'packed'/'adversarial_rl-main')
    (here := tmp_path/'here').mkdir()
    shutil.make_archive(here/'adversarial_rl-main', 'zip', tmp_path/'packed')
    said_where(first_cell(here, 'nowhere'), here/'adversarial_rl-main')


def test_it_says_what_to_do_where_the_project_cannot_be_fetched(tmp_path):
    done = first_cell(tmp_path, 'nowhere')
    assert done.returncode == 1 and 'Traceback' not in done.stderr
    assert done.stderr.splitlines()[-1] == (
        f'{SOURCE} cannot be reached. Without a network, upload a zip of it beside this notebook (Colab), or add it as '
        'an input (Kaggle).')


def test_its_address_is_that_of_the_settings_file():
    said = [line.partition('=')[2].strip() for line in (ROOT/'settings.ini').read_text().splitlines()
            if line.startswith(('user ', 'repo ', 'user=', 'repo='))]
    assert SOURCE == 'https://github.com/' + '/'.join(sorted(said, key=lambda x: x == 'adversarial_rl'))
    for cell in {code_cells(name)[0] for name in ('01', '09')}: assert f"SOURCE = '{SOURCE}'" in cell


def started(name, save_to, monkeypatch):
    "What a notebook starts: (command, arguments, output folder), in order."
    calls = []
    def start(command, flags, output_dir, output_flag='--output-dir'):
        calls.append((command, [*shlex.split(flags), output_flag, output_dir], output_dir))
    monkeypatch.setattr(views, 'start', start)
    monkeypatch.setattr(views, 'watch', lambda *args, **kw: None)
    monkeypatch.chdir(ROOT)
    session = Session(platform('cpu'), True, str(save_to))
    parameters, *rest = code_cells(name)[1:]
    variables = dict(session=session, machine=session.machine, QUICK=True)
    exec(parameters, variables)
    for cell in rest:
        if 'start(' in cell or 'parse_config' in cell: exec(cell, variables)
    return calls


@pytest.mark.parametrize('name', ['02', '04', '05', '06'])
def test_all_that_a_run_writes_lies_in_the_chosen_folder(name, tmp_path, monkeypatch):
    calls = started(name, tmp_path/'drive', monkeypatch)
    assert len(calls) == (1 if name == '06' else 2)
    for command, argv, folder in calls:
        settings = getattr(commands, command).read(argv)
        written = [getattr(s, f) for s in settings for f in ('output_dir', 'checkpoint_dir') if hasattr(s, f)]
        assert written and all(Path(x).is_relative_to(tmp_path/'drive') for x in written)
        assert '--resume' not in argv


SHORTER = {'02': ['--stages-together', '--together-steps', '0']}   # A fifth of the steps


@pytest.mark.parametrize('name', ['02', '04', '06'])
def test_tomorrow_a_run_goes_on_and_a_finished_one_stays(name, tmp_path, monkeypatch):
    def today():
        command, argv, folder = started(name, tmp_path/'drive', monkeypatch)[0]
        return command, [*argv, *SHORTER.get(name, [])], folder
    command, argv, folder = today()
    first = processes.Command(command, *argv)
    while first.poll() is None and '--resume' not in today()[1]: pass
    first.kill()
    first.wait()
    command, argv, folder = today()
    assert '--resume' in argv
    done = processes.run(command, *argv)
    assert done.returncode == 0, done.stderr[-2000:]
    rows = read_metrics(f'{folder}/metrics.jsonl')
    steps = [r['step'] for r in rows if 'step' in r]
    assert steps == sorted(steps) and (Path(folder)/'training_results.json').exists()
    weights = {path: path.read_bytes() for path in Path(folder).glob('model/**/*.safetensors')}
    again = processes.run(command, *argv)
    assert again.returncode == 0, again.stderr[-2000:]
    assert all(path.read_bytes() == data for path, data in weights.items()) and bool(weights) == (name == '04')
    assert read_metrics(f'{folder}/metrics.jsonl') == rows and not list(Path(folder).glob('previous*'))


def test_a_mistake_is_one_line_in_a_notebook():
    assert UsageError('no such file')._render_traceback_() == ['error: no such file']
