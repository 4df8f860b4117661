"Shipped problems, files of HumanEval and the curriculum, run for real."
import gzip
import json
import random

import pytest

from adversarial_rl.core.errors import UsageError
from adversarial_rl.core.files import resource
from adversarial_rl.grader.grading import grade_many
from adversarial_rl.grader.pool import Job
from adversarial_rl.grader.suites import solved_problems
from adversarial_rl.problems import curriculum as cur
from adversarial_rl.problems.problem import load_problems, split_problems

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
    for test, kind in ('assert double(3) == 7', 'assertion_failure'), ('assert double(3) is double(3)', 'unsupported'):
        path.write_text(json.dumps(dict(problems=[DOUBLE | dict(baseline_tests=[test])])))
        with pytest.raises(UsageError, match=f'fails the problem.s own tests .{kind}'):
            code_execution.prompt_rows(str(path))
        with pytest.raises(UsageError, match=kind):
            players.training_problems(players.TrainingConfig(problems_file=str(path)))


HUMANEVAL = dict(
    task_id='mine/0', entry_point='undo', canonical_solution='    return [x - 1 for x in xs]\n',
    prompt='from typing import List\n\ndef do(xs: List[int]):\n    return [x + 1 for x in xs]\n\n'
           'def undo(xs: List[int]) -> List[int]:\n'
           '    """Takes back what do does.\n    >>> undo([2])\n    [1]\n    """\n',
    test="METADATA = {'author': 'me'}\n\ndef check(candidate):\n    assert candidate([]) == [], 'Empty'\n"
         "    for n in range(3):\n        assert candidate(do([n])) == [n]\n    assert True, 'Always'\n")


@pytest.mark.parametrize('name', ['mine.jsonl', 'mine.jsonl.gz', 'mine.json'])
def test_a_file_of_humaneval_is_a_problems_file(tmp_path, name):
    "Its helpers stand in the words and in each test; programs pass, fail and are held out as usual."
    entries = [HUMANEVAL | dict(task_id=f'mine/{i}') for i in range(8)]
    text = json.dumps(entries) if name.endswith('json') else '\n'.join(map(json.dumps, entries)) + '\n'
    path = tmp_path/name
    path.write_bytes(gzip.compress(text.encode()) if name.endswith('gz') else text.encode())
    problems = solved_problems(path)
    p = problems[0]
    assert (p.id, p.function_signature, len(p.baseline_tests)) == ('mine/0', 'def undo(xs):', 2)
    assert 'return [x + 1 for x in xs]' in p.description and p.description.endswith('>>> undo([2])\n[1]')
    good, bad = 'def undo(xs): return [x - 1 for x in xs]', 'def undo(xs): return xs'
    assert [o.per_test for o in grade_many([Job.of(p, good), Job.of(p, bad)])] == [(True, True), (True, False)]
    assert [len(x) for x in split_problems(problems)] == [6, 2]


@pytest.mark.parametrize('change, message', [
    (dict(test=None), "problem 1 .'mine/0'.: field 'test' is missing or not a text"),
    (dict(canonical_solution='  oops ('), "field 'canonical_solution' is not valid Python"),
    (dict(entry_point='do'), "does not end with the function 'do'"),
    (dict(test='def check(candidate): pass'), "field 'baseline_tests' is empty")])
def test_a_broken_entry_of_humaneval_is_named(tmp_path, change, message):
    path = tmp_path/'mine.jsonl'
    path.write_text(json.dumps(HUMANEVAL | change))
    with pytest.raises(UsageError, match=message): load_problems(path)


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
