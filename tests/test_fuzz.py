"""Generated cases: values and frames of the protocol, and honest programs whose verdicts plain Python knows.

CI takes the same cases each time. `make fuzz` takes others, a hundred times as many, and writes their counts.
"""
import contextlib
import os
import sys
import time
from collections import Counter
from platform import python_version

import pytest
from fuzz.frames import answers, attacks, frame
from fuzz.honest import program, verdicts
from fuzz.suites import suites
from fuzz.values import is_exact, messages, plain, shape, text_of, trees
from hypothesis import example, given, HealthCheck, Phase, settings, strategies as st

from adversarial_rl.grader.answers import parse_tests
from adversarial_rl.grader.codec import Link, no_handle, pack, unpack
from adversarial_rl.grader.execution import Limits
from adversarial_rl.grader.grading import grade_many
from adversarial_rl.grader.pool import Job, Sandbox
from adversarial_rl.grader.suites import judge_suites
from adversarial_rl.record.tables import markdown_table, write_table

pytestmark = pytest.mark.skipif(sys.platform != 'linux', reason='needs the walls')
TIMES = int(os.environ.get('FUZZ_TIMES', 0))   # How many times as many cases as CI takes
BRIEF = Limits(wall_seconds=0.5, cpu_seconds=2, memory_mb=128)   # Frames that are cut short make both sides wait
PATIENT = BRIEF._replace(wall_seconds=10)
RIGHT, WRONG = 'def f(x): return [x + 1]', 'def f(x): return [x + 2]'
CHECKS = ['assert f(1) == [2]', 'assert [len(f(x)) for x in [1]] + f(6) == [1, 7]']   # Data, and a script
counts: dict[str, Counter] = {}


def cases(n):
    "Settings of a property with `n` examples in `make test-all`."
    phases = [Phase.explicit, Phase.generate, *[Phase.shrink] * bool(TIMES)]   # To shrink a failure takes minutes
    return settings(max_examples=n * (TIMES or 1), derandomize=not TIMES, deadline=None, database=None, phases=phases,
                    suppress_health_check=list(HealthCheck))


def count(name, *kinds): counts.setdefault(name, Counter()).update(kinds)


@pytest.fixture(scope='module')
def sandbox():
    with Sandbox(workers=1) as s: yield s


@pytest.fixture(scope='module', autouse=True)
def report(request):
    "Print what was generated; `make fuzz` writes it into a notebook if nothing failed."
    start = time.monotonic()
    yield
    rows = [(name, sum(kinds.values()), ', '.join(f'{n} {kind}' for kind, n in kinds.most_common()))
            for name, kinds in counts.items()]
    table = markdown_table(['generated', 'cases', 'of these'], rows)
    table += f'\n\n{time.monotonic() - start:.0f} s, Python {python_version()}.'
    print(f'\n{table}')
    if (document := os.environ.get('FUZZ_RESULTS')) and not request.session.testsfailed:
        write_table(document, 'fuzz', table)


class Inert:
    "What stands for an object of the program; who uses it would let the program speak."
    def __getattribute__(self, name): raise AssertionError(f'{name} of a handle was asked for')


for name in 'eq hash bool len iter next index int float complex str bytes getitem call contains'.split():
    def used(self, *args, name=name): raise AssertionError(f'__{name}__ of a handle was called')
    setattr(Inert, f'__{name}__', used)


@cases(400)
@given(plain())
def test_a_plain_value_survives(x):
    assert shape(unpack(text_of(pack(x, no_handle)))) == shape(x)
    count('values that cross', type(x).__name__)


@cases(1500)
@given(messages())
@example(b'{"Fraction": ["1e999999999"]}')
@example(b'{"set": "ab"}')
def test_reading_gives_exact_types_or_a_value_error(raw):
    try: x = unpack(raw)
    except ValueError: return count('messages read', 'refused')
    assert is_exact(x)
    count('messages read', 'accepted')


@cases(1000)
@given(trees() | answers)
@example({'range': [{'handle': [0, 'object', 'C', []]}] * 3})
@example({'Counter': {'handle': [0, 'object', 'C', []]}})
@example({'record': ['A', [{'handle': [0, 'object', 'C', []]}], [1]]})
@example({'handle': [{'handle': [0, 'object', 'C', []]}, 'object', 'C', []]})
def test_reading_leaves_handles_alone(form):
    def inert(form):
        assert shape(form)
        return Inert()
    try: x = unpack(text_of(form), inert)
    except ValueError: return count('messages with handles read', 'refused')
    except AssertionError as e:
        if '__hash__' not in str(e): raise
        return count('messages with handles read', 'a key')   # It ends the test in a judge
    assert is_exact(x, [Inert])
    count('messages with handles read', 'accepted')


@cases(200)
@given(st.lists(trees().map(text_of), max_size=4), st.binary(max_size=9), st.integers(1, 40))
def test_frames_come_out_as_they_went_in(sent, noise, size):
    "Whatever parts they arrive in; what follows them is a frame, too long, or cut off."
    raw, (source, sink) = b''.join(map(frame, sent)) + noise, os.pipe()
    link = Link(source, -1)
    try:
        for text in sent:
            while len(link.buffer) < 4 + len(text):
                os.write(sink, raw[:size])
                raw = raw[size:]
                link.buffer += link.read_part(size)
            assert link.receive() == text
        os.write(sink, raw)
    finally: os.close(sink)
    with contextlib.suppress(EOFError, ValueError):
        while True: assert isinstance(link.receive(), bytes)
    os.close(source)
    count('streams of frames', 'read')


@cases(50)
@given(st.lists(attacks(), min_size=5, max_size=5))
def test_no_frame_passes_or_reaches_the_next_job(sandbox, played):
    templates = sandbox.pids()
    for attack in played:
        n = sum(counts.get('programs that write frames', Counter()).values())
        hostile, = grade_many([(f'{attack.code}# {n}', attack.tests)], BRIEF, sandbox=sandbox)
        assert not hostile.passed and not any(hostile.per_test), hostile
        assert hostile.kind not in ('infra_error', 'unsupported'), hostile
        right, wrong = grade_many([(f'{x}  # {n}', CHECKS) for x in (RIGHT, WRONG)], PATIENT, sandbox=sandbox)
        assert (right.kind, right.per_test) == ('success', (True, True)), right
        assert (wrong.kind, wrong.per_test) == ('assertion_failure', (False, False)), wrong
        count('programs that write frames', hostile.kind)
    assert sandbox.pids() == templates


@cases(75)
@given(st.randoms(use_true_random=True))   # From strategies two programs of three would be repetitions
def test_verdicts_are_those_of_plain_python(sandbox, rng):
    jobs = [program(rng) for _ in range(4)]
    for (code, tests), o in zip(jobs, grade_many(jobs, PATIENT, sandbox=sandbox)):
        wanted = verdicts(code, tests)
        judged = [x for x in zip(tests, o.per_test, wanted, o.messages) if x[3] != 'the test asks the program nothing']
        assert [x for x in judged if x[1] != x[2]] == [], code
        assert o.kind not in ('infra_error', 'timeout'), (code, o)
        assert o.passed == all(wanted) if len(judged) == len(tests) else o.kind == 'unsupported', (code, o)
        count('tests of honest programs', *['passed' if ok else 'failed' for ok in wanted])


@cases(12)
@given(st.randoms(use_true_random=True))
def test_no_valid_test_fails_an_equal_program(rng):
    "What passes for the reference alone would pay a discriminator for right programs."
    problem, texts = suites(rng)
    [group] = judge_suites([problem], [[parse_tests(text, 'f') for text in texts]], fill=rng.random() < 0.5)
    usable = [suite.usable for suite in group]
    tests = sorted({t for suite in usable for t in suite})
    codes = [problem.reference_solution + '\n' * n for n in range(3)] + [f'import sys\n{problem.reference_solution}']
    for o in grade_many([Job.of(problem, code, tests, suites=usable) for code in codes]):   # In different orders
        assert [x for x in zip(tests, o.per_test, o.messages) if not x[1]] == [], problem.reference_solution
    count('tests of suites', *['valid' if ok else 'not valid' for suite in group for ok in suite.valid])
    count('tests that equal programs pass', *['as written' if t in suite.tests else 'filled in'
                                              for suite in group for t in suite.usable])
