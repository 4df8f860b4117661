"Checks of memory: the T4 as it is configured, and running out."
from dataclasses import replace
from unittest.mock import patch

import torch
from registry import check
from spread_models import apart, folder_of, gradient, policy_at, ragged, rewards, sampled

from adversarial_rl.core.config import parse_config
from adversarial_rl.core.settings import EvaluationConfig, PPOConfig, TrainingConfig
from adversarial_rl.game.plan import plan_run, PlanConfig
from adversarial_rl.game.trainer import AdversarialTrainer
from adversarial_rl.learn.ppo import Learner
from adversarial_rl.model.decoding import Decoder
from adversarial_rl.model.footprint import peak
from adversarial_rl.record.checkpoints import load_checkpoint


def t4_settings(place):
    "configs/t4.yaml with the bundled problems; at toy sizes on a CPU."
    config, ppo, evaluation = parse_config([TrainingConfig, PPOConfig, EvaluationConfig],
                                           ['--config', 'configs/t4.yaml'], '')
    model = folder_of(place, '1.5B')
    config = replace(config, generator_model=model, discriminator_model=model, problems_file='starter', held_out=1,
                     device=place.device, dtype='float16', checkpoint_dir=str(place.folder/'t4'))
    if place.tiny: config = replace(config, problems_per_step=2, group_size=2, max_new_tokens=6)
    return config, replace(ppo, critic_warmup=0), evaluation


def finite(row):
    "Whether every number of a row of metrics is one, and the step was made."
    steps = [x for name, x in row.items() if name.endswith('finite_steps')]
    numbers = [x for name, x in row.items() if isinstance(x, float) and 'reward' not in name]
    return all(map(torch.isfinite, map(torch.tensor, numbers))) and steps == [1.]


def with_random_rewards(play):
    "Random programs all fail, and from equal rewards nobody learns."
    def played(*given):
        r, paid, row = play(*given)
        return r, {name: torch.rand(x.shape) for name, x in paid.items()}, row
    return played


@check(3, 'the T4 of configs/t4.yaml: both players play and learn in 15 GB', 90)
def t4(place, found):
    config, ppo, evaluation = t4_settings(place)
    place.cap(15)
    trainer = AdversarialTrainer(config, ppo)
    trainer.pair.play = with_random_rewards(trainer.pair.play)
    prompt = max(sum(map(len, p.pieces(x))) for p in trainer.players.values() for x in trainer.training[:50])
    plan = plan_run(config, ppo, evaluation, PlanConfig(prompt_tokens=prompt))
    rows = [trainer.train_step() for _ in range(2)]
    saved = trainer.save()
    state, info = load_checkpoint(saved)
    trainer.load_state_dict(state)
    learned = sorted(row['learner'] for row in rows)
    found.note(learned=learned, step=info['step'], checkpoint_gb=saved.stat().st_size / 1e9,
               tokens_per_second=[row['tokens_per_second'] for row in rows],
               planned_tokens_per_second=plan.tokens / plan.seconds['sampling'], finite=[finite(row) for row in rows],
               estimate_gb=peak(plan.memory) / 1e9)
    found.require(learned == ['discriminator', 'generator'], f'the steps taught {learned}')
    found.require(all(map(finite, rows)), 'a step is not finite')
    if place.tiny: return
    allocated, reserved = torch.cuda.max_memory_allocated() / 1e9, torch.cuda.max_memory_reserved() / 1e9
    found.note(allocated_gb=allocated, reserved_gb=reserved)
    found.require(reserved <= 14, f'{reserved:.1f} GB reserved')
    off = allocated / peak(plan.memory) * 1e9 - 1
    # The estimate is for transcripts that share nothing; here a group shares its prompt
    found.require(-.35 <= off <= .15, f'{off:+.0%} beside the estimate')


MOST, PROMPT, LONGEST = 4, 20, 150   # Rows for which there is memory, and their tokens: a real 1.5B still fits a T4

def no_memory(*_): raise torch.OutOfMemoryError('CUDA out of memory. Tried to allocate 2.00 GiB')


def scores_that_fail(policy, where):
    "`policy.score`, which runs out of memory with more than `MOST` rows in the forward or the backward pass."
    score = policy.score
    def limited(name, ids, *rest, **how):
        if where == 'forward' and len(ids) > MOST: no_memory()
        out = score(name, ids, *rest, **how)
        if where == 'backward' and len(ids) > MOST and out[0].requires_grad: out[0].register_hook(no_memory)
        return out
    return patch.object(policy, 'score', limited)


def gradient_of_update(policy, given, micro_batch=16):
    "The gradient of an update, and the micro-batch that it ended with."
    config = PPOConfig(learning_rate=0., kl_coef=0., critic_warmup=0, micro_batch=micro_batch, logp_tolerance=0.)
    learner, (t, group) = Learner(policy, 'generator', config, value_learning_rate=0.), given
    learner.update(t, rewards(t), group)
    return gradient(policy), learner.scorer.micro_batch


def decoder_that_fails(policy):
    "The decoder that runs out of memory at the second token with more than `MOST` rows."
    decoder = Decoder(policy)
    feed = decoder.feed
    def limited(tokens): return no_memory() if len(tokens) > MOST else feed(tokens)
    decoder.feed = limited
    return decoder


def peak_of(compute):
    "Bytes at the peak of a call."
    torch.cuda.empty_cache()
    torch.cuda.reset_peak_memory_stats()
    compute()
    return torch.cuda.max_memory_reserved()


def real_shortage(place, found, policy, given, true):
    "The GPU itself has room for a micro-batch of four rows, not for sixteen."
    small, large = (peak_of(lambda: gradient_of_update(policy, given, rows)) for rows in (MOST, 16))
    torch.cuda.empty_cache()
    place.cap((small + large) / 2e9)
    found_gradient, micro_batch = gradient_of_update(policy, given)
    distance = apart(found_gradient, true)
    found.note(shortage=dict(gb_of_4=small / 1e9, gb_of_16=large / 1e9, micro_batch=micro_batch, distance=distance))
    found.require(micro_batch < 16, 'the cap was no shortage')
    found.require(distance <= 1e-4, f'a real shortage: gradient differs by {distance:.2g}')


@check(6, 'out of memory in forward, backward and sampling: each goes on with fewer rows', 20)
def out_of_memory(place, found):
    policy = policy_at(place, '0.5B', 'float32')
    given = ragged(policy, 16, PROMPT, 12 if place.tiny else LONGEST)
    true, _ = gradient_of_update(policy, given, MOST)
    for where in ('forward', 'backward'):
        with scores_that_fail(policy, where): result, micro_batch = gradient_of_update(policy, given)
        distance = apart(result, true)
        found.note(**{where: dict(micro_batch=micro_batch, distance=distance)})
        found.require(micro_batch == MOST and distance <= 1e-4, f'{where}: gradient differs by {distance:.2g}')
    whole, _ = sampled(policy, policy.sampling('generator'), tokens=12)
    with patch('adversarial_rl.model.rollout.Decoder', decoder_that_fails):
        parts, _ = sampled(policy, policy.sampling('generator'), tokens=12)
    same = whole.ids.shape == parts.ids.shape and (whole.ids == parts.ids).float().mean().item()
    found.note(sampling=dict(rows=policy.most_rows, ids_equal=float(same)))
    found.require(policy.most_rows == MOST and same > .9, 'sampling: other tokens, or another number of rows')
    if not place.tiny: real_shortage(place, found, policy, given, true)


@check(8, 'an update at 3B in 39 GB, with checkpointing and without', 60)
def updates(place, found):
    place.needs(39)
    place.cap(39)
    policy = policy_at(place, '3B', 'float32' if place.tiny else 'float16')
    t, group = ragged(policy, 16, 20 if place.tiny else 200, 24 if place.tiny else 700)
    config = PPOConfig(learning_rate=0., kl_coef=0., critic_warmup=0, micro_batch=4, logp_tolerance=0.)
    losses = []
    for config in config, replace(config, gradient_checkpointing=True):
        row = Learner(policy, 'generator', config, value_learning_rate=0.).update(t, rewards(t), group)
        losses.append([row[k] for k in ('policy_loss', 'value_loss', 'grad_norm')])
    found.note(losses=losses)
    same = torch.allclose(*map(torch.tensor, losses), rtol=1e-3, atol=1e-3)
    found.require(same, 'checkpointing: another loss or gradient')
