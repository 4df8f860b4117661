"""The dress rehearsal at toy size: a chat model made on the spot plays, learns and is measured on MBPP.

A scripted model (tests/chat_model.py) chooses the tokens, and a random one says how likely they are.
"""
import contextlib
import json
import random
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

import numpy as np
import pytest
import torch
from chat_model import LOST, PROGRAMS, SUITES

from adversarial_rl.core.config import parse_config
from adversarial_rl.core.files import resource as shipped
from adversarial_rl.core.settings import EvaluationConfig, PPOConfig, TrainingConfig
from adversarial_rl.game import trainer as game
from adversarial_rl.mbpp.dataset import load_mbpp
from adversarial_rl.model import rollout
from adversarial_rl.model.footprint import shaped_config
from adversarial_rl.record.tracking import read_metrics

HERE = Path(__file__).resolve().parent
SPECIAL = ['<|endoftext|>', '<|im_start|>', '<|im_end|>']
SYSTEM = 'You are Qwen, created by Alibaba Cloud. You are a helpful assistant.'
TEMPLATE = (
    "{%- if messages[0]['role'] == 'system' %}{{- '<|im_start|>system\n' + messages[0]['content'] + '<|im_end|>\n' }}"
    "{%- else %}{{- '<|im_start|>system\n" + SYSTEM + "<|im_end|>\n' }}{%- endif %}"
    "{%- for message in messages %}{%- if message['role'] in ('user', 'assistant') %}"
    "{{- '<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>\n' }}{%- endif %}{%- endfor %}"
    "{%- if add_generation_prompt %}{{- '<|im_start|>assistant\n' }}{%- endif %}")


def qwen_tokenizer(size):
    "A byte-level BPE tokenizer with Qwen's special tokens, trained on this project and filled up to `size` entries."
    from tokenizers import decoders, models, pre_tokenizers, Tokenizer, trainers
    from transformers import Qwen2Tokenizer
    texts = [p.read_text() for p in sorted(HERE.parent.glob('adversarial_rl/*/*.py')) + sorted(HERE.glob('*.py'))]
    small = Tokenizer(models.BPE())
    small.pre_tokenizer, small.decoder = pre_tokenizers.ByteLevel(add_prefix_space=False), decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=min(12_000, size - 3), initial_alphabet=alphabet, show_progress=False)
    small.train_from_iterator(texts, trainer)
    model = json.loads(small.to_str())['model']
    vocabulary = model['vocab'] | {f'<filler {i}>': i for i in range(len(model['vocab']), size - len(SPECIAL))}
    merges = [tuple(pair) for pair in model['merges']]
    tokenizer = Qwen2Tokenizer(vocab=vocabulary, merges=merges, eos_token='<|im_end|>', chat_template=TEMPLATE)
    tokenizer.add_special_tokens(dict(additional_special_tokens=SPECIAL[1:2]))
    assert len(tokenizer) == size, len(tokenizer)
    return tokenizer


def qwen_folder(folder, size='0.5B'):
    "A folder as a download of Qwen2.5-Coder leaves it, with random weights in bfloat16."
    from transformers import AutoModelForCausalLM, GenerationConfig
    if (folder/'config.json').exists(): return folder
    config, tokenizer = shaped_config(size), qwen_tokenizer(shaped_config(size).vocab_size)
    config.bos_token_id, _, config.eos_token_id = tokenizer.convert_tokens_to_ids(SPECIAL)
    torch.manual_seed(0)
    model = AutoModelForCausalLM.from_config(config, dtype=torch.bfloat16)
    ends = tokenizer.convert_tokens_to_ids([SPECIAL[2], SPECIAL[0]])
    model.generation_config = GenerationConfig(do_sample=True, temperature=.7, top_p=.8, top_k=20, eos_token_id=ends,
                                               repetition_penalty=1.1, pad_token_id=ends[1])
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


class Pen:
    "Writes each stage as the scripted model does; which style it takes depends on the transcript alone."
    def __init__(self, tokenizer, problems):
        self.tokenizer, self.problems = tokenizer, problems

    @lru_cache(maxsize=None)
    def problem(self, opening):
        text = self.tokenizer.decode(opening)
        return next(p for p in self.problems if p.description in text and f'{p.function_name}(' in text)

    @lru_cache(maxsize=None)
    def tokens(self, opening, stage, place):
        "Token ids of an answer with its end. Every other answer is worth nothing, so that groups teach something."
        problem, text = self.problem(opening), self.tokenizer.decode(opening)
        rng, tests = random.Random(f'{text} {stage} {place}'), 'test cases' in text
        if place % 2: problem = replace(problem, reference_solution=f'{problem.function_signature}\n    return None')
        styles = {name: style for name, style in (SUITES if tests else PROGRAMS).items() if name not in LOST}
        style = SUITES['doctests'] if tests and place % 2 else rng.choice(list(styles.values()))
        answer = 'Go through the values.' if 'Plan' in text and not stage else style(problem)
        return [*self.tokenizer(answer, add_special_tokens=False)['input_ids'], self.tokenizer.eos_token_id]

    def next_tokens(self, sampling):
        "What each transcript of a rollout writes next, `(L,)`."
        rows, row, n = sampling.rows, sampling.row, len(sampling.chance) // len(sampling.openings)
        last = len(sampling.heat) - 1
        for who, stage, written in zip(sampling.who.tolist(), rows.stage[row].tolist(), rows.written[row].tolist()):
            ids = self.tokens(tuple(sampling.openings[who // n]), min(stage, last), who % n)
            yield ids[min(written, len(ids) - 1)]

    @contextlib.contextmanager
    def held(self):
        "Inside, it writes, and the model says how likely each token is."
        own = rollout._Sampling.choose
        def choose(sampling, place):
            heat, row = sampling.heat[sampling.rows.stage], torch.from_numpy(sampling.row)
            logp = (sampling.logits.float() / torch.from_numpy(np.where(heat == 0, 1, heat))[:, None]).log_softmax(-1)
            token = torch.tensor(list(self.next_tokens(sampling)), dtype=torch.long)
            return token.numpy(), logp[row, token].numpy()
        rollout._Sampling.choose = choose
        try: yield
        finally: rollout._Sampling.choose = own


def rehearse(model, out, flags=()):
    "Train two steps of each player on MBPP; the rows of metrics."
    settings = ['--config', str(shipped('configs/t4.yaml')), '--device', 'cpu', '--dtype', 'float32',
                '--generator-model', str(model), '--discriminator-model', str(model), '--k-alternating-steps', '2',
                '--problems-per-step', '1', '--group-size', '2', '--micro-batch', '1', '--critic-warmup', '0',
                '--held-out', '1', '--mbpp-eval-num-questions', '1', '--mbpp-eval-interval-steps', '100',
                '--report-to', 'none', '--output-dir', str(out/'output'), '--checkpoint-dir', str(out/'checkpoints')]
    configs = parse_config([TrainingConfig, PPOConfig, EvaluationConfig], [*settings, *flags], '')
    from transformers import AutoTokenizer
    problems = [p for edition in ('full', 'sanitized') for p in load_mbpp(edition, 'all')]
    with Pen(AutoTokenizer.from_pretrained(model), problems).held():
        game.train(configs[0], configs[1], evaluation=configs[2])
    return [r for r in read_metrics(out/'output'/'metrics.jsonl') if 'learner' in r]


def rows(numbers, words):
    "MBPP in the published form, with these task numbers."
    return [dict(task_id=n, code=f'def add_{n}(x):\n    return x + {n}',
                 test_list=[f'assert add_{n}({x}) == {x + n}' for x in (1, 2, 3)])
            | {words: f'Write a function to add {n}.'} for n in numbers]


@pytest.fixture
def mbpp(tmp_path, monkeypatch):
    "A copy with three problems of the train split and one each of validation and test."
    monkeypatch.setenv('MBPP_DATASET_PATH', str(tmp_path))
    full = rows((11, 511, 601, 602, 603), 'text')
    (tmp_path/'mbpp.jsonl').write_text('\n'.join(map(json.dumps, full)))
    (tmp_path/'sanitized-mbpp.json').write_text(json.dumps(rows((11,), 'prompt')))


def test_the_template_writes_what_qwens_does():
    def written(*turns, **more):
        turns = [dict(role=role, content=text) for role, text in turns]
        return qwen_tokenizer(800).apply_chat_template(turns, tokenize=False, **more)
    system = f'<|im_start|>system\n{SYSTEM}<|im_end|>\n'
    assert written(('user', 'a'), add_generation_prompt=True) == (
        f'{system}<|im_start|>user\na<|im_end|>\n<|im_start|>assistant\n')
    assert written(('system', 's'), ('user', 'a'), ('assistant', 'b')) == (
        '<|im_start|>system\ns<|im_end|>\n<|im_start|>user\na<|im_end|>\n<|im_start|>assistant\nb<|im_end|>\n')
    tokenizer = qwen_tokenizer(800)
    assert len(tokenizer) == 800 and [len(tokenizer(x)['input_ids']) for x in SPECIAL] == [1] * 3


def test_both_players_learn_from_what_a_chat_model_writes(mbpp, tmp_path):
    flags = ['--max-new-tokens', 'plan=99,code=500,tests=500', '--lora-rank', '4']
    steps = rehearse(qwen_folder(tmp_path/'model', 'tiny'), tmp_path, flags)
    assert [row['learner'] for row in steps] == ['discriminator', 'generator'] * 2
    for row in steps:
        name = row['learner']
        assert row[f'{name}/dead_groups'] == 0 and row[f'{name}/grad_norm'] > 0 and row[f'{name}/finite_steps'] == 1
        assert row[f'{name}/logp_gap'] < .001 and row['cut_off'] == 0 and row['solved'] == .5
    assert steps[-1]['mbpp_eval/problems'] == 1
