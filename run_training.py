"The command `run_training` from a clone: python run_training.py --help"
import sys

from adversarial_rl.core.commands import run_training

if __name__ == '__main__': sys.exit(run_training())
