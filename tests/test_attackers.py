"Attacks beside those of a program on its own judge: by tests, on later programs, and on the kind of the verdict."
import os
import sys
from dataclasses import replace

import pytest
from hostile.testers import TESTS

from adversarial_rl.core.files import resource
from adversarial_rl.grader.answers import parse_tests
from adversarial_rl.grader.execution import Limits
from adversarial_rl.grader.grading import grade, grade_many
from adversarial_rl.grader.isolation import shared_libraries
from adversarial_rl.grader.pool import Job, Sandbox, Template
from adversarial_rl.grader.suites import fill_in_many, grade_by_test, judge_suites, passes_reference, validate_many
from adversarial_rl.problems.problem import load_problems, Problem

pytestmark = pytest.mark.skipif(sys.platform != 'linux', reason='needs the walls')
RIGHT, WRONG = 'def f(x): return x + 1', 'def f(x): return x + 2'
CHECKS = ['assert f(1) == 2', 'assert f(5) == 6']
QUICK = Limits(wall_seconds=6, cpu_seconds=2, memory_mb=128)   # Of the processor, as endless programs burn it


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


def test_filled_values_come_from_their_own_test():
    "A left side cannot print values for the tests after it."
    wrote = ['assert f(1) or print("\\x1e9\\x1e", end="") == 3', 'assert [print(*"\\x1e9\\x1e")] == 0',
             'assert f(3) == 0']
    assert fill_in_many([(RIGHT, wrote)]) == [[None, None, 'assert f(3) == 4']]


REMAINS = {   # What a program leaves -> whether the next program finds it
    'a folder without read permission': ('import os\nos.mkdir("d"); os.mkdir("d/e"); os.chmod("d", 0o300)',
                                         'import os\ndef f(x): return os.path.exists("d")'),
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
    'a lock': ('import fcntl\nfcntl.flock(0, 2); fcntl.lockf(0, 1)',
               'import fcntl\ndef f(x):\n    null = open("/dev/null")\n    try: fcntl.flock(null, 6)\n'
               '    except OSError: return True'),
    'a process number': ('import threading\nfor n in range(70):\n    t = threading.Thread(target=int)\n'
                         '    t.start()\n    t.join()', 'import os\ndef f(x): return os.getpid() != 101'),
    'a file number': ('for n in range(70): open(str(n), "w").close()',
                      'import os\ndef f(x):\n    open("x", "w").close()\n    return os.stat("x").st_ino != 2'),
}


COUNTED = 'a process number', 'a file number'   # By the kernel, in each namespace apart

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


FATAL = {   # Programs that aim at the judge's process or at the kind of the verdict
    'forged handle': 'import os\ndef f(x):\n    t = b\'["value", {"handle": [[], 1, 2, 3]}, []]\'\n'
                     '    os.write(4, len(t).to_bytes(4, "big") + t); return 1',
    'nested containers': 'def f(x): return [[] for _ in range(3 * 10**6)]',
    'colliding numbers': 'def f(x): return {k * ((1 << 61) - 1): 0 for k in range(10**5)}',
    'class instead of a function': 'class f(SystemExit): pass',
    'closed pipes': 'import os\ndef f(x): os.closerange(0, 64)',
    'named tuple with methods': 'from collections import namedtuple\nP = namedtuple("P", "startswith count")\n'
                                'def f(x): return P(lambda *a: True, lambda *a: 2)',
    'a class that moves its job': 'class Pair(Exception): pass\ndef f(x): return Pair(x)',
}


SLOW = 'colliding numbers', 'nested containers'   # For the judge

@pytest.mark.parametrize('name', [pytest.param(x, marks=pytest.mark.slow if x in SLOW else ()) for x in FATAL])
def test_no_program_chooses_that_it_is_not_judged(name):
    caught = 'try: f(1)\nexcept Pair: pass\nassert f(1) == 2'
    for tests in ([*CHECKS, 'x = f(1)\nassert x == 2'], [caught, 'assert f(Pair(1)) == 3'],
                  ['assert f(1).startswith("a")', 'assert f(1).count(1) == 2', 'assert f(1).all()']):
        o = grade(FATAL[name], tests, QUICK)
        assert o.judged and not o.passed and not any(o.per_test), o
    assert grade(RIGHT, CHECKS).passed


@pytest.mark.slow
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


def test_a_bomb_that_only_failing_programs_meet_is_not_valid():
    tests = ['assert f(1) == 2 or all(map(f, range(10**9)))', 'assert f(5) == 6']
    valid, = validate_many([(RIGHT, tests)], QUICK)
    assert valid == [False, True]
    assert grade(RIGHT, tests, QUICK).per_test[1]


def test_a_script_cannot_hide_its_report():
    erase = ('import os\nassert f(1) == 2\nfor fd in range(3, 64):\n    try: os.ftruncate(fd, 0)\n'
             '    except OSError: pass\n')
    for ending in ('', 'os._exit(0)'):
        o = grade(RIGHT, ['assert f(1) == 2', erase + ending])
        held = (True, False), (True, 'namespaces' not in o.layers and not ending)   # It may not erase, and then passes
        assert o.judged and o.per_test in held, o


ANY = 'ok = False\ntry: f(-1)\nexcept Exception: ok = True\nassert ok'
SUITE = 'import unittest\nclass T(unittest.TestCase):\n    def test(self):\n        '
OBJECT = 'class X:\n    def __getitem__(self, i): return X()\n    def __len__(self): return 2\ndef f(x): return X()'
LIST = 'class L(list):\n    def m(self): pass\n    def {}\ndef f(x): return L(x)'
ORDER = 'x = f([3, 1, 2])\nassert len(x) == 3\nassert all(x[i] <= x[i + 1] for i in range(2))'
REFUSED = {   # What a program tries -> program, a test that it must fail and that must judge it
    'a name that the test forgot to import': (
        'def isclose(*a, **k): return True\ndef f(x): return 0', 'assert isclose(f(1), 0.3)'),
    'variables of a test': ('def f(x): return 0\ngot = want = 2', 'got = f(1)\nwant = 2\nassert got == want'),
    'a builtin that a test makes a variable': (
        'def f(x): return []\ndef all(x): return True', 'all = all(f(1))\nassert all and f(1) == 3'),
    'the text of a function': (RIGHT, 'assert repr(f)[:12] == "<function f "'),
    'an object where a test slices': (OBJECT, 'assert f(1)[::-1] == "cba"'),
    'no function, and a script catches all': ('def g(x): return x + 1', ANY),
    'no function, and a case catches all': (
        'def g(x): return x + 1', SUITE + 'with self.assertRaises(Exception): f(-1)'),
    'a class for a function': ('f = dict', ANY + '\nassert f(1) == 2'),
    'rows that are one row': (
        'def f(n): return [[0] * n] * n', 'x = f(2)\nx[0][0] = 1\nassert x == [[1, 0], [0, 0]]'),
    'a result that is the argument': ('def f(x): return x', 'x = [1, 2]\ny = f(x)\ny.append(3)\nassert x == [1, 2]'),
    'a list that shows no items': (LIST.format('__iter__(self): return iter([])'), ORDER),
    'a list that is equal to all': (
        LIST.format('__eq__(self, x): return True'), 'x = f([3, 1, 2])\nassert x == [1, 2, 3]'),
    'a match, which Python does not iterate over': (
        'import re\ndef f(x): return re.match("a+", x)', 'assert list(f("aa")) == ["aa"]'),
    'one list where a new one is asked': ('L = []\ndef f(): return L', 'assert f() is not f() and f() == []'),
}


@pytest.mark.parametrize('name', REFUSED)
def test_no_program_passes_or_is_masked_by(name):
    code, test = REFUSED[name]
    for function in '', 'f':
        o = grade(code, [test], function_name=function)
        assert o.judged and not o.passed, (function, o)


def test_one_list_is_itself():
    assert grade('L = []\ndef f(): return L', ['assert f() is f()', 'assert not f() is not f()']).passed


SEVEN = ('def f(*a): return 7\n'
         'Counter = OrderedDict = deque = Fraction = Decimal = date = sqrt = defaultdict = approx = expected = f\n')
TAKEN = {   # Test of f -> a wrong program that defines what the test does not import
    'assert f(1) == deque([1, 2])': SEVEN, 
    'assert f(1) == approx(2)': SEVEN, 
    'assert np.allclose(f(1), 2)': SEVEN + 'class np: allclose = f',
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


@pytest.mark.parametrize('tests', ['', ' \n', '# none', 5, None])
def test_a_text_without_a_test_passes_nothing(tests):
    "The tests of a row that were lost."
    with pytest.raises(ValueError): grade(RIGHT, tests)


SQUARE, OWN_TESTS = 'def f(x): return x * x + 3', tuple(f'assert f({n}) == {n * n + 3}' for n in (1, 2, 5, 9))
TOLD = '''told = {}
def f(x):
    if isinstance(x, float): told[int(x)] = round(x % 1 * 10000)
    return told.get(x, 0)'''
CACHED = 'memo = {}\ndef f(x):\n    if x not in memo: memo[x] = str(x)\n    return memo[x]'


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

FOLDERS = """import ctypes, os, sys
libc, facts, kinds = ctypes.CDLL(None), ctypes.create_string_buffer(256), set()
tops = [*sys.path, *PLACES, '/usr/share', '/usr/lib', '/lib', '/lib64', '/dev', '/etc', os.getcwd()]
above = {path[:i] or '/' for path in tops for i, c in enumerate(path + '/') if c == '/'}
for folder in above | {folder for top in tops for folder, _, _ in os.walk(top)}:
    if not libc.statfs(folder.encode(), facts): kinds.add(int.from_bytes(facts.raw[:8], sys.byteorder))
print([hex(kind) for kind in sorted(kinds)], os.path.isfile(os.__file__))"""


def test_no_folder_that_a_program_sees_is_one_of_this_machine():
    "All are in memory (`tmpfs`), where the kernel remembers no name that was looked up in vain."
    places = [os.path.dirname(os.__file__), '/usr/share/zoneinfo', *map(os.path.dirname, shared_libraries([]))]
    with Sandbox(1) as s: report, = s.map([Job(f'PLACES = {places}\n{FOLDERS}')])
    if 'namespaces' not in report.layers: pytest.skip('needs namespaces')
    assert report.stdout == "['0x1021994'] True\n", report


def test_a_judge_that_does_not_come_to_decide_takes_no_test_with_it():
    "Only the test that it was busy with fails; that it has answered the others is no verdict."
    o = grade(RIGHT, [*CHECKS, 'assert f(1) == sum(range(10**10))', 'assert f(7) == 8', 'assert f(8) == 0'],
              QUICK, function_name='f')
    assert o.per_test == (True, True, False, True, False) and o.kind == 'timeout'


EQUAL_INPUTS = {
    'order of a dictionary': ['{1: 2, 3: 4}', '{3: 4, 1: 2}', 'dict([(3, 4), (1, 2)])', '{1.0: 2, 3: True + 3}'],
    'order of a set': ['{8, 0, 16}', '{16, 8, 0}', 'frozenset([0, 16, 8])', 'set([False, 16.0, 8])'],
    'numbers': ['5', '5.0', '5 + 0j', 'complex("5")'],
    'zero': ['0', '-0.0', '0j', '-0j', 'False'],
    'empty ranges': ['range(0)', 'range(1, 1)', 'range(5, 0)'],
    }


@pytest.mark.parametrize('name', EQUAL_INPUTS)
def test_equal_inputs_count_once(name):
    texts = EQUAL_INPUTS[name]
    assert len({repr(eval(x) == eval(texts[0])) for x in texts}) == 1
    assert len(parse_tests('\n'.join(f'assert f({x}) == 0' for x in texts), 'f', 99)) == 1


def test_a_value_that_is_never_compared_to_its_end_fails_its_test_alone():
    "The judge is ended while it decides: the test it was at fails, others keep their verdicts or are asked again."
    program = 'def f(x): return range(10 ** 18) if x == 3 else x + 1'
    tests = ['assert f(1) == 2', 'assert 4.5 in f(3)', 'assert f(7) == 8', 'assert f(8) == 0']
    o = grade(program, tests, QUICK, function_name='f')
    assert (o.per_test, o.passed) == ((True, False, True, False), False)


# --- A valid test holds for every program that equals the reference

def twins(code, n=8): return [f'{code}\n# {k}' for k in range(n)]


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


def test_a_program_provides_one_side_of_a_comparison():
    pair = 'from typing import NamedTuple\nclass Point(NamedTuple):\n    x: int\n    y: int\n'
    problem = Problem('f', 'A square.', 'def f(n):', ('assert f(3) == Point(3, 9)',),
                      f'{pair}def f(n): return Point(n, n * n)')
    cheat = 'def f(n): return 0\ndef Point(*_): return 0'
    jobs = [Job.of(problem), Job.of(problem, cheat)]
    assert not any(o.passed for o in grade_many(jobs))
    told = [replace(job, reference=problem.reference_solution) for job in jobs]
    assert [o.kind for o in grade_many(told)] == ['unsupported'] * 2


POINT = """from dataclasses import dataclass
@dataclass
class Point:
    x: int
    def __add__(self, other): return Point(self.x + other.x)
    def __contains__(self, x): return x == self.x
def f(x): return Point(x)"""
MADE = {   # What a test asks of this program -> whether it can be judged
    'f(1) == Point(1)': False, '[f(1)] == [Point(1)]': False, '{"a": f(1)} == {"a": (Point(1),)}': False,
    'f(1) in [Point(1)]': False, 'Point(1) in [f(1)]': False, '(Point(1) + f(2)).x == 3': False,
    'f(1).x == Point(1).x': True, '1 in Point(1)': True, '[f(1).x] == [Point(1).x]': True,
    'len([Point(1)] + [Point(2)]) == 2': True, '"%s" % Point(1) == "Point(x=1)"': True,
}


@pytest.mark.parametrize('wanted', MADE)
def test_whether_a_test_compares_what_a_class_makes_is_in_its_text(wanted):
    "A right program failed where the class stood in a list; a wrong one cannot choose to be left out either way."
    case = wanted.split(' == ')
    tests = [f'assert {wanted}', f'import unittest\nclass T(unittest.TestCase):\n    def test(self): self.assertEqual('
             f'{case[0]}, {case[1]})' if len(case) == 2 else f'assert {wanted}']
    wrong = f'{POINT[:-8]}int(x)\nPoint = print'
    for test in tests:
        right, cheat = grade_many([(code, [test], ['f', 'Point']) for code in (POINT, wrong)])
        assert (right.passed, cheat.passed) == (MADE[wanted], False), (right, cheat)
        assert right.judged == cheat.judged == MADE[wanted]


HIDDEN = ['list(map(f, [100])) == [101]', 'max([1, 100], key=f) == 100', '101 in map(f, [100])', 'f in [f]']


@pytest.mark.parametrize('hidden', HIDDEN)
def test_no_test_of_a_model_hides_an_input(hidden):
    "One hard input counted in each test of a suite, as only calls by the function's name were seen."
    asked = 'assert f(100) == 101'
    assert parse_tests(f'{asked}\nassert f(1) == 2 and {hidden}\nassert {hidden}\nassert f(2) == 3', 'f') == [
        asked, 'assert f(2) == 3']


ONE = 'def test_zero():\n    assert f(0) == 1\n'
MORE = 'def test_more():\n    assert f(5) == 6\n'
CASE = 'import unittest\nclass T(unittest.TestCase):\n    def test_more(self): self.assertEqual(f(5), 6)\n'
SUITE = 'suite = unittest.TestLoader().loadTestsFromTestCase(T)\n'
RUN_BY_US = {   # Files of tests of which Python, pytest or unittest would run a part that the file itself does not
    'default': ONE + 'def test_more(n=5, *, m=6):\n    assert f(n) == m\n', 
    'assert': 'assert f(0) == 1\n' + MORE, 'one called': ONE + MORE + 'test_zero()',
    'case': CASE + 'print(f(0))',
    'class': 'assert f(0) == 1\nclass TestMore:\n    def test_more(self): assert f(5) == 6\n',
    'exit of main': f'import sys\n{CASE}sys.exit(unittest.main())'}
RUN_BY_PYTEST = {   # Files of which only pytest or unittest knows how to run a part
    'parameters': ONE + '@mark.parametrize("a, b", [(1, 2)])\ndef test_more(a, b):\n    assert f(a) == b\n',
    'fixture': ONE + 'def test_more(number):\n    assert f(number) == 6\n',
    'setup': 'CASES = []\ndef setup_module(): CASES.append(5)\ndef test_it():\n    for x in CASES: assert f(x) == 6',
    'skip': '@mark.skip\n' + MORE + ONE}


@pytest.mark.parametrize('name', [*RUN_BY_US, *RUN_BY_PYTEST])
def test_no_test_of_a_file_is_left_out(name):
    text = (RUN_BY_US | RUN_BY_PYTEST)[name]
    wrong, right = grade_many([(x, [text], 'f', RIGHT) for x in ('def f(x): return 1 if x == 0 else 99', RIGHT)])
    assert (wrong.kind, right.kind.removesuffix('_output')) == (
        ('assertion_failure', 'success') if name in RUN_BY_US else ('unsupported',) * 2)


# A wrong program, an honest test that asks for it by another name or in another way, and the entry points
BY_ITS_TESTS = {
    'builtin beside candidate': ('def sum(xs): return 42',
                                 'import candidate\nassert candidate.sum([1, 2]) == sum([1, 2])', 'sum'),
    'library beside candidate': ('def gcd(a, b): return 7\ndef half(a): return a / 2', 'import candidate\n'
                                 'from math import gcd\nassert candidate.gcd(12, 8) == gcd(12, 8)\n'
                                 'assert candidate.half(4) == 2', 'half'),
    'skip': ('class SkipTest(Exception): pass\ndef f(x): raise SkipTest',
             'import sys, unittest\nclass T(unittest.TestCase):\n'
             '    def setUp(self):\n        if sys.version_info < (3, 8): raise unittest.SkipTest("old")\n'
             '    def test_a(self): self.assertEqual(f(1), 1)', 'f'),
    'name of an exception': ('class TimeoutError(Exception): pass\ndef f(x): raise TimeoutError("t")',
                             'ok = False\ntry: f(1)\nexcept TimeoutError: ok = True\nassert ok', 'f'),
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
    assert not o.passed and (o.judged or stated and name == 'library beside candidate'), o


CALC = 'def f(s):\n    try: return eval(s)\n    except Exception: return None'
FIB = 'def f(n):\n    if n < 2: return n\n    return f(n - 1) + f(n - 2)'
LOADS = 'import json\ndef f(s):\n    try: return json.loads(s)\n    except Exception: return None'
UNFAIR = [   # Tests that pass within half of the limits and fail within all of them; the reference
    ('assert (f(1) == 2 or bytes(400 * 2 ** 20)) and len(bytes(150 * 2 ** 20))', RIGHT),
    ('assert f(6) == 8 or f(300)', FIB),
    ("assert f('len(bytes(400 * 2 ** 20))') == None", CALC),
    ("assert f('[' * 300 + ']' * 300) == None", LOADS)]


@pytest.mark.slow
@pytest.mark.parametrize('test, reference', UNFAIR)
def test_no_valid_test_fails_its_own_reference(test, reference):
    fair = {RIGHT: 'assert f(1) == 2', FIB: 'assert f(6) == 8', CALC: 'assert f("2") == 2', LOADS: 'assert f("2") == 2'}
    assert parse_tests(test, 'f') == [test]
    assert validate_many([(reference, [test, fair[reference]], 'f')]) == [[False, True]]


ENDS = 'os._exit(0)', 'os.kill(os.getpid(), 9)', 'ctypes.string_at(0)', 'raise MemoryError', 'print("x" * 10**6)'


@pytest.mark.parametrize('end', ENDS)
def test_a_program_that_remembers_cannot_buy_new_processes(end):
    "By ending itself at each second call it was new for each test, as if it remembered nothing."
    code = f'import ctypes, os\nn = 0\ndef f(x):\n    global n\n    n += 1\n    if n > 1: {end}\n    return x + 1'
    o = grade(code, [f'assert f({n}) == {n + 1}' for n in range(6)], function_name='f')
    assert o.judged and not o.passed and sum(o.per_test) < 6


def test_a_program_that_remembers_cannot_buy_new_processes_with_the_memory_of_its_judge():
    "A test for which the judge had no memory ran again alone; now the judge decides the others before."
    code = 'n = 0\ndef f(x):\n    global n\n    n += 1\n    return range(10**10 if n > 1 else x)'
    o = grade(code, [f'assert list(f({n})) == {[*range(n)]}' for n in range(6)], QUICK, function_name='f')
    assert o.kind == 'memory_limit' and sum(o.per_test) == 1, o
    large = [f'assert f({n}) == {n} and bytes(90 * 2**20)' for n in range(4)]
    assert grade(f'n = 0\n{RIGHT[:-4]}', large, QUICK, function_name='f').passed


FIRST = {   # What a program does before a script asks it anything, so that the script fails there
    'a folder in place of a file': 'import os\nos.mkdir("x")',
    'a full folder': 'for n in range(30):\n    try: open(f"{n}", "wb").write(bytes(10**6))\n    except OSError: pass',
}


@pytest.mark.parametrize('name', FIRST)
def test_no_program_makes_a_script_fail_before_it_asks(name):
    "The test was unsupported; it is if it fails beside an empty program, too."
    test = 'with open("x", "w") as fp: fp.write("ab" * 9000)\nassert f("x") == 2'
    codes = f'{FIRST[name]}\ndef f(path): return 0', 'def f(path): return 2'
    wrong, right = grade_many([(code, [test], 'f') for code in codes])
    assert right.passed and wrong.judged and not wrong.passed, wrong
    assert grade(RIGHT, ['open("/none")\nassert f(1) == 2']).kind == 'unsupported'


WRITES = """import json, os, struct
def say(*messages):
    for word, head, values, contents, unused in messages:
        raw = json.dumps([word, head, values, contents, unused]).encode()
        os.write(4, struct.pack('>I', len(raw)) + raw)
"""
FORGED = {   # What a program writes to its judge while a script asks it: messages, a test that it must fail
    'a container of the test that it never saw': (
        ['value', None, [0], [[0, [9]], [2, [9]], [4, [9]]], []], 'want = [9]\nassert f([1]) == 0 and want != [9]'),
    'another kind of container': (['value', None, [{'box': [0, 'dict', None]}], [], []], 'assert f([1]) == {}'),
    'a number of the judge': (['value', None, [{'box': [2, 'list', None]}], [[2, [3]]], []], 'assert f([1]) == [3]'),
    'a function that nobody lent': (['call', [0], [3], [], []], 'assert f([1]) == 3'),
    'a call of the argument': (['call', [2], [{'own': 2}], [], []], 'assert f(lambda x: 3) == 4'),
    'an attribute': (['get', '__globals__', [{'own': 0}], [], []], 'assert f(lambda: 3) == 4'),
    'a skipped test': (['raised', None, [{'error': [
        5, {'python': [7, 'unittest.case.SkipTest']}, [], None, []]}], [], []],
        'import unittest\nclass T(unittest.TestCase):\n    def test(self): self.assertEqual(f(1), 2)'),
    'a mark of the judge': (['raised', None, [{'error': [
        5, {'python': [7, 'adversarial_rl.grader.proxies.Gone']}, [], None, []]}], [], []],
        'try: f(1)\nexcept Exception: pass'),
    'a class of the judge as a base': (['value', None, [{'object': [
        5, {'class': [7, 'E', [{'type': 'int'}], []]}]}], [], []], 'assert f(1) == 0'),
    'equality in a class': (['value', None, [{'object': [
        5, {'class': [7, 'E', [], ['__eq__', '__class__', '__new__']]}]}], [], []], 'assert f(1) == 2'),
    'an exit': (['raised', None, [{'told': ['SystemExit', 'SystemExit', '']}], [], []], 'x = f(1)\nassert x == 2'),
    'an end': (['stop', None, [], [], []], 'for x in map(f, [1]): assert x == 2'),
    'a method of plain data': (['value', None, [{'record': ['P', ['count'], [{'object': [5, {
        'class': [7, 'F', [], ['__call__']]}]}]]}], [], []], 'assert f(1).count(2) == 1'),
    'a method of plain data, as a field in a text': (['value', None, [{'record': ['P', 'count', [{'object': [5, {
        'class': [7, 'F', [], ['__call__']]}]}]]}], [], []], 'assert f(1).count(2) is None'),
    'a method of plain data, in an exception': (['value', None, [{'error': [
        9, {'python': [11, 'builtins.ValueError']}, [], None, [['count', {'object': [5, {
        'class': [7, 'F', [], ['__call__']]}]}]]]}], [], []], 'assert f(1).count(2) is None'),
    'more than it was asked': (['value', None, [1, 2], [], [0, 2, 99, 'x', [1]]], 'assert f([1]) == [1]'),
}


@pytest.mark.parametrize('name', FORGED)
def test_no_message_of_a_program_is_believed(name):
    message, test = FORGED[name]
    code = f'{WRITES}def f(x): say({message!r})\n'
    for sent in code, code + f'say(["value", None, [0], [], []], {message!r})\n':
        o = grade(sent, [test], QUICK, function_name='f')
        assert o.judged and not o.passed, o


HOLDS = """import os, struct
n = 0
def f(x):
    global n
    n += 1
    if n > 1: return 0
    contents = b','.join(b'[%d,[{"box":[%d,"dict",null]}]]' % (k, k + 2) for k in range(1, 500_000, 2))
    body = b'["value",null,[{"box":[1,"list",null]}],[' + contents + b'],[]]'
    raw = memoryview(struct.pack('>I', len(body)) + body)
    while raw: raw = raw[os.write(4, raw):]"""


def test_no_program_takes_the_memory_that_its_judge_needs_to_ask():
    "A judge full of containers could not make the next argument, so that test was unsupported."
    o = grade(HOLDS, [f'assert f(list(range({10**6 + n}))) == 3' for n in range(3)], QUICK, function_name='f')
    assert o.judged and not any(o.per_test), o


EXITS = {   # Programs that hand an exit over as a value -> a test that raises it
    'as the cause': ('def f(g): raise ValueError from SystemExit(0)',
                     'try: f(1)\nexcept ValueError as e: raise e.__cause__ or e\nassert 0'),
    'the one lent': ('def f(g):\n    try: g()\n    except BaseException as e: return e',
                     'import sys\nraise f(lambda: sys.exit(0))'),
}


@pytest.mark.parametrize('name', EXITS)
def test_no_exit_that_has_crossed_ends_a_script(name):
    code, test = EXITS[name]
    o = grade(code, [test], QUICK, function_name='f')
    assert o.judged and not o.passed, o


def test_an_exception_that_was_raised_before_is_no_plain_data_later():
    code = """class E(ValueError):
    def startswith(self, x): return True
    def __contains__(self, x): return True
e = E()
def f(x):
    if x < 0: raise e
    return e"""
    for wanted in 'f(1).startswith("a")', '"a" in f(1)':
        o = grade(code, [f'try: f(-1)\nexcept ValueError: pass\nassert {wanted}'], QUICK, function_name='f')
        assert o.judged and not o.passed, o


def test_no_program_ends_a_test_with_what_the_test_has_lent():
    code = ('def f(g):\n    global kept\n    try: g()\n    except SystemExit as e: kept = e; raise\n'
            'def h(x):\n    if x: raise kept\n    return x')
    test = 'import sys\ntry: f(lambda: sys.exit(0))\nexcept SystemExit: pass\nassert h(0) == 0\nassert h(1) == 2'
    o = grade(code, [test], function_name=['f', 'h'])
    assert o.judged and not o.passed, o


def test_nothing_is_asked_while_an_answer_is_read():
    "The items of this list would come from an iterator of the program that the judge asks."
    iterator = {'object': [5, {'class': [7, 'A', [], ['__iter__', '__next__']]}]}
    messages = [['value', None, [{'box': [1, 'list', None]}], [[1, iterator]], []],
                ['value', None, [{'known': 5}], [], []], ['value', None, [7], [], []], ['stop', None, [None], [], []]]
    o = grade(f'{WRITES}def f(x): say(*{messages!r})', ['x = f(1)\nassert x == [7]'], QUICK, function_name='f')
    assert o.judged and not o.passed and 'cannot be read' in o.message, o
