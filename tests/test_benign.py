"Honest programs with tests of every form: all pass, or cannot be judged; none is punished."
import symtable
from unittest.mock import patch

import pytest
from in_python import opens_files

from adversarial_rl.grader import test_cases
from adversarial_rl.grader.execution import Limits
from adversarial_rl.grader.grading import grade, grade_many
from adversarial_rl.grader.objects import Scope
from adversarial_rl.grader.pool import Job
from adversarial_rl.grader.session import Grader
from adversarial_rl.grader.test_cases import plan

IDENTITY = 'def f(x): return x'
CASES = {
    'several statements': ('def f(x): return x + 1', ['y = f(1)\nz = f(y)\nassert (y, z) == (2, 3)']),
    'helper function': ('def f(x): return x + 1',
                        ['def near(a, b): return abs(a - b) < 1e-9\nassert near(f(0.5), 1.5)']),
    'set of results': ('def f(x): return [1, 2, 2]', ['assert set(f(0)) == {1, 2}']),
    'sets on both sides': ('def f(x): return iter(x)', ['assert set(f((1, 2))) == set((2, 1))']),
    'isclose without an import': ('def f(x): return x / 3', ['assert math.isclose(f(1), 1 / 3)']),
    'imports': ('def f(x): return x / 3',
                ['import math as m\nfrom fractions import Fraction\nassert m.isclose(f(1), Fraction(1, 3))']),
    'difference': ('def f(x): return 2.5', ['assert abs(f(1) - 2.5) < 1e-6']),
    'expected exception': ('def f(x):\n    if x < 0: raise ValueError("negative")\n    return x',
                           ['try: f(-1)\nexcept ValueError as e: assert str(e) == "negative"\nelse: assert False']),
    'exception of the program': ('class Bad(Exception): pass\ndef f(x): raise Bad("no")',
                                 ['try: f(1)\nexcept Bad as e: assert e.args == ("no",)\nelse: assert False']),
    'exception by its base': ('class Bad(LookupError): pass\ndef f(x): raise Bad',
                              ['try: f(1)\nexcept LookupError: pass\nelse: assert False']),
    'exception of the program by both names': ('class Bad(LookupError): pass\ndef f(x): raise Bad',
                                               ['try: f(1)\n'
                                                'except Bad as e: assert isinstance(e, LookupError)\n'
                                                'else: assert False']),
    'assertRaises': ('def f(x): return 1 / x',
                     ['import unittest\nunittest.TestCase().assertRaises(ZeroDivisionError, f, 0)']),
    'class under test': ('class Stack:\n'
                         '    def __init__(self): self.items = []\n'
                         '    def push(self, x): self.items.append(x)\n'
                         '    def pop(self): return self.items.pop()\n'
                         '    def __len__(self): return len(self.items)',
                         ['s = Stack()\n'
                          's.push(1)\n'
                          's.push((2,))\n'
                          'assert len(s) == 2 and s.pop() == (2,) and s.items == [1]']),
    'chained methods': ('class B:\n    def __init__(self): self.x = 0\n    def add(self, n): self.x += n; return self',
                        ['assert B().add(1).add(2).x == 3']),
    'static and class methods': ('class T:\n'
                                 '    @staticmethod\n'
                                 '    def f(x): return x\n'
                                 '    @classmethod\n'
                                 '    def g(cls): return cls.__name__',
                                 ['assert T.f(3) == 3 and T.g() == "T"']),
    'attributes set by tests': ('class P: pass', ['p = P()\np.x = 3\nassert p.x == 3']),
    'items': ('class D:\n'
              '    def __init__(self): self.d = {}\n'
              '    def __getitem__(self, k): return self.d[k]\n'
              '    def __setitem__(self, k, v): self.d[k] = v',
              ['d = D()\nd["a"] = [1]\nassert d["a"] == [1]']),
    'isinstance': ('class A: pass\nclass B(A): pass', ['assert isinstance(B(), A) and not isinstance(3, A)']),
    'context manager': ('import contextlib\n@contextlib.contextmanager\ndef f(x): yield x + 1',
                        ['with f(1) as y: assert y == 2']),
    'function argument': ('def f(g, xs): return [g(x) for x in xs]',
                          ['assert f(lambda x: x * 2, [1, 2]) == [2, 4]', 'assert f(str, [1]) == ["1"]',
                           'assert f(len, ["ab"]) == [2]']),
    'function argument that raises': ('def f(g):\n    try: return g()\n    except KeyError: return "caught"',
                                      ['def g(): raise KeyError(1)\nassert f(g) == "caught"']),
    'function returned': ('def f(n): return lambda x: x + n', ['assert f(2)(3) == 5']),
    'decorator': ('def f(g):\n    def h(*a): return g(*a) + 1\n    return h',
                  ['@f\ndef g(x): return x\nassert g(1) == 2']),
    'key function': ('def f(x): return -x',
                     ['assert sorted([1, 2], key=f) == [2, 1]', 'assert list(map(f, [1])) == [-1]']),
    'generator': ('def f(n):\n    for i in range(n): yield i * i',
                  ['assert list(f(4)) == [0, 1, 4, 9]', 'g = f(2)\nassert next(g) == 0 and next(g) == 1']),
    'iterator argument': ('def f(it): return sum(it)',
                          ['assert f(iter([1, 2])) == 3', 'assert f(x for x in (4, 5)) == 9']),
    'argument changed in place': ('def f(x): x.sort(); x.append(9)',
                                  ['x = [3, 1]\nassert f(x) is None and x == [1, 3, 9]',
                                   'x = [3, 1]\ny = x\nf(x)\nassert x is y and y == [1, 3, 9]']),
    'nested argument changed': ('def f(d): d["a"].append(1); d["b"] = {2}',
                                ['d = {"a": []}\ninner = d["a"]\nf(d)\nassert inner == [1] and d["b"] == {2}']),
    'keyword arguments': ('def f(a, *b, c=1, **d): return a, b, c, d',
                          ['assert f(1, 2, c=3, z=4) == (1, (2,), 3, {"z": 4})']),
    'check(candidate)': ('def double(x): return 2 * x',
                         ['def check(candidate):\n'
                          '    assert candidate(2) == 4\n'
                          '    assert candidate("a") == "aa"\n'
                          '\n'
                          'check(double)']),
    'types kept apart': (IDENTITY,
                         ['assert type(f((1, 2))) is tuple and type(f([1])) is list and f(True) is True and '
                          'type(f(1)) is int and type(f(1.0)) is float']),
    'keys kept apart': (IDENTITY, ['assert f({1: "a", "1": "b", (2, 3): None}) == {1: "a", "1": "b", (2, 3): None}']),
    'large numbers': ('def f(n): return 7 ** n', ['assert f(5000) == 7 ** 5000', 'assert f(-1) == 1 / 7']),
    'nan, bytes, sets': ('def f(x): return [float("nan"), b"\\xff", frozenset({1}), 2j]',
                         ['r = f(0)\nassert r[0] != r[0] and r[1:] == [b"\\xff", frozenset({1}), 2j]']),
    'fractions, decimals, dates': ('from fractions import Fraction\n'
                                   'from decimal import Decimal\n'
                                   'import datetime\n'
                                   'def f(x): return Fraction(1, 3), Decimal("0.1"), datetime.date(2026, 1, x)',
                                   ['import datetime\n'
                                    'from fractions import Fraction\n'
                                    'from decimal import Decimal\n'
                                    'assert f(2) == (Fraction(1, 3), Decimal("0.1"), datetime.date(2026, 1, 2))']),
    'counter, ordered, default, deque': ('import collections as c\n'
                                         'def f(x): return c.Counter(x), c.OrderedDict(a=1), c.defaultdict(int, b=2), '
                                         'c.deque([1])',
                                         ['assert f("aab") == ({"a": 2, "b": 1}, {"a": 1}, {"b": 2}, '
                                          '__import__("collections").deque([1]))']),
    'named tuple and enum': ('import collections, enum\n'
                             'P = collections.namedtuple("P", "x y")\n'
                             'class E(enum.IntEnum): A = 1\n'
                             'def f(x): return P(1, E.A)',
                             ['assert f(0) == (1, 1)']),
    'module constant': ('LIMIT = [1, 2]\ndef f(): LIMIT.append(3)',
                        'assert LIMIT == [1, 2]; f(); assert LIMIT == [1, 2, 3]'),
    'name of a builtin': ('def sum(a, b): return a + b', ['assert sum(10, 5) == 15']),
    'name of a module': ('def copy(x): return x[:]', ['assert copy([1]) == [1]']),
    'recursive structure in and out': (IDENTITY, ['x = [[[[1], 2], 3], {"a": [(1, [2])]}]\nassert f(x) == x']),
    'long result': ('def f(n): return list(range(n))', ['assert f(100000) == list(range(100000))']),
    'truth of a match': ('import re\ndef f(s): return re.match("a+", s)',
                         ['assert f("aa")', 'assert not f("b")', 'assert f("b") is None']),
    'text of an object': ('class P:\n    def __str__(self): return "p"\n    def __repr__(self): return "P()"',
                          ['assert str(P()) == "p" and repr(P()) == "P()" and f"{P()}" == "p"']),
    'unicode and surrogates': (IDENTITY, ['assert f("é\\ud800\\0") == "é\\ud800\\0"']),
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
    'threads': ('import threading\n'
                'def f():\n'
                '    out = []\n'
                '    t = threading.Thread(target=out.append, args=(1,)); t.start(); t.join()\n'
                '    return out',
                ['assert f() == [1]']),
    'dataclass': ('from dataclasses import dataclass\n@dataclass\nclass P:\n    x: int\n    y: int = 2',
                  ['p = P(1)\nassert (p.x, p.y) == (1, 2) and repr(p) == "P(x=1, y=2)"']),
}

@pytest.mark.parametrize('name', CASES)
def test_passes(name):
    code, tests = CASES[name]
    o = grade(code, tests)
    if 'in a file' in name and 'namespaces' not in o.layers: pytest.skip('no program writes files on this host')
    assert o.passed, o

RIGHT_F = 'def f(x): return x + 1'
OWN = {   # Styles of programs, with tests that look at more than a returned value
    'visitor of nodes': ('class Node:\n    def __init__(self, v): self.v = v\ndef walk(n, fn): fn(n)',
                         ['out = []\nwalk(Node(3), lambda n: out.append(n.v))\nassert out == [3]']),
    'callback that calls': ('def inc(x): return x + 1\ndef apply(fn, x): return fn(x)',
                            ['assert apply(lambda x: inc(x) * 2, 3) == 8']),
    'callback in a callback': ('def apply(fn, x): return fn(x)',
                               ['assert apply(lambda x: apply(lambda y: y + 1, x), 3) == 4']),
    'key over objects': ('class P:\n    def __init__(self, n): self.n = n\ndef best(ps, key): return max(ps, key=key)',
                         ['ps = [P(1), P(3)]\nassert best(ps, key=lambda p: p.n).n == 3']),
    'observer': ('class Bus:\n    def __init__(self): self.h = []\n    def on(self, h): self.h.append(h)\n'
                 '    def emit(self, x):\n        for h in self.h: h(self, x)\n    def size(self): return len(self.h)',
                 ['got = []\nb = Bus()\nb.on(lambda bus, x: got.append((bus.size(), x)))\nb.emit(5)\n'
                  'assert got == [(1, 5)]']),
    'decorated recursion': ('def memo(f):\n    c = {}\n    def g(n):\n        if n not in c: c[n] = f(n)\n'
                            '        return c[n]\n    return g',
                            ['@memo\ndef fib(n): return n if n < 2 else fib(n - 1) + fib(n - 2)\n'
                             'assert fib(10) == 55']),
    'iterator that calls': ('def total(xs): return sum(xs)\ndef inc(x): return x + 1',
                            ['assert total(map(inc, [1, 2])) == 5', 'assert total(inc(x) for x in [1, 2]) == 5']),
    'named tuple': ('from collections import namedtuple\nP = namedtuple("P", "x y")\ndef f(x): return P(x, 2)',
                    ['assert f(1) == (1, 2)', 'assert f(1).x == 1', 'p = P(1, 2)\nassert p.x == 1 and p.y == 2']),
    'text of a named tuple': ('from collections import namedtuple\nP = namedtuple("P", "x y")\n'
                              'def f(x): return P(x, "a")',
                              ['assert str(f(1)) == "P(x=1, y=\'a\')"', 'assert f(1)._asdict() == {"x": 1, "y": "a"}']),
    'slice of an object': ('class B:\n    def __getitem__(self, i): return [1, 2, 3][i]', ['assert B()[1:] == [2, 3]']),
    'enum': ('import enum\nclass C(enum.Enum):\n    RED = 1\ndef f(x): return C.RED',
             ['assert f(1).name == "RED" and C.RED.value == 1']),
    'keyword edited in place': ('def f(xs=None): xs.append(3)', ['x = [1]\nf(xs=x)\nassert x == [1, 3]']),
    'deque edited': ('def f(q): q.appendleft(0)',
                     ['from collections import deque\nq = deque([1])\nf(q)\nassert list(q) == [0, 1]']),
    'counter edited': ('def f(c): c["a"] += 1',
                       ['from collections import Counter\nc = Counter("a")\nf(c)\nassert c["a"] == 2']),
    'list in a tuple edited': ('def f(t): t[0].append(1)', ['x = []\nf((x, 2))\nassert x == [1]']),
    'cache': ('import functools\n@functools.lru_cache\ndef f(x): return x',
              ['f(1); f(1)\nassert f.cache_info().hits == 1']),
    'attribute of an exception': ('class E(Exception):\n    def __init__(self, code): self.code = code\n'
                                  'def f(x): raise E(x)',
                                  ['try: f(3)\nexcept E as e: assert e.code == 3\nelse: assert False']),
    'exceptions that derive from each other': (
        'class Base(Exception): pass\nclass Low(Base): pass\ndef f(x): raise Low(x)',
        ['try: f(1)\nexcept Base as e: assert e.args == (1,)\nelse: assert False']),
    'text of an exception': ('class E(Exception):\n    def __str__(self): return "own"\ndef f(x): raise E(x)',
                             ['try: f(1)\nexcept E as e: assert str(e) == "own"\nelse: assert False']),
    'number of an error': ('import errno\ndef f(x): raise OSError(errno.ENOENT, "gone")',
                           ['try: f(1)\nexcept FileNotFoundError as e: assert e.errno == 2\nelse: assert False']),
    'object made by a class method': ('class Box:\n    def __init__(self, n): self.n = n\n    @classmethod\n'
                                      '    def made(cls, n): return cls(n)\n    def look(self): return self.n',
                                      ['assert Box.made(3).look() == 3']),
    'name reused by a check': ('def solve(x): return x + 1',
                               ['def check(solve):\n    assert solve(1) == 2\ncheck(solve)',
                                'for solve in [solve]: assert solve(1) == 2']),
    'name reused in a comprehension': ('def n(x): return x + 1',
                                       ['assert [n for n in [1, 2]] == [1, 2] and n(1) == 2']),
    'helper class': ('def f(x): return x + 1', ['class H:\n    def ok(self): return f(1) == 2\nassert H().ok()']),
    'large result': ('def f(n): return list(range(n))', ['assert len(f(2 * 10**6)) == 2 * 10**6']),
    'issubclass': ('class A: pass\nclass B(A): pass', ['assert issubclass(B, A) and not issubclass(A, B)']),
    'class of an object': ('class Stack: pass',
                           ['assert Stack().__class__.__name__ == "Stack"', 'assert type(Stack()).__name__ == "Stack"',
                            'assert type(Stack()) is Stack', 'assert type(Stack()) == Stack and type(3) is int']),
    'format of an object': ('class P:\n    def __format__(self, s): return "p" + s', ['assert f"{P():>3}" == "p>3"']),
    'value of a generator': ('def f():\n    yield 1\n    return 5',
                             ['g = f()\nnext(g)\ntry: next(g)\nexcept StopIteration as e: assert e.value == 5\n'
                              'else: assert False']),
    'generator that is sent values': ('def f():\n    x = yield 1\n    while True: x = yield x * 2',
                                      ['g = f()\nnext(g)\nassert g.send(3) == 6',
                                       'g = f()\nnext(g)\ng.close()\nassert list(g) == []']),
    'match': ('import re\ndef f(s): return re.match(r"(\\d+)", s)', ['assert f("12a").group(1) == "12"']),
    'hash of the library': ('import hashlib\ndef f(b): return hashlib.md5(b)',
                            ['assert f(b"").hexdigest()[:4] == "d41d"']),
    'file in memory': ('import io\ndef f(): return io.StringIO("ab")', ['assert f().read() == "ab"']),
    'class with a lower-case name': ('class stack:\n    def __init__(self): self.x = []\n'
                                     '    def push(self, v): self.x.append(v)\n    def pop(self): return self.x.pop()',
                                     ['s = stack()\ns.push(3)\nassert s.pop() == 3']),
    'object made by a function': ('class _S:\n    def push(self, v): self.v = v\n    def pop(self): return self.v\n'
                                  'def make_stack(): return _S()',
                                  ['s = make_stack()\ns.push(3)\nassert s.pop() == 3']),
    'operators of one object': ('class V:\n    def __init__(self, x=0): self.x = x\n'
                                '    def __neg__(self): return V(-self.x)\n'
                                '    def __abs__(self): return 3\n    def __round__(self, n=0): return 4',
                                ['assert (-V(1)).x == -1', 'assert abs(V()) == 3 and round(V()) == 4']),
    'exception of the library': ('from dataclasses import dataclass\n@dataclass(frozen=True)\nclass P:\n    x: int',
                                 ['import dataclasses\np = P(1)\ntry: p.x = 3\n'
                                  'except dataclasses.FrozenInstanceError: pass\nelse: assert False']),
    'error of json': ('import json\ndef f(s): return json.loads(s)',
                      ['from json import JSONDecodeError\ntry: f("{")\nexcept JSONDecodeError: pass\n'
                       'else: assert False']),
    'attribute deleted': ('class P: pass', ['p = P()\np.x = 1\ndel p.x\nassert not hasattr(p, "x")']),
    'variables of an object': ('class P:\n    def __init__(self): self.x = 1',
                               ['assert vars(P()) == {"x": 1} and P().__dict__ == {"x": 1}']),
    'ellipsis as an item': ('class L:\n    def __getitem__(self, i): return type(i).__name__',
                            ['assert L()[1:2] == "slice" and L()[...] == "ellipsis"']),
    'views of a dict': ('def f(d): return d.keys(), d.items(), d.values()\ndef g(ks): return sorted(ks)',
                        ['assert f({"a": 1})[0] == {"a"}', 'assert list(f({"a": [1]})[1]) == [("a", [1])]',
                         'assert list(f({"a": [1]})[2]) == [[1]]', 'assert g({"b": 1, "a": 2}.keys()) == ["a", "b"]']),
    'view of memory': ('def f(b): return memoryview(b)', ['assert bytes(f(b"ab")) == b"ab"']),
    'other mappings': ('import collections, types\nclass D(collections.UserDict): pass\n'
                       'def f(): return types.MappingProxyType({"a": 1})\n'
                       'def g(): return collections.ChainMap({"a": 1})\ndef h(): return D(a=1)',
                       ['assert dict(f()) == dict(g()) == dict(h()) == {"a": 1} and h()["a"] == 1']),
    'default values': ('import collections\ndef f(): return collections.defaultdict(list, {1: [2]})',
                       ['from collections import defaultdict\nx = f()\nassert x == {1: [2]} and x[3] == []',
                        'assert repr(f()) == "defaultdict(<class \'list\'>, {1: [2]})"']),
    'annotations': ('def f(x: int) -> str: return str(x)', ['assert f.__annotations__ == {"x": int, "return": str}']),
    'text of a function': ('def f():\n    "Doc."', ['assert f.__doc__ == "Doc." and f.__name__ == "f"']),
    'decorator that wraps': ('import functools\ndef deco(g):\n    @functools.wraps(g)\n    def h(*a): return g(*a)\n'
                             '    return h', ['@deco\ndef k(): "d"\nassert k.__name__ == "k" and k.__doc__ == "d"']),
    'named tuple replaced': ('from collections import namedtuple\nP = namedtuple("P", "x y")\ndef f(): return P(1, 2)',
                             ['assert f()._replace(x=3) == (3, 2)']),
    'named tuples with methods': ('from collections import namedtuple\nfrom typing import NamedTuple\n'
                                  'class P(NamedTuple):\n    x: int\n    def double(self): return self.x * 2\n'
                                  'class Q(namedtuple("Q", "x y")):\n    @property\n'
                                  '    def z(self): return self.x + self.y\n'
                                  'R = namedtuple("R", "x")\ndef f(n): return [Q(n, 2)], R(n)',
                                  ['p = P(3)\nassert p.double() == 6 and p == (3,) and p.x == p[0] == 3',
                                   'q = f(1)[0][0]\nassert q.z == 3 and q == (1, 2) and str(q) == "Q(x=1, y=2)"',
                                   'assert not hasattr(f(1)[0][0], "w") and not hasattr(P(1), "isupper")',
                                   'assert type(f(1)[1]).__name__ == "R" and type(f(1)[1]) is type(f(2)[1])',
                                   'assert isinstance(f(1)[1], R) and not isinstance(f(1)[1], P)']),
    'path and number': ('import pathlib, uuid\ndef f(): return pathlib.Path("a") / "b", uuid.UUID(int=5)',
                        ['from pathlib import Path\nfrom uuid import UUID\n'
                         'assert f() == (Path("a/b"), UUID(int=5)) and str(f()[0]) == "a/b"']),
    'classes as arguments': ('def f(x, t): return isinstance(x, t)',
                             ['assert f(1, int) and f(1, (int, str)) and not f("a", int)',
                              'from collections import Counter\nassert not f(1, Counter)']),
    'exception given to a function': ('class Bad(ValueError): pass\ndef f(x): raise Bad(x)',
                                      ['import contextlib\nwith contextlib.suppress(Bad):\n    f(1)\n    assert False',
                                       'def throws(kind):\n    try: f(1)\n    except kind: return True\n'
                                       'assert throws(Bad)']),
    'one list in several places': ('def f(g, *_): g[0][0] = 1; return g',
                                   ['assert f([[0] * 2] * 2) == [[1, 0], [1, 0]]',
                                    'x = [0]\nassert f([x, x], x) == [[1], [1]] and x == [1]']),
    'one list by its names': ('def f(t, x=None): t["l"].append(1); return t["l"] is t["r"], x',
                              ['x = []\nassert f({"l": x, "r": x}, x=[x]) == (True, [[1]]) and x == [1]']),
    'deep result': ('def f(n):\n    x = []\n    for _ in range(n): x = [x]\n    return x',
                    ['x = f(300)\nn = 0\nwhile x: x = x[0]; n += 1\nassert n == 300']),
    'cache from an ordered dictionary': (
        'from collections import OrderedDict\nclass Cache(OrderedDict):\n    def __init__(self, n): self.n = n\n'
        '    def get(self, k):\n        if k not in self: return -1\n        self.move_to_end(k)\n'
        '        return self[k]\n'
        '    def put(self, k, v):\n        self[k] = v\n        self.move_to_end(k)\n'
        '        if len(self) > self.n: self.popitem(last=False)',
        ['c = Cache(2)\nc.put(1, 1)\nc.put(2, 2)\nassert c.get(1) == 1\nc.put(3, 3)\n'
         'assert c.get(2) == -1 and len(c) == 2 and list(c) == [1, 3] and c == {1: 1, 3: 3}']),
    'stack from a list': ('class Stack(list):\n    def push(self, x): self.append(x)\n'
                          '    def peek(self): return self[-1]\ndef f(): return Stack([1, 2])',
                          ['s = Stack()\ns.push(1)\ns.push(2)\nassert s.peek() == s.pop() == 2 and s == [1]',
                           'assert f() == [1, 2]', 'x = f()\nassert x.peek() == 2 and sorted(x) == [1, 2]']),
    'members and numbers with attributes': (
        'from enum import Enum, IntEnum\nclass Level(IntEnum): LOW = 1\nclass Tag(str, Enum): A = "a"\n'
        'class Heat(float):\n    @property\n    def f(self): return self * 9 / 5 + 32\ndef f(x): return Level(x)\n'
        'def g(x): return x.name',
        ['assert f(1) == 1', 'x = f(1)\nassert x.name == g(x) == "LOW" and x + 1 == 2 and isinstance(x, Level)',
         'assert Level.LOW.value == 1 and Tag.A.value == "a" and [x.name for x in Level] == ["LOW"]',
         'assert Heat(100).f == 212 and Heat(1) == 1.0', 'assert type(f(1)).__name__ == "Level"']),
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
    'copies of objects': ('class P:\n    def __init__(self): self.x = 1',
                          ['import copy\np = P()\nq, r = copy.copy(p), copy.deepcopy(p)\nq.x = 2\nr.x = 3\n'
                           'assert (p.x, q.x, r.x) == (1, 2, 3)']),
    'order of an ordered dictionary': (
        'from collections import OrderedDict\nclass Last(OrderedDict): pass\ndef f(kind=OrderedDict):\n'
        '    x = kind(a=1, b=2)\n    x.move_to_end("a")\n    return x\ndef g(): return f(Last)',
        ['from collections import OrderedDict\nassert f() == OrderedDict(b=2, a=1) == g()',
         'assert list(f()) == ["b", "a"]', 'x = g()\nassert list(x) == ["b", "a"]']),
    'module under another name': (RIGHT_F, ['import candidate as c\nassert c.f(1) == 2']),
    'returned list is changed': ('def f(n): return [[0] * n for _ in range(n)]\ndef g(x): return [y[:] for y in x]',
                                 ['x = f(2)\nx[0][0] = 1\nassert x == [[1, 0], [0, 0]]',
                                  'x = [[1], [2]]\ny = g(x)\ny[0].append(9)\nassert x == [[1], [2]] and y[0][1] == 9']),
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
    'a container of the program that others hold, too': (
        'class D:\n    def __init__(self): self.rows, self.by_id = [], {}\n'
        '    def add(self, i, name):\n        r = {"name": name}\n'
        '        self.rows.append(r)\n        self.by_id[i] = r\n'
        '    def name(self, i): return self.by_id[i]["name"]\n    def reset(self): self.rows = []',
        ['d = D()\nfor i, c in enumerate("abc"): d.add(i, c)\nrows = d.rows\nrows.reverse()\nd.rows.pop(0)\n'
         'assert [d.name(i) for i in range(3)] == ["a", "b", "c"] and [r["name"] for r in d.rows] == ["b", "a"]',
         'd = D()\nold = d.rows\nd.reset()\nd.rows.append(5)\nassert d.rows == [5] and old == []',
         'd = D()\nold = d.rows\nold.append(5)\nassert old == [5]',
         'd = D()\nd.by_id.setdefault(1, {"name": "a"})\nassert d.name(1) == "a" and "a" in str(d.by_id)',
         's = D()\ns.tags = {1, 2}\ns.tags.difference_update([1])\nassert s.tags == {2}']),
    'a list that is changed while it is used': (
        'class Q:\n    page = 0\n    def __init__(self): self.items = []\n'
        '    def run(self, f):\n        for i in range(2): f(i); self.items.append(("done", i))\n'
        '    @property\n    def more(self): self.page += 1; return [self.page] if self.page < 3 else []',
        ['q = Q()\nq.run(lambda i: q.items.append(i))\nassert q.items == [0, ("done", 0), 1, ("done", 1)]',
         'q, out = Q(), []\nwhile b := q.more: out.append(b.pop())\nassert out == [1, 2]',
         'q = Q()\nq.items.append(KeyError)\nq.items += [2]\nassert q.items[1] == 2 and isinstance(q.items, list)\n'
         'assert len(q.items) == 2 and q.items[-1:] == [2] and bool(q.items)']),
    'nested containers': (
        'class G:\n    def __init__(self): self.rows, self.d = [[0] * 2 for _ in range(2)], {}\n'
        '    def total(self): return sum(map(sum, self.rows)) + sum(self.d.values())',
        ['g = G()\ng.rows[0][1] = 5\ng.rows[1][0] += 2\ng.d["a"] = 1\ng.d.update(b=2)\ndel g.d["a"]\n'
         'assert g.total() == 9 and g.rows == [[0, 5], [2, 0]] and g.d == {"b": 2} and dict(g.d) == {"b": 2}\n'
         'assert sorted(g.d) == ["b"] and list(g.d.items()) == [("b", 2)] and {**g.d} == {"b": 2}']),
    'a property that returns a copy': (
        'class S:\n    def __init__(self): self._x = [1]\n    @property\n    def x(self): return list(self._x)',
        ['s = S()\ns.x.append(2)\nassert s.x == [1]']),
    'classes of the standard library': (
        'import io, re, types\ndef gen(): return (i for i in range(3))\ndef mt(s): return re.match("a", s)\n'
        'def lazy(): return map(int, "1")\ndef out(): return io.StringIO()\ndef error(): return KeyError("x")',
        ['import types\nassert isinstance(gen(), types.GeneratorType) and not isinstance(gen(), map)',
         'from collections.abc import Generator, Iterator\nassert isinstance(gen(), (Generator, Iterator))',
         'import re, io\nassert isinstance(mt("ab"), re.Match) and isinstance(out(), io.IOBase)',
         'assert isinstance(lazy(), map)', 'assert isinstance(error(), LookupError) and str(error()) == "\'x\'"']),
    'exceptions of the tests': (
        'import json\nclass Bad(ValueError): pass\n'
        'class Code(ValueError):\n    def __init__(self, x): self.x = x\n'
        'def twice(fn):\n    def w(*a):\n        try: return fn(*a)\n        except Exception: return fn(*a)\n'
        '    return w\n'
        'def name(fn):\n    try: fn()\n    except Exception as e: return type(e).__name__\n'
        'def catches(fn, kind):\n    try: fn()\n    except kind: return True',
        ['class Mine(Exception): pass\n@twice\ndef g(): raise Mine("boom")\n'
         'try: g()\nexcept Mine as e: assert str(e) == "boom"\nelse: assert False',
         'class Mine(Exception): pass\ndef g(): raise Mine("x")\n'
         'assert catches(g, Mine) and catches(g, Exception) and name(g) == "Mine"',
         'def g(): raise Bad("x")\nassert catches(g, Bad) and catches(g, ValueError)',
         'class Net(Exception): pass\nclass Lost(Net):\n'
         '    def __init__(self, code): super().__init__("bad"); self.code = code\n'
         'err = Lost(7)\n@twice\ndef g(): raise err\ntry: g()\nexcept Net as e: assert e is err and e.code == 7\n'
         'else: assert False\nassert catches(g, Net)',
         'def g(): raise Code({"code": 5})\nassert catches(g, ValueError)',
         'import json\ndef g(): json.loads("{")\nassert name(g) == "JSONDecodeError" and catches(g, ValueError)']),
    'issubclass of several': ('class Bad(ValueError): pass\nclass A: pass\nclass B(A): pass',
                   ['assert issubclass(Bad, ValueError) and not issubclass(Bad, KeyError)',
                    'assert issubclass(B, A) and issubclass(B, (int, A)) and not issubclass(A, B)']),
    'a generic class': (
        'from typing import Generic, TypeVar\nT = TypeVar("T")\nclass Box(Generic[T]):\n'
        '    def __init__(self, x): self.x = x\n    def get(self): return self.x',
        ['assert Box[int](5).get() == 5', 'b = Box[str]("a")\nassert b.get() == b.x == "a"']),
    'items of an object that tests change': (
        'class G:\n    def __init__(self, x): self.x = x\n    def __getitem__(self, k): return self.x[k]',
        ['g = G([[0, 0], [0, 0]])\ng[1][0] = 5\nassert g[1] == [5, 0] and g[0] == [0, 0]',
         'g = G({1: {}})\ng[1][2] = 5\ng[1].update(a=1)\ndel g[1][2]\nassert g[1] == {"a": 1}',
         'g = G([[1]])\ng[0].append(2)\nassert g[0] == [1, 2]']),
    'variables named like what tests must not touch': (
        'def f(x): return x',
        ['seed = 3\nassert f(seed) == 3', 'patch, mock = 1, [2]\nassert f(patch) == 1 and f(mock) == [2]',
         'import random\nfor seed in range(3):\n    x = random.Random(seed).random()\n    assert f(x) == x',
         'def check(environ): assert f(environ) == environ\ncheck({1: 2})']),
    'a bound method as an argument': (
        'class E:\n    def __init__(self): self.h = []\n    def on(self, f): self.h.append(f)\n'
        '    def off(self, f): self.h.remove(f)\n    def go(self, x): return [f(x) for f in self.h]',
        ['class L:\n    def __init__(self): self.seen = []\n    def see(self, x): self.seen.append(x)\n'
         'l, e = L(), E()\ne.on(l.see)\ne.go(3)\ne.off(l.see)\nassert e.go(4) == [] and l.seen == [3]']),
    'iterator that begins in iter': (
        'class R:\n    def __init__(self, n): self.n = n\n    def __iter__(self):\n        self.i = 0\n'
        '        return self\n    def __next__(self):\n        if self.i >= self.n: raise StopIteration\n'
        '        self.i += 1\n        return self.i\n    def __reversed__(self): return iter([3, 2])',
        ['assert list(R(3)) == [1, 2, 3]', 'r = R(2)\nassert list(r) == list(r) == [1, 2]',
         'assert [*reversed(R(1))] == [3, 2]']),
    'imports of the program': (
        'RATE = 2\ndef area(w, h): return w * h\ndef sum(xs): return len(xs)',
        ['import candidate\ndef test_f():\n    area = candidate.area(2, 3)\n    assert area == 6',
         'import candidate\nfor w, h, area in [(1, 2, 2), (3, 4, 12)]:\n    assert candidate.area(w, h) == area',
         'import math, candidate as c\nassert c.area(2, 3) == math.floor(6.5)',
         'import candidate\nassert candidate.RATE == 2',
         'import candidate\narea = candidate.area\nfor x in range(3): assert area(x, 1) == x',
         'try:\n    from candidate import area\nexcept ImportError:\n    area = None\nassert area(2, 3) == 6',
         'import candidate\nassert candidate.sum([5, 6]) == 2 and sum([5, 6]) == 11',
         'from candidate import sum as count\nassert count([5, 6]) == 2 and sum([5, 6]) == 11',
         'from candidate import area, sum\nassert sum([5, 6]) == area(1, 2)',
         'def test_f():\n    from candidate import sum\n    assert sum([5, 6]) == 2']),
    'exceptions in a context': (
        'import contextlib\nclass Conn:\n    closed = False\n    def __enter__(self): return self\n'
        '    def query(self, q):\n        if not q: raise LookupError("empty")\n        return q\n'
        '    def __exit__(self, kind, e, tb):\n        self.closed, self.text = True, str(e)\n'
        '        return kind is not None and issubclass(kind, KeyError)\n'
        '@contextlib.contextmanager\ndef told(x):\n    try: yield x\n    except ValueError: x.append(1)',
        ['c = Conn()\ntry:\n    with c:\n        1 / 0\nexcept ZeroDivisionError: pass\nassert c.closed',
         'c = Conn()\ntry:\n    with c: c.query("")\nexcept LookupError as e: text = str(e)\n'
         'assert c.closed and text == "empty"',
         'with Conn() as c: {}["a"]\nassert c.text == "\'a\'"', 'with Conn(): raise KeyError(1)\nassert True',
         'class Own(Exception): pass\ntry:\n    with Conn(): raise Own("x")\nexcept Own: ok = 1\nassert ok',
         'with told([]): int("x")\nassert told']),
    'exceptions in other contexts': (
        'import contextlib, json\nlog = []\nclass Err(Exception):\n    def __init__(self, need, have):\n'
        '        super().__init__(need, have)\n        self.need = need\n@contextlib.contextmanager\ndef ctx():\n'
        '    try: yield\n    except ValueError as e: log.append((str(e), getattr(e, "code", None)))\nclass Tx:\n'
        '    def __init__(self): self.log = []\n    def __enter__(self): return self\n'
        '    def take(self, n): raise Err(n, 1)\n    def __exit__(self, t, e, tb):\n'
        '        self.log.append((e.need, tb is not None))\n        return True\n'
        '@contextlib.contextmanager\ndef quiet():\n    try: yield\n    except json.JSONDecodeError: pass',
        ['with ctx(): raise ValueError(1.5)\nassert log == [("1.5", None)]',
         'class My(ValueError):\n    def __init__(self, code):\n        super().__init__("m")\n'
         '        self.code = code\n'
         'with ctx(): raise My(4)\nassert log == [("m", 4)]',
         't = Tx()\nwith t: t.take(5)\nassert t.log == [(5, True)]',
         'import json\nwith quiet(): json.loads("{")\nassert log == []']),
    'exceptions as objects': (
        'class Error(Exception):\n    kind = "k"\n    def __init__(self, n):\n        super().__init__(f"n {n}")\n'
        '        self.n = n\n    @property\n    def double(self): return 2 * self.n\ndef f(x):\n'
        '    raise Error(x)\nclass Same:\n    v = None\n    def __eq__(self, o): return self.v == o',
        ['try: f(5)\nexcept Error as e: assert vars(e) == {"n": 5} and (e.kind, e.double) == ("k", 10)',
         'from candidate import Error, f\ntry: f(1)\nexcept Error as e: assert type(e) is Error\nelse: assert 0',
         'from candidate import f, Error as E\nimport unittest\nclass T(unittest.TestCase):\n'
         '    def test_a(self):\n        with self.assertRaises(E): f(1)\nunittest.main()',
         'assert Same() == None and not Same() != None', 's = Same()\nassert s == None']),
    'an exception for a missing file': (
        'def f(x): open("/nonexistent/q")',
        ['try: f(0)\nexcept OSError as e: assert type(e) is FileNotFoundError\nelse: assert 0']),
    'many exceptions': (
        'import weakref\nclass Bad(ValueError): pass\nclass P: pass\nlive = weakref.WeakSet()\n'
        'def f(x):\n    p, big = P(), [0] * (20 * 10**6)\n    live.add(p)\n    raise Bad(x)\n'
        'def alive(): return len(live)\ndef g(x): raise Bad(x)',
        ['def case(i):\n    big = [i] * 1_000_000\n    try: g(-1)\n    except ValueError: return True\n'
         'assert all([case(i) for i in range(70)])', 'n = 0\nfor i in range(5):\n    try: f(i)\n'
         '    except ValueError: n += 1\nassert n == 5 and alive() == 0',
         'errors = []\nfor i in range(100):\n    try: g(i)\n    except Exception as e: errors.append(e)\n'
         'assert all(type(e).__name__ == "Bad" for e in errors)']),
    'annotations of later': ('def f(x): return x', [
        'from __future__ import annotations\nfrom typing import TYPE_CHECKING\nif TYPE_CHECKING:\n'
        '    from collections.abc import Sequence\ndef check(xs: Sequence[int], *rest: Other) -> Sequence:\n'
        '    y: Other = f(1)\n    z: Other\n    for x in xs: assert f(x) == x\ncheck([1, 2])\n'
        'class T:\n    size: Other = 3\n    def show(self, x: Other): return x\nassert f(T.size) == 3']),
    'comparisons with None': ('class Node: pass\ndef find(x): return Node() if x else None',
                              ['assert find(1) != None', 'assert not find(1) == None', 'assert find(0) == None',
                               'n = Node()\nassert n != None', 'assert find(1) is not None']),
    'what a class of exceptions has': (
        'class BankError(Exception): code = 400\nclass Short(BankError, ValueError):\n    code = 402\n'
        '    def __init__(self, need):\n        super().__init__(f"need {need}")\n        self.need = need\n'
        '    @property\n    def cents(self): return self.need * 100\ndef f(x): raise Short(x)',
        ['try: f(4)\nexcept BankError as e: assert (e.code, e.cents, e.need) == (402, 400, 4)\nelse: assert 0',
         'try: f(4)\nexcept ValueError: pass\nelse: assert 0\ntry: f(4)\nexcept BankError: pass\nelse: assert 0']),
    'names of parameters': (
        'def add(a, b): return a + b',
        ['def check(candidate, *, tol=1e-6): assert abs(candidate(1, 2) - 3) < tol\ncheck(add)',
         'def test_f():\n    for type, want in ((int, 3), (float, 3.)): assert type(add(1, 2)) == want',
         'assert [add(1, type("2")) for type in (int, float)] == [3, 3.]']),
}

@pytest.mark.parametrize('name', OWN)
def test_unusual_styles_pass(name):
    code, tests = OWN[name]
    o = grade(code, tests)
    if 'missing file' in name and not opens_files(o): pytest.skip('no program opens files on this host')
    assert o.passed, o

CASE = 'import unittest\nclass T(unittest.TestCase):\n    def test_f(self): self.assertEqual(f(1), 2)\n'
RUNS = {   # Ways in which a file of tests is run, and imports the program
    'unittest.main()': CASE + 'unittest.main()',
    'unittest.main without an exit': CASE + 'unittest.main(argv=["x"], exit=False)',
    'main part with unittest': CASE + 'if __name__ == "__main__":\n    unittest.main(verbosity=2)',
    'imported main': 'from unittest import main, TestCase\nclass T(TestCase):\n'
                     '    def test(self): assert f(1) == 2\nmain()',
    'comparison that may raise': 'import contextlib\nwith contextlib.suppress(TypeError): f(1) < ""\nassert f(1) == 2',
    'a main of its own': CASE + 'def main(): assert f(1) == 2\nmain()',
    'runner': CASE + 'unittest.TextTestRunner().run(unittest.defaultTestLoader.loadTestsFromTestCase(T))',
    'class alone': CASE,
    'class with a part': CASE + '    def test_g(self):\n        with self.subTest(i=1): self.assertTrue(f(2) == 3)\n',
    'main part': 'def test_f():\n    assert f(1) == 2\nif __name__ == "__main__":\n    test_f()',
    'exit of success': 'import sys\nassert f(1) == 2\nsys.exit(0)',
    'exit of failure': 'import sys\nif f(1) != 2: sys.exit(1)',
    'imported function': 'from candidate import f\nassert f(1) == 2',
    'imported under a name': 'from candidate import f as g\nassert g(1) == 2',
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
    'longest test': (RIGHT_F, [f'assert f(1) == 2  # {"x" * 10**6}']),
    'tests that never fail': ('def f(x): return 7', ['assert (f(1) == 2, "message")', 'f(1) == 2', 'x = f(1)\nx == 2',
                                                     'f(3) == 5\nassert f(1) == 7', 'assert f(1) == 7\nf(1) == 2',
                                                     'def test_f(): return f(1) == 2']),
    'tests that do not parse': (RIGHT_F, ['assert f(1) = 2', 'f(', 'assert f(1) == 2\n  x']),
    'absent modules': ('def f(x): return x', ['import solution\nassert solution.f(1) == 1',
                                              'from no_such_package.part import a\nassert f(1) == a']),
    'compares objects': ('class P:\n'
                         '    def __init__(self, x): self.x = x\n'
                         '    def __eq__(self, o): return self.x == o.x',
                         ['assert P(1) == P(1)']),
    'adds objects': ('class V:\n'
                     '    def __init__(self, x): self.x = x\n'
                     '    def __add__(self, o): return V(self.x + o.x)',
                     ['a = V(1)\nb = V(2)\nassert (a + b).x == 3']),
    'compares objects by other names': (
        'class P:\n    def __init__(self, x): self.x = x\n    def __eq__(self, o): return self.x == o.x\n'
        '    def __add__(self, o): return P(self.x + o.x)',
        ['a, b = P(1), P(1)\nassert a == b', 'x = [P(n) for n in range(2)]\nassert x[0] != x[1]',
         'x = [P(1), P(2)]\nassert x.index(P(2)) == 1', 'a, b, c = map(P, (1, 2, 3))\nassert a + b == c',
         'for a, b in [(P(1), P(1))]: assert a == b', 'def make(): return P(1)\nassert make() == make()',
         'def test_f():\n    a, b = P(1), P(1)\n    assert a == b', 'd = {"a": P(1)}\nassert d["a"] == P(1)',
         'import unittest\nclass T(unittest.TestCase):\n    def setUp(self): self.a = P(1)\n'
         '    def test_f(self): self.assertEqual(self.a, P(1))',
         'import unittest\nclass T(unittest.TestCase):\n    def test_f(self):\n        a, b = P(1), P(2)\n'
         '        self.assertNotEqual(a, b)']),
    'derives from a class': ('class A:\n    def f(self): return 1', ['class B(A): pass\nassert B().f() == 1']),
    'asynchronous': ('async def f(x): return x', ['import asyncio\nassert asyncio.run(f(3)) == 3']),
    'odd argument': ('def f(s): return s.read()', ['import io\nassert f(io.StringIO("text")) == "text"']),
    'an enum of the program': ('import enum\nclass C(enum.Enum):\n    RED = 1\ndef f(x): return C.RED',
                               ['assert f(1) == C.RED', 'assert f(1) is C.RED']),
    'a dataclass of the program': ('from dataclasses import dataclass\n@dataclass\nclass P:\n    x: int\n'
                                   'def f(x): return [P(x)]', ['assert f(1) == [P(1)]', 'assert f(1)[0] == P(1)']),
    'contains': ('class S:\n    def __contains__(self, x): return x == 1', ['assert 1 in S()']),
    'captured output': ('def f(x): print(x)',
                        ['import io, contextlib\nb = io.StringIO()\nwith contextlib.redirect_stdout(b): f(3)\n'
                         'assert b.getvalue() == "3\\n"']),
    'patched input': ('def f(): return input()', ['import builtins\nbuiltins.input = lambda: "3"\nassert f() == "3"']),
    'an enum listed': ('import enum\nclass C(enum.Enum):\n    RED = 1\ndef f(x): return C.RED',
                       ['assert f(1) in list(C)']),
    'objects in order': ('class P:\n    def __init__(self, x): self.x = x\n'
                         '    def __lt__(self, o): return self.x < o.x',
                         ['a = [P(2), P(1)]\nassert [p.x for p in sorted(a)] == [1, 2]']),
    'object as key': ('class K:\n    def __hash__(self): return 1',
                      ['d = {K(): 1}\nassert len(d) == 1', 'assert hash(K()) == 1']),
    'object and number': ('class V:\n    def __init__(self, x): self.x = x\n'
                          '    def __add__(self, n): return V(self.x + n)\n'
                          '    def __iadd__(self, n): self.x += n; return self',
                          ['assert (V(1) + 2).x == 3', 'v = V(1)\nv += 2\nassert v.x == 3']),
    'dataclass taken apart': ('from dataclasses import dataclass\n@dataclass\nclass P:\n    x: int',
                              ['from dataclasses import asdict\nassert asdict(P(1)) == {"x": 1}']),
    'identity': ('x = []\ndef f(y=x): return y',
                 ['assert f() is f()', 'x = []\ny = f(x)\nassert y is x', 'class P: pass\np = P()\nassert f(p) is p']),
    'mock': ('def f(m): m.go(1)',
             ['from unittest.mock import Mock\nm = Mock()\nf(m)\nm.go.assert_called_once_with(1)']),
    'signature': ('def f(a, b=1): pass', ['import inspect\nassert len(inspect.signature(f).parameters) == 2']),
    'warning and log': ('import logging, warnings\ndef f(): warnings.warn("x")\n'
                        'def g(): logging.getLogger("a").warning("x")',
                        ['import warnings\nwith warnings.catch_warnings(record=True) as w: f()\nassert len(w) == 1',
                         'import unittest\nwith unittest.TestCase().assertLogs("a"): g()']),
    'class in a match': ('from dataclasses import dataclass\n@dataclass\nclass P:\n    x: int',
                         ['match P(3):\n    case P(x=3): ok = 1\nassert ok']),
    'end of an object': ('import weakref\nclass P: pass\nlive = weakref.WeakSet()\n'
                         'def f():\n    p = P()\n    live.add(p)\n    return p\ndef count(): return len(live)',
                         ['p = f()\nassert count() == 1\ndel p\nassert count() == 0']),
    'seeded numbers': ('import random\ndef f(): return random.random()',
                       ['import random\nrandom.seed(1)\nassert f() == random.Random(1).random()']),
    'inside of an object': (
        'import functools\nfrom dataclasses import dataclass\n@functools.cache\ndef f(a, b=1): return b\n'
        '@dataclass\nclass P: pass\ndef g(a, b=1): return b',
        ['assert g.__defaults__ == (1,)', 'assert g.__code__.co_argcount == 2', 'assert f.__wrapped__(1) == 1',
         'assert P.__mro__[0].__name__ == "P"', 'assert "f" in dir(P)', 'assert id(P()) != 0',
         'from dataclasses import is_dataclass\nassert is_dataclass(P)']),
    'classes that the program decorates': (
        'def log(f): return lambda *a: f(*a)\ndef one(c): return c',
        ['class A:\n    @log\n    def f(self): return 1\nassert A().f() == 1', '@one\nclass A: pass\nassert A()']),
    'changes of what a call returned': (
        'class S:\n    def __init__(self): self.d = {}', ['s = S()\ns.d.setdefault("a", []).append(1)\nassert s.d']),
    'an object of the tests kept by the program': (
        'class S:\n    def __init__(self): self.d = {}',
        ['class A: v = 1\ns = S()\ns.d["a"] = A()\nassert s.d["a"].v']),
    'container in a context': (
        'import contextlib\n@contextlib.contextmanager\ndef f(x):\n    x.append(1)\n    yield x\n    x.append(2)',
        ['x = []\nwith f(x): pass\nassert x == [1, 2]']),
    'objects wherever they go': (
        'import enum\nclass P:\n    def __init__(self, x): self.x = x\n    def __eq__(self, o): return self.x == o.x\n'
        '    def __lt__(self, o): return self.x < o.x\n    def __hash__(self): return 1\n'
        'class C(enum.Enum):\n    RED = 1\ndef f(x): return C.RED',
        ['a: P = P(1)\nb: P = P(1)\nassert a == b', 'd = {}\nd[P(1)] = 2\nassert d',
         'assert len(set([P(1), P(1)])) == 1',
         'x = [P(2), P(1)]\nx.sort()\nassert x[0].x == 1', 'assert sorted([P(1), P(2)], reverse=True)[0].x == 2',
         'x = []\nfor n in (1, 1): x.append(P(n))\nassert x[0] == x[1]', 'd = {}\nd["a"] = P(1)\nassert d["a"] == P(1)',
         'd = dict(a=P(1), b=P(1))\nassert d["a"] == d["b"]', 'def same(a, b): assert a == b\nsame(P(1), P(1))',
         'x = [P(1)]\nfor a, b in zip(x, [P(1)]): assert a == b',
         'x = [P(1)]\nfor n, p in enumerate(x): assert p == x[n]',
         'Q = P\nassert Q(1) == Q(1)', 'make = lambda: P(1)\nassert make() == make()', 'assert f(1) == C["RED"]',
         'a = P(1) if f else P(2)\nassert a == a', 'cases = [(1, C.RED)]\nfor n, c in cases: assert f(n) == c',
         'for n, c in {1: C.RED}.items(): assert f(n) == c', 'x = [P(1), P(2)]\np = x[1]\nassert x.index(p) == 1']),
    'the module of the program': ('total = 1\ndef f(x): return x + total', [
        'import candidate\ncandidate.total = 3\nassert candidate.f(1) == 4',
        'import candidate\nassert hasattr(candidate, "f")', 'import candidate\nassert getattr(candidate, "f")(1) == 2',
        'import candidate\ndef run(m): assert m.f(1) == 2\nrun(candidate)']),
    'a container that an object holds': ('class Box:\n    def __init__(self, xs): self.xs = xs',
                                         ['xs = [1]\nb = Box(xs)\nxs.append(2)\nassert b.xs == [1, 2]']),
    'protocols': ('class S:\n    def __len__(self): return 1\n    def __iter__(self): return iter([1])', [
        'from collections.abc import Iterable\nassert isinstance(S(), Iterable)',
        's = S()\nassert hasattr(s, "__len__")',
        'from typing import Protocol, runtime_checkable\n@runtime_checkable\nclass Sized(Protocol):\n'
        '    def __len__(self): ...\nassert isinstance(S(), Sized)']),
    'odd arguments after others': ('def f(x): return x if isinstance(x, int) else 3',
                                   ['import io\nassert f(1) == 1\nassert f(io.StringIO("abc")) == 3',
                                    'import re\nassert f(1) == 1\nassert f(re.compile("a+")) == 3']),
    'threads of the tests': ('def f(x): return x', [
        'from concurrent.futures import ThreadPoolExecutor\nwith ThreadPoolExecutor(2) as ex:\n'
        '    assert list(ex.map(f, range(3))) == [0, 1, 2]']),
}

@pytest.mark.parametrize('name', UNSUPPORTED)
def test_unsupported(name):
    code, tests = UNSUPPORTED[name]
    for test in tests:
        o = grade(code, [test])
        assert o.kind == 'unsupported' and not o.judged, (test, o)


def names_of(code):
    "What a program binds at its top level."
    return [x.get_name() for x in symtable.symtable(code, 'program', 'exec').get_symbols() if x.is_assigned()]


@pytest.mark.parametrize('name', CASES | OWN | UNSUPPORTED)
def test_a_stated_entry_point_changes_no_honest_verdict(name):
    code, tests = (CASES | OWN | UNSUPPORTED)[name]
    o = grade(code, tests, function_name=names_of(code))
    if 'in a file' in name and 'namespaces' not in o.layers: pytest.skip('no program writes files on this host')
    if 'missing file' in name and not opens_files(o): pytest.skip('no program opens files on this host')
    assert (o.passed, o.judged) == ((False, False) if name in UNSUPPORTED else (True, True)), o


STATED = {   # Entry point -> honest program and tests that need to know it
    'sum': ('def sum(a, b): return a + b', ['assert abs(sum(-1, -2)) == 3', 'x = int("1")\nassert sum(x, 2) == 3']),
    'pow': ('def pow(a, b): return a ** b', ['assert round(pow(2.0, 3)) == 8', 'assert pow(2, 3) == len("a" * 8)']),
    'seed': ('def seed(x): return x + 1', ['assert seed(1) == 2']),
    'patch': ('def patch(x): return x + 1', ['assert patch(1) == 2']),
    'environ': ('def environ(x): return x + 1', ['assert environ(1) == 2']),
    'queue': ('class Q:\n    def get(self): return 3\nqueue = Q()', ['assert queue.get() == 3']),
    'sqrt': ('def sqrt(x): return x // 2', ['assert sqrt(len([1, 2])) == 1', 'y = 4\nassert sqrt(y) == 2']),
    'f': ('import collections\ndef f(x): return collections.Counter(x)',
          ['assert f("aab") == Counter("aab")', 'assert f("ab")["a"] == sqrt(1)', 'assert f("a") == Counter(a=1)',
           'from math import *\nassert f("a")["a"] <= hypot(1, 1)', 'f = lru_cache(f)\nassert f("a")["a"] == 1']),
}


@pytest.mark.parametrize('name', STATED)
def test_passes_with_a_stated_entry_point(name):
    code, tests = STATED[name]
    o = grade(code, tests, function_name=name)
    assert o.passed, o


def test_helpers_of_a_program_are_stated_with_it():
    "As HumanEval's find_zero and its poly."
    code = 'def poly(x): return x - 1\ndef find(): return 1'
    test = 'def check(g):\n    assert poly(g()) == 0\ncheck(find)'
    assert grade(code, [test], function_name=['find', 'poly']).passed
    o = grade(code, [test], function_name='find')
    assert not o.judged and 'poly' in o.message


CALLS = """f() f(-1) f([]) f(2, k=1) f(*[1]) f(f(1)) f(...) f(x) abs(1) seed(1) isclose(1) math(1) Point(1)
Exception(1) f(1).x g.f(1) f(1)[0] f({1:{2}}) f('é') f(1e999) f(1,2,'a'*3) self(1) candidate(1) range(3)
type(1) print(1)""".split()


@pytest.mark.parametrize('entry_points', [(), ('f',), ('abs', 'seed', 'isclose', 'f', 'Point')])
def test_the_short_way_to_a_plan_gives_the_same_plan(entry_points):
    ends = '== 1', "== {'a': [1, -2.5]}", '== ...', '!= 1', ''
    tests = [f'assert {call} {end}' for call in CALLS for end in ends]
    tests += [f'import math\n{test}' for test in tests[:9]] + [f'{test}, "no"' for test in tests[:9]]
    short = [plan(test, entry_points) for test in tests]
    with patch.object(test_cases, '_plain_call', return_value=''):
        assert short == [plan(test, entry_points) for test in tests]


@pytest.mark.parametrize('code', ['\ufeffdef f(x): return x + 1',
                                  'import os\ndef f(x): return x + bool(os.path.dirname(__file__) == "")'])
def test_a_program_runs_as_a_file(code):
    assert grade(code, ['assert f(1) == 2']).passed


NAMED = '''from collections import namedtuple
Point = namedtuple('Point', 'x y')
def f(n): return Point(n, n + 1)
def g(p): return p.x
def h(p): return isinstance(p, Point)'''
NAMED_TESTS = ['assert g(f(1)) == 1', 'assert g(Point(3, 4)) == 3', 'assert h(f(1)) and h(Point(1, 2))',
               'assert not h((1, 2))', 'import copy\np = copy.copy(f(1))\nassert p == (1, 2) and p.x == 1',
               'import copy\nassert copy.deepcopy([f(1)])[0].y == 2',
               'import pickle\nassert pickle.loads(pickle.dumps(f(1))) == (1, 2)']


@pytest.mark.parametrize('test', NAMED_TESTS)
def test_a_named_tuple_may_be_passed_back(test):
    assert grade(NAMED, [test], function_name=['f', 'g', 'h', 'Point']).passed


def test_a_job_without_tests_needs_no_reference():
    assert grade_many([Job('x = 1', reference='x = 2')])[0].passed


def test_a_test_that_does_not_parse_says_so():
    assert 'does not parse' in grade(RIGHT_F, ['assert f(1) == '], function_name='f').message


@pytest.mark.parametrize('test', [
    'from solution import f\nassert f(1) == 2', 'from .solution import f\nassert f(1) == 2',
    'from pkg.solution import f\ndef test_f():\n    assert f(1) == 2'])
def test_stated_entry_points_may_be_imported(test):
    assert [grade(code, [test], function_name='f').passed for code in (RIGHT_F, 'def f(x): return 7')] == [True, False]
    assert grade(RIGHT_F, [test]).kind == 'unsupported'
    library = test.replace('pkg.solution', 'math').replace('.solution', 'math').replace('solution', 'math')
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


SCOPES = '''class Node:
    def __init__(self, x, after=None): self.x, self.after = x, after
def reverse(n): return n.x
def items(n): return [n.x]'''
@pytest.mark.parametrize('test', [
    'def build(x):\n    r = Node(x)\n    return r\ndef out(x):\n    r = items(x)\n    return r\n'
    'assert out(build(1)) == [1]',
    'd = {"a": Node(1)}\nfor k in d: assert k == k[:]\nassert sorted(d) == ["a"] and d["a"].x == 1 and "a" in list(d)',
    'import unittest\nclass A(unittest.TestCase):\n    def test(self):\n        self.x = Node(1)\n'
    '        self.assertEqual(self.x.x, 1)\nclass B(unittest.TestCase):\n    def test(self):\n'
    '        self.x = items(Node(1))\n        self.assertEqual(self.x, [1])',
    'def bad(): reverse(None) == 1\ntry: bad()\nexcept AttributeError: ok = 1\nassert ok',
    'n = [Node(1), Node(2)]\nn.remove(n[0])\nassert n[0].x == 2',
    'import json\nwant = [[0]]\nwant[0][0] = 1\n'
    'assert want == [items(Node(1))] and json.dumps(items(Node(1))) == "[1]"'])
def test_names_are_those_of_their_scope(test):
    assert grade(SCOPES, [test], function_name='Node reverse items'.split()).passed


def test_the_steps_for_a_long_assignment_grow_with_its_length():
    "Not with the square of it, which took 40 s for 8,000 characters."
    with patch.object(Scope, 'instance', autospec=True, side_effect=Scope.instance) as looked:
        plan('a = ' * 500 + f'[{"1, " * 500}]\nassert P(a)', ('P',))
    assert 500 < looked.call_count < 50_000


@pytest.mark.parametrize('test', [
    ''.join(f'a{n} = P()\ndef f{n}(): 0\n' for n in range(300)),
    'x = [' + '(1, P()),' * 300 + ']\nfor a, b in x: 0\n' * 300])
def test_the_steps_for_many_scopes_and_tables_grow_with_their_length(test):
    with patch.object(Scope, 'instance', autospec=True, side_effect=Scope.instance) as looked: plan(test, ('P',))
    assert looked.call_count < 100_000


@pytest.mark.parametrize('test, said', [
    ('from numpy import array\nassert f(1) == array(2)', 'packages must be chosen'),
    ('from solution import f, g\nassert f(1) == 2', 'import solution, which is not here')])
def test_an_absent_module_says_what_to_do(test, said):
    assert said in grade(RIGHT_F, [test], function_name='f').message


@pytest.mark.parametrize('test', ["assert globals()['f'](1) == 2", "assert eval('f(1)') == 2", 'assert 1 == 2',
                                  'import sys\nassert sys.modules["candidate"].f(1) == 2'])
def test_a_test_that_uses_no_stated_name_has_no_verdict(test):
    assert not grade(RIGHT_F, [test], function_name='f').judged


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


def test_a_reference_runs_once():
    with Grader(workers=1) as grader:
        programs, counts = ('def f(x): return 2', 'def f(x): return 3', RIGHT_F), []
        jobs = [(code, ['assert f(1) == 2'], 'f', RIGHT_F) for code in programs]
        found = [o.passed for o in grader.grade_many(jobs, lambda done, total: counts.append(total))]
        again = [o.passed for o in grader.grade_many(jobs, lambda done, total: counts.append(total))]
    assert found == again == [True, False, True] and counts == [3] * 3 + [1] + [3] * 3


@pytest.mark.parametrize('test', [
    'def t():\n    CONFIG["b"] = 2\n    assert load() == 1\n    CONFIG["c"] = 3\nt()\n'
    'assert CONFIG == {"a": 1, "b": 2, "c": 3}',
    'items = C().items\nitems.append("a")\nc = C()\nc.items.append("a")\nassert c.total() == 1\nc.items.append("b")\n'
    'assert c.items == ["a", "b"]'])
def test_what_a_program_loses_stays_lost(test):
    code = ('CONFIG = {"a": 1}\ndef load(): CONFIG.clear(); return 1\n'
            'class C:\n    def __init__(self): self.items = []\n'
            '    def total(self): n = len(self.items); self.items.clear(); return n')
    assert grade(code, [test], function_name=['CONFIG', 'load', 'C']).kind == 'assertion_failure'


@pytest.mark.parametrize('name', ['Abort', 'Mine'])
def test_an_exception_of_the_name_of_a_tests_own_is_another(name):
    code = f'def run(f): raise type("{name}", (Exception,), {{}})()'
    test = f'class {name}(Exception): pass\ndef g(): raise {name}\ntry: run(g)\nexcept {name}: pass'
    assert not grade(code, [test], function_name='run').passed


@pytest.mark.parametrize('code, test', [
    ('class A:\n    def __iter__(self): return iter([])',
     'from collections.abc import Reversible\nassert isinstance(A(), Reversible)'),
    ('class dict: pass\nclass C(dict): pass', 'assert issubclass(C, dict)'),
    ('class ValueError(Exception): pass\nclass C(ValueError): pass', 'assert issubclass(C, ValueError)')])
def test_a_class_is_known_by_itself_not_by_its_name(code, test):
    assert not grade(code, [test], function_name=['A', 'C']).passed


def test_a_script_may_read_large_containers_often():
    code = ('class W:\n    def __init__(self): self.xs, self.ps = list(range(20_000)), [P(i) for i in range(1000)]\n'
            '    def at(self, i): return self.xs[i]\nclass P:\n    def __init__(self, i): self.i = i')
    test = 'w = W()\nassert w.xs[5] == 5\nfor i, p in enumerate(w.ps): assert p.i == i == w.at(i)'
    o = grade(code, [test], function_name=['W', 'P'], limits=Limits(cpu_seconds=5, wall_seconds=60))
    assert o.passed, o   # By sending the whole list each time it would take longer
    code = 'TABLE = list(range(20_000))\ndef f(i): return TABLE[i]'
    test, limits = 'for i in range(1000): assert f(i) == TABLE[i]', Limits(cpu_seconds=5, wall_seconds=60)
    assert grade(code, [test], function_name=['f', 'TABLE'], limits=limits).passed


@pytest.mark.parametrize('code, test', [
    ('class A:\n    def __init__(self): self.__x = 1',
     'import unittest\nclass T(unittest.TestCase):\n    def test_x(self):\n'
     '        a = A()\n        with self.assertRaises(AttributeError): a.__x'),
    ('def f(x): return x + 1', 'assert f.__call__(2) == 3'),
    ('class R:\n    def id(self, x): return x\n    def dir(self, x): return x', 'assert R().id(R().dir(3)) == 3'),
    ('class M:\n    @staticmethod\n    def gcd(a, b): return 2', 'assert M.gcd(4, 6) == M.gcd(6, 4)'),
    ('import contextlib\n@contextlib.contextmanager\ndef f(x): yield sum(x)',
     'x = [1, 2]\nwith f(x) as y: assert y == 3'),
    ('names = []\ndef register(c): names.append(c.__name__); return c\ndef known(): return names',
     '@register\nclass Plugin: pass\nassert known() == ["Plugin"]')])
def test_what_looks_inside_or_decorates_only_seemingly_passes(code, test):
    o = grade(code, [test], function_name=names_of(code))
    assert o.passed, o


OTHERS = ("import json, queue\nfrom json import JSONDecodeError\nfrom queue import Empty\nclass Err(Exception): pass\n"
          "Bad = Err\nclass Odd(Exception): __module__ = 'other.errors'\n"
          "def f(x):\n    if x == 0: json.loads('{')\n    raise (Err, Odd, Empty)[x - 1]")


@pytest.mark.parametrize('n, name', [(0, 'JSONDecodeError'), (1, 'Bad'), (1, 'Err'), (2, 'Odd'), (3, 'Empty')])
@pytest.mark.parametrize('stated', [(), ('f', 'JSONDecodeError', 'Bad', 'Err', 'Odd', 'Empty')])
def test_an_exception_is_caught_by_each_name_that_the_program_has_for_it(n, name, stated):
    test = f'ok = False\ntry: f({n})\nexcept {name}: ok = True\nassert ok'
    assert grade(OTHERS, [test, f'from candidate import f, {name}\n{test}'], function_name=stated).passed


CALLED = {   # Values that are plain data and can be called, functions in named tuples -> tests of them
    'from enum import Enum\nclass Op(str, Enum):\n    ADD = "+"\n    def __call__(self, a, b): return a + b': [
        'assert Op.ADD == "+"', 'assert Op.ADD(1, 2) == 3', 'assert callable(Op("+")) and Op("+") == "+"'],
    'class Poly(tuple):\n    def __call__(self, x): return sum(c * x ** i for i, c in enumerate(self))\n'
    'def make(*c): return Poly(c)': ['p = make(1, 2)\nassert p(3) == 7\nassert p == (1, 2) and isinstance(p, Poly)'],
    'class Rate(float):\n    def __call__(self, x): return x * self\ndef make(x): return Rate(x)': [
        'assert make(2)(5) == 10', 'assert make(2) == 2.0 and sorted([make(2), 1]) == [1, 2]'],
    'from typing import Callable, NamedTuple\nclass Op(NamedTuple):\n    name: str\n    fn: Callable\n'
    'def make(): return Op("add", lambda a, b: a + b)': ['assert make().fn(1, 2) == 3', 'assert make().name == "add"'],
    'from collections import namedtuple\nField = namedtuple("Field", "name type")\n'
    'def make(): return Field("a", int)': ['assert make().type == int', 'assert make().type("5") == 5'],
    'from typing import NamedTuple\nclass Op(NamedTuple):\n    a: int\n    def __call__(self, x): return x + self.a\n'
    'def make(): return Op(2)': ['assert make()(1) == 3'],
    'from collections import namedtuple\nWord = namedtuple("Word", "text count index of")\n'
    'def make(): return Word("a", 3, 0, 1)': ['assert make().count == 3 and (make().index, make().of) == (0, 1)'],
    'from collections import namedtuple\nclass Poly(tuple):\n    def __call__(self, x): return 0\n'
    'Nothing = namedtuple("Nothing", "")\ndef make(*c): return Poly(c) if c == () else Nothing()': [
        'assert make() == ()', 'assert isinstance(make(1), Nothing) and str(make(1)) == "Nothing()"']}


@pytest.mark.parametrize('code', CALLED)
def test_values_with_more_than_their_data_can_be_called(code):
    o = grade(code, CALLED[code], function_name=['make', 'Op', 'Poly', 'Nothing'])
    assert o.passed, o
