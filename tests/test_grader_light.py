"The wheel alone, in an empty environment: it grades, and what needs more says so. The grader's command and asyncio."
import asyncio
import json
import math
import os
import subprocess
import sys
import time

import processes
import pytest
from structure import modules

from adversarial_rl import agrade, grade_many, Grader, Limits
from adversarial_rl.grader.pool import Job

GRADE = '''from adversarial_rl import grade
o = grade('def double(x): return x * 2', ['assert double(2) == 4', 'assert double(2) == 5'])
print(o.kind, o.per_test)
'''


@pytest.fixture(scope='module')
def light(wheel, tmp_path_factory):
    "Its interpreter; --no-index makes any requirement an error."
    env = tmp_path_factory.mktemp('light')/'env'
    subprocess.run([sys.executable, '-m', 'venv', '--without-pip', env], check=True)
    pip = [sys.executable, '-m', 'pip', '--python', env/'bin'/'python', 'install', '-q', '--no-index',
           '--disable-pip-version-check', wheel]
    assert run(*pip, cwd=env).returncode == 0
    return env/'bin'/'python'


def run(*words, cwd, **options):
    env = {name: value for name, value in os.environ.items() if not name.startswith('PYTHON')}
    return subprocess.run([*map(str, words)], cwd=cwd, env=env, capture_output=True, text=True, **options)


def test_three_lines_grade_a_program_with_the_standard_library_alone(light, tmp_path):
    after = "\nimport sys; print([x for x in ('torch', 'numpy', 'pandas', 'yaml') if x in sys.modules])"
    done = run(light, '-c', GRADE + after, cwd=tmp_path)
    assert done.stdout == 'assertion_failure (True, False)\n[]\n', done.stderr


def test_the_light_chapters_need_no_package(light, tmp_path):
    "Among them only `core.statistics` does; it measures trainings."
    names = [m.name for m in modules() if m.chapter in ('core', 'problems', 'grader') and m.name != 'core.statistics']
    code = f'import importlib\nfor name in {names}: importlib.import_module("adversarial_rl." + name)'
    done = run(light, '-c', code, cwd=tmp_path)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize('command', [name for name in processes.MODULES if name != 'plan'])   # It is no script
def test_a_command_says_what_it_needs(light, tmp_path, command):
    done = run(light.parent/command, '--help', cwd=tmp_path)
    assert done.returncode == 2 and done.stdout == ''
    message, = done.stderr.splitlines()
    assert message.startswith(f'error: {command} needs ')
    assert message.endswith("; pip install 'adversarial_rl[train]'")


RIGHT, WRONG, TESTS = 'def f(x): return x * 2', 'def f(x): return x + 2', 'assert f(2) == 4\nassert f(3) == 6'


@pytest.fixture
def files(tmp_path):
    for name, text in dict(right=RIGHT, wrong=WRONG, broken='def f(', slow='while True: pass', tests=TESTS,
                           greedy='x = bytearray(100 * 2**20)\n' + RIGHT, empty='').items():
        (tmp_path/f'{name}.py').write_text(text)
    (tmp_path/'latin.py').write_bytes(b'\xe9')
    return tmp_path


def grader(files, flags, python=sys.executable, **options):
    return run(python, '-m', 'adversarial_rl.grader', *flags.split(), cwd=files, **options)


@pytest.mark.parametrize('flags, code, last', [
    ('right.py --tests tests.py', 0, 'success: 2 of 2 tests passed'),
    ('wrong.py --tests tests.py', 1, 'assertion_failure: 1 of 2 tests passed'),
    ('broken.py --tests tests.py', 1, 'syntax_error: 0 of 2 tests passed'),
    ('slow.py --tests tests.py --timeout 6', 1, 'timeout: 0 of 2 tests passed'),
    ('greedy.py --tests tests.py', 0, 'success: 2 of 2 tests passed'),
    ('greedy.py --tests tests.py --memory 64', 1, 'memory_limit: 0 of 2 tests passed')])
def test_the_command_grades_a_program(files, flags, code, last):
    done = grader(files, flags)
    assert done.returncode == code and done.stdout.splitlines()[-1].startswith(last + ', '), done.stderr
    assert done.stderr == ''


@pytest.mark.parametrize('flags, message', [
    ('', 'give FILE --tests FILE, or --json, or --report'),
    ('--tests tests.py', 'FILE, the program, is missing'),
    ('right.py --tests tests.py --function tripple', '--function tripple: no test uses it'),
    ('right.py --tests broken.py', 'broken.py: does not parse'),
    ('right.py --tests tests.py --modules numpy,pandas', "'numpy,pandas' is not the name of one package"),
    ('right.py --tests none.py', 'none.py: cannot be read'),
    ('latin.py --tests tests.py', 'latin.py: is not UTF-8 text'),
    ('right.py --tests empty.py', 'empty.py: holds no test'),
    ('right.py --tests tests.py --timeout nan', 'argument --timeout'),
    ('right.py --test tests.py', 'unrecognized arguments')])
def test_a_mistake_in_the_call_is_one_line(files, flags, message):
    done = grader(files, flags)
    assert done.returncode == 2 and done.stdout == ''
    line, = done.stderr.splitlines()
    assert line.startswith('error: ' + message)


def test_json_lines_in_and_out_without_any_package(light, tmp_path):
    rows = [dict(id='a', program=RIGHT, tests=TESTS), dict(id='b', program=WRONG, tests=TESTS.splitlines()),
            dict(id='c', function=None, program=f'print("\\x1b[31m")\n{RIGHT}', tests=TESTS)]
    done = grader(tmp_path, '--json', light, input='\n'.join(map(json.dumps, rows)))
    assert done.returncode == 1 and done.stderr == ''
    a, b, c = map(json.loads, done.stdout.splitlines())
    assert [x['id'] for x in (a, b, c)] == ['a', 'b', 'c'] and [x['passed'] for x in (a, b, c)] == [True, False, True]
    assert [x['passed'] for x in b['tests']] == [True, False] and 'f(3) == 6' in b['tests'][1]['message']
    assert all(x['seconds'] > 0 for x in (a, b, c)) and c['stdout'] == '\x1b[31m\n' and '\x1b' not in done.stdout
    done = grader(tmp_path, '--json', light, input=json.dumps(rows[0]) + '\n' + json.dumps(rows[2]))
    assert done.returncode == 0
    done = grader(tmp_path, '--json', light, input=json.dumps(rows[0] | dict(program=None)))   # A model wrote none
    assert (done.returncode, json.loads(done.stdout)['judged']) == (1, True)


@pytest.mark.parametrize('lines', ['no', '{"program": 1}', '{"program": "", "tests": [1]}', '[' * 100_000, b'\xff',
                                   '{"program": "x = 1", "tests": []}', '{"program": "x = 1", "tests": ""}',
                                   '{"program": "x = 1", "tests": "assert 1", "function": {}}',
                                   '{"program": "x = 1", "tests": "assert 1", "entry_point": "f"}'])
def test_a_wrong_json_line_is_named(tmp_path, lines):
    good = json.dumps(dict(program=RIGHT, tests=TESTS)).encode() + b'\n'
    command = [sys.executable, '-m', 'adversarial_rl.grader', '--json']
    wrong = lines if isinstance(lines, bytes) else lines.encode()
    done = subprocess.run(command, input=good + wrong + b'\n' + good * 50, cwd=tmp_path, capture_output=True)
    assert done.returncode == 2 and json.loads(done.stdout)['passed']
    message, = done.stderr.decode().splitlines()
    assert message.startswith('error: line 2: ')


def test_the_report_of_walls(tmp_path):
    done = grader(tmp_path, '--report')
    rows = dict(line.rsplit('  ', 1)[::-1] for line in done.stdout.splitlines())
    assert {name.strip() for name in rows} >= {'open a socket', 'read files of this machine', 'run for ever'}
    held = {word.strip() for word in rows.values()} == {'held'}
    assert done.returncode == (not held) and done.stderr == ''


SLEEPERS = [(f'import time\ntime.sleep(60 + {n})', ['assert 1']) for n in range(40)]


def test_a_cancelled_call_returns_at_once_and_leaves_no_process():
    async def main():
        before, start = processes.descendants(os.getpid()), time.perf_counter()
        async with Grader(Limits(wall_seconds=60), workers=2) as grader:
            assert (await grader.agrade(RIGHT, TESTS)).passed
            with pytest.raises(TimeoutError): await asyncio.wait_for(grader.agrade_many(SLEEPERS), 1)
            assert len(processes.descendants(os.getpid())) > len(before)
        assert processes.descendants(os.getpid()) == before
        assert time.perf_counter() - start < 30
    asyncio.run(main())


def test_many_calls_at_once_and_in_several_loops():
    async def main():
        outcomes = await asyncio.gather(*[agrade(RIGHT if n % 3 else WRONG, TESTS) for n in range(60)])
        assert [o.passed for o in outcomes] == [bool(n % 3) for n in range(60)]
    for _ in range(2): asyncio.run(main())


@pytest.mark.parametrize('limits', [dict(cpu_seconds=math.inf), dict(wall_seconds=math.nan), dict(memory_mb=10**13),
                                    dict(depth=2**31 - 1), dict(output_bytes=0), dict(cpu_seconds=-1)])
def test_limits_that_no_kernel_has_punish_no_program(limits):
    [name] = limits
    for asked in ((RIGHT, TESTS), Job(RIGHT, tuple(TESTS), Limits(**limits))):
        with pytest.raises(ValueError, match=f'limits are numbers above 0, up to .*; here {name}='):
            grade_many([asked], None if isinstance(asked, Job) else Limits(**limits))
