"Small honest programs with tests, and what plain Python says of them."
import ast
import contextlib
import copy
import io
import re
from collections import deque

from adversarial_rl.grader.grading import parts
from adversarial_rl.grader.judge import Script
from adversarial_rl.grader.pool import Job
from adversarial_rl.grader.test_cases import plan

from . import grammar
from .grammar import HEAD, LIBRARY, LITERALS


def literal(x):
    "Source of a plain value."
    def joined(items): return ', '.join(map(literal, items))
    if type(x) is float: return repr(x) if x - x == 0 else f'float({str(x)!r})'
    if isinstance(x, tuple): return f'({joined(x)},)' if x else '()'
    if type(x) is list: return f'[{joined(x)}]'
    if type(x).__name__ in ('dict', 'defaultdict'):
        return '{' + ', '.join(f'{literal(k)}: {literal(y)}' for k, y in x.items()) + '}'
    return repr(x)


class Writer:
    "Writes expressions by the rules of the grammar, with names of the given kinds."
    def __init__(self, rng, **names): self.rng, self.names = rng, names

    def expression(self, kind, depth):
        own = [name for name, its in self.names.items() if its == kind]
        if own and self.rng.randint(0, 2): return self.rng.choice(own)
        if depth <= 0: return f'({literal(LITERALS[kind](self.rng))})'
        rule = self.rng.choice(grammar.EXPRESSIONS[kind])
        return '(' + re.sub('<([a-z]+)>', lambda m: self.expression(m[1], depth - 1), rule) + ')'


def values(rng, kinds): return [literal(LITERALS[kind](rng)) for kind in kinds]


def run_in(space, source, expression=None):
    "Run source quietly, then the value of an expression, copied."
    with contextlib.redirect_stdout(io.StringIO()):
        exec(compile(source, 'program', 'exec', dont_inherit=True), space)
        return copy.deepcopy(eval(expression, space)) if expression else None


def ends_well(space, source):
    try: run_in(space, source)
    except (Exception, SystemExit): return False
    return True


def unordered(x):
    "Whether a value holds a set, whose order is not the same in each process."
    if isinstance(x, dict): x = [*x, *x.values()]
    return isinstance(x, (set, frozenset)) or isinstance(x, (list, tuple, deque)) and any(map(unordered, x))


def finished(rng, code, before, subject, assertion):
    "A test with the wanted value filled in, which is often the one that plain Python finds."
    try: right = run_in({'__name__': 'candidate'}, f'{code}\n{LIBRARY}{before}', subject)
    except Exception: right = None
    wrong = LITERALS[rng.choice(grammar.RESULTS)](rng)
    want = literal(right if rng.randint(0, 2) else wrong)
    try: ast.parse(want)
    except SyntaxError: want = literal(wrong)
    test = f'{before}\n{assertion.replace("<s>", subject).replace("<w>", want)}'.strip()
    return LIBRARY * bool(re.search('Fraction|Decimal|Counter|deque|datetime|Dict|defaultdict', test)) + test


class Function:
    "A program with a function under test, `f`."
    def __init__(self, rng):
        self.rng, self.kinds = rng, rng.choices(grammar.KINDS, k=rng.randint(1, 3))
        names = dict(zip('abc', self.kinds))
        writer = Writer(rng, **names)
        raises = f'    if {writer.expression("bool", 2)}: raise {rng.choice(grammar.RAISED)}\n' * (rng.random() < .3)
        edits = f'    a.append({writer.expression("int", 1)})\n' * (self.kinds[0] == 'ints' and rng.random() < .5)
        value = writer.expression(rng.choice(grammar.RESULTS), 3)
        self.code = f'{HEAD}def f({", ".join(names)}):\n{raises}{edits}    return {value}\n'

    def test(self):
        "A test in data or script form."
        before, subject, assertion = self.rng.choice([*grammar.DATA, *grammar.SCRIPTS])
        given = values(self.rng, self.kinds)
        at, error = self.rng.randint(0, len(given) - 1), self.rng.choice(grammar.ERRORS)
        named = 'abc'[len(given) - 1] + '=' if self.rng.randint(0, 4) == 0 else ''
        def arguments(x): return ', '.join([*x[:-1], named + x[-1]])
        def filled(text):
            for name in 'fg':
                text = text.replace(f'<{name}>', f'{name}({arguments(given)})')
            text = text.replace('<arg>', given[at]).replace('<args>', ', '.join(given)).replace('<e>', error)
            return re.sub('<args with (.*?)>', lambda m: arguments([*given[:at], m[1], *given[at + 1:]]), text)
        try: orderly = not unordered(run_in({'__name__': 'candidate'}, self.code, filled('<f>')))
        except Exception: orderly = True
        if not orderly: before, subject, assertion = grammar.DATA[0]   # Nothing that shows in which order a set is read
        return finished(self.rng, self.code, *map(filled, (before, subject, assertion)))


def program(rng):
    "A program and different tests of it."
    made = Function(rng)
    return made.code, list(dict.fromkeys(made.test() for _ in range(rng.randint(3, 8))))


def verdicts(code, tests):
    "What plain Python says of each test: those that are data meet one run in the grader's order, each script its own."
    found = {}
    for part in parts(Job(code, tuple(tests))):
        space = {'__name__': 'candidate'}
        runs = ends_well(space, code)
        whole = len(part.tests) == 1 and isinstance(plan(part.tests[0]), Script)   # An assert of a script ends it
        for test in part.tests:
            lines = [test] if whole else [ast.unparse(x) for x in ast.parse(test).body]
            found[test] = runs and all([ends_well(space, line) for line in lines])
    return [found[test] for test in tests]
