import os
import signal

signal.signal(signal.SIGINT, signal.default_int_handler)   # A shell's background jobs start with Ctrl-C ignored, and so would all that a test starts
os.environ.setdefault('OMP_NUM_THREADS', '1')
os.environ.setdefault('TOKENIZERS_PARALLELISM', 'false')
os.environ['HF_HUB_OFFLINE'] = '1'
os.environ['WANDB_MODE'] = 'disabled'  # Nobody's key sends a test's run anywhere

import pytest
import torch
from transformers import Qwen2Config, Qwen2ForCausalLM

torch.set_num_threads(1)


@pytest.fixture(scope='session')
def tokenizer():
    from adversarial_rl.model.policy import load_model
    return load_model('starter')[1]


@pytest.fixture
def qwen(tokenizer):
    "A Qwen2 of toy size with random weights: grouped-query attention and tied embeddings, as in Qwen2.5-Coder."
    def make(seed=0):
        torch.manual_seed(seed)
        return Qwen2ForCausalLM(Qwen2Config(vocab_size=len(tokenizer), hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2,
                                            tie_word_embeddings=True, max_position_embeddings=512, eos_token_id=tokenizer.eos_token_id, pad_token_id=tokenizer.pad_token_id)).eval()
    return make


def pytest_addoption(parser):
    parser.addoption('--off', default='', help='walls the sandbox does without, with commas: namespaces,landlock,seccomp,user')


def pytest_configure(config):
    from adversarial_rl.grader import pool as sandbox
    if off := config.getoption('--off'): sandbox._default = sandbox.Sandbox(off=tuple(off.split(',')))


@pytest.fixture(autouse=True)
def environment_as_it_was():
    "What a test's .env put into the environment does not reach the next test."
    before = dict(os.environ)
    yield
    for k in set(os.environ) - set(before): del os.environ[k]
    os.environ.update(before)


LONGEST = 'companions inference training comparison grpo kill mbpp hostile_elsewhere hostile switches parallel spiral tracking'.split()

def pytest_collection_modifyitems(items):
    "The longest files first: of two processes none waits long for the other at the end."
    def place(item): return next((i for i, name in enumerate(LONGEST) if item.path.stem == f'test_{name}'), len(LONGEST))
    items.sort(key=place)
