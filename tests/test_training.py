"run_training from its command line: results, resuming, Ctrl-C, mistakes, two base models, a sixth stage."
import json
import os
import shutil
import signal
import subprocess
import sys

import processes
import pytest
import torch
from small import arguments as few_steps, metrics, results, small, untimed, wait_for_lines
from test_data import DOUBLE

from adversarial_rl.core.commands import run_training as main
from adversarial_rl.core.files import resource
from adversarial_rl.game.trainer import AdversarialTrainer, train
from adversarial_rl.grader.pool import use_modules
from adversarial_rl.model.players import load_trained
from adversarial_rl.problems.stages import REASONING_STAGES
from adversarial_rl.record.checkpoints import checkpoints, load_checkpoint

ONLY_GENERATOR = ['--n-discriminator-steps', '0', '--k-alternating-steps', '0', '--together-steps', '0']


def arguments(folder, *flags):
    return few_steps(folder, '--held-out', '8', '--max-new-tokens', '48', '--k-alternating-steps', '1', *flags)


def command(folder, *flags):
    return [sys.executable, '-m', 'adversarial_rl.game.trainer', *arguments(folder, *flags)]


def run(folder, *flags): return processes.run('run_training', *arguments(folder, *flags), cwd=folder)


@pytest.fixture(scope='module')
def finished(tmp_path_factory):
    "A complete small run, started outside the project's folder."
    folder = tmp_path_factory.mktemp('run')
    done = run(folder)
    assert done.returncode == 0, done.stderr
    return folder, done


def test_a_run_leaves_results_metrics_and_a_figure(finished):
    folder, done = finished
    found = results(folder)
    held_out = found['held_out']
    for name in ('pass_rate', 'validity', 'distinct'):
        for when in ('before', 'after'): assert 0 <= held_out[f'{name}_{when}'] <= 1
    for name in ('pass_rate', 'pass_rate_sampled', 'pass_rate_on_opponent_tests', 'validity'):
        low, high = held_out[f'{name}_after_interval']
        assert low <= held_out[f'{name}_after'] <= high
    assert found['steps'] == 5 * (1 + 1 + 2) == len(metrics(folder))
    assert list(found['stages']) == [s.name for s in REASONING_STAGES]
    assert (folder/'out'/'training_curves.png').read_bytes().startswith(b'\x89PNG')
    assert 'held-out problems (8)' in done.stdout and 'Traceback' not in done.stderr


def test_a_frozen_player_does_not_change(tmp_path):
    trainer = AdversarialTrainer(*small(tmp_path))
    for _ in range(4):
        frozen = 'generator' if trainer.schedule[trainer.step].learner == 'discriminator' else 'discriminator'
        policy = trainer.players[frozen].policy
        before = {k: v.clone() for k, v in policy.parameters(frozen).items()}
        trainer.train_step()
        assert all(torch.equal(v, before[k]) for k, v in policy.parameters(frozen).items())


def test_a_resumed_run_equals_an_uninterrupted_one(tmp_path):
    "Three steps, save, a new trainer, three more: bit for bit the same as six."
    for name in 'ab': (tmp_path/name).mkdir()
    whole = AdversarialTrainer(*small(tmp_path/'a'))
    rows = [whole.train_step() for _ in range(6)]
    first = AdversarialTrainer(*small(tmp_path/'b'))
    for _ in range(3): first.train_step()
    path = first.save()
    torch.manual_seed(999)
    second = AdversarialTrainer(*small(tmp_path/'b'))
    second.load_state_dict(load_checkpoint(path)[0])
    assert untimed(rows[3:]) == untimed([second.train_step() for _ in range(3)])
    a, b = whole.state_dict()['players'], second.state_dict()['players']
    assert all(torch.equal(v, b[p][k]) for p in a for k, v in a[p].items())


def test_ctrl_c_saves_and_resume_finishes(tmp_path, finished):
    process = processes.Command('run_training', *arguments(tmp_path), cwd=tmp_path)
    wait_for_lines(tmp_path/'out'/'metrics.jsonl', 6, process)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=300)
    assert process.returncode == 130 and 'Traceback' not in err and '--resume goes on from there' in err
    done = len(metrics(tmp_path))
    assert load_checkpoint(checkpoints(tmp_path/'ck')[0])[1]['step'] == done
    again = run(tmp_path, '--resume')
    assert again.returncode == 0, again.stderr
    assert 'going on from' in again.stdout
    assert [r['step'] for r in metrics(tmp_path)] == list(range(20))
    assert results(tmp_path)['held_out'] == results(finished[0])['held_out']


def test_a_new_run_sets_an_earlier_one_aside(tmp_path):
    "Two runs with different seeds in the same folders; `--resume` with the first one's seed is refused."
    for seed in ('0', '1'): assert run(tmp_path, *ONLY_GENERATOR, '--seed', seed).returncode == 0
    newest = [checkpoints(folder)[0] for folder in (tmp_path/'ck', tmp_path/'ck'/'previous_1')]
    assert [load_checkpoint(path)[1]['configuration']['seed'] for path in newest] == [1, 0]
    assert (tmp_path/'ck'/'checkpoint_best.pt').exists()
    refused = run(tmp_path, *ONLY_GENERATOR, '--seed', '0', '--resume')
    assert refused.returncode == 2 and 'was made with seed 1, not 0' in refused.stderr


def test_two_stages_by_name(tmp_path):
    "A run of the stages that it names can be resumed, and its checkpoint loaded; other stages are refused."
    two = ['--stages', 'plan', 'code', '--max-new-tokens', 'plan=12,code=40,tests=24', *ONLY_GENERATOR]
    assert run(tmp_path, *two).returncode == 0
    assert list(results(tmp_path)['stages']) == ['plan', 'code']
    assert results(tmp_path)['configuration']['max_new_tokens'] == dict(plan=12, code=40, tests=24)
    path = checkpoints(tmp_path/'ck')[0]
    assert [s.name for s in load_trained(path, 'cpu')['generator'].stages] == ['plan', 'code']
    assert run(tmp_path, *two, '--resume').returncode == 0
    refused = run(tmp_path, *ONLY_GENERATOR, '--resume')
    assert refused.returncode == 2 and 'was made with stages' in refused.stderr
    unknown = run(tmp_path, '--stages', 'think', 'code')
    assert unknown.returncode == 2 and '--stages think: must be one of plan, informal' in unknown.stderr


def test_two_base_models_and_a_problems_file(tmp_path, qwen, tokenizer):
    "A Qwen2 with random weights against the starter, on the shipped examples."
    qwen().save_pretrained(tmp_path/'other')
    tokenizer.save_pretrained(tmp_path/'other')
    c, ppo = small(tmp_path, discriminator_model=str(tmp_path/'other'), held_out=4, max_new_tokens=12,
                    problems_file=str(resource('data/example_problems.json')))
    trainer = AdversarialTrainer(c, ppo)
    assert trainer.pair.generator.policy is not trainer.pair.discriminator.policy
    assert train(c, ppo)['steps'] == 10


ARRAYS = DOUBLE | dict(
    reference_solution='import numpy\n\ndef double(n):\n    return int(numpy.array([n, n]).sum())')


def test_programs_may_import_the_modules_that_are_named(tmp_path, capfd):
    "A reference that needs numpy fails without it, and a resumed run has it again."
    (tmp_path/'arrays.json').write_text(json.dumps(dict(problems=[ARRAYS, ARRAYS | dict(id='two')])))
    flags = arguments(tmp_path, '--problems-file', str(tmp_path/'arrays.json'), *ONLY_GENERATOR, '--stages', 'code')
    assert main(flags) == 2 and "field 'reference_solution' fails" in capfd.readouterr().err
    try: assert main([*flags, '--modules', 'numpy']) == 0 == main([*flags, '--modules', 'numpy', '--resume'])
    finally: use_modules(())


@pytest.fixture(scope='module')
def broken_files(tmp_path_factory):
    "A folder with files that run_training must refuse."
    folder = tmp_path_factory.mktemp('broken')
    def problems(*changes): return json.dumps({'problems': [DOUBLE | change for change in changes]})
    wrong = dict(reference_solution='def double(n):\n    return n')
    texts = {'missing.json': '{"problems": [{"id": "one"}]}', 'file': '',
             'digits.json': '[' + '9' * 5000 + ']', 'list.yaml': 'learning_rate: [1, 2]\n',
             'surrogate.json': problems(dict(description='Half \ud800.')),
             'nested.json': problems(dict(baseline_tests=['assert double(' + '-' * 10**6 + '3) == 6'])),
             'wrong.json': problems(wrong, wrong | dict(id='two'))}
    for name, text in texts.items(): (folder/name).write_text(text)
    shutil.copytree(resource('checkpoints/starter'), folder/'cut')
    weights = folder/'cut'/'model.safetensors'
    weights.write_bytes(weights.read_bytes()[:1000])
    return folder


@pytest.mark.parametrize('flags, message', [
    ('--problems-file absent.json', 'no such problems file'),
    ('--problems-file {folder}/missing.json', "problem 1 ('one'): field 'description' is missing"),
    ('--problems-file {folder}/digits.json', 'is not valid JSON'),
    ('--problems-file {folder}/surrogate.json', "field 'description' holds half a surrogate pair"),
    ('--problems-file {folder}/nested.json', 'test 1 is not valid Python'),
    ('--problems-file {folder}/wrong.json', "problem 'double': field 'reference_solution' fails"),
    ('--generator-model nobody/no-such-model', 'use the bundled one'),
    ('--generator-model {folder}/cut', 'model.safetensors is damaged or cut short'),
    ('--discriminator-model {folder}', 'has no config.json'),
    (' '.join(['--n-generator-steps 0', *ONLY_GENERATOR]), 'nothing to do'),
    ('--device tpu' if torch.cuda.is_available() else '--device cuda', '--device'),
    ('--device cpu:abc', '--device cpu:abc'),
    ('--modules numpy no_such_package', 'no_such_package is not installed here'),
    ('--output-dir {folder}/file/out', 'cannot be written'),
    ('--config {folder}/list.yaml', 'must be a finite number'),
    ('--resume --checkpoint-dir {folder}/none', 'no checkpoint to go on from')])
def test_a_mistake_is_one_line_and_exit_code_2(tmp_path, broken_files, flags, message, capfd):
    code = main(arguments(tmp_path, *flags.format(folder=broken_files).split()))
    err = capfd.readouterr().err
    assert code == 2 and message in err
    assert err.strip().splitlines()[-1].startswith('error: ') and 'Traceback' not in err


def test_a_full_disk_is_one_line_and_keeps_what_was_written(tmp_path):
    "A limit of 400 kB on the size of files, which a checkpoint exceeds, stands for the full disk."
    line = "trap '' XFSZ; ulimit -f 400; " + ' '.join(command(tmp_path))
    done = subprocess.run(['bash', '-c', line], capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 2, done.stderr
    assert done.stderr.strip().splitlines()[-1].startswith('error: File too large') and 'Traceback' not in done.stderr
    assert metrics(tmp_path) and not list((tmp_path/'ck').glob('.*'))


def test_the_wheel_brings_its_data_and_trains_outside_the_project(wheel, tmp_path):
    install = '-m pip install -q --no-deps --disable-pip-version-check --target'.split()
    subprocess.run([sys.executable, *install, tmp_path/'site', wheel], check=True)
    here = dict(env=dict(os.environ, PYTHONPATH=str(tmp_path/'site')), cwd=tmp_path, capture_output=True, text=True)
    where = subprocess.run([sys.executable, '-c', 'import adversarial_rl; print(adversarial_rl.__file__)'], **here)
    assert str(tmp_path) in where.stdout
    done = subprocess.run(command(tmp_path, *ONLY_GENERATOR), **here)
    assert done.returncode == 0, done.stderr
    assert (tmp_path/'out'/'training_curves.png').exists()
