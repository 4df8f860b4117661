"""Each command once on a real model: REAL_MODELS names a folder with folders of models, of which the smallest is taken.

Without it these tests are skipped. SmolLM2-135M-Instruct takes them some minutes on two cores.
"""
import json
import os
import subprocess
import sys
from pathlib import Path

import processes
import pytest
import test_kill
import test_mbpp

MODELS = sorted(Path(os.environ.get('REAL_MODELS') or os.devnull).glob('*/model.safetensors'), key=os.path.getsize)
pytestmark = [pytest.mark.slow, pytest.mark.skipif(
    not MODELS, reason='REAL_MODELS names no folder that holds folders of real models')]
SHORT = ['--device', 'cpu', '--report-to', 'none', '--mbpp-eval', 'false', '--held-out', '2',
         '--problems-per-step', '2', '--group-size', '2', '--opponents', '1', '--max-new-tokens', '16',
         '--n-discriminator-steps', '0', '--n-generator-steps', '1', '--k-alternating-steps', '0', '--micro-batch', '4']
TRL = ['--device', 'cpu', '--evaluation.enabled', 'false', '--wandb.enabled', 'false', '--training_args.max_steps', '1',
       '--training_args.per_device_train_batch_size', '2', '--training_args.gradient_accumulation_steps', '1',
       '--training_args.num_generations', '2', '--training_args.max_completion_length', '16']


def run(command, *flags):
    done = processes.run(command, *flags)
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


@pytest.fixture(scope='module')
def trained(tmp_path_factory):
    "The folder of a run that trained each of the five stages for one step."
    folder = tmp_path_factory.mktemp('real')
    run('run_training', *SHORT, '--generator-model', MODELS[0].parent, '--discriminator-model', MODELS[0].parent,
        '--output-dir', folder/'out', '--checkpoint-dir', folder/'checkpoints')
    return folder


def test_the_five_stages_train_one_by_one_and_go_on(trained):
    checkpoints = trained/'checkpoints'
    stages = sorted(p.name for p in checkpoints.glob('checkpoint_stage_*.pt'))
    assert stages == [f'checkpoint_stage_{i}_epoch_1.pt' for i in range(1, 6)]
    before = json.loads((trained/'out'/'training_results.json').read_text())
    run('run_training', *SHORT, '--generator-model', MODELS[0].parent, '--discriminator-model', MODELS[0].parent,
        '--output-dir', trained/'again', '--checkpoint-dir', trained/'copies', '--resume-from', checkpoints/stages[3])
    after = json.loads((trained/'again'/'training_results.json').read_text())
    assert after['held_out'] == before['held_out']


def test_a_checkpoint_solves_problems(trained, tmp_path):
    best = trained/'checkpoints'/'checkpoint_best.pt'
    said = run('run_inference', '--checkpoint', best, '--problem', 'Return the sum of two numbers', '--signature',
               'def add(a, b):', '--tests', 'assert add(2,3)==5;assert add(0,0)==0', '--execute-tests', '--device',
               'cpu', '--max-tokens', '16', '--output', trained/'answer.json')
    assert 'Executable code' in said and (trained/'answer.json').exists()
    three = json.loads(Path(__file__).parents[1].joinpath('data', 'example_problems.json').read_text())['problems'][:3]
    (tmp_path/'three.json').write_text(json.dumps(dict(problems=three)))
    run('run_inference', '--checkpoint', best, '--batch', '--problems-file', tmp_path/'three.json',
        '--execute-tests', '--device', 'cpu', '--max-tokens', '8', '--output', trained/'batch.json')


def test_the_measures(trained, tmp_path):
    (tmp_path/'mbpp.jsonl').write_text('\n'.join(map(json.dumps, test_mbpp.rows('full'))))
    said = run('evaluate_mbpp', '--model', MODELS[0].parent, '--dataset', 'full', '--dataset-path', tmp_path, '--split',
               'all', '--num-questions', '3', '--max-new-tokens', '32', '--device', 'cpu', '--output-dir', tmp_path)
    assert 'greedy' in said
    run('evaluate_tester', '--checkpoint', trained/'checkpoints'/'checkpoint_best.pt', '--held-out', '2', '--device',
        'cpu', '--output-dir', tmp_path)


MEMORY = """
import re, sys, torch
from adversarial_rl.model.footprint import _learning_bytes
from adversarial_rl.model.policy import load_model, Policy
def held(key): return 1024 * int(re.search(rf'{key}:\\s+(\\d+)', open('/proc/self/status').read())[1])
policy = Policy(*load_model(sys.argv[1]), ['generator'])
ids = torch.randint(5, 6000, (4, 400))
before = held('VmRSS')
with policy.player('generator'): sum(x.sum() for x in policy.score('generator', ids, ids > 0)).backward()
print(held('VmHWM') - before, _learning_bytes(policy.model.config, ids.numel(), 4, False))
"""


@pytest.mark.skipif(not Path('/proc/self/status').exists(), reason='needs /proc')
def test_a_backward_pass_takes_the_memory_that_is_planned():
    done = subprocess.run([sys.executable, '-c', MEMORY, MODELS[0].parent], capture_output=True, text=True)
    assert not done.returncode, done.stderr[-2000:]
    held, planned = map(int, done.stdout.split())
    assert held < 1.1 * planned   # 1.5 times it, where tensors lay in one heap


@pytest.mark.parametrize('command', [['grpo_code_execution', '--prompts', 'starter'], ['grpo_code_game']])
def test_trl_trains_it(command, tmp_path):
    run(*command, *TRL, '--model.id', MODELS[0].parent, '--output_dir', tmp_path)


def test_killed_anywhere_equals_never_stopped(tmp_path):
    def start(folder, *flags):
        both = [x for name in ('generator', 'discriminator') for x in (f'--{name}-model', MODELS[0].parent)]
        return processes.Command('run_training', *SHORT, *both, '--save-steps', '1', '--output-dir', folder/'out',
                                 '--checkpoint-dir', folder/'ck', *flags, cwd=folder)
    test_kill.killed(tmp_path, start, 10, step=5.)
