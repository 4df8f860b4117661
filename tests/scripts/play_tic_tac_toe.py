# After `spiral_self_play`
import random

from adversarial_rl.model.agents import Local
from adversarial_rl.selfplay.board_games import begin, make_opponent, play, PromptedPlayer
from adversarial_rl.selfplay.spiral import load_learner

learner = PromptedPlayer(Local(load_learner('checkpoints/spiral/checkpoint_best.pt'), 'learner', 8))
match = begin('tic_tac_toe', (learner, make_opponent('random', 'tic_tac_toe')), random.Random(0))
for _, turn in play([match], random.Random(0)): print('XO'[turn.role], turn.move)
print(match.returns())
