"Settings from five sources at the command line, the shipped configurations, and mistakes in one line."
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace

import processes
import pytest
import yaml

from adversarial_rl.core.config import parse_config, read_dotenv, save_config
from adversarial_rl.core.errors import UsageError
from adversarial_rl.core.files import resource
from adversarial_rl.core.settings import EvaluationConfig, PPOConfig, setting, SubjectConfig, TrainingConfig
from adversarial_rl.mbpp.dataset import MBPPEvalConfig

KINDS = [TrainingConfig, PPOConfig]
FLAT = [path for path in sorted(resource('configs').glob('*.yaml')) if not path.name.startswith(('grpo', 'spiral'))]


@dataclass
class Evaluation:
    checkpoint: str = setting('', 'what is evaluated', env='ARL_CHECKPOINT')
    questions: int = setting(50, 'how many', 1, 1000, env='MBPP_EVAL_NUM_QUESTIONS')
    share: float = setting(.5, 'of them', 0, 1, env='MBPP_SHARE')
    fast: bool = setting(False, 'or slow', env='MBPP_FAST')


@dataclass
class Model:
    id: str = setting('starter', 'its name')
    lora_rank: int = setting(16, 'rank of the adapter', 0, 64)


@dataclass
class Nested:
    model: Model = field(default_factory=Model)
    training_args: dict = field(default_factory=dict)
    resume: bool = setting(False, 'continue')


@dataclass
class Several:
    seeds: Sequence[int] = setting((0, 1), 'one run for each', 0, 9)
    only: Sequence[str] = setting((), 'these alone', choices=('a', 'b'))


@pytest.fixture(autouse=True)
def somewhere(tmp_path, monkeypatch):
    "An empty folder and a clean environment."
    monkeypatch.chdir(tmp_path)
    for k in ('HF_TOKEN', 'WANDB_API_KEY', 'MBPP_EVAL_NUM_QUESTIONS'): monkeypatch.delenv(k, raising=False)
    yield tmp_path
    read_dotenv('no such file')


def command(*flags, module='run_training', **env): return processes.run(module, *flags, env=os.environ | env)


def read(*flags, kind=Evaluation): return parse_config([kind], list(flags), '')[0]


@pytest.mark.parametrize('path', FLAT, ids=lambda p: p.name)
def test_shipped_configuration_is_read(path):
    kinds = [SubjectConfig, MBPPEvalConfig] if path.name.startswith('mbpp') else [*KINDS, EvaluationConfig]
    configs = parse_config(kinds, ['--config', f'configs/{path.name}'], '')
    found = {k: v for c in configs for k, v in asdict(c).items()}
    for k, v in yaml.safe_load(path.read_text()).items(): assert found[k] == type(found[k])(v)
    assert found.get('problems_file', 'starter') in ('starter', 'mbpp')


def test_a_limit_for_each_stage(somewhere, capsys):
    "As a flag, in a file, written back by a run, and printed as the flag takes it."
    limits = dict(plan=96, code=320, tests=320)
    flags = ['--stages', 'plan', 'code', '--max-new-tokens', 'plan=96,code=320,tests=320']
    c, = parse_config([TrainingConfig], flags, '')
    assert (c.stages, c.max_new_tokens) == (('plan', 'code'), limits)
    (somewhere/'run.yaml').write_text('stages: [plan, code]\nmax_new_tokens: {plan: 96, code: 320, tests: 320}\n')
    assert parse_config([TrainingConfig], ['--config', 'run.yaml'], '') == (c,)
    one, = parse_config([TrainingConfig], ['--config', 'run.yaml', '--max-new-tokens', '64'], '')
    assert one == replace(c, max_new_tokens=64)
    save_config(somewhere, c)
    assert parse_config([TrainingConfig], ['--config', 'config.yaml'], '') == (c,)
    with pytest.raises(SystemExit): parse_config([TrainingConfig], [*flags, '--print-config'], '')
    row, = [line for line in capsys.readouterr().out.splitlines() if line.startswith('max_new_tokens')]
    assert row.split() == ['max_new_tokens', 'plan=96,code=320,tests=320', 'flag']


def test_a_flag_wins_over_all_other_sources(somewhere, monkeypatch):
    (somewhere/'run.yaml').write_text('questions: 1\n')
    monkeypatch.setenv('MBPP_EVAL_NUM_QUESTIONS', '3')
    for flag in (['--questions', '4'], ['--questions=4']): assert read('--config=run.yaml', *flag).questions == 4
    assert read('--questions', '4', '--config', 'run.yaml').questions == 4


@pytest.mark.parametrize('text, message', [
    ('share: 7', 'share 7.0: must be at most 1'), ('share: much', 'share much: must be a finite number'),
    ('shares: 1', "'shares': not a setting, the closest is 'share'"), ('share: [1', 'is not valid YAML'),
    ('checkpoint: {a: 1}', "checkpoint {'a': 1}: must be a single value"), ('- 1', 'must hold "setting: value"'),
    ('questions: 010', 'questions: YAML reads 010 as 8; write a decimal'), ('questions: 1:30', 'questions: .* as 90;'),
    ('questions: 1\nshare: 0\nquestions: 2', 'questions stands twice'),
    ('checkpoint: 2026-01-02', 'checkpoint: YAML reads'), ('a: {b: [1, 0x10]}', 'b: YAML reads 0x10 as 16')])
def test_a_mistake_in_a_file_names_the_file(text, message, somewhere):
    (somewhere/'run.yaml').write_text(text)
    with pytest.raises(UsageError, match=f'^--config run.yaml: {message}') as error: read('--config', 'run.yaml')
    assert '\n' not in str(error.value)


@pytest.mark.parametrize('flags, message', [
    (['--share', 'much'], '--share much: must be a finite number'), (['--share'], '--share: needs a value'),
    (['--questions', '1.5'], '--questions 1.5: must be an integer'), (['50'], '50: not a setting'),
    (['--questionz=1'], '--questionz: not a setting, the closest is --questions'), (['--share=7'], '--share 7.0: must'),
    (['--config', 'none.yaml'], '--config none.yaml: no such file')])
def test_a_mistake_in_a_flag_names_the_flag(flags, message):
    with pytest.raises(UsageError, match=f'^{message}'): read(*flags)


@pytest.mark.parametrize('flags', [['--share', '-1e-5'], ['--share=-1e-5'], ['--share', '-.5'], ['--share', '-inf'],
                                   ['--questions', '-3']])
def test_a_negative_number_is_a_value(flags):
    with pytest.raises(UsageError, match=r'^--(share|questions) -[\de.inf-]+: must be (at l|a f)'): read(*flags)


def test_every_switch_can_be_turned_off(somewhere):
    (somewhere/'run.yaml').write_text('resume: true\ngroup_baseline: true\n')
    config, ppo = parse_config(KINDS, ['--config', 'run.yaml', '--no-resume', '--no-group-baseline'], '')
    assert not config.resume and not ppo.group_baseline
    assert parse_config(KINDS, ['--no-resume', '--resume'], '')[0].resume


def test_nested_settings_and_free_keys(somewhere):
    (somewhere/'run.yaml').write_text('model: {id: 7}\ntraining_args: {max_steps: 5, kwargs: {a: 1}}\n')
    flags = ['--config', 'run.yaml', '--model.lora_rank', '4', '--training_args.max_steps', '6', '--resume']
    assert read(*flags, kind=Nested) == Nested(Model('7', 4), dict(max_steps='6', kwargs=dict(a=1)), True)
    with pytest.raises(UsageError, match='the closest is --model.lora-rank'): read('--model.lora_rnk', '3', kind=Nested)
    (somewhere/'run.yaml').write_text('model: starter\n')
    with pytest.raises(UsageError, match="'model': not a setting, the closest is 'model.id'"):
        read('--config', 'run.yaml', kind=Nested)


def test_settings_of_the_evaluation_as_a_block_and_as_flags(somewhere):
    "One class declares them, whatever they are called; flags have dashes or underscores."
    (somewhere/'run.yaml').write_text('evaluation: {enabled: false, num-questions: 7, eval_interval_steps: 3}\n')
    found = read('--config', 'run.yaml', '--evaluation.temperature', '.5', kind=EvaluationConfig)
    assert found == EvaluationConfig(False, 3, 7, .5)
    for name in ('--mbpp_eval_num_questions', '--mbpp-eval-num-questions', '--evaluation.num-questions'):
        assert read(name, '9', kind=EvaluationConfig).mbpp_eval_num_questions == 9
    for flags in (['--training-args.max-steps', '6'], ['--training-args.max-steps=6']):
        assert read(*flags, kind=Nested).training_args == dict(max_steps='6')


def test_several_values(somewhere, capsys):
    (somewhere/'run.yaml').write_text('seeds: [4, 5]\n')
    assert read(kind=Several) == Several((0, 1), ())
    assert read('--only', 'a', 'b', '--config', 'run.yaml', kind=Several) == Several((4, 5), ('a', 'b'))
    for flags, message in ((['--seeds', '1', 'x'], 'must be integers'), (['--seeds', '1', '10'], '10: must be at most'),
                           (['--only', 'a', 'c'], 'c: must be one of a, b'), (['--only'], '--only: needs a value')):
        with pytest.raises(UsageError, match=message) as error: read(*flags, kind=Several)
        assert '\n' not in str(error.value)
    with pytest.raises(SystemExit): read('--help', kind=Several)
    assert '--seeds n [n ...]' in capsys.readouterr().out


@pytest.mark.parametrize('content', [b'\xff\xfeA=1', b'A=a\x00b'])
def test_a_broken_dotenv_is_one_line(content, somewhere):
    (somewhere/'.env').write_bytes(content)
    with pytest.raises(UsageError, match='.env: '): read()


def test_a_folder_named_dotenv_and_a_misspelt_variable_are_named(somewhere, monkeypatch, capsys):
    monkeypatch.setenv('MBPP_EVAL_NUM_QUESTION', '7')
    assert read().questions == 50
    assert capsys.readouterr().err == 'MBPP_EVAL_NUM_QUESTION: sets nothing, the closest is MBPP_EVAL_NUM_QUESTIONS\n'
    (somewhere/'.env').mkdir()
    with pytest.raises(UsageError, match='.env: is a folder'): read()


def test_print_config_at_the_command_line(somewhere):
    (somewhere/'.env').write_text('WANDB_API_KEY=sentinel_key\n')
    done = command('--config', 'configs/t4.yaml', '--seed=3', '--print-config')
    assert done.returncode == 0 and done.stderr == ''
    table = {line.split()[0]: line.split(maxsplit=2)[1:] for line in done.stdout.splitlines()}
    assert table['seed'] == ['3', 'flag'] and table['micro_batch'] == ['4', 'configs/t4.yaml']
    assert table['minibatches'] == ['1', 'default'] and table['resume_from'] == ["''", 'default']
    assert table['WANDB_API_KEY'] == ['(set)', '.env'] and 'sentinel_key' not in done.stdout
    assert not (somewhere/'output').exists()
    wrong = command('--config', 'configs/t4.yaml', '--seed', '-3', '--print-config')
    assert wrong.returncode == 2 and wrong.stderr.strip() == 'error: --seed -3: must be at least 0'


def test_a_required_setting_may_stand_in_a_file(somewhere):
    (somewhere/'ask.yaml').write_text('checkpoint: none.pt\nproblem: Return x.\nsignature: "def f(x):"\n')
    for flags, message in (['--config', 'ask.yaml'], 'none.pt: no such'), ([], '--checkpoint: must be given'):
        done = command(*flags, module='run_inference')
        assert done.returncode == 2 and message in done.stderr and len(done.stderr.splitlines()) == 1


def test_self_play_takes_the_layout_of_the_other_trainers(somewhere):
    from adversarial_rl.selfplay.config import SpiralConfig
    (somewhere/'run.yaml').write_text('model: {id: starter_games}\ntraining_args: {learning_rate: 2e-5, max_steps: 90, '
                                      'per_device_train_batch_size: 8}\nevaluation: {num_questions: 5}\n')
    s, ppo, evaluation = parse_config([SpiralConfig, PPOConfig, EvaluationConfig], ['--config', 'run.yaml'], '')
    assert (s.model, s.steps, s.games_per_step, ppo.learning_rate) == ('starter_games', 90, 8, 2e-5)
    assert evaluation.mbpp_eval_num_questions == 5


@pytest.mark.parametrize('text', ['modules:', 'modules: true', 'stages: 5', 'stages: {code: 1}'])
def test_a_value_that_is_no_list_is_one_line(text, somewhere):
    (somewhere/'run.yaml').write_text(text)
    with pytest.raises(UsageError, match='must be single values'):
        parse_config([TrainingConfig], ['--config', 'run.yaml'], '')
