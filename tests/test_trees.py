"Texts read as trees: what each token sees, and that an update learns the same from trees as from rows."
import random

import pytest
import test_ppo
import torch

from adversarial_rl.learn import ppo
from adversarial_rl.learn.scoring import grow
from adversarial_rl.model.rollout import sample

policy = test_ppo.policy


def texts(rng):
    "Rows of few different tokens, so that many begin alike; some are there twice, some have nothing that is scored."
    prompts = [[1] + [rng.randint(1, 2) for _ in range(rng.randint(0, 4))] for _ in range(rng.randint(1, 3))]
    rows, used = [], []
    for _ in range(rng.randint(2, 9)):
        prompt, answer = rng.choice(prompts), [rng.randint(1, 3) for _ in range(rng.randint(0, 5))]
        rows.append(prompt + answer)
        used.append([False] * len(prompt) + [i == len(answer) - 1 or rng.random() < .7 for i in range(len(answer))])
    T = max(map(len, rows)) + 1
    ids, action = torch.zeros(len(rows), T, dtype=torch.long), torch.zeros(len(rows), T, dtype=torch.bool)
    for i, (row, at) in enumerate(zip(rows, used)):
        ids[i, :len(row)], action[i, :len(row)] = torch.tensor(row), torch.tensor(at)
    return ids, action


def sees(trees, node):
    "The tokens that a node attends to, in the order of the tree."
    tree, place = divmod(node, trees.ids.shape[1])
    line = trees.mask(torch.float32)[tree, 0, place]
    assert set(line.tolist()) <= {0., -torch.inf}
    return trees.ids[tree][line == 0].tolist()


@pytest.mark.parametrize('seed', range(20))
def test_each_token_sees_its_own_text_and_no_other(seed):
    ids, action = texts(random.Random(seed))
    trees = grow(ids, action, 64)
    length = [int(row.nonzero().max()) + 1 if row.any() else 1 for row in action]
    for i, n in enumerate(length):
        for t, node in enumerate(trees.node[i, :n].tolist()):
            assert sees(trees, node) == ids[i, :t + 1].tolist()
            assert trees.depth.flatten()[node] == t and (not t or trees.parent[node] == trees.node[i, t - 1])
    nodes = {node for i, n in enumerate(length) for node in trees.node[i, :n].tolist()}
    beginnings = {tuple(row[:t + 1]) for row, n in zip(ids.tolist(), length) for t in range(n)}
    assert len(beginnings) <= len(nodes) <= sum(length) and sorted(trees.order.tolist()) == list(range(len(ids)))


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
        metrics = test_ppo.learner_at_rest(policy, **settings).update(t, reward, group, temperature=.7)
        return test_ppo.gradients(policy).clone(), metrics, sum(read)
    slope, metrics, as_trees = update()
    monkeypatch.setattr(policy, 'trees', lambda *given, **more: None)
    wanted, plain, as_rows = update()
    torch.testing.assert_close(slope, wanted, atol=1e-5, rtol=1e-4)
    assert wanted.abs().max() > 1e-3 and as_trees < .5 * as_rows
    assert {k: v for k, v in plain.items() if v == v} == pytest.approx({k: metrics[k] for k in plain
                                                                       if plain[k] == plain[k]}, abs=1e-4, rel=1e-3)


def test_rounding_is_measured_as_updates_read(policy, monkeypatch):
    t, group = answers(policy)
    policy.model.to(torch.bfloat16)
    who, score, read = test_ppo.learner(policy), policy.score, []
    monkeypatch.setattr(policy, 'score', lambda *given, trees=None, **more: read.append(trees) or
                        score(*given, trees=trees, **more))
    batch, _ = ppo.make_batch(t, torch.rand(20), group, who.config, temperature=.7)
    with policy.player('generator'): assert 0 < who.scorer.measure_rounding(batch) < .1
    assert read[0] is not None
