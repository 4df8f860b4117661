"The game between a generator and a discriminator, an environment of verifiers with two seats."
from adversarial_game.env import GameEnv

__all__ = ['GameEnv']
