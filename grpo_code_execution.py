"The command `grpo_code_execution` from a clone: python grpo_code_execution.py --help"
import sys

from adversarial_rl.core.commands import grpo_code_execution

if __name__ == '__main__': sys.exit(grpo_code_execution())
