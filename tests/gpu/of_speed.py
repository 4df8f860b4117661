"Checks of speed: a step of sampling, and an update."
import time
from contextlib import ExitStack, nullcontext
from functools import partial
from pathlib import Path
from statistics import median
from unittest.mock import patch

import torch
from registry import check
from spread_models import policy_at, ragged, rewards

from adversarial_rl.core.settings import PPOConfig
from adversarial_rl.lab.__main__ import load_notebook
from adversarial_rl.learn.ppo import Learner
from adversarial_rl.learn.scoring import Scorer
from adversarial_rl.model.decoding import Decoder
from adversarial_rl.model.static_step import StaticDecoder

BENCH = load_notebook(Path(__file__).resolve().parents[2]/'nbs'/'experiments'/'21_bench_models.ipynb')


def busy_share(step, times=5):
    "Share of the time of some steps in which the GPU computes."
    from torch.profiler import profile, ProfilerActivity
    with profile(activities=[ProfilerActivity.CUDA]) as seen:
        start = time.perf_counter()
        for _ in range(times): step()
        torch.cuda.synchronize()
        wall = time.perf_counter() - start
    return sum(e.self_device_time_total for e in seen.key_averages()) / 1e6 / wall


def milliseconds(prepare, rounds):
    step = prepare()
    return 1000 * median(BENCH.in_turns({'': step}, rounds)['']), step


@torch.no_grad()
def of_rows(place, policy, rows):
    "Milliseconds of a step of each way, and how busy the fastest keeps the GPU."
    rounds = 3 if place.tiny else 15
    recorded = partial(StaticDecoder, record=None) if place.tiny else StaticDecoder
    cases = {'adapter apart': (policy.player, Decoder), 'merged': (policy.sampling, Decoder),
             'merged, recorded': (policy.sampling, recorded)}
    row = {}
    for name, (on, make) in cases.items():
        with on('generator'):
            row[name], step = milliseconds(partial(BENCH.stepping, policy, rows, make), rounds)
            if name == 'merged, recorded' and not place.tiny: row['busy share'] = busy_share(step)
        del step
    with policy.player('generator'): row['generate'], _ = milliseconds(partial(BENCH.generating, policy, rows), 3)
    return row


@torch.no_grad()
def generate_with_static_cache(policy, rows):
    "Milliseconds of a step of `generate` with its static cache, which transformers compiles; or why there are none."
    settings = BENCH.base_of(policy).generation_config
    with policy.player('generator'), patch.object(settings, 'cache_implementation', 'static'):
        try: return milliseconds(partial(BENCH.generating, policy, rows), 3)[0]
        except Exception as e: return f'{type(e).__name__}: {" ".join(str(e).split())[:150]}'


@check(4, 'milliseconds of a step of sampling, beside generate and the bytes read', 90)
def steps(place, found):
    policy = policy_at(place, '1.5B', 'float32' if place.tiny else 'float16')
    speed = None if place.tiny else BENCH.measure_machine(place.device, 'float16')
    table = {}
    for rows in (2, 3) if place.tiny else (8, 32, 128, 256):
        row = of_rows(place, policy, rows)
        if speed: row['floor'] = 1000 * speed.forward(sum(BENCH.multiplied(policy)), rows, 2)
        table[rows] = row
        found.note(milliseconds=table)
        behind = row['merged, recorded'] > row['generate']
        found.require(place.tiny or not behind, f'{rows} rows: behind generate with an adapter')
    if not place.tiny: found.note(generate_static_32=generate_with_static_cache(policy, 32))


def with_mask(policy):
    "The hidden states with an attention mask of every row, which keeps flash attention away."
    base = policy.model.get_base_model().base_model
    def hidden(ids):
        mask = torch.ones_like(ids)
        mask[:, -1] = 0   # transformers leaves out a mask that is full
        return base(input_ids=ids, attention_mask=mask, use_cache=False).last_hidden_state
    return patch.object(policy, 'hidden', hidden)


def untrimmed():
    "Micro-batches in the order of the rows, each as wide as the longest of all."
    def pieces(self, batch):
        return [(rows, batch.ids.shape[1]) for rows in torch.arange(len(batch)).split(self.micro_batch)]
    return patch.object(Scorer, 'pieces', pieces)


@check(9, 'an update at 3B in 39 GB: mask, trimming, checkpointing', 60)
def updates(place, found):
    place.needs(39)
    place.cap(39)
    policy = policy_at(place, '3B', 'float32' if place.tiny else 'float16')
    t, group = ragged(policy, 16, 20 if place.tiny else 200, 24 if place.tiny else 700)
    weights, tokens, losses, rates = sum(BENCH.multiplied(policy)), int(t.mask.sum()), {}, {}
    ways = dict(ours=({}, nullcontext), mask=({}, partial(with_mask, policy)), untrimmed=({}, untrimmed),
                checkpointing=(dict(gradient_checkpointing=True), nullcontext))
    for name, (more, on) in ways.items():
        config = PPOConfig(learning_rate=0., kl_coef=0., critic_warmup=0, micro_batch=4, logp_tolerance=0., **more)
        learner = Learner(policy, 'generator', config, value_learning_rate=0.)
        with ExitStack() as stack:
            stack.enter_context(on())
            learner.update(t, rewards(t), group)
            row, seconds = BENCH.timed(lambda: learner.update(t, rewards(t), group))
        losses[name], rates[name] = [row[k] for k in ('policy_loss', 'value_loss', 'grad_norm')], tokens / seconds
    found.note(losses=losses, tokens_per_second=rates, tokens=tokens)
    for name, row in losses.items():
        same = torch.allclose(torch.tensor(row), torch.tensor(losses['ours']), rtol=1e-3, atol=1e-3)
        found.require(same, f'{name}: another loss or gradient')
    if place.tiny: return
    speed = BENCH.measure_machine(place.device, 'float16')
    share = 6 * weights * rates['ours'] / speed.flops   # Scored, forward, backward; frozen weights have no gradient
    found.note(share_of_peak=share, allocated_gb=torch.cuda.max_memory_allocated() / 1e9)
