"A scripted chat model that writes like Qwen2.5-Coder-Instruct: right programs and tests, in many styles."
import ast
import textwrap

from adversarial_rl.grader.answers import parse_tests
from adversarial_rl.grader.grading import grade_many
from adversarial_rl.grader.pool import Job
from adversarial_rl.grader.suites import passes_reference
from adversarial_rl.mbpp.dataset import assertion, MBPPEvalConfig
from adversarial_rl.mbpp.evaluator import MBPPEvaluator

EXPLAINED = ('### Explanation:\n1. **Function Definition**: The function `{name}` takes the input.\n'
             '2. **Loop**: We go through the values; see `{name}(x)`.\n3. **Return**: Finally, the result is returned.')

IMPORTS = 'import math\nimport re'


def program(problem): return problem.reference_solution.strip()


def call(problem):
    "A call as in the first test, such as `f([1, 2])`."
    asked = (x for x in ast.walk(ast.parse(assertion(problem.baseline_tests[0])))
             if isinstance(x, ast.Call) and getattr(x.func, 'id', None) == problem.function_name)
    return ast.unparse(next(asked))


def block(text, language='python'): return f'```{language}\n{text}\n```'


def indented(text, by='   '): return textwrap.indent(text, by)


def naive(problem): return f'{problem.function_signature}\n    # Brute force\n    raise NotImplementedError'


def cut(text, share=.8): return text[:int(len(text) * share)]


# Style -> an answer of the code stage
PROGRAMS = {
    'one block': lambda p: block(program(p)),
    'block of another case': lambda p: block(program(p), 'Python3 title="solution.py"'),
    'prose before and after': lambda p: f"Here's a Python function for it:\n\n{block(program(p))}\n\n"
                                        f"{EXPLAINED.format(name=p.function_name)}",
    'usage in the block': lambda p: block(f'{program(p)}\n\n# Example usage\nresult = {call(p)}\n'
                                          f'print("Result:", result)  # Output: as above'),
    'tests in the block': lambda p: block(f'{program(p)}\n\n# Test cases\n' + '\n'.join(p.baseline_tests[:1])
                                          + '\nprint("All test cases passed!")'),
    'tests in a second block': lambda p: f'{block(program(p))}\n\nTo test it:\n\n{block(asserts(p)[0])}',
    'two versions': lambda p: f'First a naive version:\n\n{block(naive(p))}\n\nIt can be improved:\n\n'
                              f'{block(program(p))}\n\nThe second is faster.',
    'imports in a block of their own': lambda p: f'First the imports:\n\n{block(IMPORTS)}\n\nThen:\n\n'
                                                 f'{block(program(p))}',
    'numbered steps': lambda p: f'1. Define the function:\n\n{indented(block(program(p)))}\n\n2. Call it:\n\n'
                                f'{indented(block(f"print({call(p)})"))}',
    'main guard': lambda p: block(f'{program(p)}\n\nif __name__ == "__main__":\n    print({call(p)})'),
    'asks for input': lambda p: block(f'{program(p)}\n\nvalue = input("Enter a value: ")\n'
                                      f'print({p.function_name}(value))'),
    'no fence': lambda p: program(p),
    'no fence, prose around': lambda p: f'Here is the function:\n\n{program(p)}\n\nThis function returns the result.',
    'tildes': lambda p: f'~~~python\n{program(p)}\n~~~',
    'limit before the last fence': lambda p: f'```python\n{program(p)}',
    'limit in the usage': lambda p: f'```python\n{program(p)}\n\n# Example usage\nprint({call(p)[:-1]}',
    'limit in the docstring of a second version': lambda p: f'{block(program(p))}\n\nOr shorter:\n\n```python\n'
                                                            f'{p.function_signature}\n    """Return the',
    'limit in the function': lambda p: f'```python\n{cut(program(p))}',
}


def asserts(problem):
    "Its tests without what is set up before them."
    return [assertion(t).strip() for t in problem.baseline_tests]


def sides(test):
    "The two sides of an assertion of equality, such as ('f(1)', '2')."
    x = ast.parse(test).body[0].test
    return ast.unparse(x.left), ast.unparse(x.comparators[0])


def inputs(test):
    "The arguments of its call, as sources."
    return [ast.unparse(y) for y in ast.parse(sides(test)[0]).body[0].value.args]


def lines(problem, form):
    "A line, or several, for each test: `form(number, call, value, assertion)`."
    return '\n'.join(form(i, *sides(t), t) for i, t in enumerate(asserts(problem), 1))


def function_of(problem, form): return f'def test_{problem.function_name}():\n{indented(lines(problem, form), "    ")}'


def with_names(i, t):
    "A test whose values have names."
    given = inputs(t)
    names = [f'input_{i}_{k}' for k in range(len(given))]
    set_up = '\n'.join(f'{name} = {x}' for name, x in zip(names, given))
    return f'# Test case {i}\n{set_up}\nexpected_{i} = {sides(t)[1]}', f"({', '.join(names)})", f'expected_{i}'


def named_values(problem):
    rows = [(with_names(i, t)) for i, t in enumerate(asserts(problem), 1)]
    return '\n\n'.join(f'{before}\nassert {problem.function_name}{given} == {value}' for before, given, value in rows)


def table(problem, loop):
    rows = ',\n'.join(f"    (({', '.join(inputs(t))},), {sides(t)[1]})" for t in asserts(problem))
    return f'test_cases = [\n{rows},\n]\n{loop}'


def wide(i, call, value, test): return f'assert (\n    {call}\n    == {value}\n)'


# Style -> an answer of the test stage
SUITES = {
    'as asked': lambda p: block(lines(p, lambda i, call, value, t: f'# {call} counts each once\n{t}')),
    'no fence': lambda p: lines(p, lambda i, call, value, t: t),
    'prose around': lambda p: 'Here are the tests, which assert the edge cases:\n\n'
                              + block(lines(p, lambda i, call, value, t: t)) + '\n\nThey assert that it is right.',
    'numbered list': lambda p: lines(p, lambda i, call, value, t: f'{i}. `{t}` - a typical case'),
    'numbered headings and blocks': lambda p: lines(
        p, lambda i, call, value, t: f'{i}. **Case {i}**:\n{indented(block(t))}\n   It assures that it works.\n'),
    'messages with values': lambda p: block(
        lines(p, lambda i, call, value, t: f'{t}, f"Expected {value}, got {{{call}}}"')),
    'comments behind': lambda p: block(lines(p, lambda i, call, value, t: f"{t}  # because it's {i}")),
    'several lines': lambda p: block(lines(p, wide)),
    'the function again': lambda p: block(f'{program(p)}\n\n# Test cases\n' + lines(p, lambda i, c, v, t: t)),
    'imports': lambda p: block(f'import pytest\nfrom solution import {p.function_name}\n\n'
                               + function_of(p, lambda i, c, v, t: t)),
    'named values': lambda p: block(named_values(p)),
    'named results': lambda p: block(lines(
        p, lambda i, call, value, t: f'result = {call}\nassert result == {value}')),
    'unittest': lambda p: block('import unittest\n\nclass TestIt(unittest.TestCase):\n' + indented(lines(
        p, lambda i, call, value, t: f'def test_{i}(self):\n    self.assertEqual({call}, {value})\n'), '    ')
        + '\n\nif __name__ == "__main__":\n    unittest.main()'),
    'prints': lambda p: block(lines(p, lambda i, call, value, t: f'print({call})  # Output: {value}')),
    'doctests': lambda p: block(lines(p, lambda i, call, value, t: f'>>> {call}\n{value}')),
    'table': lambda p: block(table(p, f'for args, expected in test_cases:\n'
                                      f'    assert {p.function_name}(*args) == expected')),
    'parametrized': lambda p: block(
        'import pytest\n\n@pytest.mark.parametrize("args, expected", [\n'
        + ',\n'.join(f"    (({', '.join(inputs(t))},), {sides(t)[1]})" for t in asserts(p))
        + f'\n])\ndef test_it(args, expected):\n    assert {p.function_name}(*args) == expected'),
    'input and output in words': lambda p: lines(
        p, lambda i, call, value, t: f'{i}. **Input**: `{call}`\n   **Expected output**: `{value}`'),
    'limit in the last test': lambda p: f"```python\n{lines(p, lambda i, call, value, t: t)[:-4]}",
}

# Styles whose programs or tests are not found; the first holds no whole program
LOST = {'limit in the function', 'doctests', 'input and output in words'}


def simple(problem):
    "Whether all of its tests are assertions of equality, which each style can be made of."
    def equality(t):
        match ast.parse(t).body:
            case [ast.Assert(ast.Compare(ast.Call(ast.Name(name), [*_], []), [ast.Eq()], [_]))]:
                return name == problem.function_name
        return False
    return all(map(equality, asserts(problem)))


def solved(problems, programs):
    "Share of programs that pass the tests of their problem."
    outcomes = grade_many([Job.of(p, code, p.baseline_tests) for p, code in zip(problems, programs)])
    return sum(o.passed for o in outcomes) / len(outcomes)


def evaluated(problems, style):
    "Share of problems that the evaluation on MBPP calls solved."
    def answer(prompt):
        return style(next(p for p in problems if p.description in prompt and p.function_name in prompt))
    return MBPPEvaluator(MBPPEvalConfig(samples=0), problems).evaluate(answer, show=False).metrics['greedy'].mean


def valid_share(problems, style):
    "Share of the tests written that the discriminator's suite holds and the reference passes."
    suites = [parse_tests(style(p), p.function_name, 8) for p in problems]
    passed = passes_reference([(p, [tests]) for p, tests in zip(problems, suites)])
    return sum(bool(x) for row in passed for x in row.values()) / sum(len(set(asserts(p))) for p in problems)

