"Settings from five places, at the command line; the shipped files; mistakes in one line."
import os
from dataclasses import asdict, dataclass

import processes
import pytest
import yaml

from adversarial_rl.core.config import closest, parse_config, read_dotenv, save_config
from adversarial_rl.core.errors import UsageError
from adversarial_rl.core.files import resource
from adversarial_rl.core.settings import IntervalConfig, PPOConfig, setting, TrainingConfig
from adversarial_rl.mbpp.evaluate import Subject
from adversarial_rl.mbpp.evaluator import MBPPEvalConfig

KINDS = [TrainingConfig, PPOConfig]


@dataclass
class Evaluation:
    checkpoint: str = setting('', 'what is evaluated', env='ARL_CHECKPOINT')
    questions: int = setting(50, 'how many', 1, 1000, env='MBPP_EVAL_NUM_QUESTIONS')
    share: float = setting(.5, 'of them', 0, 1, env='MBPP_SHARE')
    fast: bool = setting(False, 'or slow', env='MBPP_FAST')


@pytest.fixture(autouse=True)
def somewhere(tmp_path, monkeypatch):
    "An empty folder, and nothing left in the environment."
    monkeypatch.chdir(tmp_path)
    for k in ('HF_TOKEN', 'WANDB_API_KEY', 'MBPP_EVAL_NUM_QUESTIONS'): monkeypatch.delenv(k, raising=False)
    yield tmp_path
    read_dotenv('no such file')


def command(*flags, module='run_training', **env): return processes.run(module, *flags, env=os.environ | env)


def read(*flags): return parse_config([Evaluation], list(flags), '')[0]


@pytest.mark.parametrize('path', sorted(p for p in resource('configs').glob('*.yaml') if not p.name.startswith(('grpo', 'spiral'))), ids=lambda p: p.name)
def test_shipped_configuration_is_read(path):
    kinds = [Subject, MBPPEvalConfig] if path.name.startswith('mbpp') else [*KINDS, IntervalConfig]
    found = {k: v for c in parse_config(kinds, ['--config', f'configs/{path.name}'], '') for k, v in asdict(c).items()}
    for k, v in yaml.safe_load(path.read_text()).items(): assert found[k] == type(found[k])(v)
    assert 'problems_file' not in found or found['problems_file'] == 'starter' or resource(found['problems_file']).exists()


def test_each_source_wins_over_the_next(somewhere, monkeypatch):
    assert read().questions == 50
    (somewhere/'run.yaml').write_text('questions: 1\n')
    assert read('--config', 'run.yaml').questions == 1
    (somewhere/'.env').write_text('MBPP_EVAL_NUM_QUESTIONS=2\n')
    assert read('--config', 'run.yaml').questions == 2
    monkeypatch.setenv('MBPP_EVAL_NUM_QUESTIONS', '3')
    assert read('--config', 'run.yaml').questions == 3
    for flag in (['--questions', '4'], ['--questions=4']): assert read('--config=run.yaml', *flag).questions == 4


def test_numbers_and_switches_from_the_environment(monkeypatch):
    monkeypatch.setenv('MBPP_SHARE', '1e-2')
    monkeypatch.setenv('MBPP_FAST', 'true')
    assert (read().share, read().fast, read('--fast', 'false').fast) == (.01, True, False)


@pytest.mark.parametrize('name, value, says', [('MBPP_EVAL_NUM_QUESTIONS', 'many', 'invalid int value'), ('MBPP_EVAL_NUM_QUESTIONS', '0', 'must be at least 1'),
                                               ('MBPP_SHARE', 'nan', 'finite'), ('MBPP_FAST', 'perhaps', 'invalid bool value')])
def test_a_mistake_in_the_environment_names_the_variable(name, value, says, monkeypatch):
    monkeypatch.setenv(name, value)
    with pytest.raises(UsageError, match=f'{name} {value}: .*{says}'): read()


def test_a_mistake_in_a_file_names_the_file(somewhere):
    (somewhere/'run.yaml').write_text('share: 7\n')
    with pytest.raises(UsageError, match='--config run.yaml: share 7.0: must be at most 1'): read('--config', 'run.yaml')
    (somewhere/'run.yaml').write_text('share: much\n')
    with pytest.raises(UsageError, match='--config run.yaml: share much: invalid float value'): read('--config', 'run.yaml')
    (somewhere/'run.yaml').write_text('shares: 1\n')
    with pytest.raises(UsageError, match="'shares' is not a setting, the closest is 'share'"): read('--config', 'run.yaml')


def test_the_closest_name():
    known = list(asdict(TrainingConfig()))
    assert [closest(x, known) for x in ('group_sise', 'generater_model', 'seeds')] == ['group_size', 'generator_model', 'seed']
    with pytest.raises(UsageError, match='--group_sise: not a setting, the closest is --group-size'): parse_config(KINDS, ['--group_sise=3'], '')


@pytest.mark.parametrize('content', [b'\xff\xfeA=1', b'A=a\x00b'])
def test_a_broken_dotenv_is_one_line(content, somewhere):
    (somewhere/'.env').write_bytes(content)
    with pytest.raises(UsageError, match='.env: '): read()


def test_dotenv_gives_libraries_their_keys_and_takes_them_back(somewhere, monkeypatch):
    (somewhere/'.env').write_text('HF_TOKEN=hf_sentinel\n')
    read()
    assert os.environ['HF_TOKEN'] == 'hf_sentinel'
    (somewhere/'.env').unlink()
    read()
    assert 'HF_TOKEN' not in os.environ


def test_print_config_at_the_command_line(somewhere):
    (somewhere/'.env').write_text('WANDB_API_KEY=sentinel_key\n')
    done = command('--config', 'configs/t4.yaml', '--seed=3', '--print-config')
    assert done.returncode == 0 and done.stderr == ''
    table = {l.split()[0]: l.split(maxsplit=2)[1:] for l in done.stdout.splitlines()}
    assert table['seed'] == ['3', 'flag'] and table['micro_batch'] == ['1', 'configs/t4.yaml'] and table['gamma'] == ['1.0', 'default'] and table['resume_from'] == ["''", 'default']
    assert table['WANDB_API_KEY'] == ['(set)', '.env'] and 'sentinel_key' not in done.stdout
    assert not (somewhere/'output').exists()
    wrong = command('--config', 'configs/t4.yaml', '--seed', '-3', '--print-config')
    assert wrong.returncode == 2 and wrong.stderr.strip() == 'error: --seed -3: must be at least 0'


def test_a_required_setting_may_stand_in_a_file(somewhere):
    (somewhere/'ask.yaml').write_text('checkpoint: none.pt\nproblem: Return x.\nsignature: "def f(x):"\n')
    done = command('--config', 'ask.yaml', '--print-config', module='run_inference')
    assert done.returncode == 0 and 'none.pt' in done.stdout
    assert command('--print-config', module='run_inference').returncode == 2


def test_a_saved_configuration_is_read_again_and_holds_no_secret(somewhere, monkeypatch):
    monkeypatch.setenv('HF_TOKEN', 'hf_sentinel')
    one = TrainingConfig(generator_model='007', discriminator_model='true', output_dir='a: folder #1', seed=5, resume=True, discriminator_kl_coef=1e-7), PPOConfig(learning_rate=1/3, group_baseline=False)
    save_config(somewhere, *one)
    assert parse_config(KINDS, ['--config', 'config.yaml'], '') == one
    assert 'sentinel' not in (somewhere/'config.yaml').read_text()
