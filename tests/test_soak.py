"""Five thousand mixed jobs in one process: every verdict arrives and is right, nothing accumulates.

A third are programs of `hostile`. The others are honest: programs that share a process, programs with one of their own,
and scripts. Among them are tests that attack their judge, programs that never end and programs that take all memory.
SOAK_JOBS=50000 sets another number, SOAK_RESULTS=nbs/experiments/12_other_measurements.ipynb writes the table.
"""
import os
import sys
import time
from collections import Counter
from pathlib import Path

import pytest
from hostile import GROUPS
from hostile.testers import TESTS
from processes import descendants

from adversarial_rl.grader.execution import Limits
from adversarial_rl.grader.grading import parts
from adversarial_rl.grader.pool import Job, Sandbox
from adversarial_rl.record.tables import markdown_table, write_table

pytestmark = [pytest.mark.slow, pytest.mark.skipif(sys.platform != 'linux', reason='needs /proc')]
BRIEF = Limits(wall_seconds=6, cpu_seconds=1, memory_mb=128, output_bytes=4000)
ATTACKS = [*TESTS.values()]
PATIENT = ('timeout', 'memory_limit')   # These take their whole time, and are repeated less

def figures(sandbox):
    "Processes, descriptors, files, memory (PSS, MiB) of the templates and their children; descriptors of this process."
    pids = [q for p in sandbox.pids() for q in (p, *descendants(p))]
    lines = [line for p in pids for line in Path(f'/proc/{p}/smaps_rollup').read_text().splitlines()]
    pss = sum(int(line.split()[1]) for line in lines if line.startswith('Pss:'))
    return dict(processes=len(pids), descriptors=sum(len(os.listdir(f'/proc/{p}/fd')) for p in pids),
                own_descriptors=len(os.listdir('/proc/self/fd')),
                files=sum(len(names) for _, _, names in os.walk(sandbox.root)), memory=round(pss / 1024))

def made(n, hostile):
    "Job `n`, and its verdict: whether it passes, None where a test has destroyed its own judge."
    remembers = '\nseen = 0' if n // 2 % 2 else ''   # A process of its own
    code = f'def f(x): return x * {n}{remembers}'
    if n % 200 == 1:
        return 'never ends', Job(f'def f(x):\n    while True: x += {n}', ('assert f(2) == 4',), BRIEF), False
    if n % 200 == 101:
        return 'takes all memory', Job(f'def f(x): return [{n}] * 10 ** 9', ('assert f(2)[0]',), BRIEF), False
    if n % 50 == 2:
        attack = ATTACKS[n // 50 % len(ATTACKS)]
        return 'its test attacks', Job(f'def f(x): return x + 1  # {n}', (attack,), BRIEF), None
    if n % 3 == 0:
        c = hostile[n // 3 % len(hostile)]
        return 'hostile', Job(f'# {n}\n{c.code}', tuple(c.tests), BRIEF), False
    right = n % 2 == 0
    tests = f'assert f(2) == {2 * n}', f'assert f(3) == {3 * n + (not right)}'
    if n % 10 == 4: return 'script', Job(code, ('\n'.join(['x = 0', *tests]),)), right
    return 'with a process of its own' if remembers else 'shares a process', Job(code, tests), right


def test_many_jobs():
    walled = ('exits', 'equality', 'tampering', 'oracle', 'forging', 'values', 'floods')
    quick = [c for name in walled for c in GROUPS[name] if c.kinds and not set(c.kinds) & set(PATIENT)]
    quick = [c for c in quick if len(parts(Job(c.code, tuple(c.tests)))) == 1]
    kinds, jobs, wanted = zip(*[made(n, quick) for n in range(int(os.environ.get('SOAK_JOBS', 5_000)))])
    start = time.monotonic()
    with Sandbox(workers=2) as s:
        s.map(jobs[:400])
        before = figures(s)
        reports = s.map(jobs)
        after = figures(s)
    seconds = time.monotonic() - start
    print('before', before, 'after', after)
    assert not [r.error for r in reports if r.error]
    passed = [len(r.steps) == len(j.tests) + 1 and all(kind == 'ok' for kind, _ in r.steps)
              for r, j in zip(reports, jobs)]
    assert [p for p, w in zip(passed, wanted) if w is not None] == [w for w in wanted if w is not None]
    assert all(after[k] <= before[k] for k in ('processes', 'descriptors', 'own_descriptors'))
    assert after['files'] == before['files'] == 0
    assert after['memory'] <= before['memory'] + 8
    if document := os.environ.get('SOAK_RESULTS'):
        names = dict(processes='processes', descriptors='descriptors', own_descriptors="the caller's descriptors",
                     files='files', memory='memory (PSS), MiB')
        counts = ', '.join(f'{n} {kind}' for kind, n in Counter(kinds).most_common())
        table = markdown_table(['held by two workers', 'after 400 jobs', f'after {len(jobs) + 400:,}'],
                               [[name, before[k], after[k]] for k, name in names.items()])
        write_table(document, 'soak', f'{table}\n\n{len(jobs):,} jobs in {seconds:.0f} s: {counts}.')
