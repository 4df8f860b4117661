"The command `grpo_code_game` from a clone: python grpo_code_game.py --help"
import sys

from adversarial_rl.core.commands import grpo_code_game

if __name__ == '__main__': sys.exit(grpo_code_game())
