"Training on tests that a game kept, on random inputs, and on what programs agree on."
import json
from pathlib import Path

import pytest

from adversarial_rl.lab.__main__ import load_notebook, main
from adversarial_rl.problems.problem import Problem

NOTEBOOK = Path(__file__).parents[1]/'nbs'/'experiments'/'05_sources.ipynb'
SQUARE = Problem('square', 'Return n squared.', 'def f(n: int):', tuple(f'assert f({n}) == {n * n}' for n in range(3)),
                 'def f(n): return n * n')
RIGHT, DOUBLE, FAILS, HANGS = ('def f(n): return n * n', 'def f(n): return 2 * n', 'def f(n): 1 / 0',
                               'def f(n):\n    while True: pass')
sources = load_notebook(NOTEBOOK, 'one')


def labels(codes, suites=((),)):
    return sources.without_a_label([SQUARE], [sources.choice.Sampled(SQUARE, codes, ())], [list(map(list, suites))])


@pytest.mark.parametrize('codes, right', [
    ((RIGHT, RIGHT, DOUBLE), True), ((RIGHT, DOUBLE, DOUBLE), False), ((RIGHT, FAILS, FAILS, 'x ='), True),
    ((HANGS, HANGS, RIGHT), True)])
def test_the_majority_states_what_the_largest_group_returns(codes, right):
    made = labels(codes)
    assert len(made['majority_reference'][0]) > 1 and made['agreement'] == [[]]
    assert (made['majority'] == made['majority_reference']) is right


def test_nobody_agrees_where_all_fail():
    made = labels((FAILS, HANGS), [['assert f(2) == 4']])
    assert made['majority'] == made['majority_gated'] == made['agreement'] == [[]]


@pytest.mark.slow
def test_the_comparison_trains_on_every_source_and_makes_no_seed_twice(tmp_path):
    kept, document = tmp_path/'kept.jsonl', tmp_path/'RESULTS.md'
    document.write_text('<!-- sources: x -->\n<!-- end of sources -->\n')
    small = [str(NOTEBOOK), '--seconds', '.2', '--problems', '4', '--training', '20', '--kept', str(kept)]
    assert main([*small, '--seeds', '0', '--output-dir', str(tmp_path/'a'), '--results', str(document)]) == 0
    table = document.read_text()
    assert all(label in table for label in sources.LABELS.values())
    made = json.loads(kept.read_text())['results']['sources']
    assert all(row['right'] == 1 for name, row in made.items() if name not in sources.UNLABELLED)
    assert main([*small, '--seeds', '0', '--finished-only', '--output-dir', str(tmp_path/'b')]) == 0
    assert not (tmp_path/'b'/'all'/'0'/'log.txt').exists()
