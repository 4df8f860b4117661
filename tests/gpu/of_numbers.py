"Checks of numbers: two devices, the canary, and overflow."
from contextlib import contextmanager
from unittest.mock import patch

import torch
from registry import check
from spread_models import apart, free, gradient, PLAYERS, policy_at, rewards, sampled

from adversarial_rl.core.errors import UsageError
from adversarial_rl.core.settings import PPOConfig
from adversarial_rl.learn.ppo import Learner
from adversarial_rl.learn.scoring import grow
from adversarial_rl.model.players import Generator
from adversarial_rl.model.policy import load_model, Policy
from adversarial_rl.problems.curriculum import starter_problems


def starter(device):
    "The starter with an adapter that matters, the same on every device."
    policy = Policy(*load_model('starter', device=device), PLAYERS, rank=4)
    rng = torch.Generator().manual_seed(1)
    with torch.no_grad():
        for p in policy.adapter('generator').values(): p.copy_(torch.randn(p.shape, generator=rng) * .05)
    return policy


@contextmanager
def same_chances():
    "Inside, every device samples with the random numbers of one generator on the CPU."
    draw, rng = torch.rand, torch.Generator().manual_seed(0)
    def rand(*shape, generator=None, device=None): return draw(*shape, generator=rng).to(device)
    with patch.object(torch, 'rand', rand): yield


def written(policy, temperature, tokens):
    "Five stages on problems of several lengths."
    with same_chances():
        return Generator(policy, max_new_tokens=tokens).write(starter_problems('held_out', 6), 4, temperature)


def equal_share(x, y):
    "Share of the sampled tokens that two batches of transcripts have in common."
    width = max(x.ids.shape[1], y.ids.shape[1])
    a, b = (torch.nn.functional.pad(t.ids.cpu(), (0, width - t.ids.shape[1]), value=-1) for t in (x, y))
    at = torch.nn.functional.pad(x.action.cpu(), (0, width - x.action.shape[1]))
    return (a == b)[at].float().mean().item()


def logp_of(policy, t, as_trees=False):
    t = t.to(policy.device)
    trees = grow(t.ids, t.action, policy.model.config.hidden_size) if as_trees else None
    with policy.player('generator'), torch.no_grad():
        return policy.score('generator', t.ids, t.action, trees=trees)[0].cpu()


def one_update(policy, t):
    "The gradient of one update."
    t, group = t.to(policy.device), torch.arange(len(t)) // 4
    learner = Learner(policy, 'generator', PPOConfig(learning_rate=0., critic_warmup=0, logp_tolerance=0.))
    learner.update(t, rewards(t.to('cpu')).to(policy.device), group.to(policy.device))
    return gradient(policy)


@check(1, 'the starter in float32: CPU against this device', 20)
def two_devices(place, found):
    "Tokens, log-probabilities and gradients."
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
    cpu, other, tokens = starter('cpu'), starter(place.device), 12 if place.tiny else 64
    for name, heat in dict(greedy=0., mixed=[1., 0., .7, 0., 1.]).items():
        here = written(cpu, heat, tokens)
        share = equal_share(here, written(other, heat, tokens))
        found.note(**{f'{name}_ids_equal': share})
        if name == 'greedy': found.require(share >= .995, f'only {share:.2%} of the greedy tokens are equal')
    gap, gap_of_trees = ((logp_of(cpu, here) - logp_of(other, here, x)).abs().max().item() for x in (False, True))
    distance = apart(one_update(other, here), one_update(cpu, here))
    found.note(logp_gap_max=gap, logp_gap_max_of_trees=gap_of_trees, gradient_distance=distance)
    found.require(max(gap, gap_of_trees) <= 1e-3, f'log-probabilities differ by {gap:.2g}, of trees {gap_of_trees:.2g}')
    found.require(distance <= 1e-3, f'gradients differ by {distance:.2g}')


def canary(policy, given, micro_batch, name='generator', temperature=1., tolerance=.02):
    "The learner's own check of a rollout, in an update that moves nothing; its metrics."
    config = PPOConfig(learning_rate=0., kl_coef=0., critic_warmup=0, micro_batch=micro_batch, logp_tolerance=tolerance)
    t, group = given
    return Learner(policy, name, config, value_learning_rate=0.).update(t, rewards(t), group, temperature=temperature)


def is_caught(*given, **how):
    "Whether the canary stops the run."
    try: canary(*given, **how)
    except UsageError as e: return 'its own' in str(e)
    return False


def of_one_type(place, found, dtype):
    "The canary with a rollout of its own, and with three that are not."
    policy = policy_at(place, '1.5B', dtype)
    ways = dict(merged=policy.sampling, apart=policy.player)
    if dtype == 'bfloat16': del ways['merged']   # The library merges no adapter there
    gaps = {}
    for way, on in ways.items():
        own = sampled(policy, on('generator'))
        rows = {size: canary(policy, own, size) for size in ((4, 16) if place.tiny else (1, 4, 16))}
        gaps |= {f'{way}, micro-batch {size}': row['logp_gap'] for size, row in rows.items()}
        mean = rows[16]['entropy']
        if not place.real: found.require(.4 < mean < .9, f'{dtype}: logits with an entropy of {mean:.2f} show little')
    wrong = {'adapter off': (policy.reference(), {}), 'other adapter': (policy.player('discriminator'), {}),
             'temperature 0.7': (policy.player('generator'), dict(temperature=.7))}
    controls = {}
    for name, (on, how) in wrong.items():
        given = sampled(policy, on, **how)
        controls[name] = dict(gap=canary(policy, given, 16, tolerance=0.)['logp_gap'],
                              caught=is_caught(policy, given, 16))
    found.note(**{dtype: dict(entropy=mean, gaps=gaps, controls=controls)})
    if dtype == 'bfloat16': return   # It must raise no false alarm, and may see less
    found.require(max(gaps.values()) < .01, f'{dtype}: its own rollouts differ by {max(gaps.values()):.2g}')
    missed = [name for name, x in controls.items() if not x['caught']]
    found.require(not missed, f'{dtype}: not caught: {", ".join(missed)}')


@check(2, 'the canary at 1.5B: no false alarm, three controls caught', 75)
def canaries(place, found):
    for dtype in ('float32', 'float16', 'bfloat16'):
        small = not place.tiny and dtype == 'float32' and place.gigabytes() < 20
        old = not place.tiny and dtype == 'bfloat16' and torch.cuda.get_device_capability(place.device) < (8, 0)
        if small or old: found.note(**{dtype: 'left out: this GPU has no room for it, or no such type'})
        else: of_one_type(place, found, dtype)
        free(place)


@check(7, 'a weight that is not a number ends a run with one line', 5)
def overflow(place, found):
    policy = policy_at(place, '0.5B', 'float16')
    t, group = sampled(policy, policy.sampling('generator'), tokens=8)
    layers = policy.model.get_base_model().model.layers
    with torch.no_grad(): layers[len(layers) // 2].input_layernorm.weight[0] = float('nan')
    attempts = dict(sampling=lambda: sampled(policy, policy.sampling('generator'), tokens=8),
                    training=lambda: canary(policy, (t, group), 16))
    for name, attempt in attempts.items():
        try: attempt()
        except UsageError as e:
            found.note(**{name: str(e)})
            named = str(e).startswith('overflow') and '--dtype' in str(e) and '\n' not in str(e)
            found.require(named, f'{name}: the line does not name overflow and what to do')
        else: found.require(False, f'{name} went on')
