"The game between a generator and a discriminator, an environment of verifiers with two seats."
from adversarial_rl.core.commands import load

load('game.round', 'adversarial-game')   # Names a missing package; verifiers would miss the environment itself

from adversarial_game.env import GameEnv  # noqa: E402

__all__ = ['GameEnv']
