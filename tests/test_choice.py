"Choosing among programs without a reference, at test time."
import json

import pytest

from adversarial_rl.lab.__main__ import main
from adversarial_rl.lab.choice import GENERATORS, LABELS
from adversarial_rl.lab.choosers import agreement, chance_right, majority, rows_of, sampled, shares_right
from adversarial_rl.problems.problem import Problem

SQUARE = Problem('square', 'Return n squared.', 'def f(n):', tuple(f'assert f({n}) == {n * n}' for n in range(3)),
                 'def f(n): return n * n')
RIGHT, DOUBLE, HANGS = 'def f(n): return n * n', 'def f(n): return 2 * n', 'def f(n):\n    while True: pass'


@pytest.mark.parametrize('codes, right', [
    ([RIGHT, RIGHT, DOUBLE], 1.), ([RIGHT, DOUBLE, DOUBLE], 0.), ([RIGHT, DOUBLE], .5),
    ([RIGHT, 'def f(n): 1 / 0', 'def f(n): 1 / 0', 'x ='], 1.), ([RIGHT, HANGS, HANGS], 1.),
    (['def f(n): return object()'] * 2 + [RIGHT], 1.), (['def f(n): 1 / 0', HANGS], 0.)])
def test_the_majority_is_of_outputs(codes, right):
    found = sampled([SQUARE], [codes])
    assert shares_right(found, rows_of(found, [[]], [[]]))['majority'] == right


def test_agreement_counts_the_programs_that_pass_the_same_tests():
    rows = [(True, True, False), (True, True, False), (True, False, False), (False, False, True)]
    assert agreement(rows) == [4., 4., 1., 1.] and majority(rows) == [2., 2., 1., 1.]
    assert chance_right(agreement(rows), [True, False, True, True]) == .5


def test_tests_of_the_discriminators_choose():
    "The untrained one expects twice the number, the trained one its square."
    found = sampled([SQUARE], [[RIGHT, DOUBLE]])
    wrong, same = [['assert f(3) == 6'], ['assert f(1) == 2']], [['assert f(2) == 4'], []]
    good = [['assert f(3) == 9'], ['assert f(5) == 25']]
    shares = shares_right(found, rows_of(found, [wrong], [good]))
    assert (shares['one'], shares['untrained'], shares['trained'], shares['perfect']) == (.5, 0., 1., 1.)
    assert shares['trained_inputs'] == .5   # Each program agrees with itself alone
    assert shares_right(found, rows_of(found, [same], [[[], []]]))['untrained'] == .5


@pytest.mark.slow
def test_the_comparison_makes_only_the_seeds_that_are_missing(tmp_path, capfd):
    kept, document = tmp_path/'kept.jsonl', tmp_path/'RESULTS.md'
    document.write_text('<!-- choice: x -->\n<!-- end of choice -->\n')
    small = ['compare_choosers', '--seconds', '.3', '--problems', '4', '--kept', str(kept)]
    assert main([*small, '--seeds', '0', '--output-dir', str(tmp_path/'a')]) == 0
    assert main([*small, '--seeds', '0', '1', '--output-dir', str(tmp_path/'b'), '--results', str(document)]) == 0
    printed = capfd.readouterr().out
    assert not (tmp_path/'b'/'both'/'0'/'log.txt').exists() and (tmp_path/'b'/'both'/'1'/'log.txt').exists()
    rows = [json.loads(line) for line in kept.read_text().splitlines()]
    assert [row['seed'] for row in rows] == [0, 1]
    assert set(rows[0]['results']['shares']) == set(GENERATORS)
    assert all(label in document.read_text() and label in printed for label in LABELS.values())
    assert (tmp_path/'nbs'/'images'/'choice.png').stat().st_size > 1000
    assert main([*small, '--seconds', '.4', '--finished-only', '--output-dir', str(tmp_path/'c')]) == 2
    assert 'no run with these settings is finished' in capfd.readouterr().err
