"Training on tests that a game kept, on random inputs, and on what programs agree on."
import json

import pytest

from adversarial_rl.lab.__main__ import main
from adversarial_rl.lab.choosers import Sampled
from adversarial_rl.lab.made_tests import (
    by_agreement,
    by_majority,
    gated,
    most_failed,
    random_tests,
    UNLABELLED,
    without_a_label,
)
from adversarial_rl.lab.sources import LABELS
from adversarial_rl.problems.problem import Problem

SQUARE = Problem('square', 'Return n squared.', 'def f(n: int):', tuple(f'assert f({n}) == {n * n}' for n in range(3)),
                 'def f(n): return n * n')
RIGHT, DOUBLE, FAILS, HANGS = ('def f(n): return n * n', 'def f(n): return 2 * n', 'def f(n): 1 / 0',
                               'def f(n):\n    while True: pass')


@pytest.mark.parametrize('codes, right', [
    ([RIGHT, RIGHT, DOUBLE], True), ([RIGHT, DOUBLE, DOUBLE], False), ([RIGHT, FAILS, FAILS, 'x ='], True),
    ([HANGS, HANGS, RIGHT], True)])
def test_the_majority_states_what_the_largest_group_returns(codes, right):
    made = without_a_label([SQUARE], [Sampled(SQUARE, tuple(codes), ())], [[[]]])
    assert len(made['majority_reference'][0]) > 1 and made['agreement'] == [[]]
    assert (made['majority'] == made['majority_reference']) is right


def test_nobody_agrees_where_all_fail():
    made = without_a_label([SQUARE], [Sampled(SQUARE, (FAILS, HANGS), ())], [[['assert f(2) == 4']]])
    assert made['majority'] == made['majority_gated'] == made['agreement'] == [[]]


def test_the_gate_opens_at_half_of_the_programs():
    half, less = by_majority([('a',), ('a',), ('b',), ('',)]), by_majority([('a',), ('b',), ('c',)])
    assert [x.tests for x in gated([half, less])] == [['a'], []] and (half.share, less.share) == (.5, 1 / 3)


def test_a_wrong_test_is_left_out_where_most_programs_contradict_it():
    tests = ['assert f(3) == 6', 'assert f(3) == 9']
    assert by_agreement(tests, [(False, True), (False, True), (True, False)]).tests == tests[1:]


def test_the_tests_that_most_programs_fail_come_first():
    tests = ['assert f(0) == 0', 'assert f(2) == 4', 'assert f(3) == 9']
    assert most_failed([Sampled(SQUARE, (RIGHT, DOUBLE), ())], [tests]) == [[tests[2], *tests[:2]]]


def test_random_tests_have_no_input_twice_and_none_of_the_baseline_tests():
    tests, = random_tests([SQUARE], 0)
    assert len({*tests, *SQUARE.baseline_tests}) == len(tests) + 3 > 3


@pytest.mark.slow
def test_the_comparison_trains_on_every_source_and_makes_no_seed_twice(tmp_path, capfd):
    kept, document = tmp_path/'kept.jsonl', tmp_path/'RESULTS.md'
    document.write_text('<!-- sources: x -->\n<!-- end of sources -->\n')
    small = ['compare_sources', '--seconds', '.2', '--problems', '4', '--training', '20', '--kept', str(kept)]
    assert main([*small, '--seeds', '0', '--output-dir', str(tmp_path/'a'), '--results', str(document)]) == 0
    table = document.read_text()
    assert all(label in table for label in LABELS.values())
    assert (tmp_path/'nbs'/'images'/'sources.png').stat().st_size > 1000
    sources = json.loads(kept.read_text())['results']['sources']
    assert all(row['right'] == 1 for name, row in sources.items() if name not in UNLABELLED)
    assert main([*small, '--seeds', '0', '--finished-only', '--output-dir', str(tmp_path/'b')]) == 0
    assert not (tmp_path/'b'/'all'/'0'/'log.txt').exists()
    assert 'edge test and those that a game kept' in capfd.readouterr().out
