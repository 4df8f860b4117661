"Programs against tests, an environment of verifiers with one seat."
from adversarial_code.env import CodeEnv
from adversarial_code.harness import OneTurn
from adversarial_code.taskset import CodeTaskset

__all__ = ['CodeEnv', 'CodeTaskset', 'OneTurn']
