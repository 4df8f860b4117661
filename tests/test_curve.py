"Visible and hidden tests, inputs that a model wrote, hack rates, and the comparison of testers that can be stopped."
import os
import random
import signal
import subprocess
import sys
import time

import pytest
from small import small
from structure import ROOT

from adversarial_rl.core.errors import UsageError
from adversarial_rl.core.settings import WRITES
from adversarial_rl.game.round import generator_rewards, ProblemRound, Round, Verdicts
from adversarial_rl.game.trainer import AdversarialTrainer
from adversarial_rl.grader.suites import judge_inputs, parse_inputs, REASONS
from adversarial_rl.lab.__main__ import load_notebook, main
from adversarial_rl.lab.experiment import KeptRuns, runs_of
from adversarial_rl.measure.held_out import fresh_tests, grade_on_suites, Visible
from adversarial_rl.measure.kinds import in_domain
from adversarial_rl.problems.curriculum import starter_problems
from adversarial_rl.problems.problem import Problem

NOTEBOOK = 'nbs/13_lab/03_curve.ipynb'
COUNT = Problem('count', 'The numbers from 1 to n.', 'def f(n):', ('assert f(0) == []', 'assert f(2) == [1, 2]'),
                'def f(n): return list(range(1, n + 1))')


def settings(folder, **changed):
    return small(folder, **dict(problems_per_step=8, group_size=4, opponents=3, max_new_tokens=48) | changed)


def rows(folder, **kw):
    trainer = AdversarialTrainer(*settings(folder, **kw))
    return trainer, [trainer.train_step() for _ in range(2)]


# Inputs

def test_any_text_is_read():
    rng = random.Random(0)
    parts = [*'''()[]{}"'\\,1x:#f \n\0''', 'f(', '"""', '\ud800']
    for _ in range(3000):
        for x in parse_inputs(''.join(rng.choices(parts, k=rng.randint(1, 40))), 'f'):
            assert x.startswith('f(') and isinstance(in_domain(COUNT, x), bool)


def test_each_reason_is_named():
    reference = ('import random\ndef f(n):\n    if n == 7: raise ValueError\n    if n == 8: return random.random()\n'
                 '    if n == 9: return f\n    while n < 0: pass\n    return n')
    problem = Problem('p', 'Any.', 'def f(n):', ('assert f(0) == 0',), reference)
    wrote = [['f(1)', 'f("a")', 'f(1, 2)', 'f(7)', 'f(8)', 'f(9)', 'f(-1)'], ['f(1)', 'f(True)', 'f(2)']]
    first, second = judge_inputs([problem], [wrote], in_domain)[0]
    assert first.why == ['', 'domain', 'domain', 'no_value', 'unstable', 'no_value', 'no_value']
    assert second.why == ['repeated', 'domain', ''] and second.usable == ['assert f(2) == 2']
    assert set(first.why + second.why) == {'', *REASONS}
    assert sum(first.accepted) + sum(second.accepted) == 2 and sum(second.valid) == 2


@pytest.mark.parametrize('writes', WRITES)
def test_each_way_of_writing_trains(writes, tmp_path):
    trainer, (own, other) = rows(tmp_path, discriminator_writes=writes)
    assert (own['learner'], other['learner']) == ('discriminator', 'generator')
    reasons = {k: x for k, x in own.items() if k.startswith('invalid/')}
    assert bool(reasons) == (writes == 'inputs')
    if reasons: assert sum(reasons.values()) + own['accepted'] == pytest.approx(1) and own['validity'] > .6
    assert trainer.pair.tester.writes == writes and 0 < own['reward/discriminator'] < 1


def test_cure_needs_values(tmp_path):
    with pytest.raises(UsageError, match='cure pays for expected values'):
        AdversarialTrainer(*settings(tmp_path, discriminator_writes='inputs', discriminator_reward='cure'))


# Visible and hidden tests

def test_a_run_sees_only_its_tests(tmp_path):
    problems = {p.id: p for p in starter_problems('training')}
    for n, choice in ((1, 'first'), (3, 'random')):
        trainer, both = rows(tmp_path, visible_tests=n, visible_choice=choice, seed=5)
        for p in trainer.training[:200]:
            every = problems[p.id].baseline_tests
            assert len(p.baseline_tests) == n and set(p.baseline_tests) < set(every)
            assert set(trainer.pair.hidden[p.id]) == set(every) - set(p.baseline_tests)
        assert all(0 <= row['hack_rate'] <= 1 for row in both)
        assert all(len(p.baseline_tests) == 10 for p in trainer.held_out)
    again = AdversarialTrainer(*settings(tmp_path, visible_tests=3, visible_choice='random', seed=5))
    assert again.training == trainer.training
    assert 'hack_rate' not in rows(tmp_path)[1][0]


def test_hidden_tests_count_for_no_reward():
    seen, hidden = Verdicts((True,), {}, hidden=(False, False)), Verdicts((True,), {}, hidden=(True, True))
    r = Round([ProblemRound(COUNT, ['', ''], [], verdicts=[seen, hidden])], None, None)
    assert generator_rewards(r).tolist() == [1, 1] and [seen.hack, hidden.hack] == [True, False]
    caught = Verdicts((False,), {}, hidden=(False,)), Verdicts((True,), {'t': False}, hidden=(False,))
    assert not any(v.hack for v in caught)


def test_hacks_on_held_out_problems():
    programs = [COUNT.reference_solution, 'def f(n): return [1, 2][:n]', 'def f(n): return []', 'def f(n): return 7']
    def hacks(visible): return [grade_on_suites([COUNT], [x], [[]], visible)[0].hack for x in programs]
    assert hacks(Visible()) == [False, True, False, False] and hacks(Visible(1)) == [False, True, True, False]
    assert fresh_tests([COUNT])[0] and not set(fresh_tests([COUNT])[0]) & set(COUNT.baseline_tests)


# The comparison

def flags(folder, *more): return [NOTEBOOK, '--seconds', '1', '--problems', '8', '--output-dir', str(folder), *more]


def test_it_makes_the_missing_runs(tmp_path, capfd):
    two = ('--only', 'edge-baseline', 'edge-filled')
    assert main(flags(tmp_path, *two, '--finished-only')) == 2
    assert 'no run with these settings is finished' in capfd.readouterr().err
    assert main(flags(tmp_path, *two, '--seeds', '0')) == 0
    done = {p: p.stat().st_mtime_ns for p in tmp_path.glob('*/*/training_results.json')}
    assert len(done) == 2 and '| the edge test | before training | 1 | 0 |' in capfd.readouterr().out
    assert main(flags(tmp_path, '--seeds', '0', '1', '--finished-only')) == 0
    assert done == {p: p.stat().st_mtime_ns for p in tmp_path.glob('*/*/training_results.json')}


def test_no_kept_run_is_repeated(tmp_path, monkeypatch):
    "The digests of data/curve.jsonl are those of today's flags and configuration."
    monkeypatch.chdir(ROOT)
    curve = load_notebook(NOTEBOOK)
    experiment = curve.experiment_of(curve.CurveConfig())
    runs = runs_of(list(experiment.conditions), range(5), tmp_path)
    kept = KeptRuns(ROOT/'data'/'curve.jsonl')
    assert all(kept._key(experiment, run) in kept.rows for seeds in runs.values() for run in seeds)


def test_stopped_it_goes_on(tmp_path):
    "The run that was stopped is made again, finished ones are not."
    more = ('--only', 'two-baseline', '--seeds', '0', '1')
    command = [sys.executable, '-m', 'adversarial_rl.lab', *flags(tmp_path, *more)]
    core = min(os.sched_getaffinity(0))   # One run at a time
    pin = ['taskset', '-c', str(core)]
    p, end = subprocess.Popen([*pin, *command], cwd=ROOT, stderr=subprocess.DEVNULL), time.time() + 300
    first, second = (tmp_path/'two-baseline'/seed for seed in '01')
    def begun(): return (second/'log.txt').exists() and 'step 0' in (second/'log.txt').read_text()
    while not begun() and time.time() < end: time.sleep(.1)
    p.send_signal(signal.SIGINT)
    assert p.wait(60) == 130 and (first/'finished.json').exists() and not (second/'finished.json').exists()
    made = (first/'training_results.json').stat().st_mtime_ns
    assert subprocess.run([*pin, *command], cwd=ROOT, capture_output=True).returncode == 0
    assert (second/'finished.json').exists() and (first/'training_results.json').stat().st_mtime_ns == made
