"""Each setting of rewards, memory and opponents changes what it should.

With all off, none of them leaves a trace; with all on, a resumed run equals one that never stopped.
"""
import pytest
import torch
from small import small, untimed

from adversarial_rl.core.errors import UsageError
from adversarial_rl.core.settings import TrainingConfig
from adversarial_rl.game.round import generator_rewards, grade_programs, Hook, ProblemRound, Round
from adversarial_rl.game.schedule import schedule
from adversarial_rl.game.trainer import AdversarialTrainer
from adversarial_rl.grader.suites import judge_suites
from adversarial_rl.problems.problem import Problem
from adversarial_rl.record.checkpoints import load_checkpoint

ALL = dict(discriminator_reward='cure', pool_size=2)


def config(folder, **changed):
    larger = dict(problems_per_step=8, group_size=4, opponents=3, max_new_tokens=48, n_discriminator_steps=2)
    return small(folder, **larger | changed)


def rows(folder, n=2, same_problems=False, **kw):
    trainer = AdversarialTrainer(*config(folder, **kw))
    if same_problems: trainer.training = trainer.training[:trainer.config.problems_per_step]
    return trainer, [trainer.train_step() for _ in range(n)]


def test_all_are_off_by_default(tmp_path):
    trainer, (row, _) = rows(tmp_path)
    assert not {'replayed_pass_rate', 'mutants_killed', 'opponent_of_step'} & set(row)
    assert trainer.state_dict()['pool'] == dict(generator=[], discriminator=[])


def test_rewards_differ_on_the_same_round(tmp_path):
    "The first round does not depend on the reward that is computed from it."
    kinds = ('default', 'code_a1', 'utrl', 'cure', 'learnability')
    shape = dict(max_tests=2, problems_per_step=24)
    first = {kind: rows(tmp_path, 1, discriminator_reward=kind, **shape)[1][0] for kind in kinds}
    assert len({r['validity'] for r in first.values()}) == len({r['reward/generator'] for r in first.values()}) == 1
    assert len({r['reward/discriminator'] for r in first.values()}) == len(kinds)


def test_earlier_opponents_come_back_and_leave_the_latest_as_it_was(tmp_path):
    "Adapters are kept at the start and at the end of each stage of three steps."
    trainer, seven = rows(tmp_path, 7, pool_size=2)
    met = [r['opponent_of_step'] for r in seven]
    assert met[0] == 0 and all(m in {0, 3, 6, i} for i, m in enumerate(met)) and set(met) & {0, 3} and met != [0] * 7
    pool = trainer.pair.pool
    assert [x['step'] for x in pool.kept['generator']] == [3, 6]
    pool.add(7, trainer.players)
    now = trainer.pair.discriminator.policy.adapter('discriminator')
    assert all(torch.equal(v, pool.kept['discriminator'][-1]['adapter'][k]) for k, v in now.items())


class Doubles(Hook):
    "Replays the first test of each problem, pays the discriminator double and counts the rounds."
    def __init__(self): self.rounds = 0

    def before_round(self, step, problems): return dict(replayed={p.id: p.baseline_tests[:1] for p in problems})

    def after_round(self, done, r, rewards):
        self.rounds += 1
        rewards['discriminator'] = 2 * rewards['discriminator']
        return dict(rounds=self.rounds)

    def state_dict(self): return dict(rounds=self.rounds)

    def load_state_dict(self, state): self.rounds = state['rounds']


def test_a_hook_changes_rounds_and_its_memory_is_in_the_checkpoint(tmp_path):
    _, (plain,) = rows(tmp_path, 1)
    trainer = AdversarialTrainer(*config(tmp_path))
    trainer.pair.hooks.append(Doubles())
    row = trainer.train_step()
    assert row['reward/discriminator'] == pytest.approx(2 * plain['reward/discriminator']) and row['rounds'] == 1
    assert 0 <= row['replayed_pass_rate'] <= 1
    again = AdversarialTrainer(*config(tmp_path))
    again.pair.hooks.append(Doubles())
    again.load_state_dict(load_checkpoint(trainer.save())[0])
    assert again.train_step()['rounds'] == 2


def test_with_all_on_going_on_equals_not_having_stopped(tmp_path):
    whole, expected = rows(tmp_path, 5, same_problems=True, **ALL)
    first, _ = rows(tmp_path, 3, same_problems=True, **ALL)
    path = first.save()
    torch.manual_seed(999)
    second, _ = rows(tmp_path, 0, same_problems=True, **ALL)
    second.load_state_dict(load_checkpoint(path)[0])
    assert untimed(expected[3:]) == untimed([second.train_step() for _ in range(2)])
    a, b = whole.state_dict(), second.state_dict()
    assert all(torch.equal(v, b['players'][p][k]) for p in a['players'] for k, v in a['players'][p].items())
    assert a['rng'] == b['rng']
    for name in a['pool']:
        for x, y in zip(a['pool'][name], b['pool'][name], strict=True):
            assert x['step'] == y['step'] and all(torch.equal(v, y['adapter'][k]) for k, v in x['adapter'].items())


def test_baseline_tests_alone_need_no_discriminator(tmp_path):
    alone = dict(opponents=0, graded_on='baseline', n_discriminator_steps=0, n_generator_steps=2)
    trainer, (row, _) = rows(tmp_path, 2, **alone)
    assert row['learner'] == 'generator' and row['validity'] == row['distinct'] == 0
    assert row['reward/generator'] == pytest.approx(row['baseline_pass_rate'])
    adapter = trainer.pair.discriminator.policy.adapter('discriminator')
    assert all(not v.any() for k, v in adapter.items() if 'lora_B' in k)


@pytest.mark.parametrize('more', [
    dict(graded_on='both', n_discriminator_steps=1), dict(graded_on='discriminator', n_discriminator_steps=0),
    dict(n_discriminator_steps=0, k_alternating_steps=1, graded_on='baseline')])
def test_a_player_without_an_opponent_is_refused(more):
    with pytest.raises(UsageError, match='leaves no opponent to learn against'):
        schedule(TrainingConfig(opponents=0, **more), 5)


def test_all_stages_learn_at_once(tmp_path):
    trainer, two = rows(tmp_path, 3, stages_together=True)
    assert {r['stage'] for r in two} == {'all'} and len(trainer.schedule) == 3 and two[2]['generator/length'] > 40
    assert load_checkpoint(trainer.save())[1]['stage_name'] == 'all'
    _, one = rows(tmp_path, 3)
    assert one[2]['generator/length'] < two[2]['generator/length'] / 2


def test_all_stages_learn_together_after_the_last(tmp_path):
    trainer, last = rows(tmp_path, 17, together_steps=1)
    assert len(trainer.schedule) == 17 and [r['stage'] for r in last[-3:]] == ['code', 'all', 'all']
    assert [r['learner'] for r in last[-2:]] == ['discriminator', 'generator']
    assert last[-1]['generator/length'] > 2 * last[-3]['generator/length']
    path = trainer.save()
    assert path.name == 'checkpoint_stage_6_epoch_2.pt' and load_checkpoint(path)[1]['stage_name'] == 'all'


PRINTS = 'def f(n):\n    if n > 100: print("x" * 20000)\n    return n'
KEEPS = ('from functools import lru_cache\n@lru_cache(None)\ndef kept(n): return bytearray(n)\n'
         'def f(n): return len(kept(n))')


@pytest.mark.parametrize('reference, first', [(PRINTS, 101), (KEEPS, 110_000_000)])
def test_tests_of_earlier_rounds_share_no_process(reference, first):
    "Each is valid in its round; together they printed too much, or filled the memory, and all of them failed."
    p = Problem('p', 'Something.', 'def f(n):', ('assert f(1) == 1', 'assert f(2) == 2'), reference)
    old = [f'assert f({n}) == {n}' for n in range(first, first + 5)]
    for test in old: assert judge_suites([p], [[[test]]])[0][0].usable == [test]
    x = ProblemRound(p, [f'{reference}\n# {n}' for n in range(4)], [], replayed=['assert f(3) == 3', *old])
    grade_programs([x])
    assert generator_rewards(Round([x], None, None)).tolist() == [1.] * 4, x.verdicts
