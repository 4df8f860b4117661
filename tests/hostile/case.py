"One hostile program, and words that many of them share."
from dataclasses import dataclass

from adversarial_rl.grader.execution import Limits

QUICK = Limits(wall_seconds=2, cpu_seconds=2, memory_mb=128, output_bytes=4000)
SHORT = Limits(wall_seconds=.5, cpu_seconds=1, memory_mb=128, output_bytes=4000) # For those that never end
TESTS = ('assert f(3) == 4', 'assert f(10) == 11')
WRONG = ('assertion_failure', 'runtime_error')
ENDED = ('early_exit', 'crash')
STUCK = ('timeout', 'assertion_failure')

@dataclass(frozen=True)
class Case:
    name:str
    code:str
    tests:tuple[str, ...] = TESTS
    kinds:tuple[str, ...] = ()     # Acceptable kinds; none: every failure but infra_error
    limits:Limits = QUICK
    note:str = ''

def one(*tests:str)->tuple[str, ...]: return tuple(f'assert {test}' for test in tests)
