"The plan of a run: counted by hand, beside a real run, offline, and in the comment of each configuration."
import re
import socket

import pytest
from small import metrics, small

from adversarial_rl.core.commands import plan as main
from adversarial_rl.core.config import parse_config
from adversarial_rl.core.errors import UsageError
from adversarial_rl.core.files import resource
from adversarial_rl.core.settings import EvaluationConfig, PPOConfig, TrainingConfig
from adversarial_rl.game import plan, trainer
from adversarial_rl.game.plan import CARDS, model_config, plan_run, PlanConfig
from adversarial_rl.game.trainer import train
from adversarial_rl.model.footprint import GB, peak, shaped_config

PLANNED = ['t4', 'two_stages', '2xt4', 'p100_v100', '24gb', 'a100', 'h100']
KINDS = [TrainingConfig, PPOConfig, EvaluationConfig]


def of_file(name, **assumed):
    config, ppo, evaluation = parse_config(KINDS, ['--config', f'configs/{name}.yaml'], '')
    return config, plan_run(config, ppo, evaluation, PlanConfig(**assumed))


def comment_of(name): return re.findall(r'(?m)^#(.*)$', resource(f'configs/{name}.yaml').read_text())


@pytest.mark.parametrize('file, gpu, size', [('t4', 't4', '3B'), ('a100', 'a100', '7B')])
def test_a_larger_model_than_a_gpu_is_shipped_for_fits_unmerged(file, gpu, size):
    config, ppo, evaluation = parse_config(KINDS, ['--config', f'configs/{file}.yaml'], '')
    config.generator_model = config.discriminator_model = f'Qwen/Qwen2.5-Coder-{size}-Instruct'
    memory = plan_run(config, ppo, evaluation, PlanConfig(gpu=gpu)).memory
    assert memory['merged'] == 0 and peak(memory) < .9 * CARDS[gpu].memory * GB


@pytest.fixture
def no_network(monkeypatch):
    def refuse(*a, **k): raise OSError('no network here')
    monkeypatch.setattr(socket, 'create_connection', refuse)
    monkeypatch.setattr(socket.socket, 'connect', refuse)


@pytest.mark.parametrize('name', PLANNED)
def test_the_comment_of_a_configuration_is_its_plan(name, no_network, capsys):
    "The same words and, to a fifth, the same numbers as the command in the comment prints now."
    lines = comment_of(name)
    first = next(i for i, line in enumerate(lines) if line.startswith(' Planned with'))
    command = lines[first].split('`')[1].removeprefix('python -m adversarial_rl.game.plan ')
    assert f'configs/{name}.yaml' in command
    assert main(command.split()) == 0
    now, then = capsys.readouterr().out.split(), ' '.join(lines[first + 1:]).split()
    again = f'paste it anew: python -m adversarial_rl.game.plan {command}'
    assert len(now) == len(then), again
    for new, old in zip(now, then):
        numbers = [re.sub(r'[,()]', '', x) for x in (new, old)]
        if new == old: continue
        a, b = (float(x) for x in numbers)
        assert abs(a - b) <= .2 * max(a, b) + .1, f'{old} is {new} now; {again}'


@pytest.mark.parametrize('name', PLANNED)
def test_a_configuration_fits_its_gpu_and_is_for_a_real_model(name):
    flags = ' '.join(comment_of(name))
    gpu, gpus = re.search(r'--gpu (\w+)', flags)[1], re.search(r'--gpus (\d)', flags)
    config, plan = of_file(name, gpu=gpu, gpus=int(gpus[1]) if gpus else 1)
    assert peak(plan.memory) / GB < .75 * CARDS[gpu].memory and plan.minutes < 9 * 60
    assert config.problems_file == 'mbpp' and config.max_new_tokens['tests'] >= 300
    stages = ('plan', 'code') if name == 'two_stages' else TrainingConfig().stages   # Five, one after another
    assert tuple(config.stages) == stages and config.stages_together == (name == 'two_stages')
    assert config.max_new_tokens['code'] >= 300 and min(plan.updates.values()) >= 60 and config.group_size == 8


def test_what_a_plan_counts_is_what_a_run_does(tmp_path):
    "Updates, transcripts, and tokens no more than the limits allow."
    config, _ = small(tmp_path, problems_per_step=2, opponents=1, stages=('pseudocode', 'code'), held_out=2,
                      max_new_tokens=dict(pseudocode=9, code=30, tests=20), together_steps=1, report_to='none')
    plan = plan_run(config, PPOConfig(), EvaluationConfig(mbpp_eval=False), PlanConfig())
    train(config, PPOConfig())
    rows = metrics(tmp_path)
    assert plan.updates == {name: sum(r['learner'] == name for r in rows) for name in ('generator', 'discriminator')}
    assert plan.answers == len(rows) * 2 * (3 + 1)
    written = sum(r['tokens_per_second'] * r['seconds_rollout'] for r in rows)
    assert 0 < written <= plan.tokens / .6 * 1.001


def test_two_gpus_halve_the_rows():
    one, two = (of_file('2xt4', gpu='t4', gpus=n)[1] for n in (1, 2))
    assert (one.updates, one.tokens) == (two.updates, two.tokens)
    assert two.seconds['updates'] == pytest.approx(one.seconds['updates'] / 2)
    assert two.memory['sampling'] == pytest.approx(one.memory['sampling'] / 2)


def test_a_folder_with_a_config_alone_is_enough(tmp_path, no_network, capsys):
    shaped_config('0.5B').save_pretrained(tmp_path)
    flags = ['--config', 'configs/t4.yaml', '--generator-model', str(tmp_path), '--discriminator-model', str(tmp_path)]
    assert main(flags) == 0 and 'fits' in capsys.readouterr().out
    assert main(['--config', 'configs/t4.yaml', '--generator-model', 'someone/else']) == 2
    assert 'model someone/else: has no config.json here' in capsys.readouterr().err


def test_what_does_not_fit_is_said(capsys):
    assert main(['--config', 'configs/h100.yaml', '--gpu', 't4']) == 0
    assert 'DOES NOT FIT: lower --micro-batch' in capsys.readouterr().out


@pytest.mark.parametrize('size', ['0.5B', '1.5B', '3B', '7B'])
def test_qwen_sizes_are_built_in(size, no_network):
    for name in (f'Qwen/Qwen2.5-Coder-{size}-Instruct', f'Qwen/Qwen2.5-{size}'):
        assert model_config(name).to_dict() == shaped_config(size).to_dict()
    with pytest.raises(UsageError): model_config('Qwen/Qwen3-8B')


CPU = ['--config', 'configs/cpu_qwen.yaml']


def test_a_plan_for_a_cpu_times_this_machine(no_network, capsys):
    "As the configuration's device says; twice the steps take twice the minutes, and float32 twice the memory."
    assert main(CPU) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith('Qwen/Qwen2.5-Coder-0.5B-Instruct in float32 on ') and 'T4' not in lines[0]
    assert re.fullmatch(r'memory: \d+\.\d of \d+\.\d GB, (fits|DOES NOT FIT: .*)', lines[1])
    assert re.fullmatch(r'minutes: about \d+ \(sampling \d+, updates \d+, grading \d+, evaluations \d+\)', lines[-1])


def test_minutes_on_a_cpu_follow_from_what_was_timed(monkeypatch):
    "Half the bandwidth and half the speed: twice the seconds, but for the fixed time of a layer and the grading."
    def seconds(share):
        card = plan.Card('a CPU', 16, 1e-3 * share, 1e-3 * share, is_cpu=True)
        monkeypatch.setattr(plan, 'timed_cpu', lambda dtype: card)
        config, ppo, evaluation = parse_config(KINDS, CPU, '')
        return plan_run(config, ppo, evaluation, PlanConfig()).seconds
    one, half = seconds(1), seconds(.5)
    assert half['updates'] == pytest.approx(2 * one['updates'])
    assert half['sampling'] == pytest.approx(2 * one['sampling'], rel=.01) and half['grading'] == one['grading']


def test_a_run_of_a_real_model_on_a_cpu_says_its_memory_and_minutes_first(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(trainer, 'is_large', lambda model: True)
    config, ppo = small(tmp_path, stages=('code',), held_out=2, n_discriminator_steps=0,
                        report_to='none')
    train(config, ppo)
    lines = capsys.readouterr().out.splitlines()
    assert re.fullmatch(r'memory: \d+\.\d of \d+\.\d GB, fits', lines[1])
    assert re.fullmatch(r'minutes: about 0 \(.*evaluations 0\), as fast as this CPU is now', lines[2])
