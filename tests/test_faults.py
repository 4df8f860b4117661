"Checkpoints of another command, or that lack something, and models that are asked too much: one line, nothing lost."
import hashlib
import json
import os

import processes
import pytest
import torch

from adversarial_rl.core.settings import PPOConfig, TrainingConfig
from adversarial_rl.game.trainer import AdversarialTrainer
from adversarial_rl.selfplay.config import SpiralConfig
from adversarial_rl.selfplay.trainer import SelfPlay


def tiny(folder, **changed):
    "A trainer of the game that writes into this folder."
    config = TrainingConfig(generator_model='starter', discriminator_model='starter', device='cpu', held_out=2,
                            checkpoint_dir=str(folder/'ck'), output_dir=str(folder/'out'), **changed)
    return AdversarialTrainer(config, PPOConfig())


@pytest.fixture(scope='module')
def checkpoints_of(tmp_path_factory):
    "A checkpoint of each command that writes one."
    pytest.importorskip('pyspiel')
    folder = tmp_path_factory.mktemp('checkpoints')
    config = SpiralConfig(model='starter_games', device='cpu', checkpoint_dir=str(folder/'sp'),
                          output_dir=str(folder/'out'))
    return dict(run_training=tiny(folder).save(), spiral_self_play=SelfPlay(config, PPOConfig()).save())


QUESTION = ['--problem', 'Return x.', '--signature', 'def f(x):']
SPIRAL = ['--config', 'configs/spiral_self_play_starter.yaml', '--steps', '1', '--eval-games', '2']
GAME = ['--config', 'configs/starter.yaml', '--problems-per-step', '2', '--held-out', '2']
READERS = [('run_inference', ['--checkpoint', 'C', *QUESTION], 'spiral_self_play'),
           ('evaluate_tester', ['--checkpoint', 'C', '--problems', '2'], 'spiral_self_play'),
           ('evaluate_mbpp', ['--checkpoint', 'C'], 'spiral_self_play'),
           ('run_training', [*GAME, '--resume-from', 'C'], 'spiral_self_play'),
           ('spiral_self_play', [*SPIRAL, '--opponents', 'C'], 'run_training'),
           ('spiral_self_play', [*SPIRAL, '--resume-from', 'C'], 'run_training')]
NAMES = [f'{name} {flags[-2]}' for name, flags, _ in READERS]


def read_by(command, flags, path, folder):
    "The last line that a command says about a checkpoint."
    here = ['--output-dir', 'o', '--checkpoint-dir', 'c'] if command in ('run_training', 'spiral_self_play') else []
    done = processes.run(command, *[str(path) if x == 'C' else x for x in flags], *here, cwd=folder)
    assert done.returncode == 2 and 'Traceback' not in done.stderr, done.stderr
    errors = [line for line in done.stderr.splitlines() if line.startswith('error: ')]
    assert len(errors) == 1
    return errors[0]


@pytest.mark.parametrize('command, flags, other', READERS, ids=NAMES)
def test_a_checkpoint_of_another_command_is_refused_by_name(command, flags, other, checkpoints_of, tmp_path):
    said = read_by(command, flags, checkpoints_of[other], tmp_path)
    own = 'spiral_self_play' if command == 'spiral_self_play' else 'run_training'
    assert f'is a checkpoint of {other}' in said and f'this takes one of {own}' in said


def rewritten(path, target, change):
    "A copy of a checkpoint, changed, with the right checksum."
    whole = torch.load(path, weights_only=False)
    change(whole)
    torch.save(whole, target)
    info = json.loads(path.with_suffix('.json').read_text())
    info['sha256'] = hashlib.sha256(target.read_bytes()).hexdigest()
    target.with_suffix('.json').write_text(json.dumps(info))
    return target


LOST = {'info architectures': lambda w: w['info'].pop('architectures'),
        'no players': lambda w: w['state'].pop('players'),
        'info configuration': lambda w: w['info'].pop('configuration'),
        'another form': lambda w: w['info'].update(configuration=[1]),
        'an adapter': lambda w: [p.popitem() for p in w['state']['players'].values()]}


SOME = (0, 3, 4, 5)


@pytest.mark.parametrize('lost', LOST)
@pytest.mark.parametrize('command, flags, other', [READERS[i] for i in SOME], ids=[NAMES[i] for i in SOME])
def test_a_checkpoint_with_a_right_checksum_that_lacks_something_is_one_line(command, flags, other, lost,
                                                                            checkpoints_of, tmp_path):
    own = 'spiral_self_play' if command == 'spiral_self_play' else 'run_training'
    path = rewritten(checkpoints_of[own], tmp_path/'checkpoint_step_0.pt', LOST[lost])
    assert 'checkpoint' in read_by(command, flags, path, tmp_path)


class Runs:
    "A pickle that runs a command when it is loaded."
    def __reduce__(self): return os.system, ('true',)


def test_a_checkpoint_that_would_run_code_is_refused_without_advice(checkpoints_of, tmp_path):
    path = rewritten(checkpoints_of['run_training'], tmp_path/'checkpoint_step_0.pt', lambda w: w.update(more=Runs()))
    said = read_by(*READERS[0][:2], path, tmp_path)
    assert 'could run code' in said and 'weights_only' not in said and 'trust' not in said


def test_without_what_is_measured_nothing_is_read(tmp_path):
    "The dataset of MBPP is missing here, and the message is about the flags all the same."
    done = processes.run('evaluate_mbpp', cwd=tmp_path)
    assert done.returncode == 2 and 'give one of --model' in done.stderr
    done = processes.run('evaluate_mbpp', '--checkpoint', 'absent.pt', cwd=tmp_path)
    assert done.returncode == 2 and 'absent.pt: no such checkpoint' in done.stderr
