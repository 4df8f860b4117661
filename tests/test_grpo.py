"GRPO from the command line: metrics, evaluations, a killed run that resumes, mistakes in one line."
import copy
import json
import os
import signal
import time
from pathlib import Path
from types import SimpleNamespace

import processes
import pytest
import torch
import yaml
from test_mbpp import rows as mbpp_rows
from test_tracking import wandb_history

from adversarial_rl import agrade_many
from adversarial_rl.core.config import parse_config
from adversarial_rl.core.errors import UsageError
from adversarial_rl.core.machine import platform
from adversarial_rl.grpo import code_execution as grpo, output_game as code_game
from adversarial_rl.grpo.code_execution import execution_rewards, prompt_rows
from adversarial_rl.grpo.settings import grpo_arguments, VLLMSettings
from adversarial_rl.model.agents import prompt_ids
from adversarial_rl.record.tracking import read_metrics

ROOT = Path(__file__).parent.parent
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
def test_a_run_leaves_metrics_and_a_model(module, tmp_path, capfd):
    assert module.main(flags(module, tmp_path)) == 0
    rows = read_metrics(tmp_path/'metrics.jsonl')
    assert [r['step'] for r in rows] == list(range(1, 7))
    assert all(-1 <= r['reward/avg_batch_reward'] <= 1 for r in rows)
    assert '6 of 6 steps' in capfd.readouterr().out and list((tmp_path/'model').rglob('adapter_model.safetensors'))
    if module is code_game:
        shares = [sum(r[f'programs/{k}'] for k in code_game.KINDS) for r in rows]
        assert all(abs(x - 1) < 1e-9 for x in shares)
        assert all('reward/successful_predictions_count' in r for r in rows)


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


@pytest.mark.parametrize('number', [signal.SIGUSR1, signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_a_signal_saves_and_ends(number, tmp_path):
    steps = ['--training_args.max_steps', '1000', '--training_args.save_steps', '1000']
    metrics = tmp_path/'metrics.jsonl'
    p = processes.Command('grpo_code_execution', *flags(grpo, tmp_path, *steps), cwd=ROOT)
    end = time.time() + 240
    while not (metrics.exists() and read_metrics(metrics)) and time.time() < end: time.sleep(.1)
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
    (code_game, ['--model.lora_rank', '0'], 'needs an adapter'),
    (code_game, ['--opponent.kind', 'server'], 'opponent.id')])
def test_mistakes_are_one_line(module, more, message, tmp_path, capsys):
    assert module.main(flags(module, tmp_path/'o', *more)) == 2
    err = [line for line in capsys.readouterr().err.splitlines() if line.startswith('error: ')]
    assert len(err) == 1 and message in err[0]


def test_the_predictor_learns_on_the_writers_programs(tmp_path):
    assert code_game.main(flags(code_game, tmp_path, '--predictor_steps', '2')) == 0
    assert json.loads((tmp_path/'programs.json').read_text())
    assert len(read_metrics(tmp_path/'predictor'/'metrics.jsonl')) == 2


def test_a_chat_model_plays_and_learns_on_the_same_chat_prompt(tmp_path, monkeypatch, tokenizer):
    "Writer and predictor are asked in words, in a user's turn; the second phase trains on what the opponent reads."
    chat, trained, asked = copy.deepcopy(tokenizer), [], []
    chat.chat_template = "{% for m in messages %}<{{ m['role'] }}>{{ m['content'] }}{% endfor %}<assistant>"
    class Opponent:
        chat = True
        def write(self, prompts, n=1, *_):
            asked.extend(prompts)
            return [['It prints five.\n```\n5\n```']] * len(prompts)

    def pretend(settings, rows, rewards, **_):
        trained.append(rows(chat))
        if isinstance(rewards[0], code_game.Game):
            rewards[0].opponent = Opponent()
            assert rewards[0]([], ['Here:\n```python\nprint(2 + 3)\n```', '```python\nprint(7)\n```']) == [-1., 1.]
        return dict(stopped=False)

    monkeypatch.setattr(code_game, 'train_with_trl', pretend)
    code_game.train(code_game.CodeGameSettings(output_dir=str(tmp_path), predictor_steps=1))
    writer, predictor = trained
    (turn,), = (row['prompt'] for row in writer[:1])
    assert turn['role'] == 'user' and '```python block' in turn['content'] and '###' not in turn['content']
    rendered = [chat.apply_chat_template(row['prompt'], tokenize=False) for row in predictor]
    assert rendered == [chat.decode(ids) for ids in prompt_ids(chat, asked)] and 'print(2 + 3)' in rendered[0]
    plain = [row['prompt'] for row in prompt_rows('starter')(tokenizer)[:1]]
    assert plain[0].endswith('### Program\n') and prompt_rows('starter')(chat)[0]['prompt'] == [turn]
    assert execution_rewards([], ['Sure:\n```python\nprint(1)\n```'], ['']) == [1.]


def test_earlier_learners_are_opponents(tmp_path):
    opponent = ['--opponent.kind', 'earlier', '--opponent.refresh_every', '2']
    assert code_game.main(flags(code_game, tmp_path, *opponent)) == 0
    assert len(read_metrics(tmp_path/'metrics.jsonl')) == 6


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


def test_trl_takes_the_rewards_of_the_page_for_trainers(tmp_path, tokenizer, qwen):
    "As it stands there, and as an async function."
    from datasets import Dataset
    from trl import GRPOConfig, GRPOTrainer
    cells = json.loads((ROOT/'nbs'/'03_grader'/'13_use.ipynb').read_text())['cells']
    sources = [''.join(c['source']) for c in cells]
    page = {}
    for source in sources:
        if 'from adversarial_rl import' in source or 'def passes_tests(' in source: exec(source, page)
    async def awaited(completions, tests, function, **columns):
        outcomes = await agrade_many([(text, row) for text, row in zip(completions, tests)])
        return [o.pass_rate if o.judged else None for o in outcomes]
    rows = [dict(prompt='def double(x):', tests=['assert 1 == 1', 'assert double(2) == 4'], function='double')] * 4
    args = GRPOConfig(output_dir=str(tmp_path), max_steps=1, per_device_train_batch_size=2, num_generations=2,
                      max_completion_length=4, use_cpu=True, bf16=False, report_to='none', logging_steps=1)
    trainer = GRPOTrainer(model=qwen(), reward_funcs=[page['passes_tests'], awaited], args=args,
                          train_dataset=Dataset.from_list(rows), processing_class=tokenizer)
    trainer.train()
    log = trainer.state.log_history[0]
    assert 0 <= log['rewards/passes_tests/mean'] <= 1 and 0 <= log['rewards/awaited/mean'] <= 1


def test_an_overflow_in_sampling_or_in_the_loss_is_one_line():
    "TRL samples with `multinomial`, and its trainer would put the mean of other steps in place of a loss of NaN."
    with pytest.raises(UsageError, match='overflow: the probabilities of sampling are not finite in float16; use --dt'):
        with grpo._overflow_said(torch.float16): torch.multinomial(torch.tensor([float('nan'), 1.]), 1)
    with pytest.raises(RuntimeError, match='of another kind'), grpo._overflow_said(torch.float16):
        raise RuntimeError('of another kind')
    state = SimpleNamespace(is_world_process_zero=True, global_step=3)
    with pytest.raises(UsageError, match='overflow: the loss is not finite in bfloat16'):
        grpo.MetricsCallback(None, 'bfloat16').on_log(None, state, None, logs=dict(loss=float('nan')))


ADDRESSES = ['print(str(lambda: 0)[-4:-1])', 'print(f"{(lambda: 0)!r:.50}"[-4:])', 'print(str((x for x in ()))[-4:-1])',
             'class A: pass\nprint(str(A())[-4:-1])', 'print(str(iter([]))[-4:-1])',
             'print(str(print.__init__)[-4:-1])']


@pytest.mark.parametrize('n', range(len(ADDRESSES)))
def test_digits_of_an_address_are_no_output_to_predict(n):
    "The last ones were the same in each process."
    assert code_game.judge([ADDRESSES[n]])[ADDRESSES[n]].kind == 'unstable'


def test_each_run_has_an_interpreter_of_its_own(monkeypatch):
    "Processes of one interpreter often gave an object the same address."
    seen = []
    monkeypatch.setattr(code_game, '_kind', lambda source, first, others, *_: seen.extend([first, *others]))
    code_game.judge(['print(hash("a"))'])
    assert len(seen) == len({o.stdout for o in seen}) == 3


@pytest.mark.parametrize('program', ["print(' ' + '`' * 3)", "print('`' * 3)", "print('5\\u200b')"])
def test_an_output_that_no_answer_can_hold_is_not_valid(program):
    assert code_game.judge([program])[program].kind == 'unanswerable'


def test_special_tokens_are_no_output_and_change_no_prompt():
    programs = ["print('<e' + 'nd>')", "print(len('<end>'))", "print('end')"]
    assert [j.kind for j in code_game.judge(programs, special=['<end>']).values()] == ['unanswerable'] * 2 + ['valid']
    policy = SimpleNamespace(tokenizer=SimpleNamespace(all_special_tokens=['<end>'], chat_template=None), snapshot=None)
    game = code_game.Game(code_game.SharedOpponent(policy, False, 8))
    assert game([], programs[:2]) == [-1, -1]


@pytest.mark.parametrize('frames', [0, 40, 100])
def test_no_depth_hides_names(frames):
    "A text that was too deep to be read by the trainer's thread, and not by the program's, showed no names."
    def deeper(n): return code_game.judge([program])[program].kind if n == 0 else deeper(n - 1)
    for minuses in (2800, 2950):
        program = f'import random\n{"-" * minuses}1\nprint(random.Random(7).random())'
        assert deeper(frames) in ('random', 'hidden', 'fails')


def test_an_output_that_follows_from_no_address_is_valid():
    program = 'class A:\n    def __str__(self): return "A"\nprint(A(), [1.5, "x"], {1: 2})'
    assert code_game.judge([program])[program].kind == 'valid'


def test_fewer_prompts_than_a_step_takes_are_repeated():
    "TRL took no step, and the command reported success."
    rows = [dict(prompt=n) for n in range(3)]
    assert grpo.enough_rows(rows, 3) == rows and grpo.enough_rows(rows, 4) == rows * 2


@pytest.mark.parametrize('name, setting', [('output_dir', '--output-dir'), ('report_to', '--wandb.enabled')])
def test_arguments_of_trl_that_have_settings_here_are_refused(name, setting):
    with pytest.raises(UsageError, match=f'training_args.{name}: {setting} sets it'):
        grpo_arguments({name: 'x'}, VLLMSettings(), platform('cpu'), 'output')
