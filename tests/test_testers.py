"Testers: mutants, inputs that no model wrote, hostile and broken references, the measures, the command line."
import ast
import json
import random

import pytest
from small import tiny
from structure import ROOT
from test_mbpp import splits

from adversarial_rl.core import commands
from adversarial_rl.core.files import resource
from adversarial_rl.core.settings import TrainingConfig
from adversarial_rl.core.source import is_literal, parse_source
from adversarial_rl.grader.execution import Limits
from adversarial_rl.grader.grading import grade_many
from adversarial_rl.grader.pool import Job, Sandbox
from adversarial_rl.grader.test_cases import calls
from adversarial_rl.mbpp import evaluate_tester as command
from adversarial_rl.mbpp.evaluate_tester import main
from adversarial_rl.mbpp.training import problems_of
from adversarial_rl.measure import testers
from adversarial_rl.measure.inputs import (
    baseline_suites,
    boundary_values,
    draw,
    edges,
    fill_expected,
    first_inputs,
    random_inputs,
)
from adversarial_rl.measure.kinds import in_domain, kind
from adversarial_rl.measure.mutants import mutants, OPERATORS
from adversarial_rl.measure.testers import evaluate_tester, make_cases, spearman
from adversarial_rl.problems.problem import fingerprint, load_problems, Problem

# Every operator finds something to change in this source
SOURCE = '''import math
def helper(a: int, b: str = "x") -> int:
    "Says nothing."
    return math.floor(a / 2)
def f(xs: list[int], n: int):
    total, seen = 0, []
    for i in range(len(xs), 0, -1):
        if not xs[i - 1] or n < 3 and total >= n:
            continue
        total += xs[i - 1] * 2
        seen.append(pow(xs[i - 1], 2))
    seen = sorted(seen[n:-n]) if n > 1 else seen
    while total > 100: total = total - n
    return max(total, 0) + len([s for s in seen if s in xs or s == True])'''
BRIEF = Limits(wall_seconds=6, cpu_seconds=1)


@pytest.fixture
def brief(monkeypatch):
    "Little time for each program, and few inputs on which one may hang."
    monkeypatch.setattr(testers, 'LIMITS', BRIEF)
    monkeypatch.setattr(testers, '_POOL', 4)


def problem(reference, *tests, signature='def f(n):', name='p'):
    return Problem(name, 'Any.', signature, tests, reference)


@pytest.mark.parametrize('operator', OPERATORS)
def test_every_operator_makes_different_programs_that_parse(operator):
    made = [text for name, text in mutants(SOURCE, 10**6) if name == operator]
    assert made and len(set(made)) == len(made)
    for text in made: assert ast.unparse(ast.parse(text)) == text != ast.unparse(ast.parse(SOURCE))


def test_a_seed_repeats_its_mutants_and_operators_take_turns():
    assert mutants(SOURCE, 12, 3) == mutants(SOURCE, 12, 3) != mutants(SOURCE, 12, 4)
    assert len({name for name, _ in mutants(SOURCE, len(OPERATORS))}) == len(OPERATORS)
    assert mutants(SOURCE, 0) == []
    assert mutants(ast.unparse(ast.parse(SOURCE)), 10**6) == mutants(SOURCE, 10**6)


@pytest.mark.parametrize('source', ['', 'def f(', 'x\0', '-' * 10_000 + '1', 'x = 1\n' * 10_000, '"only a docstring"'])
def test_text_that_is_not_a_program_has_no_mutants(source):
    assert mutants(source) == []


ANNOTATIONS = ['int', 'float', 'bool', 'str', 'None', 'list', 'list[str]', 'tuple[int, str]', 'tuple[int, ...]',
               'dict[str, list[int]]', 'set[int]', 'int | None', 'Optional[str]', 'typing.List[int]',
               'Union[int, list[int]]', 'list[tuple[int, str]]', 'Any', 'Callable[[int], int]', 'frozenset[str]']


@pytest.mark.parametrize('annotation', ANNOTATIONS)
def test_inputs_for_every_annotation(annotation):
    argument = kind(ast.parse(annotation, mode='eval').body)
    values = [*edges(argument), *[draw(argument, random.Random(s)) for s in range(20)]]
    assert values
    for v in values: assert eval(repr(v), {}) == v


def test_baselines_are_valid_distinct_and_repeat():
    ps = load_problems(resource('data/example_problems.json'))[::4]
    for make in (random_inputs, boundary_values):
        suites = baseline_suites(make, ps, 4, seed=1)
        assert suites == baseline_suites(make, ps, 4, seed=1)
        assert sum(map(len, suites)) > 3 * len(ps)
        for p, tests in zip(ps, suites): assert first_inputs(tests, p.function_name, 9) == tests
        assert all(o.passed for o in grade_many([Job(p.reference_solution, tuple(t)) for p, t in zip(ps, suites)]))
    assert baseline_suites(random_inputs, ps, 4, seed=1) != baseline_suites(random_inputs, ps, 4, seed=2)


def test_impossible_and_refused_inputs_give_no_tests():
    impossible = problem('def f(n): return 1', 'assert f(1) == 1', signature='def f(n: set[list[int]]):')
    refused = problem('def f(n): raise ValueError', 'assert f(1) == 1')
    unwritable = problem('def f(n): return object()', 'assert f(1) == 1')
    for make in (random_inputs, boundary_values):
        assert baseline_suites(make, [impossible, refused, unwritable], 4) == [[]] * 3


def test_a_mutant_that_never_ends_is_killed(brief):
    p = problem('def f(n):\n    while n > 0: n -= 1\n    return n', 'assert f(3) == 0', 'assert f(0) == 0')
    case, = make_cases([p], [['def f(n):\n    while True: pass']], 1000)
    assert any('n += 1' in m.source for m in case.wrong) and case.programs[0].score == 0
    figures = evaluate_tester([case], [['assert f(3) == 0']])
    assert figures.mutation_score.mean > .5 and figures.validity_of_distinct.mean == 1


def test_a_reference_that_never_ends_is_asked_all_inputs_once(monkeypatch):
    "Five times with the whole time, then each input that is left with a fifth of it."
    asked, run = [], Sandbox.map
    def counted(self, jobs, *args):
        asked.extend(jobs := list(jobs))
        return run(self, jobs, *args)
    monkeypatch.setattr(Sandbox, 'map', counted)
    endless = problem('def f(n):\n    while n: pass\n    return 5', 'assert f(1) == 1')
    tests = [f'assert f({n}) == 0' for n in range(9)]
    assert fill_expected([endless], [tests], BRIEF) == [['assert f(0) == 5']]
    assert [job.limits.wall_seconds for job in asked] == [6] * 5 + [1.2] * (len(asked) - 5) and len(asked) <= 9


def test_a_hostile_reference_is_stopped_and_left_out(brief):
    endless = problem('def f(n):\n    while True: pass', 'assert f(1) == 1', name='endless')
    leaves = problem('import os\ndef f(n): os._exit(0)', 'assert f(1) == 1', name='leaves')
    floods = problem('def f(n):\n    while True: print(n)', 'assert f(1) == 1', name='floods')
    assert make_cases([endless, leaves, floods], [['def f(n): return 1']] * 3, 4) == []


@pytest.mark.parametrize('reference', ['def f(n) return n', 'def f(n): return n + 1', 'raise ValueError', ''])
def test_a_broken_reference_is_left_out(reference):
    fine = problem('def f(n): return n', 'assert f(1) == 1', name='fine')
    cases = make_cases([problem(reference, 'assert f(1) == 1'), fine], [['def f(n): return n']] * 2, 8)
    assert [c.problem.id for c in cases] == ['fine'] and cases[0].wrong


def test_a_random_reference_makes_no_mutant_wrong_by_chance():
    source = 'import random\ndef f(n): return random.random() * 2 if n else 5'
    p = problem(source, 'assert f(0) == 5', 'assert f(1) == 2')
    case, = make_cases([p], [[]], 1000)
    assert case.golden == ('assert f(0) == 5',) and {m.operator for m in case.left_out} >= {'arithmetic', 'part'}
    assert all('else 5' in m.source for m in case.left_out)
    assert not any('if n else 5' in m.source for m in case.wrong)


def test_measures_by_hand():
    golden = ['assert f(1) == 2', 'assert f(2) == 4', 'assert f(3) == 6', 'assert f(0) == 0']
    p = problem('def f(n): return n * 2', *golden)
    bodies = ['n * 2', 'n + 2', '7', 'n + 2']
    case, = make_cases([p], [[f'def f(n): return {body}' for body in bodies]], 0)
    assert [x.score for x in case.programs] == [1, .25, 0, .25] and case.wrong == []
    blind, sharp = (evaluate_tester([case], [[t]]) for t in ('assert f(2) == 4', 'assert f(3) == 6'))
    assert blind.best_of_n_gain.mean == round(1/3 - 1/4, 4)
    assert sharp.best_of_n_gain.mean == sharp.most_gain.mean == .75
    assert blind.fidelity.mean == round(spearman([1, 1, 0, 1], [1, .25, 0, .25]), 4)
    wrong = evaluate_tester([case], [['assert f(2) == 5', 'assert f(3) == 6']])
    assert (wrong.validity_of_distinct.mean, wrong.usable.mean) == (.5, 1)
    assert wrong.best_of_n_gain == sharp.best_of_n_gain
    assert 'fidelity' in command.markdown(command.TesterComparison(dict(sharp=sharp), 1, 0, 0, 0))


SMALL = ['--held-out', '3', '--device', 'cpu']


def test_the_command_writes_figures_and_the_table(tmp_path, capfd):
    document = tmp_path/'RESULTS.md'
    document.write_text('Before.\n<!-- testers: made -->\nof last week\n<!-- end of testers -->\nAfter.\n')
    assert main([*SMALL, '--output-dir', str(tmp_path/'new'), '--results', str(document)]) == 0
    out, text = capfd.readouterr().out, document.read_text()
    report = json.loads((tmp_path/'new'/'tester_starter.json').read_text())
    assert report['problems'] == 3 and report['settings']['held_out'] == 3 and '| random inputs |' in out
    assert '| boundary values |' in text and 'last week' not in text and text.endswith('After.\n')


def test_the_command_takes_a_checkpoint(tmp_path, capfd, monkeypatch):
    "A checkpoint written before the first step has the starter's figures and gives the results file its name."
    path = tiny(tmp_path).save()
    monkeypatch.chdir(tmp_path)
    assert main([*SMALL, '--checkpoint', str(path)]) == 0 and main(SMALL) == 0
    files = [tmp_path/'eval_results'/f'tester_{name}.json' for name in (f'ck_{path.stem}', 'starter')]
    trained, plain = (json.loads(f.read_text()) for f in files)
    assert trained['testers'] == plain['testers']
    assert trained['checkpoint_sha256'] and not plain['checkpoint_sha256']
    path.write_bytes(path.read_bytes()[:1000])
    assert main([*SMALL, '--checkpoint', str(path)]) == 2
    assert 'is damaged or cut short' in capfd.readouterr().err


@pytest.mark.parametrize('flags, message', [
    (['--checkpoint', 'absent.pt'], 'no such checkpoint'),
    (['--model', 'no/such/model'], 'no/such/model'),
    (['--results', 'absent.md'], 'absent.md')])
def test_mistakes(flags, message, tmp_path, capfd):
    code, err = main([*SMALL, '--output-dir', str(tmp_path), *flags]), capfd.readouterr().err
    errors = [line for line in err.splitlines() if line.startswith('error: ')]
    assert code == 2 and len(errors) == 1 and message in errors[0] and 'Traceback' not in err, err
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize('content, message', [(b'no marks', 'end of testers'), (b'\xff\xfe', 'is not UTF-8')])
def test_a_document_without_a_place_for_the_table(content, message, tmp_path, capfd):
    (tmp_path/'r.md').write_bytes(content)
    assert main([*SMALL, '--output-dir', str(tmp_path), '--results', str(tmp_path/'r.md')]) == 2
    assert message in capfd.readouterr().err and (tmp_path/'r.md').read_bytes() == content


def test_mbpp_is_a_problems_file(tmp_path, monkeypatch, capsys):
    "Its validation split, of which a run trained on MBPP saw nothing."
    (tmp_path/'mbpp.jsonl').write_text('\n'.join(map(json.dumps, splits(2))))
    monkeypatch.setenv('MBPP_DATASET_PATH', str(tmp_path))
    assert main(['--problems-file', 'mbpp', *SMALL, '--output-dir', str(tmp_path)]) == 0
    held_out = problems_of(TrainingConfig(problems_file='mbpp'))[1]
    assert [p.id for p in held_out] == ['mbpp/511', 'mbpp/512']
    assert json.loads((tmp_path/'tester_starter.json').read_text())['problems_fingerprint'] == fingerprint(held_out)


def test_the_limits_are_those_of_the_checkpoint(tmp_path):
    path = tiny(tmp_path, stages=('plan', 'code'), max_new_tokens=dict(plan=9, code=30, tests=20)).save()
    c, = commands.evaluate_tester.read(['--checkpoint', str(path), '--device', 'cpu'])
    assert command._players_of(c)[0].limits == [9, 30]


def in_domain_of(signature, tests, *calls):
    p = Problem('f', 'Something.', signature, tuple(f'assert {x} == 0' for x in tests), f'{signature} return 0')
    assert all(in_domain(p, x) for x in tests)
    return [in_domain(p, x) for x in calls]


def test_what_a_container_holds_follows_from_all_baseline_tests():
    "Where an annotation did not say it, only numbers were in the domain."
    nested = in_domain_of('def f(settings: dict):', ["f({'a': {'b': 1}})", "f({'x': 1})", 'f({})'],
                          "f({'a': 'b'})", 'f({1: 2})', "f({'a': 2, 'b': {'c': 3}})")
    assert nested == [False, False, True]
    assert in_domain_of('def f(xs: list):', ['f([])', "f(['a'])"], "f(['b', 'c'])", 'f([1])') == [True, False]
    mixed = in_domain_of('def f(xs):', ['f([1, 2.5])', 'f([])'], 'f([3.5, 1])', "f(['a'])", 'f((1, 2))')
    assert mixed == [True, False, False]
    assert in_domain_of('def f(xs):', ['f((1, 2, 3))', 'f((1, 2))'], 'f((4, 5, 6, 7))', 'f([1])') == [True, False]
    assert in_domain_of('def f(x: list, k=None):', ['f([1], 2)', 'f([1])'], 'f([2], 3)', "f([2], 'x')") == [True, False]


@pytest.mark.parametrize('annotation, own, out', [
    ('list = None', ['f(None)', 'f([1])'], ["f(['a'])", 'f(2)']), ('dict = None', ['f(None)'], ['f(2)']),
    ('Sequence', ['f((1, 2))'], ['f((1, "a"))', 'f("abc")']), ('tuple', ['f([1, 2])'], ['f(["a"])']),
    ('"str"', ['f("a")'], ['f(3)']), ('Literal["a", "b"]', ['f("a")'], ['f([1])', 'f(1)']),
    ('deque[int]', ['f([1])'], ['f("q")']), ('Mapping', ['f({"a": 1})'], ['f({1: [2]})', 'f([1])']),
    ('tuple', ['f(())', 'f((1, 2))'], ['f((1, "a"))', 'f([1])'])])
def test_what_baseline_tests_give_is_in_the_domain_whatever_the_annotation_says(annotation, own, out):
    assert in_domain_of(f'def f(xs: {annotation}):', own, *out) == [False] * len(out)


def test_all_baseline_calls_are_in_their_domain():
    for p in load_problems(ROOT/'data'/'example_problems.json'):
        for call in [x for test in p.baseline_tests for x in calls(parse_source(test), p.function_name)]:
            given = [*call.args, *[k.value for k in call.keywords]]
            if all(map(is_literal, given)): assert in_domain(p, ast.unparse(call))
