"Games that nobody judges: groups of the players' own programs take the place of a reference."
import json

import pytest

from adversarial_rl.core.settings import PPOConfig, TrainingConfig
from adversarial_rl.lab.__main__ import main
from adversarial_rl.lab.choosers import Sampled
from adversarial_rl.lab.judges import CONDITIONS
from adversarial_rl.lab.unlabelled import judged_by_groups, labels_right, UnlabelledTrainer
from adversarial_rl.problems.problem import Problem

SQUARE = Problem('square', 'Return n squared.', 'def f(n: int):', tuple(f'assert f({n}) == {n * n}' for n in range(4)),
                 'def f(n): return n * n')
RIGHT, ALSO, DOUBLE, BROKEN, HANGS = ('def f(n): return n * n', 'def f(n): return n ** 2', 'def f(n): return 2 * n',
                                      'x =', 'def f(n):\n    while True: pass')
TELLS, TELLS_NOT = 'assert f(3) == 9', 'assert f(3) == 6'


@pytest.mark.parametrize('codes, tests, gate, winner', [
    ([DOUBLE, RIGHT, ALSO], [TELLS, TELLS_NOT], False, RIGHT),         # Two against one
    ([DOUBLE, RIGHT, ALSO], [TELLS_NOT], False, DOUBLE),               # Only one passes a test, and it is wrong
    ([DOUBLE, RIGHT, ALSO], [TELLS_NOT], True, ''),                    # One of three is not half
    ([DOUBLE, RIGHT], [TELLS], True, RIGHT),                           # One of two is
    ([BROKEN, BROKEN, HANGS, RIGHT], [TELLS], False, RIGHT),           # Failing alike is no agreement
    ([BROKEN, HANGS], [TELLS], False, ''), ([RIGHT], [], False, '')])
def test_the_best_group_judges(codes, tests, gate, winner):
    judged, = judged_by_groups([Sampled(SQUARE, tuple(codes), ())], [[tests]], gate)
    assert judged.reference_solution == winner and judged.baseline_tests == SQUARE.baseline_tests


def test_labels_are_right_as_far_as_they_pass_the_problems_tests():
    def label(code): return Problem(SQUARE.id, '', SQUARE.function_signature, (), code)
    full = {SQUARE.id: SQUARE}
    assert labels_right([label(RIGHT)], full) == 1 and labels_right([label(BROKEN)], full) == 0
    assert labels_right([label(DOUBLE), label(ALSO)], full) == .75     # 0 and 2 are right of four


def test_nobody_learns_from_a_problem_without_a_winner():
    config = TrainingConfig(generator_model='starter', discriminator_model='starter', device='cpu', held_out=4,
                            problems_per_step=4, group_size=3, opponents=2, max_new_tokens=48, stages_together=True,
                            together_steps=0, discriminator_writes='asserts_filled', graded_on='discriminator')
    trainer = UnlabelledTrainer(config, PPOConfig())
    trainer.draw_problems = lambda: [Problem(**{**vars(p), 'reference_solution': ''}) for p in trainer.training[:4]]
    rows = [trainer.train_step() for _ in range(config.n_discriminator_steps + 1)]
    assert {row['learner'] for row in rows} == {'discriminator', 'generator'}
    for row in rows: assert row['validity'] == 0 and row['reward/discriminator'] == 0
    assert all(row[f"{row['learner']}/dead_groups"] == 1 for row in rows)


@pytest.mark.slow
def test_the_comparison_of_judges(tmp_path):
    kept, document = tmp_path/'kept.jsonl', tmp_path/'RESULTS.md'
    document.write_text('<!-- judges: x -->\n<!-- end of judges -->\n')
    small = ['compare_judges', '--seconds', '1', '--problems', '8', '--kept', str(kept), '--seeds', '0']
    assert main([*small, '--output-dir', str(tmp_path/'a'), '--results', str(document)]) == 0
    table = document.read_text()
    assert all(condition.label in table for condition in CONDITIONS.values())
    assert (tmp_path/'nbs'/'images'/'judges.png').stat().st_size > 1000
    rows = {row['condition']: row['results'] for row in map(json.loads, kept.read_text().splitlines())}
    right = {name: row['labels_right'] for name, row in rows.items()}
    assert right['groups_told'] == right['gated_told'] == 1 > right['groups']
    assert rows['gated']['labelled'] < rows['groups']['labelled']
    assert main([*small, '--finished-only', '--output-dir', str(tmp_path/'b')]) == 0
    assert not (tmp_path/'b'/'groups'/'0'/'log.txt').exists()
