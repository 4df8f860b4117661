"Programs whose text shows that they remember nothing share a process; that must show in their speed alone."
import os
import signal
import sys
from pathlib import Path

import pytest
from hostile import GROUPS

from adversarial_rl.grader import pool
from adversarial_rl.grader.execution import Limits
from adversarial_rl.grader.grading import grade_many
from adversarial_rl.grader.pool import Job, Sandbox, stateless
from adversarial_rl.problems.curriculum import starter_problems

pytestmark = pytest.mark.skipif(sys.platform != 'linux', reason='needs filters of system calls')
QUICK = Limits(wall_seconds=20, cpu_seconds=1, memory_mb=64)
PLAIN, OTHER = 'def f(x): return x + {}', 'n = {}\ndef f(x): return x + n'


def jobs(code, tests, n=1, limits=QUICK):
    "The same program with other comments, so that each is run."
    return [Job(f'{code}\n# {i}', tuple(tests), limits, ('f',)) for i in range(n)]


def children(sandbox):
    "Processes below the inner process of the only template: its steward, its judge and one that is kept."
    def below(pid): return Path(f'/proc/{pid}/task/{pid}/children').read_text().split()
    [inner] = below(sandbox.pids()[0])
    return set(below(inner))


def facts(outcomes): return [(o.kind, o.per_test, o.message, o.messages, o.stdout) for o in outcomes]


@pytest.fixture
def sandbox(request):
    with Sandbox(1, off=filter(None, request.config.getoption('--off').split(','))) as s:
        if 'seccomp' not in grade_many([('def f(): return 1', ['assert f() == 1'])], sandbox=s)[0].layers:
            pytest.skip('each program has a process here')
        yield s


@pytest.fixture
def apart(sandbox, monkeypatch):
    "Grade in a process for each program."
    def run(asked):
        with monkeypatch.context() as m:
            m.setattr(pool, 'stateless', lambda code: False)
            return grade_many(asked, sandbox=sandbox)
    return run


def test_verdicts_are_those_of_a_process_for_each_program(sandbox, apart):
    changes = ('+', '-'), ('==', '>='), ('return ', 'return 1 + '), (' if ', ' if not ')
    asked = [Job(code, p.baseline_tests, QUICK, (p.function_name,))
             for p in starter_problems('held_out', 40)
             for code in {p.reference_solution, *(p.reference_solution.replace(*change, 1) for change in changes)}]
    assert len(asked) > 100 and all(stateless(job.code) for job in asked)
    together = grade_many(asked, sandbox=sandbox)
    assert {o.kind for o in together} >= {'success', 'assertion_failure', 'runtime_error'}
    assert facts(together) == facts(apart(asked))


ODD = {
    'hangs': 'def f(x):\n    while x: x = x\n    return 1',
    'computes for ever in C': 'def f(x): return 10 ** 10 ** 8 % 7 if x else 1',
    'takes too much at once': 'def f(x): return len("a" * 10 ** 11) if x else 1',
    'keeps a cycle': '''def f(x):
    y = ["a" * (40 << 20)]
    y.append(y)
    return 1 - x + len("a" * (20 << 20) * x)''',
    'recurs': 'def f(x): return f(x) if x else 1',
    'gives a cycle': 'def f(x):\n    y = []\n    y.append(y)\n    return y if x else 1',
    'raises': 'def f(x): return [][x]',
    'does not load': 'def f(x: int[1]): return 1',
    'changes its argument': 'def f(x):\n    x.append(1)\n    return 1',
    }


@pytest.mark.parametrize('name', ODD)
def test_what_goes_wrong_has_the_verdict_of_a_process_of_its_own_and_harms_no_later_program(name, sandbox, apart):
    odd = jobs(ODD[name], ['assert f(0) == 1', 'assert f([1]) == 1'])
    assert stateless(odd[0].code)
    after = jobs('def f(x): return len("a" * (x << 20))', ['assert f(40) == 40 << 20'])
    assert grade_many(after, sandbox=sandbox)[0].passed
    together = grade_many(odd, sandbox=sandbox)
    assert grade_many(jobs(PLAIN.format(2), ['assert f(1) == 3']) + after, sandbox=sandbox)[1].passed
    assert facts(together) == facts(apart(odd))


def test_the_same_process_runs_stateless_programs_and_no_others(sandbox):
    grade_many(jobs(PLAIN.format(0), ['assert f(1) == 1']), sandbox=sandbox)
    before = children(sandbox)
    assert all(o.passed for o in grade_many(jobs(PLAIN.format(1), ['assert f(1) == 2'], n=20), sandbox=sandbox))
    assert all(o.passed for o in grade_many(jobs(OTHER.format(1), ['assert f(1) == 2'], n=5), sandbox=sandbox))
    assert children(sandbox) == before
    assert not grade_many(jobs(ODD['hangs'], ['assert f(1) == 1']), sandbox=sandbox)[0].passed
    assert grade_many(jobs(PLAIN.format(1), ['assert f(1) == 2']), sandbox=sandbox)[0].passed
    assert len(children(sandbox)) == len(before) and len(children(sandbox) - before) >= 1


def test_a_lost_process_is_replaced(sandbox):
    grade_many(jobs(OTHER.format(0), ['assert f(1) == 1']), sandbox=sandbox)
    others, template = children(sandbox), sandbox.pids()
    grade_many(jobs(PLAIN.format(0), ['assert f(1) == 1']), sandbox=sandbox)
    [kept] = children(sandbox) - others
    os.kill(int(kept), signal.SIGKILL)
    for _ in range(2): assert grade_many(jobs(PLAIN.format(0), ['assert f(1) == 1']), sandbox=sandbox)[0].passed
    assert sandbox.pids() == template and kept not in children(sandbox) and len(children(sandbox) - others) == 1


def test_each_program_has_all_of_the_depth(sandbox, apart):
    "Not what earlier ones left of it; the number of calls until Python gives up is the same."
    deep = 'def g(n): return n and 1 + g(n - 1)\ndef f(n): return g(n)'
    asked = [job for n in (300, 970, 1000) for job in jobs(deep, [f'f({m})' for m in range(n, n + 24)])]
    together = grade_many(asked, sandbox=sandbox)
    assert {step for o in together for step in o.per_test} == {True, False}
    assert facts(together) == facts(apart(asked))


def test_no_hostile_program_that_reaches_for_anything_is_stateless():
    "Those that are only loop, grow, change their argument or return odd values."
    found = {name: [c.name for c in cases if stateless(c.code)] for name, cases in GROUPS.items()}
    reaching = {name: names for name, names in found.items() if names and name not in ('bombs', 'values')}
    assert reaching == {'tampering': ['argument-rewritten-in-place']}
