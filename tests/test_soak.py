"""Ten thousand jobs in one process, a third of them hostile: every verdict arrives, nothing accumulates.

SOAK_JOBS=50000 sets another number.
"""
import os
import sys
from pathlib import Path

import pytest
from hostile import GROUPS

from adversarial_rl.grader.execution import Limits
from adversarial_rl.grader.grading import parts
from adversarial_rl.grader.pool import Job, Sandbox

pytestmark = [pytest.mark.slow, pytest.mark.skipif(sys.platform != 'linux', reason='needs /proc')]
BRIEF = Limits(wall_seconds=0.5, cpu_seconds=1, memory_mb=128, output_bytes=4000)
PATIENT = ('timeout', 'memory_limit')   # These take their whole time, and are repeated less

def below(pid):
    "A process and all below it."
    kids = [int(p) for p in os.listdir('/proc') if p.isdigit() and parent(p) == pid]
    return [pid] + [q for k in kids for q in below(k)]

def parent(pid):
    try: return int(Path(f'/proc/{pid}/stat').read_text().rpartition(')')[2].split()[1])
    except OSError: return -1

def figures(sandbox):
    "Processes, descriptors, files, memory (PSS, MiB) of the templates and their children; descriptors of this process."
    pids = [q for p in sandbox.pids() for q in below(p)]
    lines = [line for p in pids for line in Path(f'/proc/{p}/smaps_rollup').read_text().splitlines()]
    pss = sum(int(line.split()[1]) for line in lines if line.startswith('Pss:'))
    return dict(processes=len(pids), descriptors=sum(len(os.listdir(f'/proc/{p}/fd')) for p in pids),
                own_descriptors=len(os.listdir('/proc/self/fd')),
                files=sum(len(names) for _, _, names in os.walk(sandbox.root)), memory=round(pss / 1024))

def test_many_jobs():
    walled = ('exits', 'equality', 'tampering', 'oracle', 'forging', 'values', 'floods')
    quick = [c for name in walled for c in GROUPS[name] if c.kinds and not set(c.kinds) & set(PATIENT)]
    quick = [c for c in quick if len(parts(Job(c.code, tuple(c.tests)))) == 1]
    jobs, wanted = [], []
    for n in range(int(os.environ.get('SOAK_JOBS', 10_000))):
        if n % 3 == 0:
            c = quick[n // 3 % len(quick)]
            jobs.append(Job(f'# {n}\n{c.code}', tuple(c.tests), BRIEF))
            wanted.append(False)
        else:
            tests = (f'assert f(2) == {2 * n}', f'assert f(3) == {3 * n + n % 2}')
            remembers = '\nseen = 0' if n // 2 % 2 else ''   # A process of its own
            jobs.append(Job(f'def f(x): return x * {n}{remembers}', tests, BRIEF))
            wanted.append(n % 2 == 0)
    with Sandbox(workers=2) as s:
        s.map(jobs[:400])
        before = figures(s)
        reports = s.map(jobs)
        after = figures(s)
        print('before', before, 'after', after)
        assert not [r.error for r in reports if r.error]
        passed = [len(r.steps) == len(j.tests) + 1 and all(kind == 'ok' for kind, _ in r.steps)
                  for r, j in zip(reports, jobs)]
        assert passed == wanted
        assert all(after[k] <= before[k] for k in ('processes', 'descriptors', 'own_descriptors'))
        assert after['files'] == before['files'] == 0
        assert after['memory'] <= before['memory'] + 8
