"What the documents of this project show works when it is typed as shown."
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from small import rewritten, STARTER
from structure import ROOT

from adversarial_rl.core import commands
from adversarial_rl.core.commands import run_training
from adversarial_rl.core.errors import UsageError
from adversarial_rl.core.files import resource
from adversarial_rl.core.machine import wandb_mode
from adversarial_rl.core.settings import PPOConfig, TrainingConfig
from adversarial_rl.game.inference import main as run_inference
from adversarial_rl.game.trainer import AdversarialTrainer
from adversarial_rl.record.checkpoints import checkpoints

TINY = STARTER | dict(problems_per_step=2, group_size=2, held_out=2, max_new_tokens=16, max_tests=1)


@pytest.fixture(scope='module')
def checkpoint(tmp_path_factory):
    "A checkpoint of two models in folders of their own."
    folder = tmp_path_factory.mktemp('trained')
    models = {f'{name}_model': str(folder/name) for name in ('generator', 'discriminator')}
    for model in models.values(): shutil.copytree(resource('checkpoints/starter'), model)
    return AdversarialTrainer(TrainingConfig(**TINY | models, checkpoint_dir=str(folder)), PPOConfig()).save()


def ask(checkpoint, *flags):
    return run_inference(['--checkpoint', str(checkpoint), '--max-tokens', '48', *map(str, flags)])


def test_a_description_alone_is_enough(checkpoint, capfd):
    assert ask(checkpoint, '--problem', 'Write a function that finds the longest palindromic substring') == 0
    printed = capfd.readouterr()
    assert 'the program defines no function; to ask' in printed.err and 'Executable code' in printed.out


def test_a_signature_in_the_tests(checkpoint, tmp_path, capfd):
    flags = ['--problem', 'Return sum of two numbers', '--tests', 'assert add(2,3)==5;assert add(0,0)==0']
    assert ask(checkpoint, *flags, '--execute-tests', '--output', tmp_path/'results.json') == 0
    printed = capfd.readouterr()
    assert 'signature: def add(a, b): (from the tests;' in printed.err
    assert printed.out.count('assert add(') == 2
    assert len(json.loads((tmp_path/'results.json').read_text())['passed']) == 2


def test_a_batch_ends_with_a_json_file(checkpoint, tmp_path, capfd):
    problems = json.loads(resource('data/example_problems.json').read_text())['problems'][:2]
    (tmp_path/'problems.json').write_text(json.dumps(dict(problems=problems)))
    batch = ['--batch', '--problems-file', tmp_path/'problems.json', '--execute-tests', '--output']
    for _ in range(2):   # The second start finds everything done
        assert ask(checkpoint, *batch, tmp_path/'batch.json') == 0
        results = json.loads((tmp_path/'batch.json').read_text())
        assert [r['id'] for r in results] == [p['id'] for p in problems]
    (tmp_path/'notes.json').write_text('{}')
    assert ask(checkpoint, *batch, tmp_path/'notes.json') == 2
    assert (tmp_path/'notes.json').read_text() == '{}' and 'notes.jsonl' in capfd.readouterr().err


def test_models_that_moved_are_named_by_flags(checkpoint, tmp_path, capfd):
    shutil.copytree(checkpoint.parent, tmp_path/'copy')
    moved = tmp_path/'copy'/checkpoint.name
    gone = {name: str(tmp_path/'gone'/name) for name in ('generator', 'discriminator')}
    rewritten(checkpoint, moved, lambda whole: whole['info'].update(models=gone))
    assert ask(moved, '--problem', 'Add.') == 2
    assert 'name it with --generator-model' in capfd.readouterr().err
    models = [word for name in gone for word in (f'--{name}-model', tmp_path/'copy'/name)]
    assert ask(moved, '--problem', 'Add.', *models) == 0


def train(folder, *flags):
    small = [word for k, v in TINY.items() for word in (f'--{k}', str(v))]
    steps = '--n-discriminator-steps 0 --n-generator-steps 1 --k-alternating-steps 0 --report-to none'.split()
    folders = ['--output-dir', str(folder/'output'), '--checkpoint-dir', str(folder/'run')]
    return run_training([*small, *steps, '--no-mbpp-eval', *folders, *map(str, flags)])


def test_a_checkpoint_of_each_stage_stays_and_is_resumed_from(tmp_path, capfd):
    assert train(tmp_path, '--save-total-limit', 1) == 0
    ends = {f'checkpoint_stage_{stage}_epoch_1.pt' for stage in range(1, 6)}
    assert {path.name for path in checkpoints(tmp_path/'run')} == ends
    assert train(tmp_path, '--resume-from', tmp_path/'run'/'checkpoint_stage_3_epoch_1.pt') == 0
    assert 'at step 3' in capfd.readouterr().out


@pytest.mark.parametrize('name', ['run_training', 'run_inference', 'grpo_code_execution', 'grpo_code_game',
                                  'spiral_self_play'])
def test_each_command_is_a_script_at_the_top(name, tmp_path):
    done = subprocess.run([sys.executable, ROOT/f'{name}.py', '--help'], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0 and done.stdout.startswith(f'usage: {name} '), done.stderr


def printed_config(name, capfd, *flags):
    "Setting -> value and source, as --print-config shows them."
    with pytest.raises(SystemExit): getattr(commands, name).read([*flags, '--print-config'])
    return {line.split()[0]: line.split(maxsplit=2)[1:] for line in capfd.readouterr().out.splitlines()}


def test_the_machine_decides_where_nobody_else_does(tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    here = 'this machine, configs/starter.yaml'
    assert printed_config('run_training', capfd, '--device', 'cpu')['generator_model'] == ['starter', here]
    named = printed_config('run_training', capfd, '--generator-model', 'mine', '--device', 'cpu')
    sizes = 'this machine, configs/cpu_qwen.yaml'
    assert named['discriminator_model'] == ['mine', 'this machine'] and named['device'] == ['cpu', 'flag']
    assert named['problems_file'] == ['starter', sizes] and named['micro_batch'] == ['4', sizes]
    assert named['stages_together'][1] == 'default'
    toy = printed_config('run_training', capfd, '--generator-model', 'starter', '--device', 'cpu')
    assert toy['problems_file'] == ['starter', 'default'] and toy['mbpp_eval_num_questions'] == ['20', 'this machine']
    large = printed_config('grpo_code_execution', capfd, '--model.id', 'mine')
    assert large['prompts'] == ['mbpp', 'this machine, configs/grpo_code_execution.yaml']
    asked = printed_config('run_training', capfd, '--device', 'cpu', '--learning-rate', '.5')
    assert asked['learning_rate'] == ['0.5', 'flag'] and asked['group_size'][1] == here
    shipped = printed_config('grpo_code_execution', capfd, '--config', 'configs/grpo_code_execution.yaml')
    assert shipped['model.id'] == ['starter_printing', 'this machine'] and shipped['prompts'][0] == 'mbpp'
    file = 'configs/spiral_self_play_starter.yaml'
    assert printed_config('spiral_self_play', capfd)['model'] == ['starter_games', f'this machine, {file}']


def test_a_run_says_what_the_machine_decided(tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    tiny = """--device cpu --stages-together --n-discriminator-steps 0 --n-generator-steps 1 --k-alternating-steps 0
    --together-steps 0 --problems-per-step 2 --group-size 2 --max-new-tokens 16 --held-out 2 --report-to none"""
    assert run_training(tiny.split()) == 0
    said = capfd.readouterr().err
    assert 'for this machine: configs/starter.yaml; flags and --config override it' in said
    assert json.loads(Path('output/training_results.json').read_text())['steps'] == 1


@pytest.mark.parametrize('name', ['run_training', 'grpo_code_execution', 'grpo_code_game', 'spiral_self_play',
                                  'evaluate_mbpp'])
def test_every_command_obeys_the_environment(name, tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    (tmp_path/'.env').write_text('MBPP_EVAL_NUM_QUESTIONS=7\nMBPP_EVAL_TEMPERATURE=0.5\nMBPP_DATASET_PATH=mine\n')
    found = printed_config(name, capfd)
    for ending, value in (('num_questions', '7'), ('temperature', '0.5'), ('dataset_path', 'mine')):
        rows = [row for setting, row in found.items() if setting.endswith(ending) and row[1].startswith('.env')]
        assert [row[0] for row in rows] == [value], ending
    monkeypatch.setenv('MBPP_EVAL_NUM_QUESTIONS', '-3')
    with pytest.raises(UsageError, match='MBPP_EVAL_NUM_QUESTIONS -3: must be at least'):
        getattr(commands, name).read([])


def test_on_a_cluster_the_library_decides_about_wandb(tmp_path):
    "The batch script, with a Slurm that only shows the variables."
    for name, body in (('srun', "env | grep -E '^(WANDB|HF_HUB)' || true"), ('scontrol', 'echo node1')):
        (tmp_path/name).write_text(f'#!/bin/bash\n{body}\n')
        (tmp_path/name).chmod(0o755)
    (tmp_path/'slurm').symlink_to(ROOT/'slurm')
    env = {k: v for k, v in os.environ.items() if not k.startswith(('WANDB', 'HF_HUB'))} | dict(
        SLURM_SUBMIT_DIR=str(tmp_path), SLURM_JOB_ID='7', SLURM_JOB_NODELIST='node1', SLURM_NNODES='1',
        PYTHON=sys.executable, PATH=f"{tmp_path}:{os.environ['PATH']}")
    done = subprocess.run(['bash', ROOT/'slurm'/'submit_grpo_training.sh'], env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert (tmp_path/'logs'/'job_7'/'training_output.log').read_text() == 'HF_HUB_OFFLINE=1\n'
    assert wandb_mode({}) == ('disabled', 'there is no WANDB_API_KEY')
    assert wandb_mode(dict(WANDB_API_KEY='k'), lambda url: False)[0] == 'offline'
