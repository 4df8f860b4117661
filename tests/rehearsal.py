"""A dress rehearsal of a real run without a GPU: `python tests/rehearsal.py`.

A model with the shapes of Qwen2.5-Coder-0.5B, random weights, a tokenizer of as many entries and a chat template that
does what Qwen's does; MBPP's own problems and the settings of configs/t4.yaml, but for counts. Two steps of each player
and the evaluations before and after, in float32 and in bfloat16. Prompts, answers and what is found in them are printed
to be read. By default a scripted model (tests/chat_model.py) chooses the tokens and the random one says how likely they
are; with `--own-words` it writes itself.
"""
import argparse
import contextlib
import json
import os
import random
import resource
import sys
import time
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]
os.environ.setdefault('TOKENIZERS_PARALLELISM', 'false')
os.environ.setdefault('WANDB_MODE', 'disabled')

import numpy as np  # noqa: E402
import torch  # noqa: E402
from chat_model import LOST, PROGRAMS, SUITES  # noqa: E402

from adversarial_rl.core.config import parse_config  # noqa: E402
from adversarial_rl.core.errors import quiet_libraries  # noqa: E402
from adversarial_rl.core.files import resource as shipped  # noqa: E402
from adversarial_rl.core.settings import EvaluationConfig, PPOConfig, TrainingConfig  # noqa: E402
from adversarial_rl.game import trainer as game  # noqa: E402
from adversarial_rl.mbpp.dataset import load_mbpp  # noqa: E402
from adversarial_rl.model import rollout  # noqa: E402
from adversarial_rl.model.footprint import shaped_config  # noqa: E402
from adversarial_rl.record.tracking import read_metrics  # noqa: E402

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


def show(name, text, most=4000):
    "A text under its name, as it is."
    print(f'---- {name} ({len(text)} characters)\n{text[:most]}\n', flush=True)


def tell(player, problems, transcripts, found, n):
    "The prompt and the answers to each problem, what was cut off, and what is found."
    for i, p in enumerate(problems):
        pieces = player.pieces(p)
        for k, ids in enumerate(pieces):
            show(f'{player.name}, {p.id}, prompt of stage {player.stages[k].name}, {len(ids)} tokens',
                 player.policy.tokenizer.decode(ids))
        for row in range(i * n, i * n + n):
            for k, text in enumerate(transcripts.texts[row]):
                cut = ', CUT OFF' if transcripts.truncated[row, k] else ''
                show(f'{player.name}, {p.id}, answer {row}, stage {player.stages[k].name}{cut}', text)
            show(f'found in answer {row}', found[row] if isinstance(found[row], str) else '\n'.join(found[row]))


@contextlib.contextmanager
def told():
    "Inside, what each training round writes is printed."
    own = game.play_round
    def play_round(generator, tester, problems, plan, **more):
        r = own(generator, tester, problems, plan, **more)
        flat = [p for p in problems for _ in range(plan.n_programs)]
        tell(generator, problems, r.generator_transcripts, generator.programs(r.generator_transcripts, flat),
             plan.n_programs)
        flat = [p for p in problems for _ in range(plan.n_suites)]
        tell(tester, problems, r.discriminator_transcripts, tester.suites(r.discriminator_transcripts, flat),
             plan.n_suites)
        return r
    game.play_round = play_round
    try: yield
    finally: game.play_round = own


def rehearse(model, out, dtype, flags=(), own_words=False):
    "Train two steps of each player on MBPP; seconds, peak of memory in GB, and the rows of metrics."
    settings = ['--config', str(shipped('configs/t4.yaml')), '--device', 'cpu', '--dtype', dtype,
                '--generator-model', str(model), '--discriminator-model', str(model), '--k-alternating-steps', '2',
                '--problems-per-step', '1', '--group-size', '2', '--micro-batch', '1', '--critic-warmup', '0',
                '--max-new-tokens', 'plan=8,code=128,tests=96', '--held-out', '1', '--mbpp-eval-num-questions', '1',
                '--mbpp-eval-interval-steps', '100', '--report-to', 'none', '--output-dir', str(out/'output'),
                '--checkpoint-dir', str(out/'checkpoints'), *flags]
    configs = parse_config([TrainingConfig, PPOConfig, EvaluationConfig], settings, '')
    from transformers import AutoTokenizer
    problems = [p for edition in ('full', 'sanitized') for p in load_mbpp(edition, 'all')]
    pen = Pen(AutoTokenizer.from_pretrained(model), problems)
    start = time.perf_counter()
    with told(), contextlib.nullcontext() if own_words else pen.held():
        results = game.train(configs[0], configs[1], evaluation=configs[2])
    rows = [r for r in read_metrics(out/'output'/'metrics.jsonl') if 'learner' in r]
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    return results, rows, time.perf_counter() - start, peak


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('--out', type=Path, default=Path('output/rehearsal'), help='folder for model and results')
    parser.add_argument('--size', default='0.5B', help="shapes of a Qwen2.5, or 'tiny'")
    parser.add_argument('--dtype', default='float32', choices=('float32', 'bfloat16'))
    parser.add_argument('--own-words', action='store_true', help='the random model writes itself')
    args, flags = parser.parse_known_args(argv)
    quiet_libraries()
    start = time.perf_counter()
    model = qwen_folder(args.out/f'model-{args.size}', args.size)
    print(f'model in {time.perf_counter() - start:.0f} s')
    results, rows, seconds, peak = rehearse(model, args.out/args.dtype, args.dtype, flags, args.own_words)
    for row in rows: print({k: round(v, 5) if isinstance(v, float) else v for k, v in row.items()})
    print(f'{args.dtype}: {seconds:.0f} s, at most {peak:.1f} GB')


if __name__ == '__main__': main()
