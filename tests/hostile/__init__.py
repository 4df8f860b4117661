"""Hostile programs, by group: for each a pass is always wrong, or it tries to hurt the machine around it.

The test replaces three words in a program: `{outside}` by a folder that it must not touch, `{port}` by a listener that
it must not reach, and `{marker}` by a word that identifies whatever outlives it. A program prints ESCAPED only after it
got through a wall.
"""
from . import bombs, endings, equality, escapes, exits, floods, forging, oracle, tampering, values

_MODULES = exits, equality, tampering, oracle, forging, floods, bombs, escapes, values, endings
GROUPS = {m.__name__.rpartition('.')[2]: m.CASES for m in _MODULES}
TABLE = [case for cases in GROUPS.values() for case in cases]

# A grader as people write it: one interpreter for the program and its tests, exit status 0 is a pass.
NAIVE = '''import json, resource, sys
code, tests = json.load(sys.stdin)
limits = dict(AS=2**29, CPU=2, FSIZE=2**16, CORE=0)
for name, size in limits.items(): resource.setrlimit(getattr(resource, f'RLIMIT_{name}'), (size, size))
namespace = {'__name__': 'candidate'}
exec(code, namespace)
for test in tests: exec(test, namespace)
'''
