"Checkpoints of another command, or that lack something, and models that are asked too much: one line, nothing lost."
import json
import os
import resource as resource_limits
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import processes
import pytest
from small import rewritten, small, tiny

from adversarial_rl.core.errors import guarded, UsageError
from adversarial_rl.core.files import append_line, resource, write_whole
from adversarial_rl.core.settings import PPOConfig, TrainingConfig
from adversarial_rl.game.trainer import AdversarialTrainer, train
from adversarial_rl.grpo import code_execution, output_game
from adversarial_rl.grpo.settings import CodeGameSettings, GRPOSettings, OpponentSettings
from adversarial_rl.record.checkpoints import checkpoints, load_checkpoint
from adversarial_rl.selfplay import spiral
from adversarial_rl.selfplay.config import SpiralConfig
from adversarial_rl.selfplay.trainer import SelfPlay


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
           ('evaluate_tester', ['--checkpoint', 'C', '--held-out', '2'], 'spiral_self_play'),
           ('evaluate_mbpp', ['--checkpoint', 'C'], 'spiral_self_play'),
           ('run_training', [*GAME, '--resume-from', 'C'], 'spiral_self_play'),
           ('spiral_self_play', [*SPIRAL, '--opponents', 'C'], 'run_training'),
           ('spiral_self_play', [*SPIRAL, '--resume-from', 'C'], 'run_training')]
NAMES = [f'{name} {flags[-2]}' for name, flags, _ in READERS]


def refused(command, *flags, cwd):
    "The one line of a command that refuses something."
    done = processes.run(command, *flags, cwd=cwd)
    errors = [line for line in done.stderr.splitlines() if line.startswith('error: ')]
    assert done.returncode == 2 and 'Traceback' not in done.stderr and len(errors) == 1, done.stderr
    return errors[0]


def read_by(command, flags, path, folder):
    "The line that a command says about a checkpoint."
    here = ['--output-dir', 'o', '--checkpoint-dir', 'c'] if command in ('run_training', 'spiral_self_play') else []
    return refused(command, *[str(path) if x == 'C' else x for x in flags], *here, cwd=folder)


@pytest.mark.parametrize('command, flags, other', READERS, ids=NAMES)
def test_a_checkpoint_of_another_command_is_refused_by_name(command, flags, other, checkpoints_of, tmp_path):
    said = read_by(command, flags, checkpoints_of[other], tmp_path)
    own = 'spiral_self_play' if command == 'spiral_self_play' else 'run_training'
    assert f'is a checkpoint of {other}' in said and f'this takes one of {own}' in said


LOST = {'no players': lambda w: w['state'].pop('players'),
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


def test_a_file_that_cannot_grow_is_one_line(tmp_path, capfd):
    def grow(argv): append_line(tmp_path/'rows.jsonl', 'x' * 10000)
    def whole(argv): write_whole(tmp_path/'results.json', b'x' * 10000)
    usual = resource_limits.getrlimit(resource_limits.RLIMIT_FSIZE)
    for call in (grow, whole):
        resource_limits.setrlimit(resource_limits.RLIMIT_FSIZE, (4096, usual[1]))
        try: code = guarded(call, [])
        finally: resource_limits.setrlimit(resource_limits.RLIMIT_FSIZE, usual)
        said = capfd.readouterr().err
        assert code == 2 and 'File too large' in said and said.count('\n') == 1, said


@pytest.fixture
def long_problems(tmp_path):
    "A problems file whose second problem fills the window of the bundled model."
    rows = json.loads(resource('data/example_problems.json').read_text())['problems'][:3]
    rows[1] |= dict(id='much too long', description='Return x. ' * 2000)
    (tmp_path/'long.json').write_text(json.dumps(dict(problems=rows)))
    return tmp_path/'long.json'


def test_a_prompt_beyond_the_window_is_refused_by_the_name_of_its_problem(checkpoints_of, long_problems, tmp_path):
    saved, batch = checkpoints_of['run_training'], ['--batch', '--problems-file', long_problems]
    said = [refused('run_training', *GAME, '--problems-file', long_problems, cwd=tmp_path),
            refused('run_inference', '--checkpoint', saved, *batch, cwd=tmp_path),
            refused('grpo_code_execution', '--prompts', long_problems, '--evaluation.enabled', 'false', cwd=tmp_path)]
    for line in said[:2]: assert "problem 'much too long': its prompt has" in line and 'window of 1024' in line
    assert 'its prompt has' in said[2] and 'window of 1024' in said[2]


@pytest.mark.parametrize('command, flags, message', [
    ('run_training', ['--problems-file', 'absent.json'], 'absent.json: no such problems file'),
    ('run_training', ['--resume'], 'no checkpoint to go on from'),
    ('run_training', ['--resume-from', 'absent.pt'], 'absent.pt: no such checkpoint'),
    ('spiral_self_play', ['--resume-from', 'absent.pt'], 'absent.pt: no such checkpoint'),
    ('spiral_self_play', ['--opponents', 'random absent.pt'], 'absent.pt: no such checkpoint'),
    ('spiral_self_play', ['--mbpp-dataset-path', 'absent'], 'MBPP in absent'),
    ('grpo_code_execution', ['--prompts', 'absent.json'], 'absent.json: no such problems file'),
    ('grpo_code_execution', ['--evaluation.dataset-path', 'absent'], 'MBPP in absent')])
def test_what_needs_no_model_is_checked_before_one_is_loaded(command, flags, message, tmp_path):
    "The default model is on the hub, so without a network a model that is loaded first has the first message."
    names = dict(run_training='--generator-model', spiral_self_play='--model', grpo_code_execution='--model.id')
    assert message in refused(command, *flags, names[command], 'no/such-model', cwd=tmp_path)


def test_training_from_a_script_checks_what_the_command_checks(tmp_path):
    here = dict(output_dir=str(tmp_path/'o'), checkpoint_dir=str(tmp_path/'c'))
    nan = PPOConfig(learning_rate=float('nan'))
    for start, message in ((lambda: train(TrainingConfig(**here), nan), '--learning-rate nan'),
                           (lambda: train(TrainingConfig(group_size=0, **here), PPOConfig()), '--group-size 0'),
                           (lambda: spiral.train(SpiralConfig(steps=0, **here), PPOConfig()), '--steps 0'),
                           (lambda: code_execution.train(GRPOSettings(tests_weight=-1)), '--tests-weight -1'),
                           (lambda: code_execution.train(GRPOSettings(training_args=dict(beta='nan'))), 'beta nan'),
                           (lambda: output_game.train(CodeGameSettings(opponent=OpponentSettings(refresh_every=0))),
                            '--opponent.refresh-every 0')):
        with pytest.raises(UsageError, match=message): start()
    assert not list(tmp_path.iterdir())


def test_a_checkpoint_folder_removed_during_a_run_is_made_again_with_a_best_one(tmp_path, monkeypatch, capfd):
    usual = AdversarialTrainer.after_step
    def remove(trainer, row):
        usual(trainer, row)
        if trainer.step == 3: shutil.rmtree(tmp_path/'ck')
    monkeypatch.setattr(AdversarialTrainer, 'after_step', remove)
    train(*small(tmp_path))
    assert capfd.readouterr().err.count('checkpoint_best.pt is gone; the search for the best begins anew') == 1
    assert load_checkpoint(tmp_path/'ck'/'checkpoint_best')[1]['step'] >= 3
    assert len(checkpoints(tmp_path/'ck')) == 5   # The last three, and those of stages 2 and 3


def test_a_run_asks_for_the_room_that_its_checkpoints_take(tmp_path, monkeypatch):
    train(*small(tmp_path))
    taken = sum(p.stat().st_size for p in (tmp_path/'ck').glob('*.pt')) / 2**20
    usage = shutil.disk_usage(tmp_path)
    monkeypatch.setattr(shutil, 'disk_usage', lambda path: usage._replace(free=2 * 2**20))
    with pytest.raises(UsageError, match='only 2 MB free, [0-9]+ MB needed') as refused: train(*small(tmp_path))
    assert abs(int(str(refused.value).split(' MB needed')[0].split()[-1]) - taken) < 1.5
    assert not list(tmp_path.rglob('previous_1'))


def test_the_source_distribution_holds_the_notebooks(tmp_path):
    root = Path(__file__).resolve().parents[1]
    if not (root/'setup.py').exists(): pytest.skip('not in a clone')
    left_out = shutil.ignore_patterns('.*', 'output', 'run', 'build', '*.egg-info', 'tests')
    shutil.copytree(root, tmp_path/'clone', ignore=left_out)
    subprocess.run([sys.executable, 'setup.py', '-q', 'sdist', '-d', tmp_path/'dist'], cwd=tmp_path/'clone', check=True,
                   capture_output=True)
    with tarfile.open(next((tmp_path/'dist').iterdir())) as archive:
        held = {name.partition('/')[2] for name in archive.getnames()}
    notebooks = {str(p.relative_to(root)) for p in (root/'nbs').rglob('*.ipynb') if '.ipynb_checkpoints' not in p.parts}
    assert notebooks and not notebooks - held


@pytest.mark.parametrize('text', ['{', '[]', '{"base_model_name_or_path": "."}'])
def test_an_adapter_whose_description_is_no_description_is_one_line(text, tmp_path):
    (tmp_path/'adapter_config.json').write_text(text)
    assert 'model folder .' in refused('run_training', '--generator-model', '.', '--discriminator-model', '.',
                                                   '--device', 'cpu', cwd=tmp_path)


def test_a_description_of_a_checkpoint_that_is_nested_too_deep_is_left_out(tmp_path):
    (tmp_path/'checkpoint_1.pt').touch()
    (tmp_path/'checkpoint_1.json').write_text('[' * 100_000)
    assert checkpoints(tmp_path) == []
