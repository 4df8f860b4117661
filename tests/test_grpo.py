"GRPO from the command line: metrics, evaluations, a killed run that resumes, mistakes in one line."
import json
import os
import signal
import threading
import time
from types import SimpleNamespace

import processes
import pytest
import torch
import yaml
from small import wait_for_lines
from structure import ROOT
from test_mbpp import rows as mbpp_rows
from test_tracking import wandb_history

from adversarial_rl.core.config import parse_config
from adversarial_rl.core.errors import UsageError
from adversarial_rl.core.machine import platform
from adversarial_rl.grpo import code_execution as grpo, output_game as code_game
from adversarial_rl.grpo.settings import grpo_arguments
from adversarial_rl.record.tracking import read_metrics

QUICK = ['--training_args.max_steps', '6', '--training_args.per_device_train_batch_size', '16',
         '--training_args.save_steps', '2', '--evaluation.enabled', 'false', '--wandb.enabled', 'false',
         '--device', 'cpu']
NAMES = {grpo: 'grpo_code_execution', code_game: 'grpo_code_game'}
NO_SECOND_PHASE = {grpo: [], code_game: ['--predictor_steps', '0']}


def flags(module, folder, *more):
    config = str(ROOT/'configs'/f'{NAMES[module]}_starter.yaml')
    return ['--config', config, '--output_dir', str(folder), *QUICK, *NO_SECOND_PHASE[module], *more]


def wait_for(path, process, pause=.05):
    "Until a file is there or the process has ended."
    end = time.time() + 240
    while not path.exists() and process.poll() is None and time.time() < end: time.sleep(pause)


@pytest.mark.parametrize('path', sorted((ROOT/'configs').glob('grpo*.yaml')), ids=lambda p: p.name)
def test_shipped_configuration_is_read_and_accepted(path, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    kind = code_game.CodeGameSettings if 'game' in path.name else grpo.GRPOSettings
    s, = parse_config([kind], ['--config', f'configs/{path.name}'], '')
    args, _ = grpo_arguments(s.training_args, s.vllm, platform('cpu'), tmp_path)
    assert s.model.id == yaml.safe_load(path.read_text())['model'].get('id', 'starter_printing')
    assert args.max_steps in (60, 90, 300) and args.num_generations == 8


@pytest.mark.parametrize('module', NAMES, ids=NAMES.get)
def test_a_killed_run_resumes(module, tmp_path):
    "After a real SIGKILL in the middle, each step is in the metrics once."
    command = [NAMES[module], *flags(module, tmp_path, '--training_args.max_steps', '8')]
    p = processes.Command(*command, cwd=ROOT)
    wait_for(tmp_path/'checkpoint-4'/'trainer_state.json', p)
    p.kill()
    p.wait()
    assert (tmp_path/'checkpoint-4').exists() or (tmp_path/'checkpoint-6').exists()
    done = processes.run(*command, '--resume', 'true', cwd=ROOT)
    assert done.returncode == 0, done.stderr[-2000:]
    assert [r['step'] for r in read_metrics(tmp_path/'metrics.jsonl')] == list(range(1, 9))


@pytest.fixture(scope='module')
def whole(tmp_path_factory):
    "A game against earlier learners with MBPP and W&B offline, in one run; and the same killed and resumed."
    pytest.importorskip('wandb')
    folder = tmp_path_factory.mktemp('whole')
    (folder/'mbpp.json').write_text(json.dumps(mbpp_rows()))
    more = ['--opponent.kind', 'earlier', '--opponent.refresh_every', '3', '--wandb.enabled', 'true',
            '--evaluation.enabled', 'true', '--evaluation.eval_interval_steps', '2', '--evaluation.num_questions', '3',
            '--evaluation.dataset_path', str(folder/'mbpp.json')]
    one, two = folder/'one', folder/'two'
    def command(out): return ['grpo_code_game', *flags(code_game, out, *more)]
    env = os.environ | dict(WANDB_MODE='offline')
    done = processes.run(*command(one), cwd=ROOT, env=env)
    assert done.returncode == 0, done.stderr[-2000:]
    p = processes.Command(*command(two), cwd=ROOT, env=env)
    wait_for(two/'checkpoint-4'/'reward_state.json', p, .02)
    p.kill()
    p.wait()
    assert json.loads((two/'checkpoint-4'/'reward_state.json').read_text())['calls'] == 4
    again = processes.run(*command(two), '--resume', 'true', cwd=ROOT, env=env)
    assert again.returncode == 0, again.stderr[-2000:]
    return one, two


def test_wandb_offline_holds_the_same_series_and_mbpp_is_measured_at_start_interval_and_end(whole):
    rows = read_metrics(whole[0]/'metrics.jsonl')
    phases = [(r['mbpp_eval/step'], r['mbpp_eval/phase']) for r in rows if 'mbpp_eval/step' in r]
    assert phases == [(0, 'before'), (2, 'during'), (4, 'during'), (6, 'during'), (6, 'after')]
    path, = (whole[0]/'wandb').glob('offline-run-*/*.wandb')
    found = {}
    for h in wandb_history(path): found.setdefault(h['_step'], {}).update(h)
    for step in range(1, 7):
        ours = {k: v for r in rows if r['step'] == step for k, v in r.items() if v is not None}
        assert {k: found[step].get(k) for k in ours} == ours


def test_a_resumed_game_against_earlier_learners_gives_the_same_metrics(whole):
    "Adapter, opponent, data, random numbers and the reward's state continue as without the interruption."
    def timeless(row): return {k: v for k, v in row.items() if not any(x in k for x in ('time', 'second', 'flos'))}
    one, two = ([timeless(r) for r in read_metrics(folder/'metrics.jsonl')] for folder in whole)
    assert one == two


def test_all_weights_learn_without_an_adapter(tmp_path):
    more = ['--model.lora_rank', '0', '--training_args.max_steps', '1', '--training_args.learning_rate', '1e-3']
    assert grpo.main(flags(grpo, tmp_path/'o', *more)) == 0
    names = {p.name for p in (tmp_path/'o'/'model').iterdir()}
    assert 'model.safetensors' in names and 'adapter_config.json' not in names


def test_an_adapter_is_held_near_the_base_model(tmp_path):
    more = '--dtype bfloat16 --training_args.beta .1 --training_args.max_steps 3 --training_args.learning_rate 1e-2'
    assert grpo.main(flags(grpo, tmp_path, *more.split())) == 0
    distances = [r['kl'] for r in read_metrics(tmp_path/'metrics.jsonl') if 'kl' in r]
    assert distances[0] == 0 < distances[-1]


@pytest.mark.parametrize('number', [signal.SIGUSR1, signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_a_signal_saves_and_ends(number, tmp_path):
    steps = ['--training_args.max_steps', '1000', '--training_args.save_steps', '1000']
    metrics = tmp_path/'metrics.jsonl'
    p = processes.Command('grpo_code_execution', *flags(grpo, tmp_path, *steps), cwd=ROOT)
    wait_for_lines(metrics, 1, p)
    p.send_signal(number)
    out, err = p.communicate(timeout=120)
    step = read_metrics(metrics)[-1]['step']
    assert p.returncode == (0 if number == signal.SIGUSR1 else 128 + number)
    assert f'checkpoint-{step} is saved' in out + err and 'Traceback' not in err
    assert json.loads((tmp_path/f'checkpoint-{step}'/'trainer_state.json').read_text())['global_step'] == step


@pytest.mark.parametrize('module, more, message', [
    (grpo, ['--training_args.max_step', '3'], "'max_steps'"), (grpo, ['--model.lora_rnk', '3'], '--model.lora-rank'),
    (grpo, ['--training_args.num_generations', '3'], 'num_generations'),
    (grpo, ['--resume', 'true'], 'no complete checkpoint'), (grpo, ['--model.id', 'no/such'], 'no/such'),
    (code_game, ['--opponent.kind', 'frozn'], 'must be one of frozen'),
    (code_game, ['--opponent.kind', 'model'], 'opponent.id'),
    (grpo, ['--training_args.output_dir', 'x'], '--output-dir sets it'),
    (grpo, ['--modules', 'no_such_package'], 'no_such_package is not installed here'),
    (code_game, ['--model.lora_rank', '0'], 'needs an adapter')])
def test_mistakes_are_one_line(module, more, message, tmp_path, capsys):
    assert module.main(flags(module, tmp_path/'o', *more)) == 2
    err = [line for line in capsys.readouterr().err.splitlines() if line.startswith('error: ')]
    assert len(err) == 1 and message in err[0]


def test_another_model_is_the_opponent(tmp_path):
    more = ['--opponent.kind', 'model', '--opponent.id', 'starter', '--training_args.max_steps', '1']
    assert code_game.main(flags(code_game, tmp_path, *more)) == 0
    row, = read_metrics(tmp_path/'metrics.jsonl')
    assert 'programs/valid' in row


def test_the_predictor_learns_on_the_writers_programs(tmp_path):
    assert code_game.main(flags(code_game, tmp_path, '--predictor_steps', '2')) == 0
    assert json.loads((tmp_path/'programs.json').read_text())
    assert len(read_metrics(tmp_path/'predictor'/'metrics.jsonl')) == 2


def test_a_toy_on_mbpp_is_said_in_a_sentence(monkeypatch, capsys):
    for name in ('prompt_rows', 'train_with_trl'): monkeypatch.setattr(grpo, name, lambda *_: {})
    for s, said in ((grpo.GRPOSettings(prompts='mbpp'), True), (grpo.GRPOSettings(), False)):
        grpo.train(s)
        assert ("a toy, learns on MBPP's problems, which it cannot solve" in capsys.readouterr().err) == said


def test_the_two_other_interpreters_run_at_the_same_time(monkeypatch):
    together, usual, others = threading.Barrier(2, timeout=20), code_game.Sandbox.map, code_game._other_sandboxes()
    def meet(sandbox, jobs, *more):
        if sandbox in others: together.wait()
        return usual(sandbox, jobs, *more)
    monkeypatch.setattr(code_game.Sandbox, 'map', meet)
    assert [j.kind for j in code_game.judge(['print(2)', 'print({"a", "b", "c"})']).values()] == ['valid', 'hash']


def test_random_or_hash_dependent_programs_earn_nothing():
    def nobody_knows(prompts, n, *_): return [['nobody knows'] * n for _ in prompts]
    game = code_game.Game(SimpleNamespace(write=nobody_knows))
    cheats = ['import random\nprint(random.random())', 'print(hash("a"))', 'print({"a", "b", "c"})',
              'import time\nprint(time.time())', 'print(id(3))', 'print(object())', 'class A: pass\nprint(A())',
              'print(__import__("random").random())', 'print(str(min({"a", "b", "c", "d"}, key=hash)))',
              'print("7" * 10000)', 'import os\nprint(os.getpid())', 'from uuid import *\nprint(uuid4())',
              'print((lambda: 0).__hash__())', 'x = []\nprint(x.__repr__.__hash__())', 'print(frozenset("abcdef"))',
              'import datetime\nprint(datetime.date.today())']
    assert game([''] * len(cheats), cheats) == [-1.] * len(cheats)
    assert game(['', ''], ['print(2 ** 10)', 'print(sorted([3, 1])[0])']) == [1., 1.]


def test_an_overflow_in_sampling_or_in_the_loss_is_one_line():
    "TRL samples with `multinomial`, and its trainer would put the mean of other steps in place of a loss of NaN."
    with pytest.raises(UsageError, match='overflow: the probabilities of sampling are not finite in float16; use --dt'):
        with grpo._overflow_said(torch.float16): torch.multinomial(torch.tensor([float('nan'), 1.]), 1)
    with pytest.raises(RuntimeError, match='of another kind'), grpo._overflow_said(torch.float16):
        raise RuntimeError('of another kind')
    state = SimpleNamespace(is_world_process_zero=True, global_step=3)
    with pytest.raises(UsageError, match='overflow: the loss is not finite in bfloat16'):
        grpo.MetricsCallback(None, 'bfloat16').on_log(None, state, None, logs=dict(loss=float('nan')))
