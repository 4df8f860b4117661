"The command `spiral_self_play` from a clone: python spiral_self_play.py --help"
import sys

from adversarial_rl.core.commands import spiral_self_play

if __name__ == '__main__': sys.exit(spiral_self_play())
