"The command `run_inference` from a clone: python run_inference.py --help"
import sys

from adversarial_rl.core.commands import run_inference

if __name__ == '__main__': sys.exit(run_inference())
