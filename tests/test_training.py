"The main job from its command line: results, resume, Ctrl-C, kill, mistakes, two bases, a sixth stage."
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import processes
import pytest
import torch

from adversarial_rl.core.files import resource
from adversarial_rl.core.settings import PPOConfig, TrainingConfig
from adversarial_rl.game.trainer import AdversarialTrainer, train
from adversarial_rl.problems.stages import REASONING_STAGES, ReasoningStage
from adversarial_rl.record.checkpoints import checkpoints, load_checkpoint

SMALL = ['--config', 'configs/starter.yaml', '--problems-per-step', '3', '--group-size', '3', '--held-out', '8', '--max-new-tokens', '48',
         '--n-discriminator-steps', '1', '--n-generator-steps', '1', '--k-alternating-steps', '1', '--together-steps', '0', '--critic-warmup', '0']


def ask(folder, *flags): return [*SMALL, '--output-dir', str(folder/'out'), '--checkpoint-dir', str(folder/'ck'), *flags]


def command(folder, *flags): return [sys.executable, '-m', 'adversarial_rl.game.run_training', *ask(folder, *flags)]


def run(folder, *flags): return processes.run('run_training', *ask(folder, *flags), cwd=folder)


def config(folder, **kw):
    small = dict(generator_model='starter', discriminator_model='starter', device='cpu', problems_per_step=3, group_size=3, held_out=6, max_new_tokens=40, max_tests=1,
                 n_discriminator_steps=1, n_generator_steps=1, k_alternating_steps=0, output_dir=str(folder/'out'), checkpoint_dir=str(folder/'ck'), sampling_threads=1)
    return TrainingConfig(**(small | kw)), PPOConfig(learning_rate=1e-3, critic_warmup=0)


def steps(folder): return [json.loads(l) for l in (folder/'out'/'metrics.jsonl').read_text().splitlines()]


@pytest.fixture(scope='module')
def finished(tmp_path_factory):
    "One whole small run, from a folder that is not the project's."
    folder = tmp_path_factory.mktemp('run')
    done = run(folder)
    assert done.returncode == 0, done.stderr
    return folder, done


def test_a_run_leaves_results_metrics_and_a_figure(finished):
    folder, done = finished
    results = json.loads((folder/'out'/'training_results.json').read_text())
    h = results['held_out']
    for name in ('pass_rate', 'validity', 'distinct'):
        for when in ('before', 'after'): assert 0 <= h[f'{name}_{when}'] <= 1
    for name in ('pass_rate', 'pass_rate_sampled', 'pass_rate_on_opponent_tests', 'validity'):
        low, high = h[f'{name}_after_interval']
        assert low <= h[f'{name}_after'] <= high
    assert results['steps'] == 5 * (1 + 1 + 2) == len(steps(folder))
    assert list(results['stages']) == [s.name for s in REASONING_STAGES]
    assert (folder/'out'/'training_curves.png').read_bytes().startswith(b'\x89PNG')
    assert 'held-out problems (8)' in done.stdout and 'Traceback' not in done.stderr


def test_frozen_means_frozen(tmp_path):
    trainer = AdversarialTrainer(*config(tmp_path))
    for _ in range(4):
        who = trainer.schedule[trainer.step].learner
        other = 'generator' if who == 'discriminator' else 'discriminator'
        before = {p: {k: v.clone() for k, v in trainer.players[p].policy.parameters(p).items()} for p in (who, other)}
        trainer.train_step()
        now = {p: trainer.players[p].policy.parameters(p) for p in (who, other)}
        assert all(torch.equal(v, before[other][k]) for k, v in now[other].items())


@pytest.mark.parametrize('more', [{}, dict(failed_tests=4, problems_per_step=8)], ids=['defaults', 'failed tests'])
def test_going_on_equals_not_having_stopped(tmp_path, more):
    "Three steps, save, a new trainer, three more: bit for bit the same as six."
    (tmp_path/'a').mkdir(); (tmp_path/'b').mkdir()
    whole = AdversarialTrainer(*config(tmp_path/'a', **more))
    rows = [whole.train_step() for _ in range(6)]
    first = AdversarialTrainer(*config(tmp_path/'b', **more))
    for _ in range(3): first.train_step()
    path = first.save({'reward/generator': 0., 'validity': 0.})
    torch.manual_seed(999)
    second = AdversarialTrainer(*config(tmp_path/'b', **more))
    second.load_state_dict(load_checkpoint(path)[0])
    again = [second.train_step() for _ in range(3)]
    strip = lambda r: {k: v for k, v in r.items() if 'second' not in k}
    assert [strip(r) for r in rows[3:]] == [strip(r) for r in again]
    a, b = whole.state_dict()['players'], second.state_dict()['players']
    assert all(torch.equal(v, b[p][k]) for p in a for k, v in a[p].items())
    assert whole.failed_tests.kept == second.failed_tests.kept and bool(whole.failed_tests.kept) == bool(more)


def wait_for_steps(process, folder, n, patience=120):
    end = time.time() + patience
    while time.time() < end and process.poll() is None:
        if (folder/'out'/'metrics.jsonl').exists() and len(steps(folder)) >= n: return
        time.sleep(.05)
    raise AssertionError(f'no {n} steps: {process.poll()}')


def test_ctrl_c_saves_and_resume_finishes(tmp_path, finished):
    process = processes.Command('run_training', *ask(tmp_path), cwd=tmp_path)
    wait_for_steps(process, tmp_path, 6)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130 and 'Traceback' not in err and '--resume goes on from there' in err
    done = len(steps(tmp_path))
    assert load_checkpoint(checkpoints(tmp_path/'ck')[0])[1]['step'] == done
    again = run(tmp_path, '--resume')
    assert again.returncode == 0, again.stderr
    assert 'going on from' in again.stdout
    assert [r['step'] for r in steps(tmp_path)] == list(range(20))
    same = lambda f: json.loads((f/'out'/'training_results.json').read_text())['held_out']
    assert same(tmp_path) == same(finished[0])


def test_sigkill_loses_nothing_that_was_saved(tmp_path, finished):
    process = processes.Command('run_training', *ask(tmp_path), cwd=tmp_path)
    wait_for_steps(process, tmp_path, 10)
    process.kill()
    process.wait()
    again = run(tmp_path, '--resume')
    assert again.returncode == 0, again.stderr
    same = lambda f: json.loads((f/'out'/'training_results.json').read_text())['held_out']
    assert same(tmp_path) == same(finished[0])


def test_a_new_run_is_not_mistaken_for_the_old_one(tmp_path):
    "The same folders, twice, with other seeds: the first one's checkpoints are set aside, and --resume refuses other settings."
    fewer = ['--n-discriminator-steps', '0', '--k-alternating-steps', '0', '--together-steps', '0']
    for seed in ('0', '1'): assert run(tmp_path, *fewer, '--seed', seed).returncode == 0
    assert [load_checkpoint(p)[1]["configuration"]["seed"] for p in (checkpoints(tmp_path/'ck')[0], checkpoints(tmp_path/'ck'/'previous')[0])] == [1, 0]
    assert (tmp_path/'ck'/'checkpoint_best.pt').exists()
    refused = run(tmp_path, *fewer, '--seed', '0', '--resume')
    assert refused.returncode == 2 and 'was made with seed 1, not 0' in refused.stderr


def test_a_sixth_stage_trains(tmp_path):
    six = REASONING_STAGES[:4] + [ReasoningStage('review', 'Review', 'Name one mistake.')] + REASONING_STAGES[4:]
    results = train(*config(tmp_path, n_discriminator_steps=0), stages=six)
    assert list(results['stages']) == [s.name for s in six] and results['steps'] == 6


def test_two_different_bases_and_a_problems_file(tmp_path, qwen, tokenizer):
    "A Qwen2 with random weights against the starter, on the shipped examples."
    qwen().save_pretrained(tmp_path/'other')
    tokenizer.save_pretrained(tmp_path/'other')
    c, ppo = config(tmp_path, discriminator_model=str(tmp_path/'other'), problems_file=str(resource('data/example_problems.json')), held_out=4, max_new_tokens=12)
    trainer = AdversarialTrainer(c, ppo)
    assert trainer.generator.policy is not trainer.discriminator.policy
    assert train(c, ppo)['steps'] == 10


def bad(tmp_path):
    broken = tmp_path/'broken.json'
    broken.write_text('{"problems": [{"id": "one"}]}')
    (tmp_path/'nothing.json').write_text('not json')
    (tmp_path/'deep.json').write_text('[' * 200000)
    (tmp_path/'digits.json').write_text('[' + '9' * 5000 + ']')
    p = dict(id='x', description='Half \\ud800.', function_signature='def double(n):', baseline_tests=['assert double(3) == 6'], reference_solution='def double(n):\n    return 2 * n', difficulty='easy', tags=[])
    (tmp_path/'half.json').write_text(json.dumps({'problems': [p]}).replace('\\\\', '\\'))
    (tmp_path/'nested.json').write_text(json.dumps({'problems': [p | dict(description='Nested.', baseline_tests=['assert double(' + '-' * 10**6 + '3) == 6'])]}))
    (tmp_path/'bad.yaml').write_text('learning_rate: [1, 2]\n')
    (tmp_path/'file').write_text('')
    wrong, cut = tmp_path/'wrong.json', tmp_path/'cut'
    p = dict(description='Return twice n.', function_signature='def double(n):', baseline_tests=['assert double(3) == 6'], reference_solution='def double(n):\n    return n', difficulty='easy', tags=[])
    wrong.write_text(json.dumps({'problems': [p | dict(id='double'), p | dict(id='two')]}))
    shutil.copytree(resource('checkpoints/starter'), cut)
    (cut/'model.safetensors').write_bytes((cut/'model.safetensors').read_bytes()[:1000])
    return [
        (['--problems-file', 'absent.json'], 'no such problems file'), (['--problems-file', str(broken)], "problem 1 ('one'): field 'description' is missing"),
        (['--problems-file', str(tmp_path/'nothing.json')], 'not valid JSON'), (['--generator-model', 'nobody/no-such-model'], 'use the bundled one'),
        (['--discriminator-model', str(tmp_path)], 'cannot be loaded'), (['--learning-rate', '-1'], 'must be at least 0'), (['--learning-rate', 'nan'], 'finite'),
        (['--group-size', '1'], '--group-size 1: must be at least 2'), (['--n-generator-steps', '-3'], 'must be at least 0'), (['--temperature', '1e9'], 'must be at most'),
        (['--max-new-tokens', 'many'], 'must be an integer'), (['--no-such-flag', '1'], 'no-such-flag'), (['--graded-on', 'luck'], 'must be one of'),
        (['--device', 'cuda'] if not torch.cuda.is_available() else ['--device', 'tpu'], '--device'), (['--output-dir', str(tmp_path/'file'/'out')], 'cannot be written'),
        (['--config', 'absent.yaml'], 'no such file'), (['--config', str(tmp_path/'bad.yaml')], 'must be a single value'), (['--resume', '--checkpoint-dir', str(tmp_path/'none')], 'no checkpoint to go on from'),
        (['--n-discriminator-steps', '0', '--n-generator-steps', '0', '--k-alternating-steps', '0', '--together-steps', '0'], 'nothing to do'), (['--device', 'cpu:abc'], '--device cpu:abc'),
        (['--problems-file', str(tmp_path/'deep.json')], 'cannot be read'), (['--problems-file', str(tmp_path/'digits.json')], 'cannot be read'),
        (['--problems-file', str(tmp_path/'half.json')], "field 'description' holds half a surrogate pair"), (['--problems-file', str(tmp_path/'nested.json')], 'test 1 is not valid Python'),
        (['--problems-file', str(wrong)], "problem 'double': field 'reference_solution' fails"), (['--generator-model', str(cut)], 'cannot be loaded'),
    ]


@pytest.mark.parametrize('case', range(26))
def test_a_mistake_is_one_line_and_exit_code_2(tmp_path, case, capfd):
    from adversarial_rl.game.run_training import main
    flags, says = bad(tmp_path)[case]
    base = [] if '--config' in flags else SMALL
    code = main([*base, '--output-dir', str(tmp_path/'out'), '--checkpoint-dir', str(tmp_path/'ck'), *flags])
    err = capfd.readouterr().err
    assert code == 2 and says in err
    assert err.strip().splitlines()[-1].startswith('error: ') and 'Traceback' not in err


def test_a_full_disk_is_one_line_and_keeps_what_was_written(tmp_path):
    "A real file system of 1 MB; where mounting is not allowed, a limit on the size of files."
    small = tmp_path/'small'
    small.mkdir()
    limit = 'ulimit -f 400; ' # kB; the checkpoint is larger
    line = limit + ' '.join(command(tmp_path))
    done = subprocess.run(['bash', '-c', "trap '' XFSZ; " + line], capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 2, done.stderr
    assert done.stderr.strip().splitlines()[-1].startswith('error: File too large') and 'Traceback' not in done.stderr
    assert steps(tmp_path) and not list((tmp_path/'ck').glob('.*'))


def test_help_reads_well():
    done = subprocess.run([sys.executable, '-m', 'adversarial_rl.game.run_training', '--help'], capture_output=True, text=True)
    assert done.returncode == 0 and '--n-discriminator-steps' in done.stdout.replace('_', '-') and 'discriminator steps in each stage' in ' '.join(done.stdout.split())


def test_the_wheel_brings_its_data_and_trains_outside_the_project(tmp_path):
    root = Path(__file__).resolve().parent.parent
    if not (root/'setup.py').exists(): pytest.skip('not in a clone')
    shutil.copytree(root, tmp_path/'clone', ignore=shutil.ignore_patterns('.venv', '.git', 'output*', 'run', 'build', '*.egg-info'))
    subprocess.run([sys.executable, '-m', 'pip', 'wheel', '-q', '--no-deps', '--no-build-isolation', '--disable-pip-version-check', '-w', tmp_path/'dist', tmp_path/'clone'], check=True)
    wheel = next((tmp_path/'dist').glob('*.whl'))
    subprocess.run([sys.executable, '-m', 'pip', 'install', '-q', '--no-deps', '--disable-pip-version-check', '--target', tmp_path/'site', wheel], check=True)
    env = dict(os.environ, PYTHONPATH=str(tmp_path/'site'))
    where = subprocess.run([sys.executable, '-c', 'import adversarial_rl; print(adversarial_rl.__file__)'], env=env, capture_output=True, text=True, cwd=tmp_path).stdout
    assert str(tmp_path) in where
    done = subprocess.run([*command(tmp_path), '--n-discriminator-steps', '0', '--k-alternating-steps', '0', '--together-steps', '0'], env=env, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert (tmp_path/'out'/'training_curves.png').exists()
