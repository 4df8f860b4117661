"Games without a reference: a program of the best group takes its place."
import json
from pathlib import Path

import pytest
import torch

from adversarial_rl.core.settings import PPOConfig, TrainingConfig
from adversarial_rl.lab.__main__ import load_notebook, main
from adversarial_rl.problems.problem import Problem

NOTEBOOK = Path(__file__).parents[1]/'nbs'/'experiments'/'06_judges.ipynb'
judges = load_notebook(NOTEBOOK, 'one')
SMALL = dict(generator_model='starter', discriminator_model='starter', device='cpu', held_out=4, problems_per_step=8,
             group_size=4, opponents=2, max_tests=1, max_new_tokens=64, stages_together=True, together_steps=0,
             n_discriminator_steps=1, n_generator_steps=0, k_alternating_steps=1,
             discriminator_writes='asserts_filled', graded_on='discriminator')


def trained(blind, rule):
    "Metrics of three steps and the weights after them; blind without true references and tests."
    trainer = judges.UnlabelledTrainer(TrainingConfig(**SMALL), PPOConfig(learning_rate=1e-2), rule)
    if blind:   # The call alone is left of the tests: it says what the arguments are
        trainer.training = [Problem(**vars(p) | dict(reference_solution='raise SystemExit', baseline_tests=(
            p.baseline_tests[0].split(' == ')[0] + ' == "nothing"',))) for p in trainer.training]
    rows = [trainer.train_step() for _ in range(3)]
    shown = [{k: row[k] for k in ('reward/generator', 'reward/discriminator', 'validity', 'distinct')} for row in rows]
    return shown, {k: x.clone() for player in trainer.players.values()
                   for k, x in player.policy.adapter(player.name).items()}


@pytest.mark.parametrize('rule', judges.RULES)
def test_no_player_learns_from_a_true_reference_or_test(rule):
    (shown, weights), (blind, weights_blind) = trained(False, rule), trained(True, rule)
    assert shown == blind and any(row['reward/generator'] > 0 for row in shown)
    assert all(torch.equal(weights[k], weights_blind[k]) for k in weights)


def test_the_rival_is_told_by_the_reference():
    def steps(told):
        trainer = judges.UnlabelledTrainer(TrainingConfig(**SMALL), PPOConfig(), told=told)
        for _ in range(2): trainer.train_step()
        return judges.label_figures(trainer, {p.id: p for p in trainer.training})
    own, told = steps(False), steps(True)
    assert told['right_programs'] == told['right_values'] == 1
    assert 0 < own['right_programs'] < 1 and 0 < own['right_values'] < 1 and 0 < own['judged'] <= 1


def test_where_no_group_is_found_nothing_is_paid():
    trainer = judges.UnlabelledTrainer(TrainingConfig(**SMALL), PPOConfig())
    trainer.pair.discriminator.suites = lambda transcripts, problems: [[] for _ in problems]
    row = trainer.train_step()
    assert (trainer.drawn, trainer.judged) == (8, []) and row['reward/discriminator'] == 0 == row['validity']


@pytest.mark.slow
def test_the_comparison_of_judges(tmp_path):
    kept, document = tmp_path/'kept.jsonl', tmp_path/'RESULTS.md'
    document.write_text('<!-- judges: x -->\n<!-- end of judges -->\n')
    small = [str(NOTEBOOK), '--seconds', '1', '--problems', '8', '--kept', str(kept), '--seeds', '0']
    assert main([*small, '--output-dir', str(tmp_path/'a'), '--results', str(document)]) == 0
    table = document.read_text()
    assert all(condition.label in table for condition in judges.CONDITIONS.values())
    assert (tmp_path/'nbs'/'images'/'judges.png').stat().st_size > 1000
    rows = {row['condition']: row['results'] for row in map(json.loads, kept.read_text().splitlines())}
    assert rows['tests_told']['right_values'] == rows['gated_told']['right_values'] == 1 > rows['tests']['right_values']
    assert rows['gated']['judged'] < rows['tests']['judged']
    assert main([*small, '--finished-only', '--output-dir', str(tmp_path/'b')]) == 0
    assert not (tmp_path/'b'/'tests'/'0'/'log.txt').exists()
