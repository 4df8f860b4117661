"""Each setting of rewards, memory and opponents changes what it should.

With all off, none of them leaves a trace; with all on, a resumed run equals one that never stopped.
"""
import pytest
import torch

from adversarial_rl.core.commands import run_training as main
from adversarial_rl.core.settings import PPOConfig, TrainingConfig
from adversarial_rl.core.commands import run_training as main
from adversarial_rl.game.trainer import AdversarialTrainer, train
from adversarial_rl.grader.grading import grade_many
from adversarial_rl.problems.problem import load_problems
from adversarial_rl.record.checkpoints import load_checkpoint

ALL = dict(discriminator_reward='cure', repeat_penalty=.5, failed_tests=4, mutant_share=.5, pool_size=2)


def config(folder, **kw):
    small = dict(generator_model='starter', discriminator_model='starter', device='cpu', problems_per_step=8,
                 group_size=4, opponents=3, held_out=6, max_new_tokens=48, max_tests=1,
                 n_discriminator_steps=2, n_generator_steps=1, k_alternating_steps=0,
                 output_dir=str(folder/'out'), checkpoint_dir=str(folder/'ck'), sampling_threads=1)
    return TrainingConfig(**(small | kw)), PPOConfig(learning_rate=1e-3, critic_warmup=0)


def rows(folder, n=2, same_problems=False, **kw):
    trainer = AdversarialTrainer(*config(folder, **kw))
    if same_problems: trainer.training = trainer.training[:trainer.config.problems_per_step]
    return trainer, [trainer.train_step() for _ in range(n)]


def timeless(row):
    "A row of metrics without the figures that differ from run to run."
    return {k: v for k, v in row.items() if not k.startswith(('seconds', 'tokens_per_second'))}


def test_all_are_off_by_default(tmp_path):
    trainer, (row, _) = rows(tmp_path)
    extra = {'repeated', 'failed_tests_kept', 'replayed_pass_rate', 'mutants_killed', 'opponent_of_step'}
    assert not extra & set(row)
    state = trainer.state_dict()
    assert state['recent_inputs'] == [] and state['failed_tests'] == []
    assert state['pool'] == dict(generator=[], discriminator=[])


def test_rewards_differ_on_the_same_round(tmp_path):
    "The first round does not depend on the reward that is computed from it."
    kinds = ('default', 'code_a1', 'utrl', 'cure', 'learnability')
    shape = dict(max_tests=2, problems_per_step=24)
    first = {kind: rows(tmp_path, 1, discriminator_reward=kind, **shape)[1][0] for kind in kinds}
    assert len({r['validity'] for r in first.values()}) == len({r['reward/generator'] for r in first.values()}) == 1
    assert len({r['reward/discriminator'] for r in first.values()}) == len(kinds)


def test_failed_tests_come_back_and_are_written_out(tmp_path):
    trainer, two = rows(tmp_path, 2, same_problems=True, problems_per_step=24, failed_tests=1)
    assert 0 < two[0]['failed_tests_kept'] <= 24
    assert 'replayed_pass_rate' not in two[0] and 0 <= two[1]['replayed_pass_rate'] <= 1
    hard, before = trainer.pair.extras.failed_tests.hardened(trainer.training), {p.id: p for p in trainer.training}
    assert hard and all(len(p.baseline_tests) > len(before[p.id].baseline_tests) for p in hard)


def test_earlier_opponents_come_back_and_leave_the_latest_as_it_was(tmp_path):
    "Adapters are kept at the start and at the end of each stage of three steps."
    trainer, seven = rows(tmp_path, 7, pool_size=2)
    met = [r['opponent_of_step'] for r in seven]
    assert met[0] == 0 and all(m in {0, 3, 6, i} for i, m in enumerate(met)) and set(met) & {0, 3} and met != [0] * 7
    pool = trainer.pair.extras.pool
    assert [x['step'] for x in pool.kept['generator']] == [3, 6]
    trainer.pair.extras.after_stage(7)
    now = trainer.pair.discriminator.policy.adapter('discriminator')
    assert all(torch.equal(v, pool.kept['discriminator'][-1]['adapter'][k]) for k, v in now.items())


def test_with_all_on_going_on_equals_not_having_stopped(tmp_path):
    whole, expected = rows(tmp_path, 5, same_problems=True, **ALL)
    first, _ = rows(tmp_path, 3, same_problems=True, **ALL)
    path = first.save()
    torch.manual_seed(999)
    second, _ = rows(tmp_path, 0, same_problems=True, **ALL)
    second.load_state_dict(load_checkpoint(path)[0])
    assert [timeless(r) for r in expected[3:]] == [timeless(second.train_step()) for _ in range(2)]
    a, b = whole.state_dict(), second.state_dict()
    assert all(torch.equal(v, b['players'][p][k]) for p in a['players'] for k, v in a['players'][p].items())
    assert a['failed_tests'] and all(a[k] == b[k] for k in ('failed_tests', 'recent_inputs', 'rng'))
    for name in a['pool']:
        for x, y in zip(a['pool'][name], b['pool'][name], strict=True):
            assert x['step'] == y['step'] and all(torch.equal(v, y['adapter'][k]) for k, v in x['adapter'].items())


def test_a_run_leaves_hardened_problems_and_cross_play(tmp_path):
    c, ppo = config(tmp_path, **ALL | dict(n_discriminator_steps=1))
    train(c, ppo)
    from adversarial_rl.record.plots import cross_play_map
    assert cross_play_map(c.output_dir).read_bytes().startswith(b'\x89PNG')
    table = [line.split(',') for line in (tmp_path/'out'/'cross_play.csv').read_text().splitlines()]
    assert table[0] == ['generator of step', '8', '10'] and [row[0] for row in table[1:]] == ['8', '10']
    hard = load_problems(tmp_path/'out'/'hardened_problems.json')
    assert all(o.passed for o in grade_many([(p.reference_solution, p.baseline_tests) for p in hard]))


@pytest.mark.parametrize('more', [
    dict(graded_on='both', n_discriminator_steps=1), dict(graded_on='discriminator', n_discriminator_steps=0),
    dict(n_discriminator_steps=0, k_alternating_steps=1, graded_on='baseline')])
def test_a_player_without_an_opponent_is_refused(tmp_path, capsys, more):
    flags = ['--generator-model', 'starter', '--discriminator-model', 'starter', '--device', 'cpu', '--opponents', '0',
             '--output-dir', str(tmp_path/'o'), '--checkpoint-dir', str(tmp_path/'c')]
    assert main(flags + [x for k, v in more.items() for x in (f'--{k}', str(v))]) == 2
    assert 'leaves no opponent to learn against' in capsys.readouterr().err


def test_all_stages_learn_together_after_the_last(tmp_path):
    trainer, last = rows(tmp_path, 17, together_steps=1)
    assert len(trainer.schedule) == 17 and [r['stage'] for r in last[-3:]] == ['code', 'all', 'all']
    assert [r['learner'] for r in last[-2:]] == ['discriminator', 'generator']
    assert last[-1]['generator/length'] > 2 * last[-3]['generator/length']
    path = trainer.save()
    assert path.name == 'checkpoint_stage_6_epoch_2.pt' and load_checkpoint(path)[1]['stage_name'] == 'all'
