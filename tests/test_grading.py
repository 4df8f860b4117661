"Sandbox and grading as a user sees them: every outcome, no leaks, and processes that are killed at any time."
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path

import pytest

from adversarial_rl.core.errors import UsageError
from adversarial_rl.grader.__main__ import table
from adversarial_rl.grader.answers import parse_tests
from adversarial_rl.grader.execution import Limits
from adversarial_rl.grader.grading import grade, grade_many, run
from adversarial_rl.grader.pool import Job, Sandbox
from adversarial_rl.grader.test_cases import plan

linux = pytest.mark.skipif(sys.platform != 'linux', reason='needs /proc')
QUICK = Limits(wall_seconds=6, cpu_seconds=1, memory_mb=64, output_bytes=2000)
TESTS = ['assert f(1) == 1', 'assert f(2) == 2']

CASES = [
    ('success', 'def f(x): return x', (True, True)),
    ('success_output', 'def f(x):\n    print(x)\n    return x', (True, True)),
    ('assertion_failure', 'def f(x): return 2', (False, True)),
    ('syntax_error', 'def f(x) return x', (False, False)),
    ('syntax_error', 'x = "\0"', (False, False)),
    ('indentation_error', 'def f(x):\nreturn x', (False, False)),
    ('runtime_error', '1 / 0', (False, False)),
    ('runtime_error', 'def f(x): return 1 / (x - 1) + 1', (False, True)),
    ('runtime_error', 'def f(x): return f(x)', (False, False)),
    ('runtime_error', 'raise KeyboardInterrupt', (False, False)),
    ('runtime_error', 'def f(x): return input()', (False, False)),
    ('runtime_error', 'def f(x): raise BaseException(x)', (False, False)),
    ('runtime_error', 'class E(Exception):\n    def __str__(self): raise self\ndef f(x): raise E', (False, False)),
    ('timeout', 'while True: pass', (False, False)),
    ('timeout', 'def f(x):\n    while x > 1: pass\n    return x', (True, False)),
    ('timeout', 'import time\ntime.sleep(60)', (False, False)),
    ('timeout',
     'def f(x):\n    while True:\n        try:\n            while True: pass\n        except BaseException: pass',
     (False, False)),
    ('memory_limit', 'x = []\ndef f(n):\n    while True: x.append(bytearray(10**7))', (False, False)),
    ('memory_limit', 'def f(x): return "a" * 10**11', (False, False)),
    ('output_limit', 'while True: print("spam" * 100)', (False, False)),
    ('output_limit', 'print("x" * 5000)\ndef f(x): return x', None),   # Stopped before, between or after the tests
    ('early_exit', 'import os; os._exit(0)', (False, False)),
    ('early_exit', 'import os\ndef f(x): return x if x == 1 else os._exit(0)', (True, False)),
    ('early_exit', 'def f(x): raise SystemExit', (False, False)),
    ('crash', 'import os; os.abort()', (False, False)),
    ('crash', 'import os\ndef f(x): os.kill(os.getpid(), 9)', (False, False)),
    ('early_exit', 'import os\nos.closerange(0, 256)', (False, False)),
]

@pytest.fixture(scope='module')
def outcomes(): return grade_many([(code, TESTS) for _, code, _ in CASES], QUICK)

@pytest.mark.parametrize('i', range(len(CASES)), ids=lambda i: f'{CASES[i][0]}-{i}')
def test_outcome(outcomes, i):
    kind, code, per_test = CASES[i]
    o = outcomes[i]
    assert o.kind == kind and per_test in (o.per_test, None), o
    assert o.passed == kind.startswith('success')
    assert len(o.message) <= 500 and all(c.isprintable() or c == '\n' for c in o.message)
    assert bool(o.message) != o.passed


def test_later_tests_still_run():
    o = grade('def f(x): return x', ['assert f(1) == 2', 'f(', 'raise SystemExit', 'assert f(1) == 1'])
    assert (o.kind, o.per_test) == ('unsupported', (False, False, False, True))


def test_good_job_after_bad_ones():
    assert run('print("é", end="")').stdout == 'é'
    assert run('import sys; sys.stdout.buffer.write(b"\\xff")').kind == 'success_output'

def test_forked_and_threaded_programs():
    o = grade('import os\nfor _ in range(3): os.fork()\ndef f(x): return x', TESTS)
    assert o.kind == 'runtime_error' if 'seccomp' in o.layers else o.per_test == (True, True)
    thread = 'import threading, time\nthreading.Thread(target=time.sleep, args=(60,)).start()\ndef f(x): return x'
    assert grade(thread, TESTS).passed
    assert grade('import atexit, time\natexit.register(time.sleep, 60)\ndef f(x): return x', TESTS, QUICK).passed


def children(pid):
    found = []
    for p in filter(str.isdigit, os.listdir('/proc')):
        try: stat = Path(f'/proc/{p}/stat').read_text()
        except OSError: continue
        if int(stat.rpartition(')')[2].split()[1]) == pid: found.append(int(p))
    return found

def descriptors(pid): return len(os.listdir(f'/proc/{pid}/fd'))

def alive(pid):
    try: return Path(f'/proc/{pid}/stat').read_text().rpartition(')')[2].split()[0] != 'Z'
    except OSError: return False

def gone(pids, seconds=5):
    end = time.monotonic() + seconds
    while any(map(alive, pids)) and time.monotonic() < end: time.sleep(0.02)
    return not any(map(alive, pids))

MIXED = [
    'print(1)', '1 / 0', 'import os; os._exit(0)', 'import os; os.abort()', 'open("x", "w").write("y" * 999)',
    'import os\nif os.fork() == 0:\n    os.setsid()\n    if os.fork() == 0:\n        import time; time.sleep(60)',
    'import os\nos.makedirs("a/b/c"); os.chmod("a", 0)',
    'import os\nfor _ in range(1200): os.mkdir("d"); os.chdir("d")',
    'print("x" * 10**5)', 'while True: pass', 'x = [0] * 10**11']

@linux
def test_no_leak_after_mixed_jobs():
    jobs = [Job(f'# {n}\n' + MIXED[n % len(MIXED)], ('assert 1',) if n % 3 else (), QUICK) for n in range(66)]
    with Sandbox(workers=2) as s:
        def state():
            pids = s.pids()   # Waits until the templates have started
            mine = descriptors('self'), threading.active_count(), children(os.getpid())
            return pids, sorted(map(descriptors, pids)), mine
        before, done = state(), []
        reports = s.map(jobs, lambda n, total: done.append(n))
        assert [r.error for r in reports] == [''] * 66 and done == list(range(1, 67))
        assert state() == before
        assert all(len(children(q)) <= 2 for p in s.pids() for q in [p, *children(p)])   # Its judge and steward
        assert [os.listdir(f'{s.root}/{home}') for home in os.listdir(s.root)] == [[], []]
    assert gone(before[0]) and not os.path.exists(s.root)

@linux
def test_template_killed_in_the_middle_of_a_batch():
    with Sandbox(workers=2) as s:
        s.pids()
        seen = []
        def shoot(done, total):
            if done in (20, 60):
                seen.append(s.pids()[0])
                os.kill(s.pids()[0], signal.SIGKILL)
        reports = s.map([Job(f'import time; time.sleep(0.01); print({n})') for n in range(100)], shoot)
        assert [r.stdout for r in reports] == [f'{n}\n' for n in range(100)] and not any(r.error for r in reports)
        assert len(seen) == 2 and set(seen).isdisjoint(s.pids())

CLIENT = textwrap.dedent('''
    import os, signal, sys
    signal.signal(signal.SIGINT, signal.default_int_handler)   # A shell's background jobs start with Ctrl-C ignored
    from adversarial_rl.grader.pool import Job, Sandbox
    from adversarial_rl.grader.execution import Limits
    s = Sandbox(workers=2)
    print(*s.pids(), s.root, flush=True)
    try: s.map([Job('while True: pass', (), Limits(wall_seconds=60, cpu_seconds=60))] * 4)
    except KeyboardInterrupt: print('interrupted', flush=True)
''')

def below(pids): return [q for pid in pids for c in children(pid) for q in (c, *children(c))]

def expected(): # Processes below two templates: inside, judge, program, and a steward where it can mount
    return 8 if 'namespaces' in run('1').layers else 6

def start_client():
    env = dict(os.environ, PYTHONPATH=str(Path(__file__).resolve().parents[1]))
    p = subprocess.Popen([sys.executable, '-c', CLIENT], env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                         text=True, start_new_session=True)
    *pids, root = p.stdout.readline().split()
    pids = list(map(int, pids))
    end, most = time.monotonic() + 10, expected()
    while len(below(pids)) < most and time.monotonic() < end: time.sleep(0.02)
    return p, pids + below(pids), root

@linux
def test_client_killed():
    p, pids, root = start_client()
    assert len(pids) == 2 + expected()
    p.kill()
    p.communicate()
    assert gone(pids)
    assert not os.path.exists(root)

@linux
def test_client_interrupted():
    p, pids, root = start_client()
    assert len(pids) == 2 + expected()
    start = time.monotonic()
    os.killpg(p.pid, signal.SIGINT)
    out, err = p.communicate(timeout=10)
    assert (out, err, p.returncode) == ('interrupted\n', '', 0) and time.monotonic() - start < 9
    assert gone(pids) and not os.path.exists(root)


REMEMBERING = ('seen = []\ndef f(x):\n    seen.append(x)\n    return len(seen)',
               'def f(x, n=[]):\n    n.append(x)\n    return len(n)')


@pytest.mark.parametrize('code', REMEMBERING)
def test_a_program_that_remembers_has_a_process_for_each_author(code):
    tests = ('assert f(0) == 1', 'assert f(7) == 1')
    [outcome] = grade_many([Job(code, tests, QUICK, ('f',), tuple(frozenset([t]) for t in tests))])
    assert outcome.per_test == (True, True)


def test_tests_keep_their_order_whatever_the_program_says():
    counts = 'n = 0\ndef f():\n    global n\n    n += 1\n    return n'
    tests = [f'assert f() == {n}' for n in range(1, 5)]
    jobs = [(f'{counts}  # {i}', tests, 'f', reference) for i in range(5) for reference in ('', counts)]
    assert all(o.passed for o in grade_many(jobs))


def test_no_program_knows_which_test_of_a_suite_comes_first():
    suites = [tuple(f'assert f({n}) != {k}' for n in range(8)) for k in range(-9, 0)]
    jobs = [Job(f'seen = []\ndef f(n):\n    print(n)\n    return n  # {i}', tests, QUICK, ('f',), (frozenset(tests),))
            for tests in suites for i in range(2)]
    orders = [o.stdout for o in grade_many(jobs)]
    assert len(set(orders)) > 5 and orders[::2] == orders[1::2]


# --- Containers keep their identity between a test and its program: (program that passes, one that fails, test)
IN_PLACE = {
    'items in another order': ('def f(w): w.sort(key=len)', 'def f(w): return sorted(w, key=len)',
                               'w = [[1, 2], [1]]\nf(w)\nassert w == [[1], [1, 2]]'),
    'a copy in another order': (
        'def f(p):\n    q = p.copy()\n    q.sort(key=lambda x: x["n"])\n    return q[0]["n"]',
        'def f(p):\n    p.sort(key=lambda x: x["n"])\n    return p[0]["n"]',
        'p = [{"n": 2}, {"n": 1}]\nassert f(p) == 1 and p[0]["n"] == 2'),
    'new rows': ('def f(m): m[:] = [list(r) for r in zip(*m[::-1])]',
                 'def f(m):\n    for r, new in zip(m, [list(r) for r in zip(*m[::-1])]): r[:] = new',
                 'm = [[1, 2], [3, 4]]\nc = m[:]\nf(m)\nassert m == [[3, 1], [4, 2]] and c == [[1, 2], [3, 4]]'),
    'swap': ('def f(g): g[0], g[1] = g[1], g[0]', 'def f(g): g[0][:], g[1][:] = g[1][:], g[0][:]',
             'a, b = [1], [2]\ng = [a, b]\nf(g)\nassert g[0] is b and a == [1]'),
    'pop': ('def f(g): return g.pop(0)', 'def f(g): return [*g.pop(0)]',
            'a = [1]\ng = [a, 2]\nassert f(g) is a and g == [2]'),
    'a new item': ('def f(g): g[0] = [7]', 'def f(g): g[0][:] = [7]', 'row = [0]\ng = [row]\nf(g)\nassert row == [0]'),
    'a new value': ('def f(d): d["a"] = d["a"] + [2]', 'def f(d): d["a"].append(2)',
                    'd = {"a": [1]}\nx = d["a"]\nf(d)\nassert x == [1] and d == {"a": [1, 2]}'),
    'an attribute of the test': (
        'class C:\n    def __init__(self, xs): self.xs = xs', 'class C:\n    def __init__(self, xs): self.xs = [*xs]',
        'xs = [1]\nc = C(xs)\nxs.append(2)\nassert c.xs is xs and c.xs == [1, 2]\n'
        'c.xs = [3]\nassert c.xs == [3] and xs == [1, 2]'),
    'a long list in a loop': ('def f(a): return sum(a)', 'def f(a): return 0',
                              'a = list(range(10_000))\nfor i in range(1000): assert f(a) == 49_995_000'),
}


@pytest.mark.parametrize('name', IN_PLACE)
def test_containers_keep_their_identity(name):
    right, wrong, test = IN_PLACE[name]
    assert [o.passed for o in grade_many([(right, [test]), (wrong, [test])])] == [True, False]


LOOKS = """import os, sys
def f(n): return int(sys.argv[1]) if len(sys.argv) > 1 else n
def g(): return sys.orig_argv
def h():
    for look in os.sched_getscheduler, os.sched_getparam, os.sched_getaffinity, os.getpgid, os.getsid:
        try: look(os.getppid() or 1)
        except PermissionError: continue
        return look.__name__"""


def test_a_program_sees_neither_its_templates_command_nor_other_processes():
    o = grade(LOOKS, ['assert f(10) == 10', 'assert g() == ["python", "program.py"]', 'assert h() is None'])
    assert o.per_test == (True, True, 'seccomp' in o.layers), o


def test_an_endless_program_takes_little_more_than_its_wall():
    tests, limits = ['assert f(1) == 1', 'assert f(2) == 2', 'assert f(3) == 3'], Limits(wall_seconds=1, cpu_seconds=1)
    o = grade('def f(x):\n    while True: pass', tests, limits)
    assert o.kind == 'timeout' and o.seconds < 2
    only_first = grade('def f(x):\n    while x == 1: pass\n    return x', tests, limits)
    assert only_first.per_test == (False, True, True)


def test_a_test_that_hangs_is_not_the_references_fault():
    limits, code = Limits(wall_seconds=.5), 'def f(x): return x'
    o = grade(code, ['f(1)\nwhile True: pass'], limits, reference=code)
    assert o.kind == 'unsupported' and 'this test does not end' in o.message
    endless = 'def f(x):\n    while True: pass'
    assert 'the reference fails' in grade(code, ['assert f(1) == 1'], limits, reference=endless).message


@pytest.mark.parametrize('code, tests, modules, message', [
    (None, TESTS, (), 'a program is a text'), ('x = 1', [], (), 'without tests'),
    ('x = 1', TESTS, ['nothing'], 'not installed')])
def test_a_mistake_of_the_caller_is_said(code, tests, modules, message):
    with pytest.raises((ValueError, UsageError), match=message): grade(code, tests, modules=modules)


def test_a_module_that_is_not_allowed_is_said_and_can_be_allowed():
    code, test = 'import pytest\ndef f(x): return x', 'assert f(1) == 1'
    assert "modules=['pytest'] allows it" in grade(code, [test]).message
    o = grade('def f(x): return x', ['import pytest\nassert f(1) == 1'])
    assert "modules=['pytest'] allows it" in o.message and not o.judged
    assert grade(code, [test], modules=['pytest']).passed


CHATS = {   # What a model may write -> tests of a function that adds one
    'check': 'def check(candidate):\n    assert candidate(1) == 2\n    assert candidate(2) == 3\ncheck(f)',
    'check that nobody calls': 'def check(g):\n    assert g(1) == 2\n    assert g(2) == 3',
    'methods': 'import unittest\nclass T(unittest.TestCase):\n    def test(self):\n        self.assertEqual(f(1), 2)\n'
               '        self.assertAlmostEqual(f(.1), 1.1)\n        self.assertIn(f(3), [4, 5])',
    'near': 'self.assertAlmostEqual(f(.2), 1.2, places=3)\nself.assertAlmostEqual(f(.3), 1.31, delta=.1)',
    'places': 'self.assertAlmostEqual(f(.2), 1.2, 3, "{}")\nself.assertAlmostEqual(f(.3), 1.3, msg="{0}")',
    'items': 'self.assertCountEqual([f(1), f(2)], [3, 2])\nself.assertSequenceEqual([f(3)], (4,))',
    'a body': 'try:\n    r = f(1)\n    assert r == 2\n    assert f(2) == 3\nexcept Exception as e:\n    print(e)',
    'exceptions': 'with pytest.raises(TypeError):\n    f("a")\nwith self.assertRaises((TypeError, KeyError)): f([1])\n'
                  'self.assertRaises(TypeError, f, {})\ntry:\n    f(())\n    assert False\nexcept TypeError: pass',
}


@pytest.mark.parametrize('name', CHATS)
def test_what_a_model_writes_as_tests_is_data(name):
    tests = parse_tests(CHATS[name], 'f')
    right, wrong = grade_many([(f'def f(x): return {x}', tests, 'f') for x in ('x + 1', '7')])
    assert len(tests) == {'methods': 3, 'exceptions': 4}.get(name, 2) and right.passed and not any(wrong.per_test)
    assert all(isinstance(plan(test, ('f',)), list) for test in tests)


@pytest.mark.parametrize('argument', ['places={}', 'places="{9}"', 'delta={**x}', 'delta={None: 1}[None]'])
def test_a_tests_text_is_no_pattern(argument):
    assert parse_tests(f'self.assertAlmostEqual(f(1), 2, {argument})\nassert f(5) == 6', 'f')[-1] == 'assert f(5) == 6'


@pytest.mark.parametrize('text', ['self.assertSpanEqual(f(1), 2)', 'try: f(1)\nexcept ValueError: print("bad")',
                                  'try: r = f(1)\nexcept ValueError: assert False'])
def test_what_asserts_nothing_is_no_test(text): assert parse_tests(text, 'f') == []


def test_literals_that_no_test_uses_are_no_script():
    test = '"Of f."\nMETADATA = {"author": "x"}\ndef check(candidate):\n    assert candidate(1) == 2\ncheck(f)'
    assert len(plan(test, ('f',))) == 1


def test_a_test_with_a_number_of_many_digits_has_its_row():
    test = f'assert f(1) == 0x{"f" * 6000}'
    assert table(grade('def f(x): return 1', [test]), [test]).startswith('failed  assert f(1) == 0xfff')
