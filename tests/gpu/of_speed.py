"Checks of speed: a step of sampling, and an update."
from functools import partial
from pathlib import Path
from statistics import median

import torch
from registry import check
from spread_models import policy_at, ragged, rewards

from adversarial_rl.core.settings import PPOConfig
from adversarial_rl.lab.__main__ import load_notebook
from adversarial_rl.learn.ppo import Learner
from adversarial_rl.model.decoding import Decoder
from adversarial_rl.model.static_step import StaticDecoder

BENCH = load_notebook(Path(__file__).resolve().parents[2]/'nbs'/'experiments'/'21_bench_models.ipynb')


def milliseconds(prepare, rounds):
    step = prepare()
    return 1000 * median(BENCH.in_turns({'': step}, rounds)['']), step


@torch.no_grad()
def of_rows(place, policy, rows):
    "Milliseconds of a step of each way."
    rounds = 3 if place.tiny else 15
    recorded = partial(StaticDecoder, record=None) if place.tiny else StaticDecoder
    cases = {'adapter apart': (policy.player, Decoder), 'merged': (policy.sampling, Decoder),
             'merged, recorded': (policy.sampling, recorded)}
    row = {}
    for name, (on, make) in cases.items():
        with on('generator'):
            row[name], step = milliseconds(partial(BENCH.stepping, policy, rows, make), rounds)
        del step
    with policy.player('generator'): row['generate'], _ = milliseconds(partial(BENCH.generating, policy, rows), 3)
    return row


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


@check(9, 'an update at 3B in 39 GB, with checkpointing and without', 60)
def updates(place, found):
    place.needs(39)
    place.cap(39)
    policy = policy_at(place, '3B', 'float32' if place.tiny else 'float16')
    t, group = ragged(policy, 16, 20 if place.tiny else 200, 24 if place.tiny else 700)
    weights, tokens, losses, rates = sum(BENCH.multiplied(policy)), int(t.mask.sum()), {}, {}
    for name in 'ours', 'checkpointing':
        config = PPOConfig(learning_rate=0., kl_coef=0., critic_warmup=0, micro_batch=4, logp_tolerance=0.,
                           gradient_checkpointing=name == 'checkpointing')
        learner = Learner(policy, 'generator', config, value_learning_rate=0.)
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
