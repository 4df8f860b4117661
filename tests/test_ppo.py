"The classic bugs of PPO on language models, each with a test that would catch it."
import copy
from dataclasses import replace

import pytest
import torch

from adversarial_rl.core.errors import UsageError
from adversarial_rl.core.settings import PPOConfig
from adversarial_rl.learn.ppo import Learner, LossScale, of_stage
from adversarial_rl.model.policy import load_model, Policy
from adversarial_rl.model.rollout import sample

PLAYERS = ['generator', 'discriminator']


@pytest.fixture
def policy(qwen, tokenizer):
    policy = Policy(qwen(), tokenizer, PLAYERS, rank=4, alpha=4)
    torch.manual_seed(1)
    with torch.no_grad():
        for name in PLAYERS:
            for n, p in policy.parameters(name).items():
                if 'lora_B' in n: p.normal_(0, .1)
    return policy


def ragged(policy, n=4, temperature=.7, max_new_tokens=12, seed=0):
    "Transcripts of two stages whose openings have different lengths, so that the shorter ones were padded on the left."
    texts = [['Return the sum of xs.', '\n### Pseudocode\n'], ['Return n.', '\n### Pseudocode\n'], ['If a is above b return a, else the square of b, or nothing at all.', '\n### Pseudocode\n']]
    pieces = [[policy.tokenizer(t)['input_ids'] for t in row] for row in texts]
    with policy.player('generator'):
        t = sample(policy, pieces, n, max_new_tokens, temperature, torch.Generator().manual_seed(seed))
    return t, torch.arange(len(pieces)).repeat_interleave(n)


def learner(policy, **kw): return Learner(policy, 'generator', PPOConfig(**dict(dict(learning_rate=1e-2, critic_warmup=0, kl_coef=0.), **kw)))


def gradients(policy): return torch.cat([p.grad.flatten() for p in policy.parameters('generator').values() if p.grad is not None])


def test_sampling_and_training_agree_on_log_probabilities(policy):
    "Left padding, cached decoding and temperature against one full right-padded forward."
    t, _ = ragged(policy)
    assert len({int(m.sum()) for m in t.mask}) > 2
    with policy.player('generator'), torch.no_grad():
        logp = policy.score('generator', t.ids, t.mask, t.action, .7)[0]
    torch.testing.assert_close(logp, t.logp[t.action], atol=1e-4, rtol=0)


def test_first_ratio_is_one(policy):
    t, group = ragged(policy)
    metrics = learner(policy).update(t, torch.rand(len(t)), group, temperature=.7)
    assert abs(metrics['ratio_gap']) < 1e-4
    assert metrics['clip_frac'] == 0


def test_wrong_temperature_would_be_seen(policy):
    t, _ = ragged(policy)
    with policy.player('generator'), torch.no_grad():
        logp = policy.score('generator', t.ids, t.mask, t.action, 1.)[0]
    assert (logp - t.logp[t.action]).abs().max() > 1e-2


@pytest.mark.parametrize('change', ['permute', 'pad', 'micro_batch'])
def test_layout_of_the_batch_does_not_matter(policy, change):
    still = dict(learning_rate=0., value_learning_rate=0.)
    t, group = ragged(policy)
    reward = torch.rand(len(t), generator=torch.Generator().manual_seed(3))
    learner(policy, **still).update(t, reward, group, temperature=.7)
    expected = gradients(policy).clone()
    kw = {}
    if change == 'permute':
        order = torch.randperm(len(t), generator=torch.Generator().manual_seed(4))
        t, reward, group = t.select(order), reward[order], group[order]
    if change == 'pad':
        grow = lambda x: torch.nn.functional.pad(x, (0, 9))
        t = replace(t, **{f: grow(getattr(t, f)) for f in ('ids', 'mask', 'stage', 'action', 'logp')})
    if change == 'micro_batch': kw = dict(micro_batch=5)
    learner(policy, **still, **kw).update(t, reward, group, temperature=.7)
    assert expected.abs().max() > 0
    torch.testing.assert_close(gradients(policy), expected, atol=1e-5, rtol=1e-4)


@pytest.mark.parametrize('sign', [1, -1])
def test_a_rewarded_token_becomes_likelier(policy, sign):
    "A bandit: one problem, one token long; one token pays."
    tok, pays = policy.tokenizer, policy.tokenizer('x')['input_ids'][0]
    piece = [[tok('Return n.')['input_ids']]]
    def chance():
        ids = torch.tensor([piece[0][0] + [pays]])
        action = torch.zeros_like(ids, dtype=torch.bool)
        action[0, -1] = True
        with policy.player('generator'), torch.no_grad(): return policy.score('generator', ids, torch.ones_like(action), action)[0].exp().item()
    # Among 600 tokens a rare one is seldom drawn, so every row is given it or another at random.
    rng, before, who = torch.Generator().manual_seed(0), chance(), learner(policy, missing_eos_penalty=0., logp_tolerance=0.)
    for _ in range(30):
        with policy.player('generator'): t = sample(policy, piece, 32, 1, 1., rng)
        last = t.mask.sum(1) - 1
        t.ids[torch.arange(0, 32, 2), last[::2]] = pays
        hit = t.ids[torch.arange(32), last] == pays
        who.update(t, sign * hit.float(), torch.zeros(32, dtype=torch.long))
    # Random weights of std 0.02 leave little room: no logit of this model can pass 0.7.
    assert chance() > 1.3 * before if sign > 0 else chance() < 0.8 * before


def test_rows_that_teach_nothing(policy):
    "No end token, only an end token, nothing chosen at all: finite losses, and the last has no say."
    t, _ = ragged(policy, n=2)
    t.action[0] = False
    end = int(t.mask[1].sum()) - 1
    t.ids[1, end] = policy.tokenizer.eos_token_id
    t.action[1] = False
    t.action[1, end] = True
    t.truncated[2] = True
    group = torch.zeros(len(t), dtype=torch.long)
    metrics = learner(policy).update(t, torch.rand(len(t)), group, temperature=.7)
    assert all(v == v and abs(v) < 1e6 for v in metrics.values())
    nothing = t.select([0, 0])
    before = [p.clone() for p in policy.parameters('generator').values()]
    learner(policy).update(nothing, torch.tensor([1., 0.]), torch.zeros(2, dtype=torch.long))
    assert all(torch.equal(a, b) for a, b in zip(before, policy.parameters('generator').values()))


def test_equal_rewards_move_nothing(policy):
    t, group = ragged(policy)
    before = [p.clone() for p in policy.parameters('generator').values()]
    metrics = learner(policy).update(t, torch.ones(len(t)), group)
    assert metrics['dead_groups'] == 1
    assert all(torch.equal(a, b) for a, b in zip(before, policy.parameters('generator').values()))


def test_a_micro_batch_may_hold_nothing_but_held_rows(policy):
    t, group = ragged(policy)
    who = learner(policy, micro_batch=1, missing_eos_penalty=0.)
    who.begin_stage()
    reward = torch.tensor([1., 0., 1., 0.] + [1.] * 8)
    metrics = who.update(t, reward, group, stage=0, temperature=.7)
    assert all(v == v for v in metrics.values()) and metrics['dead_groups'] == pytest.approx(2 / 3)


def test_only_the_learner_moves(policy):
    t, group = ragged(policy)
    rival = {n: p.clone() for n, p in policy.parameters('discriminator').items()}
    with torch.no_grad(), policy.reference(): ref = policy.hidden(t.ids, t.mask)
    learner(policy).update(t, torch.rand(len(t)), group, temperature=.7)
    assert all(torch.equal(p, rival[n]) for n, p in policy.parameters('discriminator').items())
    with torch.no_grad(), policy.reference(): assert torch.equal(policy.hidden(t.ids, t.mask), ref)


def test_critic_warms_up_before_the_policy_moves(policy):
    t, group = ragged(policy)
    before = {n: p.clone() for n, p in policy.parameters('generator').items()}
    learner(policy, critic_warmup=1).update(t, torch.rand(len(t)), group, temperature=.7)
    moved = {n for n, p in policy.parameters('generator').items() if not torch.equal(p, before[n])}
    assert moved == {'value_head.weight', 'value_head.bias'}


def test_a_stage_ends_where_its_last_token_stands(policy):
    t, _ = ragged(policy)
    first, held = of_stage(t, 0)
    assert not held.any()
    assert first.action.sum() == (t.action & (t.stage == 0)).sum()
    assert first.ids.shape[1] < t.ids.shape[1]
    assert of_stage(t, None)[0].action.sum() == t.action.sum()


def test_cut_off_costs_the_penalty(policy):
    "Two rows alike but for the cut: only the penalty tells them apart."
    t, _ = ragged(policy, n=2)
    t = t.select([0, 1])
    t.truncated[:] = False
    t.truncated[0, 1] = True
    assert learner(policy).update(t, torch.ones(2), torch.zeros(2, dtype=torch.long), stage=1, temperature=.7)['dead_groups'] == 0
    assert learner(policy).update(t, torch.ones(2), torch.zeros(2, dtype=torch.long), stage=0, temperature=.7)['dead_groups'] == 1


def test_the_other_stages_are_held_where_they_were(policy):
    "Many steps on one stage: with the anchor, the other stage's tokens keep their log-probabilities much better."
    def drift(coef):
        before = {n: p.clone() for n, p in policy.parameters('generator').items()}
        t, group = ragged(policy)
        other = t.action & (t.stage == 1)
        def logp():
            with policy.player('generator'), torch.no_grad(): return policy.score('generator', t.ids, t.mask, other, .7)[0]
        who, start = learner(policy, anchor_coef=coef, logp_tolerance=0.), logp()
        who.begin_stage()
        reward = (t.ids * (t.stage == 0)).sum(1) % 2
        for _ in range(10): who.update(t, reward, group, stage=0, temperature=.7)
        moved = (logp() - start).abs().mean().item()
        with torch.no_grad():
            for n, p in policy.parameters('generator').items(): p.copy_(before[n])
        return moved
    assert drift(10.) < 0.5 * drift(0.)


def weights(policy, name='generator'): return torch.cat([p.detach().flatten() for p in policy.parameters(name).values()])


def rewards(t): return torch.rand(len(t), generator=torch.Generator().manual_seed(3))


def test_default_update_is_what_it_was(policy):
    "Figures recorded before the settings below were there; to the bit on the machine that recorded them."
    t, group = ragged(policy)
    who = learner(policy, kl_coef=.01)
    who.begin_stage()
    metrics = who.update(t, rewards(t), group, stage=0, temperature=.7)
    assert [metrics[k] for k in ('kl', 'entropy', 'grad_norm', 'value_loss')] == pytest.approx([.0029449747, 6.4802680, .1478382349, .0231035594], rel=1e-4)
    assert [weights(policy).sum().item(), weights(policy).norm().item()] == pytest.approx([-1.690103, 6.361117], rel=1e-4)


@pytest.mark.parametrize('where,kind', [('reward', 'k1'), ('loss', 'k2'), ('loss', 'k3')])
def test_penalty_pulls_towards_the_reference(policy, where, kind):
    "Rewards that teach nothing by themselves, a strong penalty: the policy comes nearer."
    who = learner(policy, kl_coef=10., kl_in=where, kl_estimator=kind, group_baseline=False, missing_eos_penalty=0.)
    found = []
    for seed in range(8):
        t, group = ragged(policy, n=8, seed=seed)
        found.append(who.update(t, torch.zeros(len(t)), group, temperature=.7)['kl'])
    assert found[-1] < .7 * found[0]


def test_reference_moves_and_stays_where_it_was_put(policy):
    "Distance is 0 right after the reference moved, and grows until it moves again; a learner that loads the state measures the same."
    who = learner(policy, kl_coef=.01, reference_steps=2, group_baseline=False)
    found = []
    for seed in range(5):
        if seed == 3: other = learner(policy, kl_coef=.01, reference_steps=2, group_baseline=False); other.load_state_dict(copy.deepcopy(who.state_dict())); who = other
        t, group = ragged(policy, n=8, seed=seed)
        found.append(who.update(t, rewards(t), group, temperature=.7)['kl'])
    # Moved in the second and the fourth update, before their steps were taken
    assert 0 < found[0] and 0 < found[2] < found[3] and found[4] < found[3]


def test_step_sizes_fall_with_the_run(policy):
    who = learner(policy, learning_rate=.01, value_learning_rate=.1, learning_rate_decay=.75)
    found = []
    for share in (0, .5, 1): who.progress(share); found.append([g['lr'] for g in who.optimizer.param_groups])
    assert [x for pair in found for x in pair] == pytest.approx([.01, .1, .00625, .0625, .0025, .025])


def test_k1_in_the_loss_is_refused(policy):
    with pytest.raises(UsageError, match='pulls nowhere'): learner(policy, kl_coef=.1, kl_in='loss')


def test_adaptive_coefficient_goes_on_where_it_stopped(policy):
    "The divergence is far above the target: 2% an update; another learner that loads the state goes on from there."
    t, group = ragged(policy)
    kw = dict(kl_coef=.1, ref_kl_target=1e-5, learning_rate=0.)
    who, other = learner(policy, **kw), learner(policy, **kw)
    assert who.update(t, rewards(t), group, temperature=.7)['kl_coef'] == .1
    assert who.kl_coef == pytest.approx(.102)
    other.load_state_dict(who.state_dict())
    assert other.update(t, rewards(t), group, temperature=.7)['kl_coef'] == pytest.approx(.102)
    assert other.kl_coef == pytest.approx(.1 * 1.02**2)


def test_entropy_bonus_below_the_floor_alone(policy):
    t, group = ragged(policy)
    entropy = learner(policy, learning_rate=0.).update(t, rewards(t), group, temperature=.7)['entropy']
    def gradient(**kw):
        learner(policy, learning_rate=0., value_learning_rate=0., **kw).update(t, rewards(t), group, temperature=.7)
        return gradients(policy).clone()
    plain, bonus = gradient(), gradient(entropy_coef=.1)
    assert not torch.equal(plain, bonus)
    assert torch.equal(gradient(entropy_coef=.1, entropy_floor=entropy - .01), plain)
    assert torch.equal(gradient(entropy_coef=.1, entropy_floor=entropy + .01), bonus)


def test_without_whitening_the_step_is_the_reward_s(policy):
    "Rewards scaled by 10: whitened the gradient stays, plain it grows tenfold. Values are 0 at first."
    t, group = ragged(policy)
    def gradient(scale, white):
        learner(policy, learning_rate=0., value_learning_rate=0., missing_eos_penalty=0., whiten_advantages=white, max_grad_norm=1e9).update(t, scale * rewards(t), group, temperature=.7)
        return torch.cat([p.grad.flatten() for n, p in policy.parameters('generator').items() if not n.startswith('value_head')])
    torch.testing.assert_close(gradient(10., True), gradient(1., True), atol=1e-5, rtol=1e-4)
    torch.testing.assert_close(gradient(10., False), 10 * gradient(1., False), atol=1e-5, rtol=1e-4)


def test_dropped_groups_keep_their_share_of_the_denominator(policy):
    "A third group whose rewards are equal is counted and dropped; the other tokens weigh as much as if it had been in the batch."
    t, group = ragged(policy)
    reward = rewards(t)
    reward[group == 2] = .5
    some = (group < 2).nonzero().squeeze(1)
    def gradient(rows):
        who = learner(policy, learning_rate=0., value_learning_rate=0., missing_eos_penalty=0., whiten_advantages=False, max_grad_norm=1e9)
        return who.update(t.select(rows), reward[rows], group[rows], temperature=.7)['dead_groups'], gradients(policy).clone()
    (dead, whole), (none, part) = gradient(torch.arange(len(t))), gradient(some)
    assert (dead, none) == (pytest.approx(1 / 3), 0)
    torch.testing.assert_close(whole * t.action.sum(), part * t.action[some].sum(), atol=1e-4, rtol=1e-4)


def test_out_of_memory_halves_the_micro_batch_and_changes_nothing(policy, monkeypatch, capsys):
    "Memory runs out in the first forward, in a later one and in a backward: the same weights and optimizer as with a micro-batch that fitted at once."
    t, group = ragged(policy)
    before, score = {n: p.clone() for n, p in policy.parameters('generator').items()}, policy.score
    def update(fails=None, **kw):
        calls = []
        def tight(name, ids, *rest):
            calls.append(len(ids))
            if fails == 'always' or len(ids) > 6 and fails == 'forward' or len(ids) > 6 and fails == 'third' and len(calls) == 3: raise RuntimeError('DefaultCPUAllocator: not enough memory: you tried to allocate memory')
            logp, *rest = score(name, ids, *rest)
            if fails == 'backward' and len(ids) > 6 and logp.requires_grad: logp.register_hook(lambda g: exec("raise RuntimeError('CUDA out of memory')"))
            return logp, *rest
        monkeypatch.setattr(policy, 'score', tight)
        with torch.no_grad():
            for n, p in policy.parameters('generator').items(): p.copy_(before[n])
        torch.manual_seed(7)
        who = learner(policy, kl_coef=.01, **kw)
        for _ in range(2): metrics = who.update(t, rewards(t), group, temperature=.7)
        moments = torch.cat([x.flatten() for s in who.optimizer.state_dict()['state'].values() for x in (s['exp_avg'], s['exp_avg_sq'])])
        return weights(policy), moments, who, metrics
    loose = dict(logp_tolerance=0.)
    (whole, moments, *_), (six, six_moments, *_) = update(**loose), update(micro_batch=6, **loose)
    torch.testing.assert_close(six, whole, atol=1e-4, rtol=1e-3)
    for fails in ('forward', 'backward'):
        now, now_moments, who, metrics = update(fails, **loose)
        assert who.micro_batch == 6 and (fails == 'backward' or torch.equal(now, six) and torch.equal(now_moments, six_moments))
        torch.testing.assert_close(now, whole, atol=1e-4, rtol=1e-3)
        torch.testing.assert_close(now_moments, moments, atol=1e-5, rtol=1e-3)
        assert capsys.readouterr().err == 'out of memory: the generator goes on with --micro-batch 6\n'
    several = dict(ppo_epochs=2, minibatches=2, target_kl=0., **loose)
    torch.testing.assert_close(update('third', micro_batch=12, **several)[0], update(**several)[0], atol=1e-4, rtol=1e-3)
    with pytest.raises(RuntimeError, match='allocate memory'): update('always', **loose)
    assert 'goes on with --micro-batch 1\n' in capsys.readouterr().err


def test_other_errors_are_not_taken_for_memory(policy, monkeypatch):
    t, group = ragged(policy)
    def broken(*a): raise RuntimeError('shapes do not match')
    monkeypatch.setattr(policy, 'score', broken)
    with pytest.raises(RuntimeError, match='shapes'): learner(policy).update(t, rewards(t), group, temperature=.7)


def test_canary_sees_a_wrong_adapter_a_wrong_temperature_and_stale_samples(policy):
    t, group = ragged(policy)
    assert learner(policy, learning_rate=0.).update(t, rewards(t), group, temperature=.7)['logp_gap_max'] < 1e-4
    with pytest.raises(UsageError, match='temperature or top-p'): learner(policy).update(t, rewards(t), group, temperature=2.)
    other = Learner(policy, 'discriminator', PPOConfig(critic_warmup=0))
    before = weights(policy, 'discriminator')
    with pytest.raises(UsageError, match="the discriminator's samples are not its own"): other.update(t, rewards(t), group, temperature=.7)
    assert torch.equal(weights(policy, 'discriminator'), before)
    who = learner(policy)
    with pytest.raises(UsageError, match='stale'):
        for _ in range(10): who.update(t, rewards(t), group, temperature=.7)


def test_canary_counts_greedy_stages_out(policy):
    "Only the learning stage explores; the others were taken greedily, and their log-probabilities stand at temperature 1."
    pieces = [[policy.tokenizer(x)['input_ids'] for x in ('Return the sum of xs.', '\n### Pseudocode\n')]] * 2
    with policy.sampling('generator'): t = sample(policy, pieces, 4, 12, [0., .7], torch.Generator().manual_seed(0))
    assert learner(policy).update(t, rewards(t), torch.zeros(len(t), dtype=torch.long), stage=1, temperature=.7)['logp_gap_max'] < 1e-4


def test_checkpointing_changes_memory_alone(policy):
    "The same weights; afterwards nothing is in training mode, so that sampling has its cache."
    t, group = ragged(policy)
    before = {n: p.clone() for n, p in policy.parameters('generator').items()}
    def update(**kw):
        with torch.no_grad():
            for n, p in policy.parameters('generator').items(): p.copy_(before[n])
        learner(policy, kl_coef=.01, **kw).update(t, rewards(t), group, temperature=.7)
        return weights(policy)
    assert torch.equal(update(), update(gradient_checkpointing=True))
    assert not any(m.training for m in policy.model.modules())
    again, _ = ragged(policy, seed=4)
    with policy.player('generator'), torch.no_grad(): logp = policy.score('generator', again.ids, again.mask, again.action, .7)[0]
    torch.testing.assert_close(logp, again.logp[again.action], atol=1e-4, rtol=0)


def test_float16_base_learns_in_float32_with_scaled_losses(policy, qwen, tokenizer):
    "Rewards of a thousandth make small gradients: without the scale most of them is lost on the way through a float16 base."
    half, full = Policy(qwen().half(), tokenizer, PLAYERS, rank=4, alpha=4), policy
    with torch.no_grad():
        for n, p in half.parameters('generator').items(): p.copy_(full.parameters('generator')[n])
    assert {p.dtype for name in PLAYERS for p in half.parameters(name).values()} == {torch.float32}
    t, group = ragged(full)
    def gradient(policy, scale):
        who = learner(policy, learning_rate=0., value_learning_rate=0., missing_eos_penalty=0., whiten_advantages=False)
        assert who.scale.value == (4096 if policy is half else 1)
        who.scale = LossScale(True, scale)
        metrics = who.update(t, 1e-3 * rewards(t), group, temperature=.7)
        assert metrics['loss_scale'] == scale and metrics['finite_steps'] == 1
        return torch.cat([p.grad.flatten() for n, p in policy.adapter('generator').items() if 'lora_B' in n])
    true = gradient(full, 1.)
    error = lambda scale: ((gradient(half, scale) - true).norm() / true.norm()).item()
    assert error(1.) > .3 and error(4096.) < .01


def test_an_overflow_is_left_out_and_halves_the_scale(policy, monkeypatch):
    "A faked overflow: no weight, no moment moves; the next step goes on; the state comes back."
    t, group = ragged(policy)
    who, score, before = learner(policy, logp_tolerance=0.), policy.score, weights(policy)
    who.scale = LossScale(True, 8., patience=2)
    def overflow(*a):
        logp, *rest = score(*a)
        if logp.requires_grad: logp.register_hook(lambda g: g * float('inf'))
        return logp, *rest
    monkeypatch.setattr(policy, 'score', overflow)
    assert who.update(t, rewards(t), group, temperature=.7)['finite_steps'] == 0
    assert torch.equal(weights(policy), before) and not who.optimizer.state_dict()['state'] and who.scale.value == 4
    monkeypatch.setattr(policy, 'score', score)
    assert who.update(t, rewards(t), group, temperature=.7)['finite_steps'] == 1
    assert not torch.equal(weights(policy), before)
    other = learner(policy)
    other.load_state_dict(who.state_dict())
    assert (other.scale.value, other.scale.good) == (4, 1)


def test_four_bits_without_bitsandbytes_is_one_line(monkeypatch):
    "Loading itself needs a card and is not tested here."
    monkeypatch.setattr('adversarial_rl.model.policy.installed', lambda name: '')
    with pytest.raises(UsageError, match='pip install bitsandbytes'): load_model('starter', device='cuda', four_bit=True)
    with pytest.raises(UsageError, match='needs a CUDA card, not mps'): load_model('starter', device='mps', four_bit=True)
