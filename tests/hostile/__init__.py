"""Hostile programs, by group: for each a pass is always wrong, or it tries to hurt the machine around it.

`{outside}`, `{port}` and `{marker}` in a program are filled in by the test: a folder it must not touch, a listener it must not
reach, and a word that whatever outlives it would carry. A program prints ESCAPED only once it got through a wall."""
from dataclasses import dataclass

from adversarial_rl.grader.execution import Limits

QUICK = Limits(wall_seconds=2, cpu_seconds=2, memory_mb=128, output_bytes=4000)
SHORT = Limits(wall_seconds=1, cpu_seconds=1, memory_mb=128, output_bytes=4000) # For those that never end
TESTS = ('assert f(3) == 4', 'assert f(10) == 11')
WRONG = ('assertion_failure', 'runtime_error')
ENDED = ('early_exit', 'crash')
STUCK = ('timeout', 'assertion_failure')

@dataclass(frozen=True)
class Case:
    name:str
    code:str
    tests:tuple = TESTS
    kinds:tuple = ()     # Acceptable kinds; none: every failure but infra_error
    limits:Limits = QUICK
    note:str = ''

def one(*tests): return tuple(f'assert {test}' for test in tests)

from . import bombs, endings, equality, escapes, exits, floods, forging, oracle, tampering, values

GROUPS = {m.__name__.rpartition('.')[2]: m.CASES for m in (exits, equality, tampering, oracle, forging, floods, bombs, escapes, values, endings)}
TABLE = [case for cases in GROUPS.values() for case in cases]

# A grader as people write it: one interpreter for the program and its tests, exit status 0 is a pass.
NAIVE = '''import json, resource, sys
code, tests = json.load(sys.stdin)
for limit, size in ((resource.RLIMIT_AS, 2**29), (resource.RLIMIT_CPU, 2), (resource.RLIMIT_FSIZE, 2**16), (resource.RLIMIT_CORE, 0)): resource.setrlimit(limit, (size, size))
namespace = {'__name__': 'candidate'}
exec(code, namespace)
for test in tests: exec(test, namespace)
'''
