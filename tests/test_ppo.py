"The classic bugs of PPO on language models, each with a test that catches it."
import copy
from dataclasses import replace

import pytest
import torch
import transformers

from adversarial_rl.core.errors import UsageError
from adversarial_rl.core.settings import PPOConfig
from adversarial_rl.learn import ppo
from adversarial_rl.learn.optimizer import _LossScale
from adversarial_rl.learn.ppo import Learner
from adversarial_rl.learn.scoring import grow
from adversarial_rl.learn.transcripts import TOKENS
from adversarial_rl.model.policy import load_model, Policy
from adversarial_rl.model.rollout import sample

PLAYERS = ['generator', 'discriminator']


@pytest.fixture
def policy(qwen, tokenizer):
    policy = Policy(qwen(), tokenizer, PLAYERS, rank=4)
    torch.manual_seed(1)
    with torch.no_grad():
        for name in PLAYERS:
            for n, p in policy.parameters(name).items():
                if 'lora_B' in n: p.normal_(0, .1)
    return policy


def ragged(policy, n=4, temperature=.7, max_new_tokens=12, seed=0):
    "Transcripts of two stages whose openings have different lengths, so that the shorter ones were padded on the left."
    texts = ['Return the sum of xs.', 'Return n.', 'If a is above b return a, else the square of b, or nothing at all.']
    pieces = [[policy.tokenizer(t)['input_ids'] for t in (text, '\n### Pseudocode\n')] for text in texts]
    with policy.player('generator'):
        t = sample(policy, pieces, n, max_new_tokens, temperature=temperature,
                   generator=torch.Generator().manual_seed(seed))
    return t, torch.arange(len(pieces)).repeat_interleave(n)


def learner(policy, value_learning_rate=1e-3, **settings):
    config = PPOConfig(**dict(learning_rate=1e-2, critic_warmup=0, kl_coef=0.) | settings)
    return Learner(policy, 'generator', config, value_learning_rate)


def learner_at_rest(policy, **settings):
    "A learner whose steps move nothing, so that its gradients can be read."
    return learner(policy, value_learning_rate=0., learning_rate=0., **settings)


def gradients(policy):
    return torch.cat([p.grad.flatten() for p in policy.parameters('generator').values() if p.grad is not None])


def test_sampling_and_training_agree_on_log_probabilities(policy):
    "Left padding, cached decoding and temperature against one full right-padded forward."
    t, _ = ragged(policy)
    assert len({int(m.sum()) for m in t.mask}) > 2
    with policy.player('generator'), torch.no_grad():
        logp = policy.score('generator', t.ids, t.action, temperature=.7)[0]
    torch.testing.assert_close(logp, t.logp[t.action], atol=1e-4, rtol=0)


SIZES = dict(hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2)
FAMILIES = [('Gemma2', dict(final_logit_softcapping=.5, attn_logit_softcapping=.5, head_dim=8, sliding_window=16)),
            ('Granite', dict(logits_scaling=.1)), ('Cohere', dict(logit_scale=4.))]


@pytest.mark.parametrize('family, changed', FAMILIES, ids=[name for name, _ in FAMILIES])
def test_models_that_change_their_logits(family, changed, tokenizer, tmp_path):
    "Sampling uses the model's own logits; training has to compute the same ones."
    end = dict(vocab_size=len(tokenizer), eos_token_id=tokenizer.eos_token_id, pad_token_id=tokenizer.pad_token_id)
    torch.manual_seed(0)
    config = getattr(transformers, f'{family}Config')(**SIZES, **end, **changed)
    getattr(transformers, f'{family}ForCausalLM')(config).save_pretrained(tmp_path)
    tokenizer.save_pretrained(tmp_path)
    policy = Policy(*load_model(str(tmp_path)), PLAYERS, rank=4)
    t, group = ragged(policy)
    with policy.player('generator'), torch.no_grad():
        logp = policy.score('generator', t.ids, t.action, temperature=.7)[0]
    torch.testing.assert_close(logp, t.logp[t.action], atol=1e-4, rtol=0)
    assert abs(learner(policy).update(t, torch.rand(len(t)), group, temperature=.7)['ratio_gap']) < 1e-4
    assert policy.model.config._attn_implementation == ('eager' if family == 'Gemma2' else 'sdpa')


@pytest.mark.parametrize('change', ['permute', 'pad', 'micro_batch'])
def test_layout_of_the_batch_does_not_matter(policy, change):
    t, group = ragged(policy)
    reward = torch.rand(len(t), generator=torch.Generator().manual_seed(3))
    learner_at_rest(policy).update(t, reward, group, temperature=.7)
    expected = gradients(policy).clone()
    kw = {}
    if change == 'permute':
        order = torch.randperm(len(t), generator=torch.Generator().manual_seed(4))
        t, reward, group = t.select(order), reward[order], group[order]
    if change == 'pad':
        t = replace(t, **{name: torch.nn.functional.pad(getattr(t, name), (0, 9)) for name in TOKENS})
    if change == 'micro_batch': kw = dict(micro_batch=5)
    learner_at_rest(policy, **kw).update(t, reward, group, temperature=.7)
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
        with policy.player('generator'), torch.no_grad():
            return policy.score('generator', ids, action)[0].exp().item()
    # One of 600 tokens is seldom drawn, so every other row is given it.
    rng, before = torch.Generator().manual_seed(0), chance()
    who = learner(policy, missing_eos_penalty=0., logp_tolerance=0.)
    for _ in range(30):
        with policy.player('generator'): t = sample(policy, piece, 32, 1, generator=rng)
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


def test_critic_warms_up_before_the_policy_moves(policy):
    t, group = ragged(policy)
    before = {n: p.clone() for n, p in policy.parameters('generator').items()}
    learner(policy, critic_warmup=1).update(t, torch.rand(len(t)), group, temperature=.7)
    moved = {n for n, p in policy.parameters('generator').items() if not torch.equal(p, before[n])}
    assert moved == {'value_head.weight', 'value_head.bias'}


def test_cut_off_costs_the_penalty(policy):
    "Two rows that differ only in the cut: only the penalty distinguishes them."
    t, _ = ragged(policy, n=2)
    t = t.select([0, 1])
    t.truncated[:] = False
    t.truncated[0, 1] = True
    for stage, dead in ((1, 0), (0, 1)):
        update = learner(policy).update(t, torch.ones(2), torch.zeros(2, dtype=torch.long), stage=stage, temperature=.7)
        assert update['dead_groups'] == dead


def test_the_other_stages_are_held_where_they_were(policy, monkeypatch):
    "Many steps on one stage: with the anchor, the other stage's tokens keep their log-probabilities much better."
    monkeypatch.setattr(ppo, 'ANCHOR_COEF', 10.)
    def drift(anchored):
        before = {n: p.clone() for n, p in policy.parameters('generator').items()}
        t, group = ragged(policy)
        other = t.action & (t.stage == 1)
        def logp():
            with policy.player('generator'), torch.no_grad():
                return policy.score('generator', t.ids, other, temperature=.7)[0]
        who, start = learner(policy, logp_tolerance=0.), logp()
        if anchored: who.begin_stage()
        reward = (t.ids * (t.stage == 0)).sum(1) % 2
        for _ in range(10): who.update(t, reward, group, stage=0, temperature=.7)
        moved = (logp() - start).abs().mean().item()
        with torch.no_grad():
            for n, p in policy.parameters('generator').items(): p.copy_(before[n])
        return moved
    assert drift(True) < 0.5 * drift(False)


def weights(policy, name='generator'):
    return torch.cat([p.detach().flatten() for p in policy.parameters(name).values()])


def rewards(t): return torch.rand(len(t), generator=torch.Generator().manual_seed(3))


def test_default_update_is_what_it_was(policy):
    "Figures recorded with the first version of this update, but for the size of the critic's step."
    t, group = ragged(policy)
    who = learner(policy, kl_coef=.01)
    who.begin_stage()
    metrics = who.update(t, rewards(t), group, stage=0, temperature=.7)
    recorded = dict(kl=.0029449747, entropy=6.4802680, grad_norm=.1478382349, value_loss=.0231035594)
    assert {k: metrics[k] for k in recorded} == pytest.approx(recorded, rel=1e-4)
    totals = [weights(policy).sum().item(), weights(policy).norm().item()]
    assert totals == pytest.approx([-1.688125, 6.361117], rel=1e-4)


def test_reference_moves_and_stays_where_it_was_put(policy):
    "Distance is 0 right after the reference moved and grows until it moves again, also for a learner that resumes."
    def make(): return learner(policy, kl_coef=.01, reference_steps=2, group_baseline=False)
    who, divergence = make(), []
    for seed in range(5):
        if seed == 3:
            state, who = copy.deepcopy(who.state_dict()), make()
            who.load_state_dict(state)
        t, group = ragged(policy, n=8, seed=seed)
        divergence.append(who.update(t, rewards(t), group, temperature=.7)['kl'])
    # Moved in the second and the fourth update, before their steps were taken
    assert 0 < divergence[0] and 0 < divergence[2] < divergence[3] and divergence[4] < divergence[3]


def test_step_sizes_fall_with_the_run(policy):
    who = learner(policy, value_learning_rate=.1, learning_rate=.01, learning_rate_decay=.75)
    rates = []
    for done in (0, .5, 1):
        who.progress(done)
        rates += [group['lr'] for group in who.optimizer.adamw.param_groups]
    assert rates == pytest.approx([.01, .1, .00625, .0625, .0025, .025])


def test_out_of_memory_halves_the_micro_batch_and_changes_nothing(policy, monkeypatch, capsys):
    "Memory runs out in a forward or a backward: same weights as with a micro-batch that fits."
    monkeypatch.setattr(ppo, 'TARGET_KL', float('inf'))
    t, group = ragged(policy)
    before, score = {n: p.clone() for n, p in policy.parameters('generator').items()}, policy.score
    def no_memory(*_): raise RuntimeError('CUDA out of memory')
    def update(fails=None, **settings):
        def tight(name, ids, *rest, **kw):
            if fails == 'always': raise RuntimeError('DefaultCPUAllocator: not enough memory: allocate memory')
            if len(ids) > 6 and fails == 'forward': no_memory()
            logp, *others = score(name, ids, *rest, **kw)
            if fails == 'backward' and len(ids) > 6 and logp.requires_grad: logp.register_hook(no_memory)
            return logp, *others
        monkeypatch.setattr(policy, 'score', tight)
        with torch.no_grad():
            for n, p in policy.parameters('generator').items(): p.copy_(before[n])
        torch.manual_seed(7)
        who = learner(policy, kl_coef=.01, logp_tolerance=0., **settings)
        for _ in range(2): who.update(t, rewards(t), group, temperature=.7)
        states = who.optimizer.adamw.state_dict()['state'].values()
        moments = torch.cat([x.flatten() for s in states for x in (s['exp_avg'], s['exp_avg_sq'])])
        return weights(policy), moments, who.scorer.micro_batch
    (whole, moments, _), (six, six_moments, _) = update(), update(micro_batch=6)
    torch.testing.assert_close(six, whole, atol=1e-4, rtol=1e-3)
    for fails in ('forward', 'backward'):
        now, now_moments, micro_batch = update(fails)
        assert micro_batch == 6
        assert fails == 'backward' or torch.equal(now, six) and torch.equal(now_moments, six_moments)
        torch.testing.assert_close(now, whole, atol=1e-4, rtol=1e-3)
        torch.testing.assert_close(now_moments, moments, atol=1e-5, rtol=1e-3)
        assert capsys.readouterr().err == 'out of memory: the generator continues with --micro-batch 6\n'
    with pytest.raises(RuntimeError, match='allocate memory'): update('always')
    assert 'continues with --micro-batch 1\n' in capsys.readouterr().err


def test_canary_sees_a_wrong_adapter_a_wrong_temperature_and_stale_samples(policy):
    t, group = ragged(policy)
    assert learner(policy, learning_rate=0.).update(t, rewards(t), group, temperature=.7)['logp_gap_max'] < 1e-4
    with pytest.raises(UsageError, match='temperature or top-p'):
        learner(policy).update(t, rewards(t), group, temperature=2.)
    other = Learner(policy, 'discriminator', PPOConfig(critic_warmup=0))
    before = weights(policy, 'discriminator')
    with pytest.raises(UsageError, match="the discriminator's samples are not its own"):
        other.update(t, rewards(t), group, temperature=.7)
    assert torch.equal(weights(policy, 'discriminator'), before)
    who = learner(policy)
    with pytest.raises(UsageError, match='stale'):
        for _ in range(10): who.update(t, rewards(t), group, temperature=.7)


def test_float16_base_learns_in_float32_with_scaled_losses(policy, qwen, tokenizer):
    "Rewards of a thousandth make small gradients: unscaled, most of them are lost in a float16 base."
    half, full = Policy(qwen().half(), tokenizer, PLAYERS, rank=4), policy
    with torch.no_grad():
        for n, p in half.parameters('generator').items(): p.copy_(full.parameters('generator')[n])
    assert {p.dtype for name in PLAYERS for p in half.parameters(name).values()} == {torch.float32}
    t, group = ragged(full)
    def gradient(policy, scale):
        who = learner_at_rest(policy, missing_eos_penalty=0., whiten_advantages=False)
        assert who.optimizer.scale.value == (4096 if policy is half else 1)
        who.optimizer.scale = _LossScale(True, scale)
        metrics = who.update(t, 1e-3 * rewards(t), group, temperature=.7)
        assert metrics['loss_scale'] == scale and metrics['finite_steps'] == 1
        return torch.cat([p.grad.flatten() for n, p in policy.adapter('generator').items() if 'lora_B' in n])
    true = gradient(full, 1.)
    def error(scale): return ((gradient(half, scale) - true).norm() / true.norm()).item()
    assert error(1.) > .3 and error(4096.) < .01


def planted(model, where='model.layers.1.input_layernorm.weight'):
    "The model with one weight that is not a number."
    with torch.no_grad(): dict(model.named_parameters())[where][0] = float('nan')
    return model


@pytest.mark.parametrize('dtype', [torch.float16, torch.bfloat16, torch.float32])
def test_a_weight_that_is_not_a_number_ends_sampling_and_training_with_one_line(policy, qwen, tokenizer, dtype):
    "Without a check a token is sampled from nothing, and the canary blames the adapter; with tolerance 0 it goes on."
    sick = Policy(planted(qwen().to(dtype)), tokenizer, PLAYERS, rank=4)
    advice = r'overflow: the log-probabilities of sampling are not finite in float\d\d; '
    if dtype == torch.float16: advice += 'use --dtype bfloat16'
    with pytest.raises(UsageError, match=advice.replace('float', 'b?float')): ragged(sick)
    t, group = ragged(policy)
    before = weights(sick)
    with pytest.raises(UsageError, match='overflow: the log-probabilities of training are not finite'):
        learner(sick, logp_tolerance=0.).update(t, rewards(t), group, temperature=.7)
    assert torch.equal(weights(sick), before)


def test_an_overflow_is_left_out_and_halves_the_scale(policy, monkeypatch):
    "A faked overflow: no weight, no moment moves; the next step goes on; the state comes back."
    t, group = ragged(policy)
    who, score, before = learner(policy, logp_tolerance=0.), policy.score, weights(policy)
    who.optimizer.scale = _LossScale(True, 8., patience=2)
    def overflow(*a, **kw):
        logp, *rest = score(*a, **kw)
        if logp.requires_grad: logp.register_hook(lambda g: g * float('inf'))
        return logp, *rest
    monkeypatch.setattr(policy, 'score', overflow)
    assert who.update(t, rewards(t), group, temperature=.7)['finite_steps'] == 0
    assert torch.equal(weights(policy), before) and not who.optimizer.adamw.state_dict()['state']
    assert who.optimizer.scale.value == 4
    monkeypatch.setattr(policy, 'score', score)
    assert who.update(t, rewards(t), group, temperature=.7)['finite_steps'] == 1
    assert not torch.equal(weights(policy), before)
    in_float32, other = learner(policy), learner(policy)
    in_float32.load_state_dict(who.state_dict())
    assert in_float32.optimizer.scale.value == 1
    other.optimizer.scale = _LossScale(True)
    other.load_state_dict(in_float32.state_dict())   # Made in another number type
    assert other.optimizer.scale.value == 4096
    other.load_state_dict(who.state_dict())
    assert (other.optimizer.scale.value, other.optimizer.scale.good) == (4, 1)


@pytest.mark.parametrize('seed', range(20))
def test_each_token_sees_its_own_text_and_no_other(seed):
    "Texts of two different tokens, so that many begin alike and some are there twice."
    rng = torch.Generator().manual_seed(seed)
    ids, length = torch.randint(1, 3, (9, 7), generator=rng), torch.randint(1, 8, (9,), generator=rng)
    trees = grow(ids, torch.arange(7) < length[:, None], 64)
    assert sorted(trees.order.tolist()) == list(range(9))
    for i, n in enumerate(length.tolist()):
        for t, node in enumerate(trees.node[i, :n].tolist()):
            tree, place = divmod(node, trees.ids.shape[1])
            seen = trees.mask(torch.float32)[tree, 0, place] == 0
            assert trees.ids[tree][seen].tolist() == ids[i, :t + 1].tolist()


def answers(policy):
    "Two long prompts, ten short answers to each."
    words = policy.tokenizer('return the sum of all values that are larger than the first and smaller than the last ')
    pieces = [[words['input_ids'] * 3 + policy.tokenizer(end)['input_ids']] for end in ('.', ', squared.')]
    with policy.player('generator'):
        t = sample(policy, pieces, 10, 4, temperature=.7, generator=torch.Generator().manual_seed(0))
    return t, torch.arange(2).repeat_interleave(10)


@pytest.mark.parametrize('settings', [{}, dict(micro_batch=3), dict(minibatches=2), dict(gradient_checkpointing=True)],
                         ids=str)
def test_an_update_reads_less_and_learns_the_same(policy, monkeypatch, settings):
    t, group = answers(policy)
    reward, hidden, read = torch.rand(20, generator=torch.Generator().manual_seed(3)), policy.hidden, []
    monkeypatch.setattr(policy, 'hidden', lambda ids, **more: read.append(ids.numel()) or hidden(ids, **more))
    def update():
        read.clear()
        torch.manual_seed(0)
        metrics = learner_at_rest(policy, **settings).update(t, reward, group, temperature=.7)
        return gradients(policy).clone(), metrics, sum(read)
    slope, metrics, as_trees = update()
    monkeypatch.setattr(policy, 'trees', lambda *given, **more: None)
    wanted, plain, as_rows = update()
    torch.testing.assert_close(slope, wanted, atol=1e-5, rtol=1e-4)
    assert wanted.abs().max() > 1e-3 and as_trees < .5 * as_rows
    assert {k: v for k, v in plain.items() if v == v} == pytest.approx({k: metrics[k] for k in plain
                                                                       if plain[k] == plain[k]}, abs=1e-4, rel=1e-3)
