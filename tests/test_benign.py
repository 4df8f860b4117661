"Honest programs with tests of every form: all pass, or cannot be judged; none is punished."
import symtable

import pytest
from in_python import opens_files

from adversarial_rl.grader.grading import grade, grade_many

CASES = {
    'imports': ('def f(x): return x / 3',
                ['import math as m\nfrom fractions import Fraction\nassert m.isclose(f(1), Fraction(1, 3))']),
    'expected exception': ('def f(x):\n    if x < 0: raise ValueError("negative")\n    return x',
                           ['try: f(-1)\nexcept ValueError as e: assert str(e) == "negative"\nelse: assert False']),
    'class under test': ('class Stack:\n'
                         '    def __init__(self): self.items = []\n'
                         '    def push(self, x): self.items.append(x)\n'
                         '    def pop(self): return self.items.pop()\n'
                         '    def __len__(self): return len(self.items)',
                         ['s = Stack()\n'
                          's.push(1)\n'
                          's.push((2,))\n'
                          'assert len(s) == 2 and s.pop() == (2,) and s.items == [1]']),
    'context manager': ('import contextlib\n@contextlib.contextmanager\ndef f(x): yield x + 1',
                        ['with f(1) as y: assert y == 2']),
    'function argument': ('def f(g, xs): return [g(x) for x in xs]',
                          ['assert f(lambda x: x * 2, [1, 2]) == [2, 4]', 'assert f(str, [1]) == ["1"]',
                           'assert f(len, ["ab"]) == [2]']),
    'generator': ('def f(n):\n    for i in range(n): yield i * i',
                  ['assert list(f(4)) == [0, 1, 4, 9]', 'g = f(2)\nassert next(g) == 0 and next(g) == 1']),
    'argument changed in place': ('def f(x): x.sort(); x.append(9)',
                                  ['x = [3, 1]\nassert f(x) is None and x == [1, 3, 9]',
                                   'x = [3, 1]\ny = x\nf(x)\nassert x is y and y == [1, 3, 9]']),
    'counter, ordered, default, deque': ('import collections as c\n'
                                         'def f(x): return c.Counter(x), c.OrderedDict(a=1), c.defaultdict(int, b=2), '
                                         'c.deque([1])',
                                         ['assert f("aab") == ({"a": 2, "b": 1}, {"a": 1}, {"b": 2}, '
                                          '__import__("collections").deque([1]))']),
    'program without its main part': ('def f(): return 1\nif __name__ == "__main__": input()', ['assert f() == 1']),
    'standard library': ('import random, statistics, hashlib, itertools, sqlite3\n'
                         'def f(): return statistics.mean([1, 2, 3]), hashlib.md5(b"").hexdigest()[:4]',
                         ['assert f() == (2, "d41d")']),
    'a database and a lock in a file': ('import fcntl, sqlite3, tempfile\n'
                                        'def f():\n'
                                        '    with sqlite3.connect("a.db") as c:\n'
                                        '        c.execute("create table t (x)")\n'
                                        '        c.execute("insert into t values (7)")\n'
                                        '    with tempfile.TemporaryFile() as t: fcntl.flock(t, fcntl.LOCK_EX)\n'
                                        '    print(8, file=open("/dev/null", "w"))\n'
                                        '    return sqlite3.connect("a.db").execute("select x from t").fetchall()',
                                        ['assert f() == [(7,)]']),
    }

RIGHT_F = 'def f(x): return x + 1'
OWN = {   # Styles of programs, with tests that look at more than a returned value
    'visitor of nodes': ('class Node:\n    def __init__(self, v): self.v = v\ndef walk(n, fn): fn(n)',
                         ['out = []\nwalk(Node(3), lambda n: out.append(n.v))\nassert out == [3]']),
    'named tuple': ('from collections import namedtuple\nP = namedtuple("P", "x y")\ndef f(x): return P(x, 2)',
                    ['assert f(1) == (1, 2)', 'assert f(1).x == 1', 'p = P(1, 2)\nassert p.x == 1 and p.y == 2']),
    'generator that is sent values': ('def f():\n    x = yield 1\n    while True: x = yield x * 2',
                                      ['g = f()\nnext(g)\nassert g.send(3) == 6',
                                       'g = f()\nnext(g)\ng.close()\nassert list(g) == []']),
    'views of a dict': ('def f(d): return d.keys(), d.items(), d.values()\ndef g(ks): return sorted(ks)',
                        ['assert f({"a": 1})[0] == {"a"}', 'assert list(f({"a": [1]})[1]) == [("a", [1])]',
                         'assert list(f({"a": [1]})[2]) == [[1]]', 'assert g({"b": 1, "a": 2}.keys()) == ["a", "b"]']),
    'one list in several places': ('def f(g, *_): g[0][0] = 1; return g',
                                   ['assert f([[0] * 2] * 2) == [[1, 0], [1, 0]]',
                                    'x = [0]\nassert f([x, x], x) == [[1], [1]] and x == [1]']),
    'exceptions by class': (
        'class Bad(Exception): pass\nclass Worse(Bad):\n'
        '    def __init__(self, n): super().__init__(f"{n}!"); self.n = n\n'
        'def f(x): raise Worse(x)',
        ['try: f(1)\nexcept Exception as e: assert isinstance(e, Worse) and e.n == 1\nelse: assert False',
         'try: f(1)\nexcept Bad as e: assert isinstance(e, Worse) and str(e) == "1!"\nelse: assert False',
         'try: f(1)\nexcept Exception as e: assert type(e).__name__ == "Worse"\nelse: assert False',
         'import unittest\nclass T(unittest.TestCase):\n    def test(self):\n'
         '        with self.assertRaises(Worse): f(1)\n        with self.assertRaises(Bad): f(1)']),
    'callbacks': ('class Box:\n    def __init__(self, x): self.x = x\n    def map(self, g): return Box(g(self.x))\n'
                  '    def get(self): return self.x\nclass Events:\n    def __init__(self): self.all = []\n'
                  '    def on(self, g): self.all.append(g)\n    def off(self, g): self.all.remove(g)\n'
                  '    def fire(self):\n        for g in self.all: g()',
                  ['assert Box(2).map(lambda x: x + 1).get() == 3',
                   'seen = []\ndef note(): seen.append(1)\ne = Events()\ne.on(note)\ne.fire()\ne.off(note)\ne.fire()\n'
                   'assert seen == [1]']),
    'containers of the program that a test changes': (
        'class Node:\n    def __init__(self, v, children=()): self.v, self.children = v, list(children)\n'
        '    def show(self): return [c.v for c in self.children]\n'
        'class Store:\n    def __init__(self): self.d = {}\n'
        '    def total(self): return sum(map(sum, self.d.values()))\n'
        'log = []\ndef inc(): log.append(len(log)); return len(log)',
        ['r = Node(1)\nr.children.append(Node(2))\nassert r.show() == [2] and len(r.children) == 1',
         'a, b = Node(1), Node(2)\na.children.append(b); b.children.append(a)\n'
         'assert a.children[0].children[0].v == 1',
         's = Store()\ns.d["a"] = [1]\nassert s.total() == 1\ns.d["a"].append(2)\nassert s.total() == 3\n'
         's.d["a"][0] -= 1\nassert s.total() == 2\ns.d.clear()\nassert s.total() == 0',
         'def test():\n    s = Store()\n    for i in range(20): s.d[i] = [i]\n    assert s.total() == 190\ntest()',
         'log.append(9)\ninc()\nassert log == [9, 1]']),
    'callbacks from several threads': (
        'from concurrent.futures import ThreadPoolExecutor\ndef each(g, xs):\n'
        '    with ThreadPoolExecutor(4) as pool: return list(pool.map(g, xs))',
        ['assert each(lambda x: x + 1, range(50)) == [*range(1, 51)]',
         'def g(x): return x * x\nassert each(g, [2]) == [4]']),
    'every NaN is another': (
        'def f(x): return [float("nan")]\ndef same(x): return x',
        ['assert f(1) != f(2) and f(1) not in [f(2)] and f(1)[0] != f(1)[0]',
         'a, b = f(1), f(2)\nassert a != b and a == a',
         'x = float("nan")\nassert same([x]) != [float("nan")]', 'assert same([float("inf")]) == [float("inf")]',
         'import math\nx = [math.nan]\nassert same(x) == x']),
    'a function named as one of operators': (
        'class Tree:\n    def __init__(self, a, b=None): self.a, self.b = a, b\n'
        'def invert(t):\n    t.a, t.b = t.b, t.a\n    return t',
        ['assert invert(Tree(1)).b == 1', 't = Tree(1)\ninvert(t)\nassert t.b == 1']),
    'an exception for a missing file': (
        'def f(x): open("/nonexistent/q")',
        ['try: f(0)\nexcept OSError as e: assert type(e) is FileNotFoundError\nelse: assert 0']),
}

CASE = 'import unittest\nclass T(unittest.TestCase):\n    def test_f(self): self.assertEqual(f(1), 2)\n'
RUNS = {   # Ways in which a file of tests is run, and imports the program
    'unittest.main()': CASE + 'unittest.main()',
    'main part with unittest': CASE + 'if __name__ == "__main__":\n    unittest.main(verbosity=2)',
    'runner': CASE + 'unittest.TextTestRunner().run(unittest.defaultTestLoader.loadTestsFromTestCase(T))',
    'class with a part': CASE + '    def test_g(self):\n        with self.subTest(i=1): self.assertTrue(f(2) == 3)\n',
    'main part': 'def test_f():\n    assert f(1) == 2\nif __name__ == "__main__":\n    test_f()',
    'exit of success': 'import sys\nassert f(1) == 2\nsys.exit(0)',
    'exit of failure': 'import sys\nif f(1) != 2: sys.exit(1)',
    'imported function': 'from candidate import f\nassert f(1) == 2',
    'imported module': 'import candidate\nassert candidate.f(1) == 2',
}

@pytest.mark.parametrize('name', RUNS)
def test_a_file_of_tests_runs(name):
    bodies = 'return x + 1', 'return 7', 'raise SystemExit(0)'
    right, wrong, ends = (grade(f'def f(x): {x}', [RUNS[name]]) for x in bodies)
    assert right.passed, right
    assert wrong.judged and not wrong.passed, wrong
    assert ends.judged and not ends.passed, ends

UNSUPPORTED = {
    'objects of a class of the tests': (
        'def f(x): return x and x.a', [
            'class A: a = 1\nassert f(None) is None\nassert f(A()) == 1', 'class A: a = 1\nassert f(A()) == 1',
            'class A: a = 1\ndef make(): return A()\nassert f(0) == 0 and f(make()) == 1',
            'class A: a = 1\nx = A()\nx.a = 2\nassert f(0) == 0\nassert f(x) == 2',
            'for x in (None, object()): f(x)\nassert True']),
    'tests that never fail': ('def f(x): return 7', ['assert (f(1) == 2, "message")', 'f(1) == 2', 'x = f(1)\nx == 2',
                                                     'f(3) == 5\nassert f(1) == 7', 'assert f(1) == 7\nf(1) == 2',
                                                     'def test_f(): return f(1) == 2']),
    'tests that do not parse': (RIGHT_F, ['assert f(1) = 2', 'f(', 'assert f(1) == 2\n  x']),
    'adds objects': ('class V:\n'
                     '    def __init__(self, x): self.x = x\n'
                     '    def __add__(self, o): return V(self.x + o.x)',
                     ['a = V(1)\nb = V(2)\nassert (a + b).x == 3']),
    'asynchronous': ('async def f(x): return x', ['import asyncio\nassert asyncio.run(f(3)) == 3']),
    'stack from a list': ('class Stack(list):\n    def push(self, x): self.append(x)\n'
                          '    def peek(self): return self[-1]\ndef f(): return Stack([1, 2])',
                          ['s = Stack()\ns.push(1)\ns.push(2)\nassert s.peek() == s.pop() == 2 and s == [1]',
                           ]),
    'an enum of the program': ('import enum\nclass C(enum.Enum):\n    RED = 1\ndef f(x): return C.RED',
                               ['assert f(1) == C.RED', 'assert f(1) is C.RED']),
    'objects in order': ('class P:\n    def __init__(self, x): self.x = x\n'
                         '    def __lt__(self, o): return self.x < o.x',
                         ['a = [P(2), P(1)]\nassert [p.x for p in sorted(a)] == [1, 2]']),
    'mock': ('def f(m): m.go(1)',
             ['from unittest.mock import Mock\nm = Mock()\nf(m)\nm.go.assert_called_once_with(1)']),
}

@pytest.mark.parametrize('name', UNSUPPORTED)
def test_unsupported(name):
    code, tests = UNSUPPORTED[name]
    for test in tests:
        for names in '', names_of(code):
            o = grade(code, [test], function_name=names, reference=code)
            assert o.kind == 'unsupported' and not o.judged, (test, o)


@pytest.mark.parametrize('code', ['', 'class Point(tuple): pass\ndef f(x): return 0', 'def f(x): raise SystemExit'])
def test_a_comparison_that_no_program_can_be_asked_for_is_unsupported_whatever_the_program_is(code):
    for test in 'assert f(1) == Point(1)', 'assert Point(1) != Point(2)', 'p = f(1)\nassert Point(2) > p':
        for names in (), ('f', 'Point'):
            assert grade(code, [test], function_name=names).kind == 'unsupported', test
            own = f'from collections import namedtuple\nPoint = namedtuple("Point", "x")\n{test}'
            if 'f(' in test: assert grade(code, [own], function_name=names).judged, own


def names_of(code):
    "What a program binds at its top level."
    return [x.get_name() for x in symtable.symtable(code, 'program', 'exec').get_symbols() if x.is_assigned()]


@pytest.mark.parametrize('stated', [False, True])
@pytest.mark.parametrize('name', CASES | OWN)
def test_honest_programs_pass_whether_or_not_their_entry_points_are_stated(name, stated):
    code, tests = (CASES | OWN)[name]
    o = grade(code, tests, function_name=names_of(code) if stated else '')
    if 'in a file' in name and 'namespaces' not in o.layers: pytest.skip('no program writes files on this host')
    if 'missing file' in name and not opens_files(o): pytest.skip('no program opens files on this host')
    assert o.passed, o


STATED = {   # Entry point -> honest program and tests that need to know it
    'sum': ('def sum(a, b): return a + b', ['assert abs(sum(-1, -2)) == 3', 'x = int("1")\nassert sum(x, 2) == 3']),
    'pow': ('def pow(a, b): return a ** b', ['assert round(pow(2.0, 3)) == 8', 'assert pow(2, 3) == len("a" * 8)']),
    'seed': ('def seed(x): return x + 1', ['assert seed(1) == 2']),
    'f': ('import collections\ndef f(x): return collections.Counter(x)',
          ['assert f("aab") == Counter("aab")', 'assert f("ab")["a"] == sqrt(1)', 'assert f("a") == Counter(a=1)',
           'from math import *\nassert f("a")["a"] <= hypot(1, 1)', 'f = lru_cache(f)\nassert f("a")["a"] == 1']),
}


@pytest.mark.parametrize('name', STATED)
def test_passes_with_a_stated_entry_point(name):
    code, tests = STATED[name]
    o = grade(code, tests, function_name=name)
    assert o.passed, o


@pytest.mark.parametrize('test', [
    'from solution import f\nassert f(1) == 2', 'from candidate import f as g\nassert g(1) == 2',
    'import solution as s\ndef test_f():\n    assert s.f(1) == 2'])
def test_the_program_may_be_imported(test):
    for name in 'f', '':
        assert [grade(x, [test], function_name=name).passed for x in (RIGHT_F, 'def f(x): return 7')] == [True, False]
    library = test.replace('solution', 'math').replace('candidate', 'math')
    assert not grade(RIGHT_F, [library], function_name='f').passed


@pytest.mark.parametrize('test', [
    'import oracle\nassert f(3) == oracle.f(3)', 'from oracle import f as want\nassert f(3) == want(3)',
    'from solution import f\nfrom oracle import f as want\nassert f(3) == want(3)',
    'from solution import f\nfrom oracle import g\nassert f(3) == g(3)', 'from oracle import g\nassert f(3) == g(3)',
    'try: from oracle import f as want\nexcept ImportError:\n    def want(x): return x + 1\nassert f(3) == want(3)',
    'import __main__\nassert f(3) == __main__.f(3)',
    'from oracle import f\nimport math, candidate as c\nassert f(3) == c.f(3)',
    'from candidate import f as g\nfrom oracle import f\nassert f(3) == g(3)'])
def test_a_module_that_tests_compare_with_is_not_the_program(test):
    "It was, in the first form of this, so a program that returns the same for all was right."
    assert not grade('f = g = lambda x: 7', [test], function_name=['f', 'g']).passed
    assert not grade_many([('f = g = lambda x: 7', [test, 'assert f(1) == 2'], ['f', 'g'])])[0].passed


def test_a_test_that_the_reference_fails_has_no_verdict_for_any_program():
    code = ('class V:\n    def __init__(self, x): self.x = x\n    def __lt__(self, o): return self.x < o.x\n'
            'def f(x): return V(x)')
    strict, wrong = 'assert f(1) < f(2)', 'assert f(1).x == 2'
    for test in strict, wrong:
        assert grade(code, [test], function_name='f').judged
        for program in code, code.replace('self.x = x', 'self.x = 2'), 'def f(', '':
            assert grade(program, [test], function_name='f', reference=code).kind == 'unsupported'
    o = grade(code.replace('self.x = x', 'self.x = 0'), ['assert f(1).x == 1'], function_name='f', reference=code)
    assert o.kind == 'assertion_failure'
    assert not grade(code, ['assert f(1).x == 1'], function_name='f', reference='def g(').judged
    assert grade(code, ['assert f(1).x == 1'], function_name='f', reference=' \n').passed
