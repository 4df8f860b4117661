"What every test shares: one thread, no network, a model of toy size, and an environment that stays as it was."
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

signal.signal(signal.SIGINT, signal.default_int_handler)  # A shell's background job and its children ignore Ctrl-C
os.environ['OMP_NUM_THREADS'] = '1'
os.environ.setdefault('TOKENIZERS_PARALLELISM', 'false')
os.environ['HF_HUB_OFFLINE'] = '1'
os.environ['WANDB_MODE'] = 'disabled'  # A developer's key sends no test run anywhere

import pytest  # noqa: E402


@pytest.fixture(scope='session')
def tokenizer():
    from adversarial_rl.model.policy import load_model
    return load_model('starter')[1]


@pytest.fixture
def qwen(tokenizer):
    "A Qwen2 of toy size with random weights: grouped-query attention and tied embeddings, as in Qwen2.5-Coder."
    import torch
    from transformers import Qwen2Config, Qwen2ForCausalLM
    def make(seed=0):
        torch.manual_seed(seed)
        config = Qwen2Config(
            vocab_size=len(tokenizer), hidden_size=32, intermediate_size=64, num_hidden_layers=2,
            num_attention_heads=4, num_key_value_heads=2, tie_word_embeddings=True, max_position_embeddings=512,
            eos_token_id=tokenizer.eos_token_id, pad_token_id=tokenizer.pad_token_id)
        return Qwen2ForCausalLM(config).eval()
    return make


@pytest.fixture(scope='session')
def wheel(tmp_path_factory):
    "The project's wheel, built from a copy of this clone."
    root, place = Path(__file__).resolve().parents[1], tmp_path_factory.mktemp('wheel')
    if not (root/'setup.py').exists(): pytest.skip('not in a clone')
    left_out = shutil.ignore_patterns('.*', 'output', 'run', 'build', '*.egg-info')
    shutil.copytree(root, place/'clone', ignore=left_out)
    words = '-m pip wheel -q --no-deps --no-build-isolation --disable-pip-version-check'.split()
    subprocess.run([sys.executable, *words, '-w', place/'dist', place/'clone'], check=True)
    return next((place/'dist').glob('*.whl'))


def pytest_addoption(parser):
    parser.addoption('--off', default='', help='isolation layers to leave out: namespaces,landlock,seccomp,user')


def pytest_configure(config):
    from adversarial_rl.grader import pool
    signal.signal(signal.SIGHUP, signal.SIG_DFL)   # `nohup` lets it be ignored, and commands inherit that
    if option := config.getoption('--off'):
        make, left_out = pool.Sandbox.__init__, option.split(',')
        def leave_out(self, workers=None, off=(), *args, **kw): make(self, workers, {*off, *left_out}, *args, **kw)
        pool.Sandbox.__init__ = leave_out   # Of the sandboxes that tests start, too


@pytest.fixture(autouse=True)
def restored_environment():
    "Variables that a test's .env sets do not reach the next test."
    before = dict(os.environ)
    yield
    for name in set(os.environ) - set(before): del os.environ[name]
    os.environ.update(before)


# Files that start trainings, browsers or hundreds of programs; `make test` leaves them out, `make test-all` does not
LONGEST = ('companions engines folders training hostile_elsewhere inference comparison parallel grpo switches '
           'hostile kill spiral gpu_check fuzz mbpp tracking page agents environments testers models faults promises '
           'scripts commands slurm live readme book grader_light views grader_modules '
           'grader_robustness footprint site trl choice curve rare judges sources door').split()


@pytest.hookimpl(tryfirst=True)   # Before pytest-xdist reads the groups
def pytest_collection_modifyitems(items):
    "The longest files run first, so that neither of two processes waits long for the other at the end."
    names = [f'test_{name}' for name in LONGEST]
    def place(item): return names.index(item.path.stem) if item.path.stem in names else len(names)
    items.sort(key=place)
    for item in items:
        if place(item) < len(names): item.add_marker(pytest.mark.slow)
        # With `--dist loadgroup` one process runs all hostile programs once, for all of these tests
        if item.path.stem == 'test_hostile': item.add_marker(pytest.mark.xdist_group('hostile'))
