"The wheel alone, in an empty environment: it grades, and what needs more says so in one line."
import os
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import processes
import pytest
from structure import modules

GRADE = '''from adversarial_rl import grade
o = grade('def double(x): return x * 2', ['assert double(2) == 4', 'assert double(2) == 5'])
print(o.kind, o.per_test)
'''


@pytest.fixture(scope='module')
def light(wheel, tmp_path_factory):
    "Its interpreter, and the seconds that pip needed; --no-index makes any requirement an error."
    env = tmp_path_factory.mktemp('light')/'env'
    subprocess.run([sys.executable, '-m', 'venv', '--without-pip', env], check=True)
    before, start = size(env), time.perf_counter()
    pip = [sys.executable, '-m', 'pip', '--python', env/'bin'/'python', 'install', '-q', '--no-index',
           '--disable-pip-version-check', wheel]
    subprocess.run(pip, check=True)
    return env/'bin'/'python', time.perf_counter() - start, size(env) - before


def size(folder): return sum(p.stat().st_size for p in Path(folder).rglob('*') if p.is_file() and not p.is_symlink())


def run(*words, cwd, **options):
    env = {name: value for name, value in os.environ.items() if not name.startswith('PYTHON')}
    return subprocess.run([*map(str, words)], cwd=cwd, env=env, capture_output=True, text=True, **options)


def test_it_is_small_and_quick_to_install(light, wheel):
    _, seconds, installed = light
    assert installed < 20e6 and wheel.stat().st_size < 5e6
    assert seconds < 30   # Four seconds on a machine that does nothing else


def test_three_lines_grade_a_program_with_the_standard_library_alone(light, tmp_path):
    after = "\nimport sys; print([x for x in ('torch', 'numpy', 'pandas', 'yaml') if x in sys.modules])"
    done = run(light[0], '-c', GRADE + after, cwd=tmp_path)
    assert done.stdout == 'assertion_failure (True, False)\n[]\n', done.stderr


def test_the_light_chapters_need_no_package(light, tmp_path):
    "Among them only `core.statistics` does; it measures trainings."
    names = [m.name for m in modules() if m.chapter in ('core', 'problems', 'grader') and m.name != 'core.statistics']
    code = f'import importlib\nfor name in {names}: importlib.import_module("adversarial_rl." + name)'
    done = run(light[0], '-c', code, cwd=tmp_path)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize('command', processes.MODULES)
def test_a_command_says_what_it_needs(light, tmp_path, command):
    done = run(light[0].parent/command, '--help', cwd=tmp_path)
    assert done.returncode == 2 and done.stdout == ''
    message, = done.stderr.splitlines()
    assert message.startswith(f'error: {command} needs ')
    assert message.endswith("; pip install 'adversarial_rl[train]'")


def test_so_does_a_name_of_the_package(light, tmp_path):
    code = 'try: from adversarial_rl import train\nexcept ImportError as e: print(e)'
    done = run(light[0], '-c', code, cwd=tmp_path)
    assert done.stdout.startswith('train needs ') and "pip install 'adversarial_rl[train]'" in done.stdout, done.stderr


def test_the_extra_brings_what_the_library_imports(wheel):
    with zipfile.ZipFile(wheel) as z:
        name, = (n for n in z.namelist() if n.endswith('.dist-info/METADATA'))
        lines = z.read(name).decode().split('\n\n')[0].splitlines()
    needs = [x.removeprefix('Requires-Dist: ') for x in lines if x.startswith('Requires-Dist: ')]
    assert needs and all('extra ==' in x for x in needs)
    train = [x for x in needs if 'extra == "train"' in x]
    assert [x for x in train if x.startswith('torch>')] and len(train) >= 10
