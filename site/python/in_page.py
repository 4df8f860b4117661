"""What Python does in the page: problems of the library's curriculum, tests in a text, one program on one test."""
import ast
import json

from adversarial_rl.grader.answers import parse_tests, program_in
from adversarial_rl.problems.curriculum import curriculum, SPLITS, to_problem

KNOWN = {c.description: c for split in SPLITS for c in curriculum(split)}   # Made at the start, without a time limit


def problem(description):
    "Reference and baseline tests of a problem of the curriculum; None for another text."
    if description not in KNOWN: return None
    p = to_problem(KNOWN[description])
    return dict(reference=p.reference_solution, tests=list(p.baseline_tests))


def _assertion(line):
    "The test `assert CALL == VALUE` of a line, or None."
    try: body = ast.parse(line.strip()).body
    except (SyntaxError, ValueError): return None
    return body[0] if len(body) == 1 and isinstance(body[0], ast.Assert) else None


def _calls(node, name):
    return any(isinstance(x, ast.Call) and getattr(x.func, 'id', '') == name for x in ast.walk(node))


def read(text, tests, name):
    "The program in a code stage, and the first assertion about it in each text of the discriminator ('' for none)."
    found = [next(iter(parse_tests(t, name)), '') for t in tests]
    return dict(program=program_in(text, name), tests=found)


def own_test(text, name, reference):
    "A reader's test: an assertion as it is, a call with the value that the reference returns."
    text = text.strip().rstrip(';')
    if not text: return dict(wrong='Write a call such as f([1, 2]), or an assertion.')
    if a := _assertion(text):
        if not _calls(a, name): return dict(wrong=f'The test does not call {name}.')
        return dict(test=ast.unparse(a))
    try: call = ast.parse(text, mode='eval').body
    except SyntaxError as e: return dict(wrong=f'This is not Python: {e.msg}.')
    if not _calls(call, name): return dict(wrong=f'The test does not call {name}.')
    if not reference: return dict(wrong='This problem has no reference, so state the value: assert ' + text + ' == ...')
    space = {}
    try:
        exec(reference, space)
        value = eval(compile(ast.Expression(call), 'test', 'eval'), space)
    except Exception as e: return dict(wrong=f'The reference cannot answer this: {type(e).__name__}: {e}')
    return dict(test=f'assert {ast.unparse(call)} == {value!r}')


def _shown(value):
    "A value as text of bearable length."
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + '...'


def run(program, test):
    "What one program does on one test: its state, and what it answered."
    space = {'__name__': 'program'}
    try: exec(compile(program, 'program', 'exec'), space)
    except BaseException as e: return dict(state='error', answer=f'{type(e).__name__}: {e}'[:90])
    a = ast.parse(test).body[0]
    left = a.test.left if isinstance(a.test, ast.Compare) else a.test
    try: answer = _shown(eval(compile(ast.Expression(left), 'test', 'eval'), dict(space)))
    except BaseException as e: return dict(state='error', answer=f'{type(e).__name__}: {e}'[:90])
    try: exec(compile(ast.Module([a], []), 'test', 'exec'), dict(space))
    except AssertionError: return dict(state='failed', answer=answer)
    except BaseException as e: return dict(state='error', answer=f'{type(e).__name__}: {e}'[:90])
    return dict(state='passed', answer=answer)


def answer(request):
    "One request of the page, as JSON: {'call': name of a function here, 'with': its arguments}."
    asked = json.loads(request)
    return json.dumps({f.__name__: f for f in (problem, read, own_test, run)}[asked['call']](*asked['with']))
