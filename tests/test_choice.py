"Choosing among programs without a reference, at test time."
import json
from pathlib import Path

import pytest

from adversarial_rl.lab.__main__ import load_notebook, main
from adversarial_rl.problems.problem import Problem

NOTEBOOK = Path(__file__).parents[1]/'nbs'/'experiments'/'04_choice.ipynb'
SQUARE = Problem('square', 'Return n squared.', 'def f(n):', tuple(f'assert f({n}) == {n * n}' for n in range(3)),
                 'def f(n): return n * n')
RIGHT, DOUBLE, HANGS = 'def f(n): return n * n', 'def f(n): return 2 * n', 'def f(n):\n    while True: pass'
choice = load_notebook(NOTEBOOK, 'one')


@pytest.mark.parametrize('codes, right', [
    ([RIGHT, DOUBLE, DOUBLE], 0.), ([RIGHT, DOUBLE], .5), ([RIGHT, HANGS, HANGS], 1.),
    ([RIGHT, 'def f(n): 1 / 0', 'def f(n): 1 / 0', 'x ='], 1.), (['def f(n): 1 / 0', HANGS], 0.)])
def test_the_majority_is_of_outputs(codes, right):
    found = choice.sampled([SQUARE], [codes])
    assert choice.shares_right(found, choice.rows_of(found, [[]], [[]]))['majority'] == right


@pytest.mark.slow
def test_the_comparison_makes_only_the_seeds_that_are_missing(tmp_path):
    kept, document = tmp_path/'kept.jsonl', tmp_path/'RESULTS.md'
    document.write_text('<!-- choice: x -->\n<!-- end of choice -->\n')
    small = [str(NOTEBOOK), '--seconds', '.3', '--problems', '4', '--kept', str(kept)]
    assert main([*small, '--seeds', '0', '--output-dir', str(tmp_path/'a')]) == 0
    assert main([*small, '--seeds', '0', '1', '--output-dir', str(tmp_path/'b'), '--results', str(document)]) == 0
    assert not (tmp_path/'b'/'both'/'0'/'log.txt').exists() and (tmp_path/'b'/'both'/'1'/'log.txt').exists()
    assert [json.loads(line)['seed'] for line in kept.read_text().splitlines()] == [0, 1]
    assert all(label in document.read_text() for label in choice.LABELS.values())
    assert (tmp_path/'nbs'/'images'/'choice.png').stat().st_size > 1000
