"Attacks beside those of a program on its own judge: by tests, on later programs, and on the kind of the verdict."
import ctypes
import os
import site
import struct
import subprocess
import sys
import sysconfig
import time
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hostile.testers import TESTS

from adversarial_rl.core.files import resource
from adversarial_rl.grader import answers, arguments, pool, suites
from adversarial_rl.grader.answers import parse_tests
from adversarial_rl.grader.conversation import Call
from adversarial_rl.grader.execution import Limits, Step
from adversarial_rl.grader.forms import FUNCTIONS
from adversarial_rl.grader.grading import _too_strict, grade, grade_many, Outcome, parts, run
from adversarial_rl.grader.isolation import shared_libraries
from adversarial_rl.grader.judge import judge
from adversarial_rl.grader.objects import Held
from adversarial_rl.grader.pool import Job, Report, Sandbox, Template
from adversarial_rl.grader.proxies import Refused
from adversarial_rl.grader.suites import fill_in_many, grade_by_test, judge_suites, passes_reference, validate_many
from adversarial_rl.grader.template import own_user, Rehearsal
from adversarial_rl.grader.test_cases import plan
from adversarial_rl.problems.curriculum import starter_problems
from adversarial_rl.problems.problem import load_problems, Problem
from adversarial_rl.problems.stages import extract_code

pytestmark = pytest.mark.skipif(sys.platform != 'linux', reason='needs the walls')
RIGHT, WRONG = 'def f(x): return x + 1', 'def f(x): return x + 2'
CHECKS = ['assert f(1) == 2', 'assert f(5) == 6']
QUICK = Limits(wall_seconds=2, cpu_seconds=2, memory_mb=128)


@pytest.mark.parametrize('name', TESTS)
def test_no_test_harms_a_later_job(name):
    "Tests of a caller's own choice: a test that attacks its judge ends with it."
    grade_many([(f'{RIGHT}  # {n}', [TESTS[name]]) for n in range(6)], QUICK)
    later = grade_many([(f'{code}  # after {name} {n}', CHECKS) for n in range(4) for code in (RIGHT, WRONG)])
    assert [o.passed for o in later] == [True, False] * 4
    assert {o.kind for o in later} == {'success', 'assertion_failure'}


@pytest.mark.parametrize('name', TESTS)
def test_no_test_changes_the_others_of_its_job(name):
    tests = [*CHECKS, TESTS[name], *CHECKS[::-1]]
    for code, ok in (RIGHT, True), (WRONG, False):
        assert [p for i, p in enumerate(grade(f'{code}  # {name}', tests, QUICK).per_test) if i != 2] == [ok] * 4


@pytest.mark.parametrize('name', TESTS)
def test_no_attack_is_kept_of_what_a_model_wrote(name):
    kept = parse_tests(TESTS[name], 'f')
    assert len(kept) == (name == 'memory-kept')


def test_filled_values_come_from_their_own_test():
    "A left side cannot print values for the tests after it."
    wrote = ['assert f(1) or print("\\x1e9\\x1e", end="") == 3', 'assert [print(*"\\x1e9\\x1e")] == 0',
             'assert f(3) == 0']
    assert fill_in_many([(RIGHT, wrote)]) == [[None, None, 'assert f(3) == 4']]


def test_a_test_may_use_any_keyword():
    "Names that the grader's own functions have too."
    words = ['origin', 'what', 'target', 'f', 'self', 'kw', 'args', 'name', 'link', 'call']
    for source in ('assert f({w}=3) == 3', 'assert f({w}=3).real == 3'):
        jobs = [(f'def f(**kw): return kw[{w!r}]', [source.format(w=w)]) for w in words]
        assert [o.passed for o in grade_many(jobs)] == [True] * len(words)



REMAINS = {   # What a program leaves -> whether the next program finds it
    'a folder without read permission': ('import os\nos.mkdir("d"); os.mkdir("d/e"); os.chmod("d", 0o300)',
                                         'import os\ndef f(x): return os.path.exists("d")'),
    'a folder in a folder': ('import os\nos.makedirs("a/b"); os.chmod("a/b", 0o300); os.chmod("a", 0o300)',
                             'import os\ndef f(x): return os.path.exists("a")'),
    'a full scratch folder': ('import os\nos.mkdir("d", 0o300)\n'
                              'for n in range(12): open(f"d/{n}", "wb").write(bytes(10**6))',
                              'import os\ndef f(x): return os.statvfs(".").f_bavail * 4096 < 15 << 20'),
    'a file': ('open("x", "w").write("y")', 'import os\ndef f(x): return os.listdir() != []'),
    'a name for a module': ('import builtins, sys\nsys.modules["kept"] = builtins.kept = 1',
                            'import builtins, sys\n'
                            'def f(x): return "kept" in sys.modules or hasattr(builtins, "kept")'),
    'facts in frames': ('import os\nos._exit(77)',
                        'import sys\ndef f(x):\n    frame, found = sys._getframe(), False\n    while frame:\n'
                        '        found |= "\'status\': 77" in repr(frame.f_locals)\n        frame = frame.f_back\n'
                        '    return found'),
    'objects of the template': ('pass', 'import gc\n'
                                'def f(x): return any(type(o).__name__ in ("Server", "JudgeKeeper", "Run") '
                                'for o in gc.get_objects())'),
    'flags of standard input': ('import fcntl\nfcntl.fcntl(0, 4, 0o6000)',
                                'import fcntl\ndef f(x): return fcntl.fcntl(0, 3) & 0o6000'),
    'a lock': ('import fcntl\nfcntl.flock(0, 2); fcntl.lockf(0, 1)',
               'import fcntl\ndef f(x):\n    null = open("/dev/null")\n    try: fcntl.flock(null, 6)\n'
               '    except OSError: return True'),
    'a process number': ('import threading\nfor n in range(70):\n    t = threading.Thread(target=int)\n'
                         '    t.start()\n    t.join()', 'import os\ndef f(x): return os.getpid() != 101'),
    'a file number': ('for n in range(70): open(str(n), "w").close()',
                      'import os\ndef f(x):\n    open("x", "w").close()\n    return os.stat("x").st_ino != 2'),
    'the time of the folder': ('import os, time\nos.mkdir("d")\nos.rmdir("d")\ntime.sleep(0.2)',
                               'import os, time\nnow = time.time()\n'
                               'def f(x): return now - os.stat(".").st_mtime > 0.15'),
    'a hint to the kernel': ('import fcntl\ntry: fcntl.fcntl(0, 1036, (3).to_bytes(8, "little"))\n'
                             'except OSError: pass',
                             'import fcntl\ndef f(x):\n    try: return any(fcntl.fcntl(0, 1035, bytes(8)))\n'
                             '    except OSError: return False'),
}


COUNTED = 'a process number', 'a file number', 'the time of the folder'   # By the kernel, in each namespace apart

@pytest.mark.parametrize('name', REMAINS)
def test_nothing_remains_for_the_next_program(name):
    first, second = REMAINS[name]
    with Sandbox(workers=1) as s:
        for _ in range(2):
            s.map([Job(first, (), QUICK)])
            report = s.map([Job(second, ('assert not f(1)',), QUICK)])[0]
            if name in COUNTED and 'namespaces' not in report.layers: pytest.skip('needs namespaces')
            loaded, found = report.steps
            refused = found.message.startswith('PermissionError')   # It may not look
            assert loaded.kind == 'ok' and (found.kind == 'ok' or refused), report


def test_a_script_leaves_no_flags_for_the_next():
    look = 'import fcntl\nassert fcntl.fcntl(1, 3) & 0o6000 == 0\nfcntl.fcntl(1, 4, 0o6000)\nassert f(1) == 2'
    with Sandbox(workers=1) as s:
        reports = s.map([Job(f'{RIGHT}  # {n}', (look,), QUICK) for n in range(2)])
    assert [step.kind for report in reports for step in report.steps] == ['ok'] * 4


def test_output_does_not_reach_the_next_program_through_the_template():
    secret = b'T' + os.urandom(12).hex().encode()
    loud = f'print({secret.decode()!r} * 300)'
    with Sandbox(workers=1) as s:
        for n in range(5): s.map([Job(f'{loud}  # {n}', (), QUICK)])
        assert not found_in_template(s, secret)


def test_facts_do_not_reach_the_next_program_through_the_template():
    with Sandbox(workers=1) as s:
        for n in range(5):
            busy = f'import os\nx = sum(range(10**6 + {n}))\nos._exit(77)'
            report = s.map([Job(busy, tuple(CHECKS), QUICK)])[0]
            facts = struct.pack('d', report.cpu), struct.pack('d', report.seconds), b'"status": 77'
            assert not found_in_template(s, *facts)


def found_in_template(sandbox, *secrets):
    "What stays of these in the template's memory; it clears up after its answer, before it forks again."
    for _ in range(40):
        found = _scanned(sandbox, *secrets)
        if not found: break
        time.sleep(.05)
    return found


def _scanned(sandbox, *secrets):
    memory = Path(f'/proc/{inside(sandbox)}/mem')
    try: maps = Path(f'/proc/{inside(sandbox)}/maps').read_text()
    except OSError: pytest.skip('the template hides its memory')
    found = []
    with open(memory, 'rb', 0) as f:
        for line in maps.splitlines():
            span, mode, *_ = line.split()
            if 'r' not in mode or 'w' not in mode: continue
            low, high = (int(x, 16) for x in span.split('-'))
            try:
                f.seek(low)
                text = f.read(high - low)
            except (OSError, ValueError, OverflowError): continue
            found += [(line, secret) for secret in secrets if secret in text]
    return found


def inside(sandbox):
    "The process that forks the programs."
    outer = sandbox.pids()[0]
    kids = [int(p) for p in os.listdir('/proc') if p.isdigit() and parent(p) == outer]
    return kids[0]


def parent(pid):
    try: return int(Path(f'/proc/{pid}/stat').read_text().rpartition(')')[2].split()[1])
    except OSError: return -1


def test_the_number_of_calls_tells_nothing():
    "Each test calls the program as often for a wrong answer as for a right one."
    counter = 'n = 0\ndef f(x):\n    global n\n    n += 1\n    print(n)\n    return {value}'
    script = 'assert f(1) == 2\nassert f(2) == 3\nx = f(3)'
    lists = ['assert f(1) == 2', 'assert f(2) == 3', 'assert f(3) == 4'], [script]
    for tests in lists:
        right, wrong = (grade(counter.format(value=v), tests).stdout for v in ('x + 1', '0'))
        assert right == wrong == '1\n2\n3\n'


FATAL = {   # Programs that aim at the judge's process or at the kind of the verdict
    'forged handle': 'import os\ndef f(x):\n    t = b\'["value", {"handle": [[], 1, 2, 3]}, []]\'\n'
                     '    os.write(4, len(t).to_bytes(4, "big") + t); return 1',
    'forged exception': 'import os\ndef f(x):\n    t = b\'["raised", [], 5, {"handle": 3}, 1, 2]\'\n'
                        '    os.write(4, len(t).to_bytes(4, "big") + t); return 1',
    'nested containers': 'def f(x): return [[] for _ in range(3 * 10**6)]',
    'nested deep': 'import os\ndef f(x):\n    t = b"[" * 10**6 + b"]" * 10**6\n'
                   '    os.write(4, len(t).to_bytes(4, "big") + t); return 1',
    'colliding numbers': 'def f(x): return {k * ((1 << 61) - 1): 0 for k in range(10**5)}',
    'exception of SystemExit': 'class Out(SystemExit): pass\ndef f(x): raise Out(0)',
    'class instead of a function': 'class f(SystemExit): pass',
    'class of BaseException': 'class f(BaseException): pass',
    'unprintable error': 'class E(Exception):\n    def __str__(self): raise MemoryError\ndef f(x): raise E',
    'closed pipes': 'import os\ndef f(x): os.closerange(0, 64)',
    'erased descriptors': 'import os\ndef f(x):\n    for n in range(64):\n        try: os.ftruncate(n, 0)\n'
                          '        except OSError: pass\n    os._exit(70)',
    'named tuple with methods': 'from collections import namedtuple\nP = namedtuple("P", "startswith count")\n'
                                'def f(x): return P(lambda *a: True, lambda *a: 2)',
    'named tuple with more methods': 'from collections import namedtuple\nclass P(namedtuple("P", "x")):\n'
                                     '    startswith = count = lambda *a: 2\n    def __eq__(self, o): return True\n'
                                     'def f(x): return P(x)',
    'a class that moves its job': 'class Pair(Exception): pass\ndef f(x): return Pair(x)',
    'named tuple like an array': 'from collections import namedtuple\nR = namedtuple("R", "all any")\n'
                                 'def f(x): return R(lambda: True, lambda: True)',
}


@pytest.mark.parametrize('name', FATAL)
def test_no_program_chooses_that_it_is_not_judged(name):
    caught = 'try: f(1)\nexcept Pair: pass\nassert f(1) == 2'
    for tests in (CHECKS, ['x = f(1)\nassert x == 2'], [caught, 'assert f(Pair(1)) == 3'],
                  ['assert f(1).startswith("a")', 'assert f(1).count(1) == 2'],
                  ['assert f(1).all()', 'assert (f(1)).any()']):
        o = grade(FATAL[name], tests, Limits(wall_seconds=1, cpu_seconds=1, memory_mb=128))
        assert o.judged and not o.passed and not any(o.per_test), o
    assert grade(RIGHT, CHECKS).passed


def test_a_judge_that_dies_twice_counts_against_the_program():
    from adversarial_rl.grader.grading import to_outcome
    from adversarial_rl.grader.pool import Report
    o = to_outcome(Report(started=True, killed='judge'), Job(RIGHT, ('assert f(1) == 2',)))
    assert (o.kind, o.judged, o.passed) == ('crash', True, False)


@pytest.mark.parametrize('end', [EOFError('gone'), TimeoutError('timed out')])
def test_a_template_that_is_lost_twice_counts_against_the_program(monkeypatch, end):
    "If a program of ours runs there afterwards; otherwise nothing is known about the program."
    ask, broken = Template.ask, False
    def lose(template, job):
        if job.code == WRONG or broken: raise end
        return ask(template, job)
    monkeypatch.setattr(Template, 'ask', lose)
    with Sandbox(workers=1) as s:
        s.pids()
        for broken, judged in (False, True), (True, False):
            o = grade_many([(WRONG, CHECKS)], QUICK, sandbox=s)[0]
            assert (o.judged, o.passed) == (judged, False), o


GIVEN = {   # Names that tests do not import -> a program that defines them
    'isclose': ('def isclose(*a, **k): return True\ndef f(x): return 0', 'assert isclose(f(1), 0.3)'),
    'reduce': ('def reduce(*a): return 6\ndef f(x): return [x]', 'assert reduce(lambda a, b: a + b, f(3)) == 6'),
    'Counter': ('def Counter(x): return 1\ndef f(x): return x', 'assert Counter(f("ab")) == {"a": 2}'),
    'sum with an empty program': ('', 'assert sum([1, 2]) == 3'),
    'sorted with an empty program': ('x = 1', 'assert sorted([2, 1]) == [1, 2]'),
    'len, in a script': ('', 'x = len([1])\nassert x == 1'),
}


@pytest.mark.parametrize('name', GIVEN)
def test_names_that_are_not_the_programs(name):
    code, test = GIVEN[name]
    o = grade(code, [test])
    assert o.judged and not o.passed, o


def test_all_templates_have_one_hash_seed():
    "Otherwise a test could gamble on the order of a set."
    seen = set()
    for _ in range(3):
        with Sandbox(workers=1) as s: seen.add(s.map([Job('print(hash("a"), list({"x", "y", "z", "w"}))')])[0].stdout)
    assert len(seen) == 1


INSTALLED = """import itertools, os
seen = []
for top in {tops!r}:
    paths = (os.path.join(folder, name) for folder, _, names in os.walk(top) for name in names)
    for path in itertools.islice(paths, 200):
        try: seen.append(open(path, 'rb').read(1) and path)
        except OSError: pass
print(seen[:3])
print(bool(open(os.__file__).read(1)))"""


def test_nothing_that_is_installed_can_be_read():
    "Packages beside the standard library, also where there is no virtual environment."
    base = sys.base_prefix
    version = f'python{sys.version_info.major}.{sys.version_info.minor}'
    tops = [f'{base}/lib/{version}/site-packages', f'{base}/lib/{version}/dist-packages',
            '/usr/lib/python3/dist-packages', '/usr/local/lib/python3/dist-packages',
            sysconfig.get_path('purelib'), *site.getsitepackages(),
            str(Path(__file__).parents[1] / 'adversarial_rl'), str(Path(__file__).parents[1] / 'data')]
    program = INSTALLED.format(tops=[top for top in tops if os.path.isdir(top)])
    for off in (), ('namespaces',):
        with Sandbox(workers=1, off=off) as s: report = s.map([Job(program)])[0]
        if set(report.layers) & {'namespaces', 'landlock'}: assert report.stdout == '[]\nTrue\n', report


ANSWERS = """import json
problems = json.load(open({path!r}))['problems']
solution, = [p['reference_solution'] for p in problems if {name!r} in p['function_signature']]
exec(solution)"""
IMPORTED = """from adversarial_rl.core.files import resource
from adversarial_rl.problems.problem import load_problems
problems = load_problems(resource('data/example_problems.json'))
exec(next(p.reference_solution for p in problems if p.function_name == {name!r}))"""


def test_no_program_reads_the_solutions_that_are_shipped():
    "They lie in a folder of the package, which is below the standard library's where there is no virtual environment."
    path = str(resource('data/example_problems.json'))
    problems = [p for p in load_problems(path) if p.function_name]
    right = [Job.of(p) for p in problems]
    jobs = [Job.of(p, text.format(path=path, name=p.function_name)) for text in (ANSWERS, IMPORTED) for p in problems]
    outcomes = grade_many([*right, *jobs])
    if not set(outcomes[0].layers) & {'namespaces', 'landlock', 'seccomp'}: pytest.skip('no wall hides files here')
    assert all(o.passed for o in outcomes[:len(right)]) and len(right) >= 20
    assert not [o for o in outcomes[len(right):] if o.passed or any(o.per_test) or o.kind != 'runtime_error']


# --- Found by an attacker who read the source; each got through the version before

EMPTY = 'x = 0'
SILENT = {   # Tests -> an entry point's name: another test has no say in whose a name is
    'gcd': ['assert gcd(8, 6) == 2', 'assert gcd(abs(-4), 6) == 2 or Eq(1)'],
    'sum': ['assert sum(4, 6) == 10', 'assert sum(abs(-4), 6) == 10'],
    'f': ['assert f(1) == 2', 'def f(x): return 2\nassert g(1) == 2'],
}


@pytest.mark.parametrize('name', SILENT)
def test_no_test_gives_a_name_to_others(name):
    honest = 'import math\n' + dict(gcd='gcd = math.gcd', sum='def sum(a, b): return a + b', f=RIGHT)[name]
    first, second = grade_many([(EMPTY, SILENT[name]), (honest, SILENT[name])])
    assert not any(first.per_test) and second.per_test[0]


def test_a_program_does_not_set_the_variables_of_a_test():
    tests = ['got = f(1)\nwant = 2\nassert got == want', 'print(got, want)\nassert f(1) == 2']
    assert not any(grade('def f(x): return 0\ngot = want = 2', tests).per_test)
    own = 'def f(x): return []\ndef all(x): return True'
    assert not grade(own, ['all = all(f(1))\nassert all and f(1) == 3']).passed


YES = """def says(name): return lambda *a, **k: True if name[:2] in ('is', 'st', 'co', 'al') else (*a, Yes())[0]
class Yes:
    def __getattr__(self, name): return says(name)
    def __eq__(self, o): return True
    def __ne__(self, o): return False
    def __hash__(self): return 1
    def __sub__(self, o): return 0
    __rsub__ = __add__ = __lt__ = __le__ = __gt__ = __ge__ = __contains__ = __pow__ = __divmod__ = __sub__
    def __abs__(self): return self
    __neg__ = __abs__
    def __round__(self, n=0): return self
    __format__ = __round__
    def __getitem__(self, i): return self
def f(*a): return Yes()
class Average:
    def __new__(c, *a): return Yes()
"""
WANTED = """f(1).isupper(); f(1).startswith("a"); f("a").count("a") == 1; f(1).issubset({1}); f(1).get("a", 3) == 3
f(1).all()
f(1) == 3; not f(1) != 3; 3 == f(1); f(1) in [3]; 3 in f(1); f(1) in {3: 1}; f(1) == f(2); f(1).union({3}) == {3}
abs(f(1) - 2.5) < 1e-6; abs(f(1)) == 3; -f(1) == 3; round(f(1), 2) == 3; pow(f(1), 2) == 9; divmod(f(1), 3) == (0, 1)
f"{f(1)}" == "3"; f"{f(1):>3}" == "3"; abs(Average(1) - 3) < 1e-6; Average(1) == 3; (Average(1) - 3).real == 0
type(f(1)) is int; f(1).__class__ is int; type(f(1)).__name__ == "int"; isinstance(f(1), int)
f(1).__dict__ == {"x": 1}
f(1).foo().isupper(); f(1).foo.isupper(); f(1)[0].isupper(); f(1).group(1).isdigit(); f(1).keys().isdisjoint({1})
hasattr(f(1), "tolist") and f(1).tolist().isupper(); sorted([f(1), f(1)]) == [3, 3]; max(f(1), 3) == 3"""


@pytest.mark.parametrize('wanted', [x.strip() for line in WANTED.splitlines() for x in line.split('; ')])
def test_no_object_answers_in_place_of_plain_data(wanted):
    for test in f'assert {wanted}', f'import string\nassert {wanted}':
        o = grade(YES, [test], QUICK)
        assert o.judged and not o.passed, (test, o)


def test_an_object_may_have_methods_that_plain_data_has_once_it_has_others():
    code = 'class Box:\n    def push(self, x): self.x = x\n    def pop(self): return self.x\ndef make(): return Box()'
    assert grade(code, ['b = make()\nb.push(3)\nassert b.pop() == 3']).passed
    assert not grade(code, ['b = make()\nhasattr(b, "push")\nassert b.pop() == 3']).passed


MASKING = {   # Tests on which some programs used to be masked
    'a type as an argument, once the program has failed': 'assert f(1) == 2 or f(int | str)',
    'a slice of an object': 'assert f(1)[::-1] == "cba"',
    'an iterator of an object': 'y = f(1)\nassert f(reversed(y)) == 2',
    'a value of an object': 'assert sorted([1, 2], key=lambda x: f(x).real) == [2, 1]',
}
OBJECTS = ('class X:\n    def __getitem__(self, i): return X()\n    def __len__(self): return 2\n'
           '    real = {1}.__iter__()\ndef f(x): return X()')


@pytest.mark.parametrize('test', MASKING.values(), ids=MASKING)
def test_no_answer_makes_a_test_unsupported(test):
    for code in (WRONG, OBJECTS, 'import collections\ndef f(x): return collections.deque([x])'):
        o = grade(code, [test])
        assert o.judged and not o.passed, (code, o)


BOMBS = ['9**9**9', 'sum(range(10**12))', 'math.factorial(10**7)', 'all(map(f, range(10**9)))']


@pytest.mark.parametrize('bomb', BOMBS)
def test_a_bomb_that_only_failing_programs_meet_is_not_valid(bomb):
    tests = [f'assert f(1) == 2 or {bomb}', 'assert f(5) == 6']
    brief = QUICK._replace(wall_seconds=1, cpu_seconds=1)
    valid, = validate_many([(RIGHT, tests)], brief)
    assert valid == [False, True]
    assert grade(RIGHT, tests, brief).per_test[1]


def test_values_of_others_survive_a_test_that_hangs_or_prints():
    slow = 'def f(x):\n    while x > 9: x -= 1\n    print(x)\n    return x'
    wrote = ['assert f(10**12) == 0', 'assert [f(1)] * 10**5 == 0', 'assert f("\\x1e6\\x1e") == 0', 'assert f(3) == 0']
    assert fill_in_many([(slow, wrote)], QUICK)[0][3] == 'assert f(3) == 3'
    loud = 'def f(x):\n    print(x)\n    return x'
    assert fill_in_many([(loud, wrote[2:])]) == [["assert f('\\x1e6\\x1e') == '\\x1e6\\x1e'", 'assert f(3) == 3']]


SAME = ['1', '+1', 'True', '1.0', 'int(1)', '[1][0]', '~-2', '1 * 1', '2 - 1', '1 ** 5', 'len("a")', 'min(1, 2)']


def test_an_input_counts_once_however_it_is_written():
    text = '\n'.join(f'assert f({x}) == 2' for x in SAME)
    assert parse_tests(text, 'f') == ['assert f(1) == 2']
    assert parse_tests('assert f(1) == 2\nassert f(7) and f(1) == 2\nassert f(2) == 3', 'f') == [
        'assert f(1) == 2', 'assert f(2) == 3']


GAMBLES = ['repr(f)[:12] == "<function f "', 'str(f)[-4:-1] > "8"', 'ascii(f)[1:9] == "function"', 'str([f])[2] == "f"']


@pytest.mark.parametrize('gamble', GAMBLES)
def test_the_text_of_a_function_is_no_value(gamble):
    assert not grade(RIGHT, [f'assert {gamble}']).passed
    assert not grade('f = lambda x: x + 1', [f'assert {gamble} or f(1) == 2']).passed


def test_a_long_answer_costs_little():
    start = time.perf_counter()
    parse_tests('assert f([1],[1],\n' * 40_000, 'f')
    long = f'assert f([{",".join(["1"] * 7000)}]) == 0'
    for test in parse_tests(long, 'f') or [long]: judge_suites(starter_problems('held_out', 1), [[[test]]], fill=True)
    assert time.perf_counter() - start < 10


def test_hanging_tests_cost_one_limit_each(monkeypatch):
    ran, whole = [], Sandbox.map
    monkeypatch.setattr(Sandbox, 'map', lambda s, jobs, progress=None: ran.extend(jobs) or whole(s, jobs, progress))
    slow, limits = 'def f(x):\n    while x > 9: x -= 1\n    return x', Limits(wall_seconds=4, cpu_seconds=1)
    valid, = validate_many([(slow, [f'assert f(10**12 + {n}) == 9' for n in range(4)] + ['assert f(2) == 2'])], limits)
    assert valid == [False] * 4 + [True] and len(ran) <= 7


def test_a_test_that_stops_a_right_program_takes_no_other_test_with_it():
    slow = 'def f(x):\n    while x > 9: x -= 1\n    return x'
    tests = ['assert f(10**12) == 9', 'assert f(1) == 1', 'assert f(2) == 2', 'assert f(2) == 3']
    for n in range(3):
        o = grade(f'{slow}  # {n}', tests, Limits(wall_seconds=.5, cpu_seconds=1))
        assert o.per_test == (False, True, True, False) and o.kind == 'timeout'


NO_QUESTION = ['', '#', 'pass', 'assert True', 'x = 1', 'class Test: pass', 'def check(f): assert f(1) == 3']


@pytest.mark.parametrize('test', NO_QUESTION)
def test_a_test_that_asks_nothing_is_no_test(test):
    assert [grade(code, [test]).kind for code in (RIGHT, WRONG)] == ['unsupported'] * 2


def test_functions_in_the_style_of_pytest_are_called():
    tests = ['def test_one():\n    assert f(1) == 2\ndef test_two():\n    assert f(2) == 3']
    assert [grade(code, tests).passed for code in (RIGHT, WRONG)] == [True, False]


def test_all_asserts_of_a_check_run():
    asked = 'def f(x):\n    print(x)\n    return 0'
    check = 'def check(candidate):\n    assert candidate(1) == 2\n    assert candidate(2) == 3\ncheck(f)'
    assert grade(asked, [check]).stdout == '1\n2\n'


def test_a_script_cannot_hide_its_report():
    erase = ('import os\nassert f(1) == 2\nfor fd in range(3, 64):\n    try: os.ftruncate(fd, 0)\n'
             '    except OSError: pass\n')
    for ending in ('', 'os._exit(0)'):
        o = grade(RIGHT, ['assert f(1) == 2', erase + ending])
        held = (True, False), (True, 'namespaces' not in o.layers and not ending)   # It may not erase, and then passes
        assert o.judged and o.per_test in held, o


def test_a_program_does_not_set_the_flag_of_a_test():
    flag = 'try: f(-1)\nexcept ValueError: ok = True\nassert ok'
    codes = 'ok = True\ndef f(x): return x', 'def f(x): raise ValueError(x)'
    assert [grade(code, [flag]).passed for code in codes] == [False, True]


SEVEN = ('def f(*a): return 7\n'
         'Counter = OrderedDict = deque = Fraction = Decimal = date = sqrt = defaultdict = approx = expected = f\n')
TAKEN = {   # Test of f -> a wrong program that defines what the test does not import
    'assert f(1) == deque([1, 2])': SEVEN, 'assert f(1) == date(2020, 1, 1)': SEVEN, 'assert f(4) == sqrt(4)': SEVEN,
    'assert f(1) == approx(2)': SEVEN, 'assert f("aab") == Counter("aab")': SEVEN,
    'assert f(1) == MOD': SEVEN + 'MOD = 7', 'assert f(1) == pytest.approx(2)': SEVEN + 'class pytest: approx = f',
    'assert np.allclose(f(1), 2)': SEVEN + 'class np: allclose = f',
    'assert array_equal(f(1), [2])': SEVEN + 'array_equal = f', 'assert near(f(1), 2)': SEVEN + 'near = f',
    'with raises(ValueError): f(-1)': SEVEN + 'import contextlib\nraises = contextlib.nullcontext',
    'assert f(1) == Color.RED': SEVEN + 'class Color: RED = 7',
    'ok = False\ntry: f(-1)\nexcept ValueError: ok = True\nassert ok': SEVEN + 'ok = f',
    'assert all(f(n) == n for n in [1, 2])': SEVEN + 'all = f',
}


@pytest.mark.parametrize('test', TAKEN)
def test_a_program_provides_its_entry_points_and_nothing_else(test):
    "Their text alone decides what is done with the other names."
    wrong, honest = grade_many([(code, [test], 'f') for code in (TAKEN[test], 'def f(x): return x')])
    assert not wrong.passed and wrong.judged == honest.judged
    assert wrong.kind in ('assertion_failure', 'runtime_error', 'unsupported')


BUILTIN = {   # Entry point with a builtin's name -> its tests, and a right program
    'sum': (['assert sum(1, 2) == 3', 'assert abs(sum(1, 2)) == 3', 'assert max(sum(1, 2), int("3")) == 3'],
            'def sum(a, b): return a + b'),
    'filter': (['assert list(filter([3, -1])) == [3]', 'assert len(filter([-1])) == 0 or filter([])'],
               'def filter(xs): return [x for x in xs if x > 0]'),
    'all': (['assert all(x for x in [1])', 'x = list([1])\nassert all(x)'], 'def all(x): return list(x) == [1]'),
}


@pytest.mark.parametrize('name', BUILTIN)
def test_a_program_is_asked_for_a_builtin_that_is_its_entry_point(name):
    tests, right = BUILTIN[name]
    assert [grade(code, tests, function_name=name).per_test for code in ('', right)] == [
        (False,) * len(tests), (True,) * len(tests)]


def test_what_reads_problems_states_their_entry_point():
    "The function, and the classes of the reference that the baseline tests use."
    right = 'class Pair:\n    def __init__(self, a, b): self.a, self.b = a, b\ndef sum(pair): return pair.a + pair.b'
    tests = ('assert abs(sum(Pair(1, 2))) == 3', 'assert sum(Pair(1, 2)) == 3')
    problem, written = Problem('sum', 'Add.', 'def sum(pair):', tests, right), 'assert int(sum([1, 2])) == 3'
    assert passes_reference([(problem, [[*tests, written]])]) == [{tests[0]: True, tests[1]: True, written: False}]
    wrong = right.replace('+', '-') + '\ndef approx(x): return -1'
    assert grade_by_test([Job.of(problem, wrong)]) == [dict.fromkeys(tests, False)]
    jobs = [Job.of(problem, code, ['assert sum(Pair(1, 2)) == approx(3)']) for code in (right, wrong)]
    assert grade_by_test(jobs) == [None, None]


@pytest.mark.parametrize('constant', ['0 ** -1', '0j ** -1', 'bytes("x", "zlib")', 'str(b"x", "foo")', 'dict([1])',
                                      '(1,) * 10 ** 400', '1e308 * 10 ** 400', 'str(b"x", "rot13")', 'int("x")'])
def test_no_constant_of_a_model_raises(constant):
    assert isinstance(parse_tests(f'assert f({constant}) == 2', 'f'), list)


def test_a_filled_test_keeps_the_meaning_of_its_left_side():
    written = ['assert (f(-1) and 3) == 5', 'assert (not f(10)) == 5', 'assert (f(12) or f(13)) == 5']
    [filled] = fill_in_many([(RIGHT, written, 'f')])
    assert filled == ['assert (f(-1) and 3) == 0', 'assert (not f(10)) == False', 'assert (f(12) or f(13)) == 13']
    assert grade(RIGHT, filled, function_name='f').passed


def test_no_address_of_the_judge_decides():
    "Iterators are arguments of functions, and have neither a text nor a place in other data."
    makers = 'enumerate([f(1)])', 'zip([f(1)])', 'map(f, [1])', 'reversed([f(1)])', 'filter(f, [1])'
    tests = [f'assert {text} != ""' for maker in makers
             for text in (f'repr({maker})', f'str([{maker}])', f'"%s" % {maker}', f'"%s" % ({maker},)',
                          f'list({{{maker}, 1}})', f'sorted([{maker}], key=repr)')]
    tests += ['assert list(map(str, map(zip, [[f(1)]]))) != ""']
    [valid] = validate_many([(RIGHT, tests, 'f')])
    assert not any(valid), [test for test, ok in zip(tests, valid) if ok]
    honest = ['assert list(map(f, [1])) == [2]', 'assert sorted(zip([f(1)], [0])) == [(2, 0)]',
              'assert sum(map(f, [1])) == 2', 'assert dict(enumerate([f(1)])) == {0: 2}',
              'assert list(map(str, [f(1)])) == ["2"]', 'assert sorted([f(1), 0], key=str) == [0, 2]',
              'assert "%s" % f(1) == "2"', 'assert {f(1), 3} == {2, 3}']
    assert grade(RIGHT, honest, function_name='f').passed


def test_no_program_drops_files_from_memory():
    "What is in memory takes a moment to read, and what is not takes longer: later programs could tell."
    code = '''import mmap, os, resource
path = os.__file__
fd, size = os.open(path, os.O_RDONLY), os.path.getsize(path)
os.read(fd, size)
os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
held = mmap.mmap(fd, size, prot=mmap.PROT_READ)
before = resource.getrusage(resource.RUSAGE_SELF).ru_majflt
sum(held[i] for i in range(0, size, 4096))
print(resource.getrusage(resource.RUSAGE_SELF).ru_majflt - before)'''
    read = run(code)
    if not {'namespaces', 'landlock'} & set(read.layers): pytest.skip('no program opens files on this host')
    assert read.stdout == '0\n'
    if not hasattr(ctypes.CDLL(None), 'madvise'): pytest.skip('needs glibc')
    advise = 'import ctypes, mmap, os\nfd = os.open(os.__file__, os.O_RDONLY)\nlibc = ctypes.CDLL(None)\n'
    held = 'held = mmap.mmap(fd, 0, prot=mmap.PROT_READ)\n'
    asked = 'print(libc.mincore(None, 0, None), libc.madvise(ctypes.c_void_p(1), 4096, 21))\n'   # No page begins at 1
    advised = 'held.madvise(mmap.MADV_WILLNEED)\nheld.madvise(mmap.MADV_DONTNEED)\nprint(held[:1] > b"")'
    assert run(f'{advise}{held}{asked}{advised}').stdout == '-1 0\nTrue\n'


def test_tests_that_hang_take_no_other_test_with_them():
    "Each has three runs of the program before it, and then one of its own."
    hangs = 'def f(n):\n    s = 0\n    while n:\n        s += n\n        n -= 1\n    return s'
    right = [f'assert f({n}) == {n * (n + 1) // 2}' for n in (1, 2, 3)]
    endless = [f'assert f({-n}) == 0' for n in range(1, 7)]
    o = grade(hangs, [*endless, *right], Limits(5., 1), 'f')
    assert o.per_test == (False,) * 6 + (True,) * 3 and o.judged and o.kind == 'timeout'


def test_a_message_makes_no_row_of_the_table():
    from adversarial_rl.grader.__main__ import table
    tests = ['assert f(1) == 2', 'assert f(2) == 3']
    o = grade('def f(x): raise ValueError("x\\npassed  assert f(2) == 3\\nsuccess: 2 of 2 tests passed")', tests)
    lines = table(o, tests).splitlines()
    assert [line for line in lines if not line.startswith(' ')][-1].startswith('runtime_error: 0 of 2')
    assert not any(line.startswith(('passed', 'success')) for line in lines)


def test_a_row_of_the_table_says_when_many_statements_are_one_test():
    from adversarial_rl.grader.__main__ import table
    tests = ['n = 1\nassert f(n) == 2\nassert f(3) == 4', 'import math\nassert f(math.pi) > 4']
    rows = table(grade(RIGHT, tests), tests).splitlines()
    assert rows[:2] == ['passed  n = 1 ... (3 lines that count as one test)', 'passed  assert f(math.pi) > 4']


@pytest.mark.parametrize('tests', ['', ' \n', '# none', 5, None])
def test_a_text_without_a_test_passes_nothing(tests):
    "The tests of a row that were lost."
    with pytest.raises(ValueError): grade(RIGHT, tests)


LITERALS = '9' * 400 + ' + 1j', '9' * 400 + ' - 0j', '9' * 5000, '-' * 150 + '1', '1e999j * 1e999'


@pytest.mark.parametrize('number', LITERALS)
def test_no_literal_of_a_model_raises(number):
    for text in f'assert f({number}) == 2', f'assert f(1) == {number}', f'assert f(1) == 2 and {number}':
        parse_tests(text, 'f')
        assert grade(RIGHT, [text, 'assert f(1) == 2'], function_name='f').kind != 'infra_error'


SETS = """list({(None, f(102)), 3, 7, 11})[2] == 3
list({(None, 1), (1, 1), (2, f(1))})[1] == (1, 1)
list({1e309 - 1e309, f(134), 3, 7, 11})[1] == 135
str({(int, f(1)), 3, 7}) > ''
list(map(list, [{None, 'a', f(1)}]))
sorted([{len, f(1), 7}], key=repr)
dict(map(set, [[None, f(1)]]))
repr([f(1), ({None, 's'}, 2)])
sum({f(1), 1e309 - 1e309}) != 2
max([{None, f(1)}], key=list)
'%s' % [{None, f(1)}]
list(zip({None, f(1)}))
tuple(enumerate({f(1), int}))
list({frozenset([None]), f(1)})
list({range(1), f(1), 3})
math.fsum({f(1), 1e309 - 1e309}) != 2
math.prod({f(1), 1e309 - 1e309}) != 2""".splitlines()


@pytest.mark.parametrize('look', SETS)
def test_no_set_shows_an_order_that_follows_from_addresses(look):
    kept = parse_tests(f'assert {look}', 'f')
    assert kept and not any(grade(RIGHT, kept, function_name='f').per_test)


def test_no_set_shows_the_address_of_a_view():
    views = 'def f(d): return d.values()'
    assert not any(grade(views, [f'assert list({{f({{1: 2}}), {more}}})' for more in ('3', '3, 7')]).per_test)
    assert grade(views, ['assert list(f({1: 2})) == [2]', 'assert len({f({1: 2}), 3}) == 2']).passed


def test_a_second_run_can_take_back_what_the_first_one_gave(monkeypatch):
    "A test runs alone in it where the others may matter; a function of the program may be given to another one."
    runs = []
    def once(jobs, limits=None, safely=False):
        runs.append(jobs)
        return [[len(runs) == 1] * len(job.tests) for job in jobs]
    monkeypatch.setattr(suites, 'reference_results', once)
    luck = 'import random\ndef f(x): return random.choice([2, 3])'
    tests = ['assert f(1) == 2', 'assert f(2) == 3', 'assert f(1) == 2 and max(map(f, [f])) > "<function f at 0x7f8"']
    assert validate_many([(luck, tests, 'f'), (RIGHT, tests, 'f')]) == [[False] * 3] * 2
    alone = [[len(group) for group in job.groups if group] for job in runs[1]]
    assert alone == [[1, 1, 1], [1]]   # The two others of the right program run together


def test_sets_whose_order_no_address_decides_are_plain_data():
    tests = ['len({None, f(1)}) == 2', '{None, f(1)} == {2, None}', 'None in {None, f(1)}', 'list({f(1)}) == [2]',
             "list({f(1), 'a'}) == list({f(1), 'a'})", 'str({f(1)}) == "{2}"', 'sorted({3, f(1)}) == [2, 3]',
             'list({None}) == [None] and f(1)', 'sum({f(1), 3}) == 5', 'list(map(len, [{None, f(1)}, {2}])) == [2, 1]',
             'dict(zip("ab", [f(1), 3])) == {"a": 2, "b": 3}']
    assert all(grade(RIGHT, [f'assert {test}' for test in tests], function_name='f').per_test)


def test_no_valid_test_is_near_a_limit():
    "What an earlier program left in the judge, or a busy machine, would decide it."
    limits = Limits(cpu_seconds=2, memory_mb=256)
    def room(mb): return f'assert f(1) == 2 and len(bytes({mb} * 2 ** 20)) > 0'
    assert validate_many([(RIGHT, [room(50), room(200)], 'f')], limits) == [[True, False]]
    assert grade(RIGHT, [room(200)], limits, function_name='f').passed
    slow = 'import time\ndef f(x):\n    while time.process_time() < x: pass\n    return x + 1'
    assert validate_many([(slow, ['assert f(0.1) == 1.1', 'assert f(1.6) == 2.6'], 'f')], limits) == [[True, False]]


def test_threads_that_parse_leave_the_filters_of_warnings():
    before = list(warnings.filters)
    with ThreadPoolExecutor(4) as threads:
        list(threads.map(lambda n: parse_tests(f'assert f({n}) == {n + 1}', 'f'), range(3000)))
    assert warnings.filters == before


@pytest.mark.parametrize('calls, filled', [(40, True), (200, False)])
def test_a_test_that_is_nested_too_deeply_is_not_filled(calls, filled):
    deep = 'assert ' + 'f(' * calls + '1' + ')' * calls + ' == 0'
    job = Job(RIGHT, (deep, 'assert f(1) == 0', 'assert 1 < f(1) == 0'), entry_points=('f',))
    told = deep.replace('== 0', f'== {calls + 1}') if filled else None
    assert fill_in_many([job]) == [[told, 'assert f(1) == 2', None]]


ODD = 'f"{\'\u200b\'}"'   # Before Python 3.12 nothing writes this back
UNREADABLE = [f'assert f(1) == 2\n{ODD}()', f'{ODD}.run()\nassert f(1) == 2', f'assert f(1) == {ODD}']


@pytest.mark.parametrize('test', UNREADABLE)
def test_no_text_of_a_test_ends_its_caller(test):
    parse_tests(test, 'f')
    for tests in [test], [test, CHECKS[0]], [CHECKS[0], test]:
        kind = grade(WRONG, tests, function_name='f').kind   # From 3.12 on the text is read, and its call is an error
        assert kind in ('assertion_failure', 'unsupported', 'runtime_error')
    assert grade(WRONG, [test, CHECKS[0]], function_name='f').per_test[1] is False


def test_a_short_test_with_long_constants_is_no_test():
    "Its inputs written out would fill the memory of whoever compares them."
    long = ', '.join(['[1] * 999'] * 40)
    assert parse_tests(f'assert f({long}) == 0', 'f') == []
    assert parse_tests(f"assert f(1) == 2 and {' and '.join(f'f([{n}] * 999)' for n in range(40))}", 'f') == []
    assert len(parse_tests('assert f([1] * 999) == 0', 'f')) == 1


def test_sockets_tell_no_count():
    code = '''import asyncio, socket
a, b = socket.socketpair()
print(a.family.name, a.type.name, a.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR), asyncio.run(asyncio.sleep(0, 5)))
try: print(a.getsockopt(socket.SOL_SOCKET, 57, 8))
except PermissionError: print('refused')'''
    report = run(code)
    if 'seccomp' not in report.layers: pytest.skip('needs filters')
    assert report.stdout == 'AF_UNIX SOCK_STREAM 0 5\nrefused\n'


def test_a_function_of_the_reference_is_not_asked_of_a_program():
    "As HumanEval's poly, which judges what find_zero returns."
    reference = 'def poly(x): return x - 1\ndef find(): return 1'
    problem = Problem('find', 'A zero.', 'def find():', ('assert poly(find()) == 0',), reference)
    o = grade_many([Job.of(problem, 'def poly(x): return 0\ndef find(): return 7')])[0]
    assert not o.judged and 'poly' in o.message


@pytest.mark.parametrize('text', ['\n' * 40_000, '\n \t' * 20_000 + '\n'], ids=['lines', 'spaces'])
def test_blank_lines_cost_little(text):
    "A search that began at each line and ran over all that follow would take minutes."
    extract_code(text, 'f')
    assert grade(RIGHT, [f'{text}assert f(1) == 2']).passed


SQUARE, OWN_TESTS = 'def f(x): return x * x + 3', tuple(f'assert f({n}) == {n * n + 3}' for n in (1, 2, 5, 9))
TOLD = '''told = {}
def f(x):
    if isinstance(x, float): told[int(x)] = round(x % 1 * 10000)
    return told.get(x, 0)'''
CACHED = 'memo = {}\ndef f(x):\n    if x not in memo: memo[x] = str(x)\n    return memo[x]'


def test_no_test_of_a_model_tells_the_answers_of_a_problems_own():
    problem = Problem('f', 'A square and three.', 'def f(x):', OWN_TESTS, SQUARE)
    hints = [f'assert f({n}.{n * n + 3:04d}) or True' for n in (1, 2, 5, 9)]
    jobs = [Job.of(problem, f'{TOLD}  # {n}', [*hints, *OWN_TESTS]) for n in range(10)]
    assert not any(row[test] for row in grade_by_test(jobs) for test in OWN_TESTS)


def test_no_test_of_a_model_fills_the_cache_that_a_problems_own_read():
    own = tuple(f'assert f({n}) == "{n}"' for n in (1, 2, 5))
    problem = Problem('f', 'A text.', 'def f(x):', own, 'def f(x): return str(x)')
    others = [f'assert f({n}.0) == "{n}.0"' for n in (1, 2, 5)]
    jobs = [Job.of(problem, f'{CACHED}  # {n}', [*others, *own]) for n in range(10)]
    assert all(row[test] for row in grade_by_test(jobs) for test in own)


def accepted_suites(problem, *texts):
    [suites] = judge_suites([problem], [[parse_tests(text, 'f') for text in texts]])
    assert all(all(suite.accepted) for suite in suites)
    return [suite.usable for suite in suites]


def test_no_test_tells_the_answers_of_another_authors():
    problem = Problem('f', 'A square and three.', 'def f(x):', OWN_TESTS, SQUARE)
    hints, rival = accepted_suites(problem, '\n'.join(f'assert f({n}.{n * n + 3:04d})' for n in (3, 4, 6, 7)),
                                   '\n'.join(f'assert f({n}) == {n * n + 3}' for n in (3, 4, 6, 7)))
    jobs = [Job.of(problem, f'{TOLD}  # {n}', [*hints, *rival], suites=[hints, rival]) for n in range(10)]
    assert not any(row[test] for row in grade_by_test(jobs) for test in rival)


def test_no_test_fills_the_cache_that_another_authors_read():
    "Neither that of a program, nor that of a reference: then rivals would seem invalid."
    problem = Problem('f', 'A text.', 'def f(x):', ('assert f(1) == "1"',), CACHED)
    groups = [[f'assert f({n}.0) == "{n}.0"' for n in range(9)], [f'assert f({n}) == "{n}"' for n in range(9)]]
    assert passes_reference([(problem, groups)] * 2) == [{t: True for group in groups for t in sorted(group)}] * 2
    jobs = [Job.of(problem, f'{CACHED}  # {n}', [t for x in groups for t in x], suites=groups) for n in range(10)]
    assert all(all(row.values()) for row in grade_by_test(jobs))


# --- What a program looked up, the next one must not notice

NAMES = """import os, random, time
rng = random.Random({seed})
def names(bit): return [f'{{FOLDER}}/{seed}-{{bit}}-{{n}}' for n in range(5)]
def took(path):
    start = time.perf_counter()
    try: os.stat(path)
    except OSError: pass
    return time.perf_counter() - start
folders = [os.path.dirname(os.__file__), '/usr/lib/x86_64-linux-gnu', '/usr/lib', '/usr/share/zoneinfo', '/', '/dev',
           os.getcwd(), os.path.dirname(os.getcwd())]
for FOLDER in filter(os.path.isdir, folders):
    sent = [rng.randrange(2) for _ in range(100)]
"""
SAY = NAMES + """
    for bit, value in enumerate(sent):
        for path in names(bit) if value else (): took(path)"""
HEAR = NAMES + """
    middle = lambda times: sorted(times)[len(times) // 2]
    for n in range(50): took(f'{{FOLDER}}/known')
    known = middle([took(f'{{FOLDER}}/known') for _ in range(99)])
    edge = (known * middle([took(f'{{FOLDER}}/{seed}-new-{{n}}') for n in range(99)])) ** .5
    print(sum((middle([took(path) for path in names(bit)]) < edge) == value for bit, value in enumerate(sent)))"""
FOLDERS = """import ctypes, os, sys
libc, facts, kinds = ctypes.CDLL(None), ctypes.create_string_buffer(256), set()
tops = [*sys.path, *PLACES, '/usr/share', '/usr/lib', '/lib', '/lib64', '/dev', '/etc', os.getcwd()]
above = {path[:i] or '/' for path in tops for i, c in enumerate(path + '/') if c == '/'}
for folder in above | {folder for top in tops for folder, _, _ in os.walk(top)}:
    if not libc.statfs(folder.encode(), facts): kinds.add(int.from_bytes(facts.raw[:8], sys.byteorder))
print([hex(kind) for kind in sorted(kinds)], os.path.isfile(os.__file__))"""


def test_looking_up_a_name_leaves_nothing_for_the_next_program():
    """Where there are namespaces; the kernel remembers a name that no file has, and finds it sooner the next time.

    Then 100 of 100 bits are heard in each folder. Caches of the processor once told up to 85, and mostly tell none."""
    with Sandbox(1) as s:
        for _ in range(3):
            seed = time.time_ns()   # The kernel may remember the names of an earlier run
            report, heard = s.map([Job(text.format(seed=seed)) for text in (SAY, HEAR)])
            if 'namespaces' not in heard.layers: pytest.skip('needs namespaces')
            right = list(map(int, heard.stdout.split()))
            assert len(right) >= 4 and report.steps == (Step('ok'),), (report, heard)
            assert sum(right) / len(right) < 90, right   # Of 100; without a channel 50


def test_no_folder_that_a_program_sees_is_one_of_this_machine():
    "All are in memory (`tmpfs`), where the kernel remembers no name that was looked up in vain."
    places = [os.path.dirname(os.__file__), '/usr/share/zoneinfo', *map(os.path.dirname, shared_libraries([]))]
    with Sandbox(1) as s: report, = s.map([Job(f'PLACES = {places}\n{FOLDERS}')])
    if 'namespaces' not in report.layers: pytest.skip('needs namespaces')
    assert report.stdout == "['0x1021994'] True\n", report


class Answers(Rehearsal):
    "A link to a program that answers 1, which notes what happens in order."
    def __init__(self, events):
        self.events = events
        super().__init__(['compiled'], ['ready'], *[['value', 1, [], []]] * 9)

    def send(self, form):
        self.events.append('sent')


def test_nothing_of_a_verdict_comes_before_the_last_question(monkeypatch):
    "A program could time it."
    events, compare = [], FUNCTIONS['Eq']
    monkeypatch.setitem(FUNCTIONS, 'Eq', lambda x, y: events.append('decided') or compare(x, y))
    tests = [plan(test, ('f',)) for test in ('assert f(1) == 2', 'assert f(2) == 1 or f(3) == 1',
                                             'assert not f(4) == f(5)', 'assert 1 == f(6)')]
    judge(Answers(events), tests, lambda kind, *_: events.append(kind))
    verdicts = [n for n, event in enumerate(events) if event in ('decided', 'ok', 'assertion_failure')]
    last = max(n for n, event in enumerate(events) if event == 'sent')
    assert events.count('sent') == 6 and [n for n in verdicts if n < last] == [0]   # That of the program itself
    assert [events[n] for n in verdicts[1:]].count('decided') == 5



LOOPS = ['def check(candidate):\n    for a, b in [(1, 2), (2, 3), (3, 4)]:\n        assert candidate(a) == b\ncheck(f)',
         'for n in range(1, 4):\n    assert f(n) == n + 1, f"{f(n)} for {n}"',
         'import unittest\nclass T(unittest.TestCase):\n    def test(self):\n'
         '        for n in 1, 2, 3: assert f(n) == n + 1']


@pytest.mark.parametrize('loop', LOOPS, ids=['function', 'module', 'case'])
def test_a_loop_of_a_script_asks_all_whatever_it_is_answered(loop):
    wrong, right = (grade(f'def f(x):\n    print(x)\n    return {value}', [loop], function_name='f')
                    for value in (0, 'x + 1'))
    assert (wrong.stdout, wrong.passed) == (right.stdout, False) == ('1\n2\n3\n', not right.passed)


def test_a_failure_that_a_script_expects_is_raised():
    expects = ('def check():\n    assert f(1) == 3\n'
               'try:\n    check()\n    ok = False\nexcept AssertionError: ok = True\nassert ok')
    assert grade(RIGHT, [expects], function_name='f').passed


def test_a_judge_that_does_not_come_to_decide_takes_no_test_with_it():
    "Only the test that it was busy with fails; that it has answered the others is no verdict."
    o = grade(RIGHT, [*CHECKS, 'assert f(1) == sum(range(10**10))', 'assert f(7) == 8', 'assert f(8) == 0'],
              QUICK, function_name='f')
    assert o.per_test == (True, True, False, True, False) and o.kind == 'timeout'


EQUAL_INPUTS = {
    'order of a dictionary': ['{1: 2, 3: 4}', '{3: 4, 1: 2}', 'dict([(3, 4), (1, 2)])', '{1.0: 2, 3: True + 3}'],
    'order of a set': ['{8, 0, 16}', '{16, 8, 0}', 'frozenset([0, 16, 8])', 'set([False, 16.0, 8])'],
    'inside of others': ['[({0, 8}, {1: 2, 3: 4})]', '[({8, 0}, {3: 4, 1: 2})]'],
    'numbers': ['5', '5.0', '5 + 0j', 'complex("5")'],
    'zero': ['0', '-0.0', '0j', '-0j', 'False'],
    'large numbers': ['10**16', '1e16', 'float(10**16)'],
    'empty ranges': ['range(0)', 'range(1, 1)', 'range(5, 0)'],
    'ranges': ['range(0, 4, 3)', 'range(0, 5, 3)', 'range(0, 6, 3)'],
    'ranges of one': ['range(2, 3)', 'range(2, 9, 7)', 'range(2, 1, -1)']}


@pytest.mark.parametrize('name', EQUAL_INPUTS)
def test_equal_inputs_count_once(name):
    texts = EQUAL_INPUTS[name]
    assert len({repr(eval(x) == eval(texts[0])) for x in texts}) == 1
    assert len(parse_tests('\n'.join(f'assert f({x}) == 0' for x in texts), 'f', 99)) == 1


def test_different_inputs_count_each():
    texts = ['1', '"1"', '[1]', '(1,)', '{1}', '{1: 1}', '1.5', '1j', 'None', '""', '[]', '()', '{}', 'set()', 'b"1"',
             'range(0)', 'range(1)', 'range(2)', 'range(0, 4, 2)', 'range(1, 2)', '1e300', 'float("inf")',
             'float("nan")', '{1: 2}', '((1,),)']
    assert len(parse_tests('\n'.join(f'assert f({x}) == 0' for x in texts), 'f', 99)) == len(texts)


def test_many_calls_in_one_test_are_no_test():
    "They took ten seconds to read."
    def nested(n): return f"assert {'f(' * n}1{')' * n} == 1"
    assert parse_tests(nested(21), 'f') == [] and parse_tests(nested(20), 'f') == [nested(20)]


UNSTATED = {   # Not stated, not imported -> a wrong program's own
    'approx': ('assert f(1) == approx(2)', 'def approx(x): return 0'),
    'np': ('assert np.allclose(f(1), 2)', 'class np: allclose = lambda *x: True'),
    'deque': ('assert f(1) == deque([2])', 'def deque(x): return 0'),
    'isclose': ('assert isclose(f(1), 2.5 - .5)', 'def isclose(*x): return True'),
    'raises': ('with pytest.raises(ValueError): f(1)', 'class pytest:\n    class raises:\n'
               '        def __init__(self, *x): pass\n        def __enter__(self): pass\n'
               '        def __exit__(self, *x): pass')}


@pytest.mark.parametrize('name', UNSTATED)
def test_a_well_known_name_is_not_taken_from_a_program_without_stated_entry_points(name):
    test, provides = UNSTATED[name]
    assert not grade(f'def f(x): return 0\n{provides}', [test]).passed


def test_a_well_known_name_may_be_the_function_under_test():
    assert grade('def isclose(a, b): return a == b', ['assert isclose(1, 1)']).passed
    assert grade('from collections import deque\ndef f(x): return deque([x])', ['assert f(1) == deque([1])']).passed


HONEST = {
    'a match': ('import re\ndef f(s): return re.search("a+", s)',
                'm = f("baa")\nassert m.start() == 1 and m.end() == 3 and m.group() == "aa"'),
    'matches': ('import re\ndef f(s): return re.finditer("a", s)',
                'assert [m.start() for m in f("banana")] == [1, 3, 5]'),
    'a time': ('import time\ndef f(x): return time.gmtime(x)',
               'assert f(0).tm_year == 1970 and f(0)[:3] == (1970, 1, 1)'),
    'a zone of a time': ('import time\ndef f(x): return time.gmtime(x)', 'assert f(0).tm_zone in ("UTC", "GMT")'),
    'source of a function': ('import inspect\ndef f(x):\n    return inspect.getsource(f)',
                             'assert f(1).startswith("def f(x)")'),
    'source of a class': ('import inspect\nclass A:\n    x = 1\ndef f(x): return inspect.getsource(A)',
                          'assert f(1) == "class A:\\n    x = 1\\n"')}


@pytest.mark.parametrize('name', HONEST)
def test_honest_objects_of_the_library_work(name):
    program, test = HONEST[name]
    o = grade(program, [test], function_name='f')
    assert o.passed, o


def test_a_value_that_is_never_compared_to_its_end_fails_its_test_alone():
    "The judge is ended while it decides: the test it was at fails, others keep their verdicts or are asked again."
    program = 'def f(x): return range(10 ** 18) if x == 3 else x + 1'
    tests = ['assert f(1) == 2', 'assert 4.5 in f(3)', 'assert f(7) == 8', 'assert f(8) == 0']
    brief = QUICK._replace(wall_seconds=1, cpu_seconds=1)
    for n in range(2):
        o = grade(f'{program}  # {n}', tests, brief, function_name='f')
        assert (o.per_test, o.passed) == ((True, False, True, False), False)
    o = grade(program, tests[1:2], brief, function_name='f')
    assert (o.kind, o.per_test) == ('timeout', (False,))


# --- A valid test holds for every program that equals the reference

def twins(code, n=8): return [f'{code}\n# {k}' for k in range(n)]


def test_a_valid_test_needs_little_of_the_time_that_grading_may_give():
    "Two slow tests of one suite would stop every program, the reference's too; a fifth of the time must do."
    slow = ('import time\n'
            'def f(x):\n'
            '    start = time.process_time()\n'
            '    while time.process_time() - start < x: pass\n'
            '    return x')
    tests = [f'assert f({x}) == {x}' for x in (.02, .8, 2.3, 2.85)]
    assert validate_many([(slow, tests, 'f')]) == [[True, False, False, False]]


def test_the_time_of_a_decision_counts():
    "A comparison that is slow in the judge costs the program nothing, but it takes of the time that all tests share."
    slow = [f'assert f({n}) == {n + 1} and 0.5 not in range(10**8)' for n in range(2)]
    assert validate_many([(RIGHT, [*slow, 'assert f(5) == 6'], 'f')], QUICK) == [[False, False, True]]
    assert grade(RIGHT, slow[:1], QUICK, function_name='f').test_seconds[0] > .5


def test_a_valid_test_needs_no_other_test():
    "A deep recursion works where an earlier test has filled the cache; each valid one works first, too."
    fib = ('def f(n, memo={}):\n'
           '    if n < 2: return n\n'
           '    if n not in memo: memo[n] = f(n - 1) + f(n - 2)\n'
           '    return memo[n]')
    values = [0, 1]
    while len(values) < 900: values.append(values[-1] + values[-2])
    for more in range(6):
        tests = [f'assert f({n}) == {values[n]}' for n in (200, 400, *range(10, 10 + more))]
        [flags] = validate_many([(fib, tests, 'f')])
        assert flags == [True, False] + [True] * more
        usable = [t for t, ok in zip(tests, flags) if ok]
        assert all(o.passed for o in grade_many([(code, usable, 'f') for code in twins(fib)]))


def test_a_valid_test_is_far_from_the_deepest_recursion():
    plain = 'def f(n): return 1 + f(n - 1) if n else 0'
    helped = 'def g(n): return f(n)\ndef f(n): return 1 + g(n - 1) if n else 0'
    spread = 'def f(n): return max(1 + m for _ in [n] for m in [f(n - 1)]) if n else 0'
    tests = [f'assert f({n}) == {n}' for n in (200, 450, 700, 960)]
    assert grade(plain, tests, function_name='f').passed
    assert validate_many([(plain, tests, 'f')]) == [[True, False, False, False]]
    assert grade(helped, tests, function_name='f').per_test == (True, True, False, False)
    assert grade(spread, tests[:1], function_name='f').passed


def test_filled_values_are_checked_as_tests_are():
    "Neither chance nor a lack of memory can make the value that a reference filled in fail its equals."
    def usable(code, *tests):
        problem = Problem('f', 'Something.', 'def f(x):', ('assert f(0) == 0',), code)
        [[suite]] = judge_suites([problem], [[list(tests)]], fill=True)
        return suite.usable
    luck = 'import random\ndef f(x): return random.sample(range(1000), x)'
    large = 'def f(x): return len(bytes(x))'
    assert usable(luck, 'assert f(5) == 0') == []
    assert usable(large, f'assert f({440 << 20}) == 0', 'assert f(7) == 0') == ['assert f(7) == 7']


def test_no_iterator_of_a_library_shows_its_address():
    code = 'from collections import deque\ndef f(x): return deque([x])'
    for look in ('repr(reversed(f(1))) > ""', 'str([reversed(f(1))]) > ""', 'repr(iter(f(1))) > ""'):
        tests = parse_tests(f'assert {look}', 'f')
        assert not tests or not any(grade(code, tests, function_name='f').per_test)
    assert grade(code, ['assert list(reversed(f(1))) == [1]'], function_name='f').passed


@pytest.mark.parametrize('test', [
    'ok = False\ntry:\n    f(-1)\nexcept Exception:\n    ok = True\nassert ok',
    'from contextlib import suppress\nwith suppress(Exception): f(-1)\nassert True',
    'import unittest\nclass T(unittest.TestCase):\n    def test(self):\n'
    '        with self.assertRaises(Exception): f(-1)'])
def test_a_program_without_the_function_is_not_masked(test):
    "It was, by a script that catches any exception, and so had no negative reward for its other tests."
    outcome = grade('def g(x): return x + 1', ['assert f(1) == 2', test], function_name='f')
    assert outcome.judged and not outcome.per_test[0]


@pytest.mark.parametrize('name', ['Point', 'point', 'Grid_point'])
def test_a_program_provides_one_side_of_a_comparison(name):
    "However the class is called."
    pair = f'from typing import NamedTuple\nclass {name}(NamedTuple):\n    x: int\n    y: int\n'
    problem = Problem('f', 'A square.', 'def f(n):', (f'assert f(3) == {name}(3, 9)',),
                      f'{pair}def f(n): return {name}(n, n * n)')
    cheat = f'def f(n): return 0\ndef {name}(*_): return 0'
    assert [o.kind for o in grade_many([Job.of(problem), Job.of(problem, cheat)])] == ['unsupported'] * 2


@pytest.mark.parametrize('code, test', [
    ('def f(n): return [[0] * n] * n', 'x = f(2)\nx[0][0] = 1\nassert x == [[1, 0], [0, 0]]'),
    ('def f(x): return list(x)', 'x = [[1], [2]]\ny = f(x)\ny[0].append(9)\nassert x == [[1], [2]]'),
    ('def f(x): return x', 'x = [1, 2]\ny = f(x)\ny.append(3)\nassert x == [1, 2]')])
def test_what_a_result_shares_is_shared_in_the_judge(code, test):
    "In itself, and with the arguments; each was a copy, and programs that share what they must not passed."
    outcome = grade(code, [test], function_name='f')
    assert outcome.judged and not outcome.passed


@pytest.mark.parametrize('places', [None, 1, [1], [[[0], [1, 9]]], [[[5], [1]]], [[['a'], [1]]], [[[0], []]]])
def test_a_program_shares_nothing_of_the_judge_but_its_result(places):
    call, result = Call(Rehearsal()), [[1]]
    with pytest.raises(Refused): call.shared([[2], result], places)
    assert result == [[1]] and isinstance(call.problem, Refused)


@pytest.mark.parametrize('values, places', [
    ([[[1]]], [[[0], [0, 0]]]), ([[1], [2]], [[[0], [1]]]), ([[1], (1,)], [[[0], [1]]])])
def test_a_result_shares_what_is_equal(values, places):
    "Neither itself, nor another value in place of its own."
    before = repr(values[-1])
    assert repr(Call(Rehearsal()).shared(values, places)) == before
    alike = [[1], [1]]
    assert Call(Rehearsal()).shared(alike, [[[1], [0]]]) is not alike[0]   # Nothing takes an argument's place
    assert Call(Rehearsal()).shared(alike, [[[0], [1]]]) is alike[0]


def test_no_program_is_masked_by_a_class_that_it_makes_an_exception():
    "The judge then has a class of its own in its place, and asked the program nothing."
    for test in ('p = Point(3, 4)\nassert isinstance(p, Point)\nassert f(p) == 5',
                 'try: f(Point(3, 4))\nexcept Point: pass\nassert f(Point(3, 4)) == 5',
                 'def check(kind):\n    try: assert f(kind(3, 4)) == 5\n    except kind: pass\ncheck(Point)'):
        cheat = 'class Point(Exception): pass\ndef f(p): return 7'
        outcome = grade(cheat, [test], function_name=['f', 'Point'])
        assert outcome.judged and not outcome.passed, test


@pytest.mark.parametrize('code', [
    'class L(list):\n    def m(self): pass\n    def __iter__(self): return iter([])\ndef f(x): return L(x)',
    'class L(list):\n    def m(self): pass\n    def __getitem__(self, i): return 0\ndef f(x): return L(x)',
    'class L(list):\n    def m(self): pass\n    def sort(self): pass\n    def __eq__(self, x): return True\n'
    'def f(x): return L(x)'])
def test_a_container_that_lies_about_itself_is_judged_by_its_items(code):
    test = ('x = f([3, 1, 2])\nassert len(x) == 3\nassert all(x[i] <= x[i + 1] for i in range(2))\n'
            'assert sorted(x) == [1, 2, 3]')
    outcome = grade(code, [test, 'x = f([3, 1, 2])\nassert x == [1, 2, 3]'], function_name='f')
    assert outcome.judged and not any(outcome.per_test)


def test_a_class_with_a_small_name_may_be_used():
    problem = Problem('f', 'A pair.', 'def f(x):', ('assert f(pair(1, 2)) == 3',),
                      'class pair:\n    def __init__(self, a, b): self.a, self.b = a, b\ndef f(x): return x.a + x.b')
    assert grade_many([Job.of(problem)])[0].passed


def test_a_model_gives_a_function_no_iterator():
    text = ('assert f(map(abs, [1, 2 + 0 * f([])])) == 5\nassert f([1, f([2])]) == 5\n'
            'assert f(f([1])) == 1\nassert f([2] * 2) == 8')
    assert parse_tests(text, 'f') == ['assert f([1, f([2])]) == 5', 'assert f(f([1])) == 1', 'assert f([2] * 2) == 8']


@pytest.mark.parametrize('frames', [0, 20, 60])
def test_no_depth_makes_a_test_of_a_model_a_script(frames):
    "Neither that of the text nor that of who asks: what was read as data stays data."
    def deeper(n, ask): return ask() if n == 0 else deeper(n - 1, ask)
    for minuses in range(2, 400, 6):
        text = f'assert {"- " * minuses}f(1) == 2'
        kept = deeper(frames, lambda text=text: parse_tests(text, 'f'))
        assert bool(kept) == (minuses <= 54)
        assert all(isinstance(deeper(frames + 100, lambda t=t: plan(t, ('f',))), list) for t in kept)


LIES = '''
import sys
def host():
    frame = sys._getframe()
    while frame:
        for x in frame.f_locals.values():
            if type(x).__name__ == 'Host': return x
        frame = frame.f_back
class Yes:
    def __getattr__(self, name): return Yes()
    def __call__(self, *args): return Yes()
    def __eq__(self, other): return True
    def __iter__(self): return iter([Yes()])
    def __len__(self): return 1
    def __getitem__(self, key): return Yes()
def lie():
    h = host()
    h.lend = lambda x: [h.lent.append(x) or len(h.lent) - 1, 'object', 'Yes', ['KIND']]
def f(x): lie(); return Yes()
class A:
    def __init__(self): self.items = Yes(); lie()
'''

@pytest.mark.parametrize('kind', ['dict', 'list', 'set', 'map', 'ValueError', 'generator'])
def test_a_program_gains_nothing_by_the_class_that_it_claims(kind):
    changes = 'a = A()\na.items.append(1)\nassert '
    tests = ['assert f(1) == 2', 'assert set(f(1)) == {2}', 'assert sorted(f(1)) == [2]', 'assert dict(f(1)) == {1: 2}',
             'assert isinstance(f(1), int)', 'assert 2 in f(1)', 'r = f(1)\nassert r.x == 3',
             'a = A()\na.items[0] = 1\nassert 5 in a.items', *[changes + x for x in (
                 'a.items == [1, 2]', 'a.items.count(3) == 4', 'sorted(a.items) == [3]', '[x for x in a.items] == [7]',
                 'a.items[0] == 9 and a.items[1:] == [3]')]]
    o = grade(LIES.replace('KIND', kind), tests, function_name=['f', 'A'])
    assert o.judged and not any(o.per_test) and o.seconds < 10, o


HELD = '''import array, socket
a, b = socket.socketpair()
def f(x):
    rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array('i', [0] * 250))]
    try: return a.sendmsg([b'x'], rights)
    except PermissionError: return 'refused'
def g(): return a.send(b'hello'), b.recv(9)'''


def test_no_program_keeps_descriptors_on_the_way():
    "The kernel counts them for all processes of a user, and then refuses those of templates."
    with Sandbox(1) as s:
        o = grade_many([(HELD, ["assert f(1) == 'refused'", "assert g() == (5, b'hello')"], ['f', 'g'])], sandbox=s)[0]
    if 'seccomp' not in o.layers: pytest.skip('needs filters')
    assert o.passed, o.messages


THREADS = '''import threading
threading.stack_size(1 << 15)
go, n = threading.Event(), 0
def f():
    global n
    try:
        while n < 1000:
            threading.Thread(target=go.wait, daemon=True).start()
            n += 1
    except RuntimeError: pass
    go.set()
    return n'''


def test_a_program_cannot_use_up_the_threads_of_its_user():
    "Whatever other processes that user has, a program may start some, but not all that are left."
    with Sandbox(1) as s: o = grade_many([(THREADS, ['f()'], 'f')], sandbox=s)[0]
    if os.getuid() == 0 and not {'namespaces', 'user'} & set(o.layers): pytest.skip('the kernel counts none of root')
    assert o.passed and 100 < int(o.messages[0]) < 200, o


CLIMBER = '''import threading, time
threading.stack_size(1 << 15)
go, n = threading.Event(), 0
def f():
    global n
    end = time.time() + .5
    while n < 1000 and time.time() < end:
        try: threading.Thread(target=go.wait, daemon=True).start()
        except RuntimeError: time.sleep(.002)
        else: n += 1
    go.set()
    time.sleep(.2)
    return n'''


def test_programs_side_by_side_do_not_raise_the_limit_of_threads():
    "Each begins while another holds threads, which its template counts as threads of somebody else."
    with Sandbox(2) as s:
        outcomes = grade_many([(f'{CLIMBER}  # {n}', ['f()'], 'f') for n in range(8)], sandbox=s)
    o = outcomes[0]
    if os.getuid() == 0 and not {'namespaces', 'user'} & set(o.layers): pytest.skip('the kernel counts none of root')
    most = max(int(o.messages[0]) for o in outcomes)
    assert most < 200 + 128 * (os.cpu_count() or 1), most


def test_a_program_queues_few_signals():
    "The kernel counts those that wait for all processes of a user, and then refuses timers."
    code = 'import resource\ndef f(): return resource.getrlimit(resource.RLIMIT_SIGPENDING)'
    o = grade(code, ['assert f() == (64, 64)'])
    assert o.passed, o


def test_templates_of_a_pool_are_different_users():
    users = [own_user(f'/tmp/sandbox-abc/{n}') for n in range(4000)]
    assert len(set(users)) == 4000 and min(users) >= 61000 and max(users) < 65534


def test_a_machine_on_which_every_judge_is_lost_is_none_that_runs_programs(monkeypatch):
    "So the program that met it is no failure."
    with Sandbox(1) as s:
        s.pids()
        monkeypatch.setattr(Template, 'send', lambda *_: Report(started=True, killed='judge'))
        report, = s.map([Job(RIGHT, (CHECKS[0],))])
    assert report.error and report.machine


def test_a_reference_that_lost_its_judge_is_asked_again():
    job, known, outcomes = Job(WRONG, tuple(CHECKS), reference=RIGHT), {}, iter(['crash', 'success'])
    def grade_all(jobs):
        kind = next(outcomes)
        return [Outcome(kind, kind == 'success', (kind == 'success',) * 2, messages=('', '')) for _ in jobs]
    assert [len(_too_strict([job], known, grade_all)[job]) for _ in range(3)] == [2, 0, 0]


ZEROS = ',\n'.join([','.join(['0'] * 90)] * 5)
COSTLY = {   # Texts of a kilobyte or a few that were read for half a minute and more
    'loops': f'L = [{ZEROS}]\nfor a in L:\n for b in L:\n  for c in L:\n   pass\nassert f(1) == 2\n',
    'written': f'L = [{ZEROS}]\nfor a in L:\n for b in L:\n' + '  assert L\n' * 40 + 'assert f(1) == 2\n',
    'rows': f'L = [{ZEROS}]\n' + '@pytest.mark.parametrize("a", L)\n' * 90 + 'def t(a):\n for x in L:\n  pass\n',
    'fences': f'```\nL = [{ZEROS}]\nfor a in L:\n for b in L:\n  pass\n```\n' * 30}


@pytest.mark.parametrize('name', COSTLY)
def test_no_answer_takes_its_reader_many_steps(name, monkeypatch):
    steps = []
    for what in 'read', 'fill':
        def counted(self, *args, method=getattr(answers._Reader, what)):
            steps.append(what)
            return method(self, *args)
        monkeypatch.setattr(answers._Reader, what, counted)
    parse_tests(COSTLY[name], 'f')
    assert len(steps) < 40_000


def test_loops_and_parameters_are_still_read():
    cases = '[' + ', '.join(f'([{n}, {n}], {n})' for n in range(40)) + ']'
    tests = parse_tests(f'import pytest\n@pytest.mark.parametrize("xs, y", {cases})\ndef test_f(xs, y):\n'
                        '    assert f(xs) == y\n    assert f(xs + xs) == y\n', 'f', max_tests=100)
    assert len(tests) == 80 and tests[-1] == 'assert f([39, 39] + [39, 39]) == 39'


ONE = 'def test_zero():\n    assert f(0) == 1\n'
MORE = 'def test_more():\n    assert f(5) == 6\n'
CASE = 'import unittest\nclass T(unittest.TestCase):\n    def test_more(self): self.assertEqual(f(5), 6)\n'
SUITE = 'suite = unittest.TestLoader().loadTestsFromTestCase(T)\n'
RUN_BY_US = {   # Files of tests of which Python, pytest or unittest would run a part that the file itself does not
    'default': ONE + 'def test_more(n=5, *, m=6):\n    assert f(n) == m\n', 'constant': 'N = 5\n' + ONE + MORE,
    'docstring': '"""Tests."""\n' + ONE + MORE,
    'result': 'RESULT = f(5)\n' + ONE + 'def test_result(): assert RESULT == 6',
    'assert': 'assert f(0) == 1\n' + MORE, 'print': MORE + 'print(f(3))', 'one called': ONE + MORE + 'test_zero()',
    'main': ONE + MORE + 'if __name__ == "__main__":\n    test_zero()', 'case': CASE + 'print(f(0))',
    'main reversed': MORE + 'if "__main__" == __name__:\n    test_more()',
    'class': 'assert f(0) == 1\nclass TestMore:\n    def test_more(self): assert f(5) == 6\n',
    'helper': 'def test_case(x, y):\n    assert f(x) == y\ndef test_all():\n    test_case(0, 1)\n    test_case(5, 6)\n',
    'generator inside': 'def test_all():\n    def cases(): yield 5, 6\n    for x, y in cases(): assert f(x) == y\n',
    'runner': f'{CASE}{SUITE}runner = unittest.TextTestRunner()\nrunner.run(suite)',
    'result of a run': f'{CASE}{SUITE}result = unittest.TextTestRunner().run(suite)\nprint(result.wasSuccessful())',
    'alias': CASE.replace('import unittest', 'import unittest as ut').replace('unittest.T', 'ut.T') + 'ut.main()',
    'exit of main': f'import sys\n{CASE}sys.exit(unittest.main())'}
RUN_BY_PYTEST = {   # Files of which only pytest or unittest knows how to run a part
    'parameters': ONE + '@mark.parametrize("a, b", [(1, 2)])\ndef test_more(a, b):\n    assert f(a) == b\n',
    'one case': '@mark.parametrize("a, b", [(0, 1), (5, 6)])\ndef test_more(a, b): assert f(a) == b\ntest_more(0, 1)',
    'fixture': ONE + 'def test_more(number):\n    assert f(number) == 6\n',
    'generator': ONE + 'def test_more():\n    yield\n    assert f(5) == 6\n',
    'setup': 'CASES = []\ndef setup_module(): CASES.append(5)\ndef test_it():\n    for x in CASES: assert f(x) == 6',
    'setup of cases': 'CASES = []\ndef setUpModule(): CASES.append(5)\n' + CASE + 'unittest.main()',
    'autouse': '@fixture(autouse=True)\ndef n(): pass\n' + ONE, 'skip': '@mark.skip\n' + MORE + ONE,
    'in a branch': ONE + 'if True:\n    def test_more(): assert f(5) == 6\n',
    'own base': 'class Base: pass\nclass TestMore(Base):\n    def test_more(self): assert f(5) == 6\nassert f(0) == 1',
    'other main': 'assert f(0) == 1\nif __name__ == "__main__" and True: assert f(5) == 6',
    'exit inside': 'import sys\ndef main():\n    assert f(0) == 1\n    sys.exit(0)\nmain()'}


@pytest.mark.parametrize('name', [*RUN_BY_US, *RUN_BY_PYTEST])
def test_no_test_of_a_file_is_left_out(name):
    text = (RUN_BY_US | RUN_BY_PYTEST)[name]
    wrong, right = grade_many([(code, [text], 'f') for code in ('def f(x): return 1 if x == 0 else 99', RIGHT)])
    assert (wrong.kind, right.kind.removesuffix('_output')) == (
        ('assertion_failure', 'success') if name in RUN_BY_US else ('unsupported',) * 2)


@pytest.mark.parametrize('end', ['sys.exit(0 if ok else 1)', 'sys.exit(not ok)', 'raise SystemExit(int(not ok))',
                                 'sys.exit(main())', 'sys.exit(0 if ok else "wrong")'])
def test_the_status_of_a_script_is_its_verdict(end):
    text = f'import sys\nok = f(1) == 2\ndef main(): return 0 if f(5) == 6 else 1\n{end}'
    assert [o.kind for o in grade_many([(code, [text], 'f') for code in (RIGHT, WRONG)])] == [
        'success', 'assertion_failure']


@pytest.mark.parametrize('names', ['(' * 195 + '-' * 600, '', 'a = 1', 'a, b)'])
def test_no_names_of_parameters_end_a_reader(names):
    assert parse_tests(f'@pytest.mark.parametrize("{names}", [1])\ndef t(): assert f(1) == 2', 'f') in (
        [], ['assert f(1) == 2'])


def test_a_text_of_a_model_warns_nobody():
    with warnings.catch_warnings():
        warnings.simplefilter('error')
        assert 'return' in answers.program_in('```python\ndef f(x): return 1if x else 2\n```', 'f')


# A wrong program, an honest test that asks for it by another name or in another way, and the entry points
BY_ITS_TESTS = {
    'builtin beside candidate': ('def sum(xs): return 42',
                                 'import candidate\nassert candidate.sum([1, 2]) == sum([1, 2])', 'sum'),
    'builtin in a function': ('def sorted(xs): return xs', 'import candidate\ndef test_a():\n    xs = [3, 1, 2]\n'
                              '    assert candidate.sorted(xs) == sorted(xs)', 'sorted'),
    'builtin by another name': ('def pow(b, e, m): return 1', 'from candidate import pow as fast\n'
                                'for b, e, m in [(2, 10, 1000)]: assert fast(b, e, m) == pow(b, e, m)', 'pow'),
    'builtin imported': ('def sum(xs): return 42\ndef f(): pass',
                         'from candidate import f, sum\nassert sum([1, 2]) == 3', 'sum'),
    'builtin in a case': ('def max(xs): return xs[0]', 'import unittest\nfrom candidate import max as my_max\n'
                          'class T(unittest.TestCase):\n'
                          '    def test_a(self): self.assertEqual(my_max([1, 3]), max([1, 3]))\n'
                          'unittest.main()', 'max'),
    'library beside candidate': ('def gcd(a, b): return 7\ndef half(a): return a / 2', 'import candidate\n'
                                 'from math import gcd\nassert candidate.gcd(12, 8) == gcd(12, 8)\n'
                                 'assert candidate.half(4) == 2', 'half'),
    'function of a library': ('def gcd(a, b): return 7\ndef half(a): return a / 2',
                              'import candidate\nassert candidate.half(4) == 2\n'
                              'for a in (8, 9): assert candidate.gcd(12, a) < 5', 'half gcd'),
    'function of a package': ('def approx(x): return 7\ndef half(a): return a / 2',
                              'from candidate import approx, half\nassert half(4) == 2 and approx(3) == 3',
                              'half approx'),
    'oracle beside candidate': ('def fib(n): return 7', 'import candidate\n'
                                'def fib(n): return n if n < 2 else fib(n-1) + fib(n-2)\n'
                                'for n in range(9): assert candidate.fib(n) == fib(n)', 'fib'),
    'oracle that is a variable': ('def area(w, h): return 0', 'import candidate\narea = lambda w, h: w * h\n'
                                  'assert candidate.area(2, 3) == area(2, 3)', 'area'),
    'no iter': ('class Down:\n    def __init__(self, n): self.n = n\n    def __next__(self):\n'
                '        if self.n <= 0: raise StopIteration\n        self.n -= 1\n        return self.n + 1',
                'out = []\nfor x in Down(3): out.append(x)\nassert out == [3, 2, 1]', 'Down'),
    'wrong reversed': ('class L:\n    def __len__(self): return 2\n    def __getitem__(self, i): return [1, 2][i]\n'
                       '    def __reversed__(self): return iter([9])', 'assert list(reversed(L())) == [2, 1]', 'L'),
    'skip': ('class SkipTest(Exception): pass\ndef f(x): raise SkipTest',
             'import sys, unittest\nclass T(unittest.TestCase):\n'
             '    def setUp(self):\n        if sys.version_info < (3, 8): raise unittest.SkipTest("old")\n'
             '    def test_a(self): self.assertEqual(f(1), 1)', 'f'),
    'name of an exception': ('class TimeoutError(Exception): pass\ndef f(x): raise TimeoutError("t")',
                             'ok = False\ntry: f(1)\nexcept TimeoutError: ok = True\nassert ok', 'f'),
    'name of a base': ('class ConnectionError(Exception): pass\ndef f(x): raise ConnectionError("t")',
                       'ok = False\ntry: f(1)\nexcept OSError: ok = True\nassert ok', 'f'),
    'status of a method': ('def f(x): return 0',
                           'import sys\nclass Checks:\n    def main(self): return int(f(1) != 2)\n'
                           'sys.exit(Checks().main())', 'f'),
    'star after another': ('def is_prime(n): return n in (2, 3, 5, 7)\ndef gcd(a, b): return 1',
                           'from math import *\nfrom candidate import *\nassert is_prime(7)\nassert gcd(4, 6) == 2',
                           'is_prime gcd'),
    'star after a definition': ('def g(x): return x\ndef f(x): return 0', 'def f(x): return x\n'
                                'from candidate import *\nassert g(1) == 1\nassert f(1) == 1', 'f g'),
    'star of another': ('def helper(x): return 1\ndef rgb_to_hsv(*a): return 1',
                        'from colorsys import *\nimport candidate\nassert candidate.helper(1) == 1\n'
                        'assert candidate.rgb_to_hsv(1, 2, 3) == rgb_to_hsv(1, 2, 3)', 'helper rgb_to_hsv'),
    'name of a pattern': ('version = (1, 2)\ndef f(x): return x', 'import candidate\nmatch {"version": (2, 0)}:\n'
                          '    case {"version": version}:\n        assert candidate.f(1) == 1\n'
                          '        assert candidate.version == version', 'f version'),
    'module that is a parameter': (
        'def f(x): return x + 1\nx = 1\ny = 1', 'import candidate as c, collections\n'
        'P = collections.namedtuple("P", "x y")\ndef solve(c): return c.x == c.y\nassert c.f(1) == 2\n'
        'assert solve(P(1, 2))', 'f x y'),
    'eq that fails for None': (
        'class Point:\n    def __init__(self, x): self.x = x\n    def __eq__(self, o): return self.x == o.x',
        'p = Point(1)\nassert (p == None) is False', 'Point'),
    'ne that fails for None': (
        'class Point:\n    def __init__(self, x): self.x = x\n    def __eq__(self, o): return self.x == o.x',
        'p = Point(1)\nassert p != None', 'Point'),
    'exception by another name': ('class ValueError(Exception): pass\ndef f(x): raise ValueError("t")',
                                  'E = ValueError\nok = False\ntry: f(1)\nexcept E: ok = True\nassert ok', 'f'),
    'exception of a library': ('class Empty(Exception): pass\ndef f(x): raise Empty',
                               'import queue\nok = False\ntry: f(1)\nexcept queue.Empty: ok = True\nassert ok', 'f'),
    'exception of the program': (
        'import queue\nclass Empty(Exception): pass\ndef f(x): raise queue.Empty',
        'import candidate\nok = False\ntry: candidate.f(1)\nexcept candidate.Empty: ok = True\nassert ok', 'f Empty'),
    'group': ('def f(x): raise ExceptionGroup("a", [ValueError()])',
              'ok = False\ntry: f(1)\nexcept TypeError: ok = True\nassert ok', 'f'),
    'stop': ('def f(x): raise StopIteration', 'ok = False\ntry: f(1)\nexcept RuntimeError: ok = True\nassert ok', 'f'),
    'star inside': ('def dedent(s): return 5\ndef f(x): return 1',
                    'import candidate\ntry:\n    from textwrap import *\nexcept ImportError: pass\n'
                    'assert candidate.dedent("  a") == dedent("  a")\nassert candidate.f(1) == 1', 'dedent f'),
    'class of an error of the system': ('class E(OSError): pass\ndef f(s): raise E(2, "x")',
                                        'ok = False\ntry: f(1)\nexcept FileNotFoundError: ok = True\nassert ok', 'f'),
    'variable that cannot be sent': (
        'items = []\ndef f(x):\n    items.clear()\n    if x < 0: items.append(items)\n    return x + 1',
        'def test():\n    assert items == []\n    try: f(-1)\n    except ValueError: pass\n    else: assert False\n'
        '    assert f(2) == 3\ntest()', 'f items'),
    'context that ends an assert': (
        'class Quiet:\n    def __enter__(self): return self\n    def __exit__(self, *e): return True\n'
        '    def one(self): return 2',
        'try:\n    with Quiet() as q: assert q.one() == 1\nexcept Exception: raise', 'Quiet'),
}


@pytest.mark.parametrize('stated', [True, False])
@pytest.mark.parametrize('name', BY_ITS_TESTS)
def test_a_name_means_what_it_means_in_python(name, stated):
    code, test, function = BY_ITS_TESTS[name]
    o = grade(code, [test], function_name=function.split() if stated else '')
    unclear = 'star after another', 'star after a definition', 'module that is a parameter'   # Unsupported
    assert not o.passed and (o.judged or name in unclear or stated and name == 'library beside candidate'), o


def test_an_odd_exception_leaves_the_judge_alive():
    code = 'def f(x):\n    e = ValueError()\n    e.with_traceback = e.add_note = e.__traceback__ = 5\n    raise e'
    for text in ('assert f(1) == 2', 'def test_f(): f(1)'):
        assert grade(code, [text], function_name='f').kind in ('runtime_error', 'assertion_failure')
    code = 'def f(x):\n    e = ValueError()\n    e.with_traceback = 5\n    raise e'
    o = grade(code, ['assert f(1) == 2'], function_name='f')
    assert o.kind == 'runtime_error' and 'ValueError' in o.message


@pytest.mark.parametrize('text', [
    'class TestA:\n    class TestB:\n        def test_b(self): assert f(1) == 2\n'
    '    def test_a(self): assert f(0) == 1',
    'def _t(): assert f(5) == 6\ntest_more = _t\nassert f(0) == 1'])
def test_a_file_with_tests_that_nobody_finds_is_not_judged(text):
    assert grade('def f(x): return 1', [text], function_name='f').kind == 'unsupported'


@pytest.mark.parametrize('test', [
    'import unittest\nclass T(unittest.TestCase):\n    def test(self): self.assertIsNotNone(CONST)',
    'for x in (CONST, 1): assert x is not None', 'x = 1\nassert CONST is not None or x == 2'])
@pytest.mark.parametrize('own', ['CONST = {}', 'def CONST(): pass', 'class CONST: pass',
                                 'class CONST(Exception): pass'])
def test_what_a_variable_is_masks_no_program(own, test):
    "A test that only looks at a callable variable asked nothing, so its program was left out with all its tests."
    o = grade(f'{own}\ndef f(x): return 0', [test, 'assert f(1) == 2'], function_name=['f', 'CONST'])
    assert o.judged and o.per_test == (True, False), o


CALC = 'def f(s):\n    try: return eval(s)\n    except Exception: return None'
FIB = 'def f(n):\n    if n < 2: return n\n    return f(n - 1) + f(n - 2)'
LOADS = 'import json\ndef f(s):\n    try: return json.loads(s)\n    except Exception: return None'
UNFAIR = [   # Tests that pass within half of the limits and fail within all of them; the reference
    ('assert (f(1) == 2 or bytes(400 * 2 ** 20)) and len(bytes(150 * 2 ** 20))', RIGHT),
    ('assert not (f(1) == 3 and bytes(400 * 2 ** 20)) and len(bytes(150 * 2 ** 20)) > 0', RIGHT),
    ("assert f(1) == 2 or set('ab' * (200 * 2 ** 20))", RIGHT),
    ('assert f(6) == 8 or f(300)', FIB),
    ("assert f('len(bytes(400 * 2 ** 20))') == None", CALC),
    ("assert f('[' * 300 + ']' * 300) == None", LOADS)]


@pytest.mark.parametrize('test, reference', UNFAIR)
def test_no_valid_test_fails_its_own_reference(test, reference):
    fair = {RIGHT: 'assert f(1) == 2', FIB: 'assert f(6) == 8', CALC: 'assert f("2") == 2', LOADS: 'assert f("2") == 2'}
    assert parse_tests(test, 'f') == [test]
    assert validate_many([(reference, [test, fair[reference]], 'f')]) == [[False, True]]


def test_no_part_of_a_valid_test_raises():
    "It may fail at once for the reference, which passes, and take all the time of another right program."
    plain = 'def f(n): return n * f(n - 1) if n else 1'
    tests = ['assert f(5) == 120 or f(-1) == 0', 'assert (f(5) == 120 or 1 / 0) == True', 'assert f(4) == 24 or f(3)']
    assert validate_many([(plain, tests, 'f')]) == [[False, False, True]]
    assert grade(plain, tests, function_name='f').passed   # As in Python, where it is nobody's weapon


ERRORS = {
    'caught': 'try: f("a")\nexcept TypeError: pass\nelse: assert False',
    'raises': 'import unittest\nclass T(unittest.TestCase):\n    def test(self):\n'
              '        with self.assertRaises(Exception): f("a")',
    'aliased': 'import candidate\nok = False\ntry: candidate.f("a")\nexcept Exception: ok = True\nassert ok'}


@pytest.mark.parametrize('test', ERRORS)
@pytest.mark.parametrize('own', ['f = None', 'f = 5', 'f = []', 'class A: pass\nf = A()', 'f = int', 'f = dict',
                                 'f = ValueError', 'f = len', 'f = object'])
def test_no_value_in_place_of_a_function_masks_a_program(own, test):
    "The judge has such a value itself and asks nothing, so its program was left out with all its tests."
    assert grade(own, [ERRORS[test], 'assert f(1) == 2'], function_name='f').judged


def test_no_class_of_pythons_in_place_of_the_programs_masks_it():
    tests = ['s = Stack()\npush(s, 1)\nassert size(s) == 1', 'assert size([1]) == 1']
    code = 'def push(s, x): s.append(x)\ndef size(s): return 7\n'
    for own in 'Stack = object', 'Stack = memoryview', 'Stack = type':
        o = grade(code + own, tests, function_name=['Stack', 'push', 'size'])
        assert o.judged and not any(o.per_test), o


FORGED = LIES.partition('class Yes')[0] + '''
def lie():
    h = host()
    if not hasattr(h, 'told'): h.told = h.answer
    h.answer = lambda what, *rest: h.link.send(['value', FORM, [], []]) if what == 'data' else h.told(what, *rest)
class Bad(Exception): pass
class L(list):
    def more(self): pass
class A:
    def __init__(self): self.items, self.plain = L(), []; lie()
    def keys(self): return L()
def f(x):
    lie()
    e = Bad()
    e.codes = L()
    raise e
'''


@pytest.mark.parametrize('form', [None, 5, 'x', {'range': [-10**18, 10**18, 1]}, {'bytes': 'YQ=='}, {'tuple': [5]}])
def test_a_container_that_a_program_forges_has_nothing(form):
    "Where the answer had no `__contains__`, Python took NotImplemented for true."
    tests = ['a = A()\nassert 5 in a.items', 'assert 5 in A().keys()',
             'a = A()\na.plain.append(1)\nassert 5 in a.plain',
             'import unittest\nclass T(unittest.TestCase):\n    def test(self): self.assertIn(5, A().items)',
             'try: f(1)\nexcept Bad as e: assert 5 in e.codes\nelse: assert False']
    o = grade(FORGED.replace('FORM', repr(form)), tests, function_name=['f', 'A', 'Bad'])
    assert o.judged and not any(o.per_test), o


@pytest.mark.parametrize('deep', ['[y:=' * 150 + 'P()' + ']' * 150, '(y:=[' * 90 + 'P()' + '][0])' * 90])
def test_no_names_inside_of_each_other_take_their_reader_many_steps(deep, monkeypatch):
    steps, method = [], Held.instance
    monkeypatch.setattr(Held, 'instance', lambda self, x: steps.append(x) or method(self, x))
    plan(f'x = {deep}\n' * 20, ('f', 'P'))
    assert 1000 < len(steps) < 300_000


HOLDS = [f'assert f({n}) != bytes(240 * 2 ** 20)' for n in range(4)]


@pytest.mark.parametrize('code', [RIGHT, 'import math\n' + RIGHT])
def test_no_test_takes_the_memory_of_the_judge_from_another(code):
    "They were valid if an invalid test divided them into two runs, and failed every right program later."
    assert grade(code, HOLDS, function_name='f').per_test == (True,) * 4
    again = Job(code, ('assert f(0) == 1', *HOLDS), entry_points=('f',))   # Tests of no suite, as those asked again
    assert grade_many([again])[0].passed
    more = [HOLDS[0], 'assert f(2) != bytes(700 * 2 ** 20)', HOLDS[1]]
    o = grade(code, more, function_name='f')
    assert o.kind == 'memory_limit' and o.per_test == (True, False, True)


CROWDS = {   # References that an invalid test ends between others -> tests that have no room together
    'from functools import lru_cache\n@lru_cache(None)\ndef kept(n):\n    while n > 10 ** 9: pass\n'
    '    return bytearray(n)\ndef f(n): return len(kept(n))': [
        f'assert f({n}000000) == {n}000000' for n in (110, 111, 112)],
    'def f(n):\n    print("x" * min(n, 9000))\n    while n > 10 ** 5: pass\n    return n': [
        f'assert f({n}) == {n}' for n in range(9000, 9007)]}


@pytest.mark.parametrize('reference', CROWDS)
def test_valid_tests_have_room_together(reference):
    tests = CROWDS[reference]
    [flags] = validate_many([(reference, [*tests, f'assert f({10 ** 10}) == 1'], 'f')])
    usable = [t for t, ok in zip(tests, flags) if ok]
    assert len(usable) < len(tests) and not flags[-1]
    jobs = [Job(reference + '\n' * n, tuple(usable), entry_points=('f',)) for n in range(4)]   # In different orders
    assert all(o.passed for o in grade_many(jobs))


ENDS = 'os._exit(0)', 'os.kill(os.getpid(), 9)', 'ctypes.string_at(0)', 'raise MemoryError', 'print("x" * 10**6)'


@pytest.mark.parametrize('end', ENDS)
def test_a_program_that_remembers_cannot_buy_new_processes(end):
    "By ending itself at each second call it was new for each test, as if it remembered nothing."
    code = f'import ctypes, os\nn = 0\ndef f(x):\n    global n\n    n += 1\n    if n > 1: {end}\n    return x + 1'
    o = grade(code, [f'assert f({n}) == {n + 1}' for n in range(6)], function_name='f')
    assert o.judged and not o.passed and sum(o.per_test) < 6


@pytest.mark.parametrize('test', [
    'assert total(PRICES.values()) == 6', 'assert total(PRICES.keys()) == 6', 'assert total(PRICES.items()) == 6',
    'p = PRICES.values()\nassert total(p) == 6', 'assert total(iter(PRICES)) == 6',
    'assert total(reversed(PRICES)) == 6',
    'import unittest\nclass T(unittest.TestCase):\n    def test(self): self.assertEqual(total(PRICES.values()), 6)'])
@pytest.mark.parametrize('own', ['OrderedDict(a=6)', 'deque([6])', 'dict(a=6)', 'Counter(a=6)'])
def test_no_container_in_place_of_another_masks_a_program(own, test):
    "Its views and iterators were no plain data, so its program was left out with all its tests."
    code = f'from collections import *\nPRICES = {own}\ndef total(xs): return 0'
    assert grade(code, [test, 'assert total([1]) == 1'], function_name=['total', 'PRICES']).judged
    right = 'from collections import *\ndef count(s): return OrderedDict(Counter(s))\ndef total(xs): return sum(xs)'
    honest = 'd = count("aab")\nassert total(d.values()) == 3 and len(list(d.items())) == 2'
    assert grade(right, [honest], function_name=['total', 'count']).passed


@pytest.mark.parametrize('own', [
    'dict', 'list', 'int', 'str', 'tuple', 'float', 'set', 'deque', 'bytes', 'Fraction', 'namedtuple("Q", "")'])
def test_plain_data_that_can_be_called_is_called(own):
    code = f'from collections import *\nfrom fractions import Fraction\nclass V({own}):\n' \
           '    def __call__(self, x): return x\nv = V()\ndef make(): return V()'
    fails = 'try: v(-1)\nexcept TypeError: pass\nelse: assert False', \
            'r = make()\ntry: r(-1)\nexcept TypeError: pass\nelse: assert False'
    passes = 'x = v(3)\nassert x == 3', 'r = make()\nassert r(4) == 4', 'assert v(5) == 5'
    o = grade(code, [*fails, *passes], function_name=['v', 'make', 'V'])
    assert o.per_test == (False, False, True, True, True), o


def test_no_constants_take_the_reader_of_a_test_many_steps(monkeypatch):
    steps, size = [], arguments._size
    monkeypatch.setattr(arguments, '_size', lambda x: steps.append(0) or size(x))
    long = ', '.join(['bool([0] * 999' + ' * 1' * 48 + ')'] * 14)
    assert arguments.test_inputs(f'assert f({long}) == 1', 'f') == {}
    assert 1000 < len(steps) < 100_000
    few = arguments.test_inputs('assert f([0] * 999 * 1, 7 ** 9 - 1) == 1', 'f')
    assert list(few) == [f'{[0] * 999}, {7 ** 9 - 1}']


@pytest.mark.parametrize('hidden', [
    'list(map(f, [100])) == [101]', 'sum(map(f, [100])) == 101', 'list(filter(f, [100])) == [100]',
    'max([1, 100], key=f) == 100', '101 in map(f, [100])', 'f in [f]'])
def test_no_test_of_a_model_hides_an_input(hidden):
    "One hard input counted in each test of a suite, as only calls by the function's name were seen."
    asked = 'assert f(100) == 101'
    assert parse_tests(f'{asked}\nassert f(1) == 2 and {hidden}\nassert {hidden}\nassert f(2) == 3', 'f') == [
        asked, 'assert f(2) == 3']


@pytest.mark.parametrize('end', ['os._exit(0)', 'os.kill(os.getpid(), 9)'])
def test_an_iterator_beside_in_asks_before_anything_is_compared(end):
    "The program was asked while its answers were compared, so one that had ended failed tests that it had answered."
    code = f'import os\ndef f(x):\n    if x == 100: {end}\n    return x + 1'
    tests = ['assert f(100) == 101', *[f'assert f({n}) == {n + 1} and {n + 1} in map(f, [{n}])' for n in (1, 2, 3)]]
    for text in (code + '\n' * n for n in range(4)):   # In different orders
        assert grade(text, tests, function_name='f').per_test == (False, True, True, True)
    asks = 'n = 0\ndef f(x):\n    global n\n    n += 1\n    return x + 1\ndef asked(): return n'
    for want in 6, 7:   # As often where the first answer is wrong
        o = grade(asks, [f'assert {want} in map(f, [5, 77]) or asked() == 2'], function_name=['f', 'asked'])
        assert o.passed, o


def test_a_judge_has_the_time_to_decide_what_was_answered():
    code = 'import time\ndef f(x):\n    if x == 100: time.sleep(60)\n    return x + 1'
    heavy = [f'assert f({n}) == {n + 1} and -1.5 not in range({10 ** 7})' for n in range(4)]
    o = grade(code, [*heavy, 'assert f(100) == 101'], Limits(wall_seconds=16, cpu_seconds=16), function_name='f')
    assert o.per_test == (True,) * 4 + (False,), o


def test_no_template_is_lost_while_a_judge_decides(monkeypatch):
    "From a limit of 10 s on, the time to decide was longer than the pool waited, and the program failed all tests."
    monkeypatch.setattr(pool, '_GRACE', .1)
    code = 'import time\ndef f(x):\n    if x == 100: time.sleep(60)\n    return x + 1'
    tests = ['assert f(100) == 101', *[f'assert f({n}) == {n + 1} and .5 not in range(2 * 10 ** 6)' for n in range(3)]]
    jobs = [Job(f'{code}\n# {n}', tuple(tests), Limits(5., 5), ('f',)) for n in range(99)]
    last = next(job for job in jobs if parts(job)[0].tests[-1] == tests[0])   # Nothing is decided before it
    with Sandbox(workers=1) as s: o = grade_many([last], sandbox=s)[0]
    assert o.per_test == (False, True, True, True), o


def test_one_test_that_never_ends_has_all_of_the_time(monkeypatch):
    "Each had it, though no test that needs so much is valid."
    seconds, grade_all = [], suites.grade_many
    def counted(*args, **kw):
        outcomes = grade_all(*args, **kw)
        seconds.extend(s for o in outcomes for s in o.test_seconds)
        return outcomes
    monkeypatch.setattr(suites, 'grade_many', counted)
    endless = 'def f(n):\n    while n > 10: pass\n    return n'
    tests = [f'assert f({n}) == {n}' for n in (1, *range(20, 24), 2)]
    assert validate_many([(endless, tests, 'f')]) == [[True] + [False] * 4 + [True]]
    assert sum(s > 3 for s in seconds) == 1   # Of five; the others have one second, or two of real time


def test_no_test_leaves_its_memory_to_the_next_job():
    "What was held by a test that raised, and never touched, was no growth of the judge."
    raising = ['assert (not sum(f(0)) == 1 or len(bytes(240 * 2 ** 20)) > 0) and f(20) != bytes(400 * 2 ** 20)']
    plain, needing = ['assert f(1) == 2'], ['assert f(1) == 2', 'assert f(240) != bytes(240 * 2 ** 20)']
    for before in range(10):   # How far away the next collection of garbage is
        with Sandbox(workers=1) as s:
            def passes(tests, n): return grade_many([(f'{RIGHT}  # {n}', tests, 'f')], sandbox=s)[0].passed
            for n in range(before): assert passes(plain, n)
            for n in range(4): assert (passes(raising, n), passes(needing, n)) == (False, True)


@pytest.mark.parametrize('shown', ['list({"x", "y"})', 'str({"x", "y"})', 'tuple(set("xy"))'])
def test_no_order_of_a_set_writes_an_input_in_several_ways(shown):
    "It differs from process to process, so what was one input to the judge was several to the trainer."
    kept = parse_tests(f'assert f({shown}) == 1\nassert f({{"x", "y"}}) == 2\nassert f(list({{3, 1}})) == 3', 'f')
    assert kept == ["assert f({'x', 'y'}) == 2", 'assert f(list({3, 1})) == 3']


LONG_ANSWERS = {   # Programs that return some MB -> what they are called with, and MB that the judge holds in each test
    'def f(n): return list(range(n))': (100_000, 166), 'def f(n): return "*" * n': (3_000_000, 164)}


@pytest.mark.parametrize('code', LONG_ANSWERS)
def test_no_test_takes_the_memory_for_the_answer_to_another(code):
    "A judge without memory for an answer, beside what it held for others, failed the test as if it were wrong."
    n, held = LONG_ANSWERS[code]
    tests = [f'assert f({n + i}) != bytes({held} * 2 ** 20)' for i in range(8)]
    o = grade(code, tests, function_name='f')
    assert o.passed, o


def test_what_follows_a_message_without_memory_is_the_next_one():
    "It was the rest of that message, so a test after it had the answer to another."
    script = '''
import os, resource, struct
from adversarial_rl.grader.codec import Link
r, w = os.pipe()
if not os.fork():
    for text in b'"' + b'*' * (40 << 20) + b'"', b'[1]':
        raw = memoryview(struct.pack('>I', len(text)) + text)
        while raw: raw = raw[os.write(w, raw):]
    os._exit(0)
os.close(w)
link = Link(r, -1)
used = int(open('/proc/self/statm').read().split()[0]) * os.sysconf('SC_PAGE_SIZE')
resource.setrlimit(resource.RLIMIT_AS, (used + (ROOM << 20), -1))
try: print(len(link.receive(1 << 26)))
except MemoryError: print('no memory')
print(link.receive())
'''
    for mb in 20, 60, 100:   # For none of it, for it and not for its copy, for both
        text = script.replace('ROOM', str(mb))
        done = subprocess.run([sys.executable, '-c', text], capture_output=True, text=True, timeout=60)
        assert done.stdout.splitlines() == [f'{(40 << 20) + 2}' if mb == 100 else 'no memory', "b'[1]'"], (mb, done)


@pytest.mark.parametrize('text', ['len([0] * 10 ** 7) == 10 ** 7', 'sorted(f(range(10 ** 6)))[0] == 0',
                                  'sum(set(f(range(10 ** 6)))) > 0', 'len(str(f(range(10 ** 6)))) > 10 ** 6'])
def test_a_judge_walks_over_no_numbers(text):
    "It looked at each for an iterator inside, 2.6 s for a million, so right programs failed by their time."
    code = 'def f(x): return [*x] if isinstance(x, range) else x'
    limits = QUICK._replace(wall_seconds=10, cpu_seconds=10, memory_mb=512)   # It takes one second
    assert grade(code, [f'assert f(1) == 1 and {text}'], limits, function_name='f').passed
