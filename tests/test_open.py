"What the page of open matters lists is still so: a row that no longer holds has to be taken from the page."
import pytest
from in_python import passes
from structure import ROOT

from adversarial_rl.grader.grading import grade

PAGE = (ROOT/'nbs'/'03_grader'/'01_threats.ipynb').read_text()
BOX = 'class Box:\n    def __init__(self, x): self.x = x\n    def __eq__(self, other): return self.x == other.x\n'
MAKE = BOX + 'def make(): return Box(1)'
# What the page says -> program, test, entry points if they are stated, whether plain Python passes it
WRONG = {
    'that calls `Counter` without its import': (
        'def Counter(x): return {"a": 2}', 'assert Counter("aab") == {"a": 2}', None, True),
    'the program can replace what the script wrote': (
        'def f(path):\n    open(path, "w").write("7")\n    return "7"',
        'open("want", "w").write("3")\ngot = f("want")\nassert got == open("want").read()', 'f', True),
    'takes both from the program': (
        'class P:\n    @staticmethod\n    def best(): return 0\ndef f(x): return 0',
        'assert f(1) == P.best()', ['f', 'P'], True),
    'computes from an argument after the call': (
        'def f(a):\n    a.clear()\n    return []', 'a = [3, 1, 2]\nassert f(a) == sorted(a)', 'f', True),
    'or that only prints, passes for each answer': (
        'def f(x): return 0', 'try:\n    assert f(1) == 2\nexcept AssertionError: print("no")', 'f', True),
}
STRICT = {
    'where their class defines it': (MAKE, 'assert make() == make()', 'make'),
    'a method of a returned object': (
        'class C:\n    def count(self): return 1\ndef make(): return C()', 'assert make().count() == 1', 'make'),
    'members of an `Enum`': (
        'import enum\nclass C(enum.Enum): A = 1\ndef f(): return C.A', 'assert f() == C.A', ['f', 'C']),
    'an assert in a function that the program calls': (
        'def f(g):\n    try: return g(1)\n    except Exception: return 0',
        'def g(x): assert x == 2\nassert f(g) == 0', 'f'),
    '`StopIteration`': (
        'def f(): raise StopIteration', 'try: f()\nexcept StopIteration: pass\nelse: assert False', 'f'),
    'whose `__new__` returns an object made before': (
        'class C:\n    one = None\n    def __new__(cls):\n        cls.one = cls.one or super().__new__(cls)\n'
        '        return cls.one', 'a, b = C(), C()\nassert a is b', ['C']),
    'coroutines that a test awaits': (
        'async def f(x): return x + 1', 'import asyncio\nassert asyncio.run(f(1)) == 2', 'f'),
    '`asdict`, `replace` and `fields`': (
        'from dataclasses import dataclass\n@dataclass\nclass P: x: int',
        'from dataclasses import asdict\nassert asdict(P(1)) == {"x": 1}', ['P']),
    '`inspect.signature`': (
        'def f(a): return a', 'import inspect\nassert list(inspect.signature(f).parameters) == ["a"]', 'f'),
    'with `types.GeneratorType`': (
        'def f(): yield 1', 'import types\nassert isinstance(f(), types.GeneratorType)', 'f'),
    '`__notes__`': (
        'def f():\n    e = ValueError(1)\n    e.add_note("n")\n    raise e',
        'try: f()\nexcept ValueError as e: assert e.__notes__ == ["n"]\nelse: assert 0', 'f'),
    'whose factory is the program': (
        'from collections import defaultdict\ndef f(): return defaultdict(lambda: 7)',
        'd = f()\nassert d["a"] == 7', 'f'),
    'named as one of Python': (
        'def make(xs): return xs\ndef search(xs, x): return x in xs', 't = make([1])\nassert search(t, 1)', None),
}


@pytest.mark.parametrize('says', WRONG)
def test_what_passes_and_should_not(says, tmp_path, monkeypatch):
    "A program that plain Python fails, or passes for a reason that its author did not mean."
    monkeypatch.chdir(tmp_path)
    code, test, names, in_python = WRONG[says]
    assert says in PAGE and passes(code, test) is in_python
    assert grade(code, [test], function_name=names or []).passed, 'no longer open'


@pytest.mark.parametrize('says', STRICT)
def test_what_fails_and_should_not(says):
    "A right program, with a test that it passes in plain Python."
    code, test, names = STRICT[says]
    assert says in PAGE and passes(code, test)
    outcome = grade(code, [test], function_name=names or [])
    assert outcome.judged and not outcome.passed, f'no longer open: {outcome}'
