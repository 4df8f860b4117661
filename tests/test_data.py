"Shipped problems and the curriculum, run for real."
import json
import random

import pytest

from adversarial_rl.core.errors import UsageError
from adversarial_rl.core.files import resource
from adversarial_rl.grader.grading import grade_many
from adversarial_rl.problems import curriculum as cur
from adversarial_rl.problems.problem import load_problems

DOUBLE = dict(id='double', description='Return twice n.', function_signature='def double(n):',
              baseline_tests=['assert double(3) == 6'], reference_solution='def double(n):\n    return 2 * n',
              difficulty='easy', tags=[])


def test_example_references_pass_their_own_tests():
    problems = load_problems(resource('data/example_problems.json'))
    assert len(problems) >= 60 and {p.difficulty for p in problems} == {'easy', 'medium', 'hard'}
    outcomes = grade_many([(p.reference_solution, list(p.baseline_tests)) for p in problems])
    assert not [p.id for p, o in zip(problems, outcomes) if not o.passed]


def test_training_refuses_a_problem_that_its_reference_does_not_solve(tmp_path):
    "Also one whose tests this grader cannot judge."
    code_execution = pytest.importorskip('adversarial_rl.grpo.code_execution')
    players = pytest.importorskip('adversarial_rl.model.players')
    path = tmp_path/'problems.json'
    for test, kind in ('assert double(3) == 7', 'assertion_failure'), ('import nil\nassert double(3)', 'unsupported'):
        path.write_text(json.dumps(dict(problems=[DOUBLE | dict(baseline_tests=[test])])))
        with pytest.raises(UsageError, match=f'fails the problem.s own tests .{kind}'):
            code_execution.prompt_rows(str(path))
        with pytest.raises(UsageError, match=kind):
            players.training_problems(players.TrainingConfig(problems_file=str(path)))


def test_example_tests_refuse_programs_that_do_nothing():
    problems = load_problems(resource('data/example_problems.json'))
    jobs = [(f'{p.function_signature}\n    return None', list(p.baseline_tests)) for p in problems]
    assert not [p.id for p, o in zip(problems, grade_many(jobs)) if o.passed]


def test_curriculum_is_large_distinct_and_split_by_composition():
    splits = {s: cur.curriculum(s) for s in cur.SPLITS}
    everything = [c.description for cs in splits.values() for c in cs]
    assert len(everything) == len(set(everything)) > 3000
    keys = [{c.key for c in cs} for cs in splits.values()]
    assert not (keys[0] & keys[1] or keys[0] & keys[2] or keys[1] & keys[2])


def test_curriculum_references_pass_their_own_tests():
    problems = random.Random(0).sample([p for s in cur.SPLITS for p in cur.starter_problems(s)], 300)
    outcomes = grade_many([(p.reference_solution, list(p.baseline_tests)) for p in problems])
    assert all(o.passed for o in outcomes)


@pytest.mark.parametrize('change, message', [
    (dict(id=None), "field 'id' must be a str"),
    (dict(id=''), "field 'id' is empty"),
    (dict(baseline_tests=[]), "'baseline_tests' is empty"),
    (dict(baseline_tests=['double(3) == 6']), 'has no assert statement'),
    (dict(baseline_tests=['assert double(3 == 6']), 'not valid Python'),
    (dict(baseline_tests=[6]), 'must hold strings only'),
    (dict(function_signature='double(n)'), "field 'function_signature'"),
    (dict(reference_solution='def triple(n): return 3'), "does not define 'double'"),
    (dict(difficulty='odd'), "field 'difficulty'"),
    (dict(extra=1), "'extra' is not known")])
def test_a_broken_problem_is_named(tmp_path, change, message):
    path = tmp_path/'mine.json'
    path.write_text(json.dumps({'problems': [DOUBLE, DOUBLE | dict(id='second') | change]}))
    with pytest.raises(UsageError) as e: load_problems(path)
    assert '\n' not in str(e.value)
    for part in (message, 'problem 2', str(path)): assert part in str(e.value)
