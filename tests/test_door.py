"The companions' first cell in an empty folder, and runs that go on where an earlier session kept them."
import json
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import processes
import pytest
from structure import ROOT

import adversarial_rl
from adversarial_rl.core import commands
from adversarial_rl.core.machine import platform
from adversarial_rl.record.tracking import read_metrics
from adversarial_rl.show import views
from adversarial_rl.show.companion import Session

ZIP = 'https://github.com/adversarial-rl/adversarial_rl/archive/HEAD.zip'
# Run a cell, then show where the project was found and where runs are kept
AFTER = """import sys
from IPython.core.interactiveshell import InteractiveShell
InteractiveShell.instance().run_cell(sys.stdin.read()).raise_error()
import adversarial_rl
print(adversarial_rl.__version__, adversarial_rl.__file__)"""


def code_cells(name):
    book = json.loads(next((ROOT/'nbs'/'train').glob(f'{name}*.ipynb')).read_text())
    return [''.join(c['source']) for c in book['cells'] if c['cell_type'] == 'code']


def first_cell(python, folder, source=ZIP):
    "Run it as a notebook in this folder does, with another address in place of the project's; the last line printed."
    env = {k: v for k, v in os.environ.items() if k != 'PYTHONPATH'} | dict(
        PIP_NO_INDEX='1', PIP_NO_BUILD_ISOLATION='0', PIP_CONFIG_FILE=os.devnull)   # 0 is how pip spells this
    done = subprocess.run([python, '-c', AFTER], cwd=folder, env=env, capture_output=True, text=True,
                          input=code_cells('02')[0].replace(ZIP, str(source)))
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    assert ' cores, float32' in done.stdout or ' core, float32' in done.stdout
    return done.stdout.splitlines()[-1].split()


def environment(folder, *paths):
    "The interpreter of a new environment that has the installed packages, and these folders first."
    subprocess.run([sys.executable, '-m', 'venv', '--without-pip', folder], check=True)
    shared = [*map(str, paths), *[x for x in sys.path if x.endswith('site-packages')]]
    next((folder/'lib').glob('python*/site-packages')).joinpath('outer.pth').write_text('\n'.join(shared))
    return folder/'bin'/'python'


def test_in_a_clone_the_first_cell_installs_nothing(tmp_path):
    python = environment(tmp_path/'env', ROOT)
    for folder in ROOT/'nbs'/'train', ROOT:   # Where it starts, and where it is after the first time
        assert first_cell(python, folder, 'nowhere')[1] == f'{ROOT}/adversarial_rl/__init__.py'


def test_elsewhere_it_replaces_an_older_project(wheel, tmp_path):
    "Here by a zip of a later version; pip takes one from a folder as it does from the address."
    later = tmp_path/'adversarial_rl-HEAD'
    shutil.copytree(ROOT, later, ignore=shutil.ignore_patterns('.*', 'output', 'run', 'build', '*.egg-info', 'nbs'))
    for file in later/'settings.ini', later/'adversarial_rl'/'__init__.py':
        file.write_text(file.read_text().replace(adversarial_rl.__version__, '99.0'))
    packed = shutil.make_archive(tmp_path/'HEAD', 'zip', tmp_path, later.name)
    python = environment(tmp_path/'env')
    (here := tmp_path/'here').mkdir()
    version, file = first_cell(python, here, f'file://{packed}')
    assert version == '99.0' and Path(file).is_relative_to(tmp_path/'env')


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
