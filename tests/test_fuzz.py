"""Generated cases: values and frames of the protocol, and honest programs whose verdicts plain Python knows.

`make test-all` takes the same cases each time, `make fuzz` others, a hundred times as many.
"""
import itertools
import os
import sys

import pytest
from fuzz.frames import attacks
from fuzz.honest import program, verdicts
from fuzz.values import is_exact, messages, plain, shape, text_of
from hypothesis import example, given, HealthCheck, Phase, settings, strategies as st

from adversarial_rl.grader.codec import no_handle, pack, unpack
from adversarial_rl.grader.execution import Limits
from adversarial_rl.grader.grading import grade_many
from adversarial_rl.grader.pool import Sandbox

pytestmark = pytest.mark.skipif(sys.platform != 'linux', reason='needs the walls')
TIMES = int(os.environ.get('FUZZ_TIMES', 0))   # How many times as many cases as CI takes
BRIEF = Limits(wall_seconds=.5, cpu_seconds=2, memory_mb=128)   # For frames alone: cut short, they make both wait
PATIENT = BRIEF._replace(wall_seconds=10)
RIGHT, WRONG = 'def f(x): return [x + 1]', 'def f(x): return [x + 2]'
NUMBERS = itertools.count()   # No program is met twice
CHECKS = ['assert f(1) == [2]', 'assert [len(f(x)) for x in [1]] + f(6) == [1, 7]']   # Data, and a script


def cases(n):
    "Settings of a property with `n` examples in `make test-all`."
    phases = [Phase.explicit, Phase.generate, *[Phase.shrink] * bool(TIMES)]   # To shrink a failure takes minutes
    return settings(max_examples=n * (TIMES or 1), derandomize=not TIMES, deadline=None, database=None, phases=phases,
                    suppress_health_check=list(HealthCheck))


@pytest.fixture(scope='module')
def sandbox():
    with Sandbox(workers=1) as s: yield s


@cases(400)
@given(plain())
def test_a_plain_value_survives(x):
    assert shape(unpack(text_of(pack(x, no_handle)))) == shape(x)


@cases(1500)
@given(messages())
@example(b'{"Fraction": ["1e999999999"]}')
@example(b'{"set": "ab"}')
def test_reading_gives_exact_types_or_a_value_error(raw):
    try: x = unpack(raw)
    except ValueError: return
    assert is_exact(x)


@cases(50)
@given(st.lists(attacks(), min_size=5, max_size=5))
def test_no_frame_passes_or_reaches_the_next_job(sandbox, played):
    templates = sandbox.pids()
    for n, attack in zip(NUMBERS, played):
        hostile, = grade_many([(f'{attack.code}# {n}', attack.tests)], BRIEF, sandbox=sandbox)
        assert not hostile.passed and not any(hostile.per_test), hostile
        assert hostile.kind not in ('infra_error', 'unsupported'), hostile
        right, wrong = grade_many([(f'{x}  # {n}', CHECKS) for x in (RIGHT, WRONG)], PATIENT, sandbox=sandbox)
        assert (right.kind, right.per_test) == ('success', (True, True)), right
        assert (wrong.kind, wrong.per_test) == ('assertion_failure', (False, False)), wrong
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
