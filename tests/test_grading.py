"Sandbox and grading as a user sees them: every outcome, no leaks, and processes that are killed at any time."
import contextlib
import io
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path

import pytest

from adversarial_rl.grader import grading
from adversarial_rl.grader.answers import parse_tests
from adversarial_rl.grader.execution import Limits, Step
from adversarial_rl.grader.grading import grade, grade_many, KINDS, Outcome, run, to_outcome
from adversarial_rl.grader.pool import default_sandbox, Job, Report, Sandbox

linux = pytest.mark.skipif(sys.platform != 'linux', reason='needs /proc')
QUICK = Limits(wall_seconds=1, memory_mb=64, output_bytes=2000)
TESTS = ['assert f(1) == 1', 'assert f(2) == 2']

CASES = [
    ('success', 'def f(x): return x', (True, True)),
    ('success_output', 'def f(x):\n    print(x)\n    return x', (True, True)),
    ('assertion_failure', 'def f(x): return 2', (False, True)),
    ('assertion_failure', 'def f(x): return 1', (True, False)),
    ('syntax_error', 'def f(x) return x', (False, False)),
    ('syntax_error', 'x = "\0"', (False, False)),
    ('syntax_error', 'x = "\ud800"', (False, False)),
    ('indentation_error', 'def f(x):\nreturn x', (False, False)),
    ('runtime_error', '1 / 0', (False, False)),
    ('runtime_error', 'def f(x): return 1 / (x - 1) + 1', (False, True)),
    ('runtime_error', 'def f(x): return f(x)', (False, False)),
    ('runtime_error', 'raise KeyboardInterrupt', (False, False)),
    ('runtime_error', 'import os, signal\nos.kill(os.getpid(), signal.SIGINT)', (False, False)),
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
    ('early_exit', 'import sys; sys.exit(0)', (False, False)),
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

def test_every_kind_is_covered(): assert {kind for kind, _, _ in CASES} | {'infra_error', 'unsupported'} == set(KINDS)

def test_later_tests_still_run():
    o = grade('def f(x): return x', ['assert f(1) == 2', 'f(', 'raise SystemExit', 'assert f(1) == 1'])
    assert (o.kind, o.per_test) == ('unsupported', (False, False, False, True))

@pytest.mark.parametrize('size, passed', [(30_000, True), (40_000, False), (400_000, False)])
def test_too_much_output_fails_all_tests_of_its_run(size, passed):
    "A new process for each test would forget what the program keeps."
    tests = ['assert f(1) == 1', 'assert f(2) == 2']
    o = grade(f'def f(x):\n    print("y" * {size})\n    return x', tests, function_name='f')
    assert (o.per_test, o.kind) == ((passed,) * 2, 'success_output' if passed else 'output_limit')

def test_good_job_after_bad_ones():
    assert run('print("é", end="")').stdout == 'é'
    assert run('import sys; sys.stdout.buffer.write(b"\\xff")').kind == 'success_output'

def test_forked_and_threaded_programs():
    o = grade('import os\nfor _ in range(3): os.fork()\ndef f(x): return x', TESTS)
    assert o.kind == 'runtime_error' if 'seccomp' in o.layers else o.per_test == (True, True)
    thread = 'import threading, time\nthreading.Thread(target=time.sleep, args=(60,)).start()\ndef f(x): return x'
    assert grade(thread, TESTS).passed
    assert grade('import atexit, time\natexit.register(time.sleep, 60)\ndef f(x): return x', TESTS, QUICK).passed

def test_large_program_and_many_tests():
    program = 'x = ' + repr('a' * 10**6) + '\ndef f(n): return len(x) + n'
    o = grade(program, [f'assert f({n}) == {10**6 + n}' for n in range(2000)], Limits(wall_seconds=20))
    assert o.passed and len(o.per_test) == 2000

def test_parse_tests_survives_anything():
    texts = ('assert ' * 5000, 'assert (\n' * 5000, 'assert f(' + '(' * 5000, 'assert f(' + '-' * 5000 + '1)',
             'assert f(9' + '9' * 5000 + ')', '\0assert f(1)', '`' * 999)
    for text in texts: assert len(parse_tests(text, 'f')) <= 8

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
    limits = Limits(wall_seconds=0.2, output_bytes=2000)
    jobs = [Job(f'# {n}\n' + MIXED[n % len(MIXED)], ('assert 1',) if n % 3 else (), limits) for n in range(200)]
    with Sandbox(workers=2) as s:
        def state():
            pids = s.pids()   # Waits until the templates have started
            mine = descriptors('self'), threading.active_count(), children(os.getpid())
            return pids, sorted(map(descriptors, pids)), mine
        before, done = state(), []
        reports = s.map(jobs, lambda n, total: done.append(n))
        assert [r.error for r in reports] == [''] * 200 and done == list(range(1, 201))
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
    assert (out, err, p.returncode) == ('interrupted\n', '', 0) and time.monotonic() - start < 5
    assert gone(pids) and not os.path.exists(root)

@linux
@pytest.mark.filterwarnings('ignore:.*fork.*:DeprecationWarning')
def test_forked_client_gets_its_own_sandbox():
    mine = default_sandbox()
    assert run('print(1)').stdout == '1\n'
    pid = os.fork()
    if pid == 0:
        ok = run('print(2)').stdout == '2\n' and default_sandbox() is not mine
        mine.close()
        default_sandbox().close()
        os._exit(0 if ok else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    assert run('print(3)').stdout == '3\n' and default_sandbox() is mine

@linux
def test_programs_see_neither_each_other_nor_the_environment(monkeypatch):
    monkeypatch.setenv('SECRET_KEY', 'hush')
    with Sandbox(workers=1) as s:
        assert s.map([Job('import os; print("SECRET_KEY" in os.environ)')])[0].stdout == 'False\n'
        s.map([Job('import builtins, math\nbuiltins.len = math.pi = 3')])
        assert s.map([Job('import math; print(len("ab"), math.pi > 3)')])[0].stdout == '2 True\n'

def test_report_of_a_closed_sandbox():
    s = Sandbox(workers=1)
    s.close()
    s.close()
    with pytest.raises(RuntimeError, match='closed'): s.map([Job('1')])

def test_infra_error_is_no_verdict():
    o = to_outcome(Report(steps=(Step('ok'), Step('ok')), finished=True, error='lost'), Job('', ('assert 1',)))
    assert (o.kind, o.passed, o.per_test) == ('infra_error', False, (False,))
    assert isinstance(o, Outcome)


class Counting(Sandbox):
    "A sandbox that counts the programs it starts."
    started = 0

    def map(self, jobs, progress=None):
        self.started += len(jobs)
        return super().map(jobs, progress)


SUITES = [[f'assert f({n}) == {n}' for n in own] for own in ((0, 1), (2, 3), (1, 4, 5))]
FORGETFUL = {
    'right': 'def f(x): return x',
    'wrong': 'def f(x): return x if x < 3 else 0',
    'stopped': 'def f(x):\n    while x == 3: x = 3\n    return x',
    'ended': 'def f(x): return x if x < 5 else f(x)',
    'hungry': 'def f(x): return x if x < 4 else sum([0] * 10 ** 9)',
    'breaks': 'def f(x): return x // (x - 2) * 0 + x',
    'not loaded': 'def f(x: absent): return x'}


@pytest.mark.parametrize('name', FORGETFUL)
def test_a_program_that_remembers_nothing_has_the_verdicts_of_one_process_for_each_author(name, monkeypatch):
    "It has one process for all of them, and more only where a test stops it."
    tests = tuple(dict.fromkeys(t for suite in SUITES for t in suite))
    job = Job(FORGETFUL[name], tests, QUICK, ('f',), tuple(map(frozenset, SUITES)))
    with Counting(1) as sandbox:
        [together] = grade_many([job], sandbox=sandbox)
        once, sandbox.started = sandbox.started, 0
        monkeypatch.setattr(grading, 'stateless', lambda code: False)
        [apart] = grade_many([job], sandbox=sandbox)
    assert (together.kind, together.per_test) == (apart.kind, apart.per_test)
    assert (once == 1) == (name in ('right', 'wrong', 'ended', 'breaks', 'not loaded')), once
    assert name == 'not loaded' or sandbox.started >= 3


LEAKS = """def f(x):
    if x == 0:
        a = []
        a.append(a)
        a.append("a" * (40 << 20))
        return 0
    return "a" * x"""
SHARED_LIMITS = {   # Program, and the tests of each author
    'an answer for which a leak left no memory': (
        LEAKS, [['assert f(0) == 0'], ['assert len(f(12 << 20)) == 12 << 20']]),
    'answers that fill the judge': (
        'def f(x): return [[]] * x', [[f'assert f({n}) == [[]] * {n}'] for n in range(150000, 150006)]),
    'messages that fill the report': (
        'def f(x): return str(x) * 80', [[f'f({n}111111111)' for n in range(m, m + 270)] for m in (100, 400)])}


@linux
@pytest.mark.parametrize('name', SHARED_LIMITS)
def test_no_author_takes_memory_or_messages_from_another(name, monkeypatch):
    code, suites = SHARED_LIMITS[name]
    tests, limits = tuple(t for suite in suites for t in suite), Limits(memory_mb=64)
    groups = tuple(map(frozenset, suites))
    jobs = [Job(f'{code}\n# {n}', tests, limits, ('f',), groups) for n in range(2)]   # Two orders
    with Sandbox(1) as sandbox:
        together = grade_many(jobs, sandbox=sandbox)
        monkeypatch.setattr(grading, 'stateless', lambda code: False)
        apart = grade_many(jobs, sandbox=sandbox)
    assert [(o.kind, o.per_test, o.messages) for o in together] == [(o.kind, o.per_test, o.messages) for o in apart]


@pytest.mark.parametrize('given', ['zip([{}])', '{{{}}}', 'str, {}', 'f, {}'])
def test_tests_that_can_show_an_address_have_a_process_for_each_author(given):
    suites = [frozenset([f'f({given.format(n)})']) for n in range(3)]
    tests = tuple(t for suite in suites for t in suite)
    with Counting(1) as sandbox:
        grade_many([Job('def f(x, y=0): return str(x)[-6:]', tests, QUICK, ('f',), tuple(suites))], sandbox=sandbox)
    assert sandbox.started == 3


def test_a_run_of_several_authors_counts_where_nothing_stopped_it():
    part, ok = Job('', tuple(TESTS)), Step('ok')
    reports = {True: [Report(steps=(ok, ok, Step('assertion_failure'))), Report(steps=(Step('syntax_error'),))],
               False: [Report(steps=(ok, ok), killed='wall', seconds=9.), Report(steps=(ok, ok, Step('gone'))),
                       Report(steps=(ok, ok, ok), killed='output'), Report(steps=(ok, ok, Step('memory_limit')))]}
    for counts, several in reports.items():
        for report in several: assert grading._took_nothing(part, report) == counts, report


REMEMBERING = ('seen = []\ndef f(x):\n    seen.append(x)\n    return len(seen)',
               'def f(x, n=[]):\n    n.append(x)\n    return len(n)')


@pytest.mark.parametrize('code', REMEMBERING)
def test_a_program_that_remembers_has_a_process_for_each_author(code):
    tests = ('assert f(0) == 1', 'assert f(7) == 1')
    [outcome] = grade_many([Job(code, tests, QUICK, ('f',), tuple(frozenset([t]) for t in tests))])
    assert outcome.per_test == (True, True)


BITS = 0, 1, 1, 0, 1, 0, 0, 1, 1, 1, 0, 1
CHECK = f'def check(candidate):\n    for n, want in enumerate({BITS}): assert candidate(n) == want\ncheck(f)'
QUESTIONS = {'script': [CHECK], 'data': [f'assert f({n}) == {want}' for n, want in enumerate(BITS)],
             'one test': [f'assert {" and ".join(f"f({n}) == {want}" for n, want in enumerate(BITS))}']}


def resubmitted(asked):
    "Whether one of thirteen programs passes, each with another answer to the last question of the one before."
    guesses = [0] * len(BITS)
    for _ in range(len(BITS) + 1):
        passed, printed = asked(f'guesses = {guesses}\ndef f(n):\n    print(n)\n    return guesses[n]')
        if passed: return True
        guesses[int(printed.split()[-1])] ^= 1
    return False


@pytest.mark.parametrize('kind', QUESTIONS)
def test_a_program_that_is_resubmitted_learns_nothing_from_what_it_was_asked(kind):
    def in_python(code):
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            try: exec('\n'.join([code, *QUESTIONS[kind]]), {})
            except AssertionError: return False, printed.getvalue()
        return True, printed.getvalue()
    def graded(code):
        o = grade(code, QUESTIONS[kind], function_name='f')
        return o.passed, o.stdout
    assert resubmitted(in_python) and not resubmitted(graded)


def test_programs_meet_their_tests_in_orders_of_their_own():
    tests = [f'assert f({n}) == {n}' for n in range(8)]
    jobs = [(f'def f(n):\n    print(n)\n    return n  # {i}', tests, 'f') for i in (*range(10), 0)]
    orders = [o.stdout for o in grade_many(jobs)]
    assert {''.join(sorted(order.split())) for order in orders} == {'01234567'}
    assert len(set(orders)) > 5 and orders[0] == orders[-1]


def test_prose_is_read_quickly():
    "780 KB took seven seconds."
    text = ('The function returns f(x) for x in range(3), so f(1) == 2 (see above). We assert that f(2) == 3 holds.\n'
            "It's not so for `f('a')`: that raises [an error], e.g. a TypeError; \"quotes\" and {braces} are fine.\n")
    start = time.process_time()
    parse_tests(text * 4_000, 'f')
    assert time.process_time() - start < 5
