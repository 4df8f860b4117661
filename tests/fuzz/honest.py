"Small honest programs with tests, and what plain Python says of them."
import ast
import contextlib
import copy
import io
import re
from collections import deque
from textwrap import indent

from adversarial_rl.grader.grading import parts
from adversarial_rl.grader.judge import Script
from adversarial_rl.grader.pool import Job
from adversarial_rl.grader.test_cases import plans

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
    "Writes source by the rules of the grammar."
    def __init__(self, rng, **names): self.rng, self.names, self.count = rng, names, 0

    def pick(self, choices): return self.rng.choice(choices)

    def fill(self, rule, depth, own=''):
        "A rule with an expression in each place."
        new = []
        def place(m):
            if m[1] == 'v': return own
            if m[1] == 'block': return indent(self.block(depth - 1, new), '    ')
            if not m[1].startswith('new '): return self.expression(m[1], depth - 1)
            self.count += 1
            new.append((f'v{self.count}', m[1][4:]))
            return new[-1][0]
        text = re.sub('<((?:new )?[a-z]+)>', place, rule)
        if 'block' not in rule: self.names.update(new)
        return text

    def expression(self, kind, depth):
        own = [name for name, its in self.names.items() if its == kind]
        if own and self.rng.randint(0, 2): return self.pick(own).replace('seen', 'seen[:]')
        if depth <= 0: return f'({literal(LITERALS[kind](self.rng))})'
        return f'({self.fill(self.pick(grammar.EXPRESSIONS[kind]), depth)})'

    def statement(self, depth):
        if depth > 1 and self.rng.randint(0, 2) == 0: return self.fill(self.pick(grammar.BLOCKS), depth)
        own = [name for name, kind in self.names.items() if kind in grammar.EDITS]
        if own and self.rng.randrange(2):
            name = self.pick(own)
            return self.fill(self.pick(grammar.EDITS[self.names[name]]), depth, name)
        return self.fill(self.pick(grammar.LINES[:5] if self.rng.randint(0, 3) else grammar.LINES), depth)

    def block(self, depth, new=()):
        "Statements; names that they assign are not used after them."
        before = dict(self.names)
        self.names.update(new)
        text = '\n'.join(self.statement(depth) for _ in range(self.rng.randint(1, 2)))
        self.names = before
        return text

    def body(self, size, last):
        rows = [self.statement(3) for _ in range(self.rng.randint(0, size))]
        return indent('\n'.join([*rows, self.fill(last, 3)]), '    ')


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
        writer = Writer(rng, **names, **({'seen': 'ints'} if rng.randint(0, 3) == 0 else {}))
        self.yields = rng.randint(0, 4) == 0
        last = f'<{writer.pick(grammar.RESULTS)}>'
        last = f'yield {last}\nfor x in <ints>: yield x' if self.yields else 'return ' + last
        *first, final = names
        head = ', '.join([*first, final + rng.choice(['', '=' + values(rng, self.kinds[-1:])[0]])])
        cached = '@functools.lru_cache\n' if rng.randint(0, 9) == 0 else ''
        self.code = f'{HEAD}seen = [1, 2]\n{cached}def f({head}):\n{writer.body(4, last)}\n'

    def test(self):
        "A test in data or script form."
        before, subject, assertion = self.rng.choice([*grammar.DATA, *grammar.SCRIPTS])
        given = values(self.rng, self.kinds)
        at, error = self.rng.randint(0, len(given) - 1), self.rng.choice(grammar.ERRORS)
        named = 'abc'[len(given) - 1] + '=' if self.rng.randint(0, 4) == 0 else ''
        def arguments(x): return ', '.join([*x[:-1], named + x[-1]])
        def filled(text):
            for name in 'fg':
                call = f'{name}({arguments(given)})'
                text = text.replace(f'<{name}>', f'list({call})' if self.yields else call)
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
        whole = len(part.tests) == 1 and isinstance(plans(part.tests)[0], Script)   # An assert of a script ends it
        for test in part.tests:
            lines = [test] if whole else [ast.unparse(x) for x in ast.parse(test).body]
            found[test] = runs and all([ends_well(space, line) for line in lines])
    return [found[test] for test in tests]
