"What the page of open matters lists is still so: a row that no longer holds has to be taken from the page."
import pytest
from in_python import passes
from structure import ROOT

from adversarial_rl.grader.grading import grade

PAGE = (ROOT/'nbs'/'03_grader'/'18_open.ipynb').read_text()
KEEPS = 'class Keep:\n    def __init__(self, xs): self.xs = xs'
BOX = 'class Box:\n    def __init__(self, x): self.x = x\n    def __eq__(self, other): return self.x == other.x\n'
# What the page says -> programs and tests, the entry points if they are stated, whether plain Python passes them
WRONG = {
    'takes them from the program, which may have its own':
        ('def Counter(x): return {"a": 2}', 'assert Counter("aab") == {"a": 2}', None, True),
    'the program can replace what the script wrote':
        ('def f(path):\n    open(path, "w").write("7")\n    return "7"',
         'open("want", "w").write("3")\ngot = f("want")\nassert got == open("want").read()', 'f', True),
    'a name that a test binds only in one branch':
        ('def f(x): return x\ndef ok(): pass', 'try: f(-1)\nexcept ValueError: ok = True\nassert ok', None, True),
    'are true for any object':
        (BOX + 'def make(): return Box(1)', 'assert hasattr(make(), "__len__")', 'make', False),
    'has the value from before the statement':
        ('total = 0\ndef add(n):\n    global total\n    total = 9',
         'import candidate\ndef check():\n    candidate.add(3)\n    assert candidate.total == 0\ncheck()',
         ['add', 'total'], False),
    'is a copy in the program':
        ('kept = []\ndef keep(x): kept.append(x)\ndef last(): return kept[-1]',
         'xs = [1]\nkeep(xs)\nxs.append(2)\nassert last() == [1]', ['keep', 'last'], False),
    'or that only prints, passes for each answer':
        ('def f(x): return 0', 'try:\n    assert f(1) == 2\nexcept AssertionError: print("no")', 'f', True),
    'changes a copy: right programs may fail, and wrong ones pass':
        ('kept = []\ndef items(): return kept', 'a = items()\na.append(1)\nassert items() == []', 'items', False),
    'under another name':
        (KEEPS, 'xs = [1]\nys = xs\nb = Keep(xs)\nys.append(2)\nassert b.xs == [1]', 'Keep', False),
    'or by a function such as `random.shuffle`':
        (KEEPS, 'import random\nxs = [1, 2, 3, 4, 5, 6, 7]\nb = Keep(xs)\nrandom.Random(1).shuffle(xs)\n'
                'assert b.xs == [1, 2, 3, 4, 5, 6, 7]', 'Keep', False),
    '`isinstance(5, Odd)` and `err.__class__ is int` are answered as for usual classes':
        ('class Meta(type):\n    def __instancecheck__(cls, x): return True\n'
         'class Odd(Exception, metaclass=Meta): pass',
         'def test(): assert not isinstance(5, Odd)\ntest()\nassert Odd().args == ()', 'Odd', False),
    'by another name':
        ('class Node:\n    def __init__(self): self.children = []', 'root = Node()\nc = root.children\nc.append(1)\n'
         'assert root.children == []', 'Node', False),
}
STRICT = {
    'a function named like a builtin fails a test that calls another builtin first':
        ('def max(x): return sorted(x)[-1]', 'assert len([1]) == 1 and max([1, 2]) == 2', None),
    'between objects that functions return': (BOX + 'def make(): return Box(1)', 'assert make() == make()', 'make'),
    'parameters of a `lambda`':
        (BOX, 'same = lambda a, b: a == b\nassert same(*[Box(1), Box(1)])', 'Box'),
    'attributes that a test sets on objects that functions return':
        (BOX + 'def make(): return Box(1)', 'p = make()\np.x = 2\nassert p.x == 2', 'make'),
    'groups of exceptions':
        ('def f(): raise ExceptionGroup("several", [ValueError()])',
         'try: f()\nexcept ExceptionGroup as e: assert len(e.exceptions) == 1', 'f'),
    'an assert in a function that the program calls and whose error it catches':
        ('def f(g):\n    try: return g(1)\n    except Exception: return 0',
         'def g(x): assert x == 2\nassert f(g) == 0', 'f'),
    'a test\'s function whose signature the program inspects':
        ('import inspect\ndef f(g): return len(inspect.signature(g).parameters)', 'assert f(lambda a: a) == 1', 'f'),
    '`==` of exceptions whose class defines it':
        ('class Bad(Exception):\n    def __eq__(self, x): return self.args == x.args\ndef f(): return Bad(1)',
         'def test(): assert f() == f()\ntest()', 'f'),
    '`list(map(type, errors))`':
        ('def f(): return [ValueError()]', 'assert list(map(type, f())) == [ValueError]', 'f'),
    'methods and `__context__` of exceptions that the tests give to the program':
        ('def f(g):\n    try: g()\n    except Exception as e: return e.status()',
         'class Mine(Exception):\n    def status(self): return 3\ndef g(): raise Mine\nassert f(g) == 3', 'f'),
    '`StopIteration`':
        ('def f(): raise StopIteration', 'try: f()\nexcept StopIteration: pass\nelse: assert False', 'f'),
    '`json.dumps(g[0])`':
        ('class Grid:\n    def __init__(self, n): self.rows = [[0] * n for _ in range(n)]\n'
         '    def __getitem__(self, i): return self.rows[i]',
         'import json\ng = Grid(2)\ng[0][1] = 5\nassert json.dumps(g[0]) == "[0, 5]"', 'Grid'),
    '`sorted`, `min` or `max` of a set of tuples that hold None is refused':
        ('def f(x): return set(x)', 'assert sorted(f([(1, None), (2, None)])) == [(1, None), (2, None)]', 'f'),
}


@pytest.mark.parametrize('says', WRONG)
def test_what_passes_and_should_not(says, tmp_path, monkeypatch):
    "A program that plain Python fails, or passes for a reason that its author did not mean."
    monkeypatch.chdir(tmp_path)
    code, test, names, in_python = WRONG[says]
    assert says in PAGE and passes(code, test) is in_python
    outcome = grade(code, [test], function_name=names or [])
    assert outcome.passed, f'no longer open: {outcome}'


@pytest.mark.parametrize('says', STRICT)
def test_what_fails_and_should_not(says):
    "A right program, with a test that it passes in plain Python."
    code, test, names = STRICT[says]
    assert says in PAGE and passes(code, test)
    outcome = grade(code, [test], function_name=names or [])
    assert outcome.judged and not outcome.passed, f'no longer open: {outcome}'
