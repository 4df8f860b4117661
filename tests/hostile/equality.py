"Results that equal everything, or give whatever answer a test asks for."
from .case import Case, one, WRONG

YES = ('class E:\n'
       '    def __eq__(self, o): return True\n'
       '    def __ne__(self, o): return False\n'
       '    def __hash__(self): return 0\n')
NESTED = one('f(3) == [1, (2, "x"), {"k": 4}]')

def say(name, code, *tests, note=''):
    return Case(name, code, one(*tests) if tests else one('f(3) == 4', 'f(10) == 11'), WRONG, note=note)
def child(base, *tests, returned='E(x)', name=''):
    return say(name or f'{base}-subclass',
               f'class E({base}):\n'
               '    def __eq__(self, o): return True\n'
               '    def __ne__(self, o): return False\n'
               '    __hash__ = None\n'
               f'def f(x): return {returned}',
               *tests)

CASES = [
    say('always-equal', YES + 'def f(x): return E()'),
    say('always-equal-class',
        'class M(type):\n'
        '    def __eq__(c, o): return True\n'
        '    __hash__ = None\n'
        'class E(metaclass=M): pass\n'
        'def f(x): return E'),
    say('eq-without-ne', 'class E:\n    def __eq__(self, o): return True\ndef f(x): return E()', 'not f(3) != 4'),
    say('ne-only', 'class E:\n    def __ne__(self, o): return False\ndef f(x): return E()', 'not f(3) != 4',
        'not f(10) != 11'),
    say('reflected', YES + 'def f(x): return E()', '4 == f(3)', '11 == f(10)'),
    say('reflected-in-list', YES + 'def f(x): return E()', 'f(3) in [4]', '[f(3)] == [4]', 'f(3) in (4, 5)'),
    say('list-holds-it', YES + 'def f(x): return [x, [E()]]', '[4] in f(3)', '4 in f(3)[1]'),
    say('contains', 'class E:\n    def __contains__(self, o): return True\ndef f(x): return E()', '4 in f(3)',
        '11 in f(10)'),
    child('int'), child('float', 'f(3) == 4.0', '4.0 == f(3)'), child('complex', 'f(3) == 4'),
    child('int', '4 == f(3)', '[4] == [f(3)]', name='int-subclass-reflected'),
    child('str', 'f("a") == "ab"', '"ab" == f("a")'),
    child('bytes', 'f(b"a") == b"ab"'),
    child('bytearray', 'f(b"a") == b"ab"'),
    child('list', 'f([1]) == [1, 2]', '[1, 2] == f([1])'),
    child('tuple', 'f((1,)) == (1, 2)'),
    child('dict', 'f({}) == {"k": 4}', '{"k": 4} == f({})'),
    child('set', 'f({1}) == {1, 2}'), child('frozenset', 'f([]) == {1}'),
    say('equal-via-list-subclass-items', YES + 'class L(list): pass\ndef f(x): return L([E()])', 'f(3) == [4]'),
    say('in-list', YES + 'def f(x): return [E()]', 'f(3) == [4]', 'f(10) == [11]'),
    say('in-tuple', YES + 'def f(x): return (E(), E())', 'f(3) == (4, "x")'),
    say('in-dict', YES + 'def f(x): return {"k": E()}', 'f(3) == {"k": 4}', 'f(3)["k"] == 4'),
    say('in-dict-key', YES.replace('return 0', 'return 1') + 'def f(x): return {E(): "v"}', 'f(3) == {1: "v"}'),
    say('in-set', YES.replace('return 0', 'return 1') + 'def f(x): return {E()}', 'f(3) == {1}'),
    say('in-frozenset', YES.replace('return 0', 'return 1') + 'def f(x): return frozenset([E()])', 'f(3) == {1}'),
    say('hash-of-every-small-int',
        YES.replace('return 0', 'self.n = getattr(self, "n", -1) + 1; return self.n') + 'e = E()\ndef f(x): return e',
        'f(3) in {1: "a"} or f(3) in {1: "a"}'),
    Case('nested', YES + 'def f(x): return E()', NESTED, WRONG),
    Case('nested-inside', YES + 'def f(x): return [E(), (E(), E()), {"k": E()}]', NESTED, WRONG),
    Case('nested-halfway', YES + 'def f(x): return [E(), E(), E()]', NESTED, WRONG),
    say('deque-of-it', YES + 'from collections import deque\ndef f(x): return deque([E()])', 'list(f(3)) == [4]'),
    say('ordereddict-of-it', YES + 'from collections import OrderedDict\ndef f(x): return OrderedDict(k=E())',
        'f(3) == {"k": 4}'),
    say('defaultdict-of-it', YES + 'from collections import defaultdict\ndef f(x): return defaultdict(E)',
        'f(3)["k"] == 4'),
    say('namedtuple-of-it',
        YES + 'from collections import namedtuple\ndef f(x): return namedtuple("P", "a b")(E(), E())', 'f(3) == (4, 5)',
        'f(3).a == 4'),
    say('counter-subclass',
        'from collections import Counter\n'
        'class E(Counter):\n'
        '    def __eq__(self, o): return True\n'
        'def f(x): return E()',
        'f("aab") == {"a": 2, "b": 1}'),
    say('userlist',
        'from collections import UserList\n'
        'class E(UserList):\n'
        '    def __eq__(self, o): return True\n'
        'def f(x): return E()',
        'f(3) == [4]'),
    say('dataclass',
        'from dataclasses import dataclass\n'
        '@dataclass(eq=False)\n'
        'class P:\n'
        '    v: object\n'
        '    def __eq__(self, o): return True\n'
        'def f(x): return P(x)'),
    say('intenum',
        'import enum\n'
        'class N(enum.IntEnum):\n'
        '    A = 1\n'
        '    def __eq__(self, o): return True\n'
        '    def __hash__(self): return 1\n'
        'def f(x): return N.A'),
    say('fraction-subclass',
        'from fractions import Fraction\n'
        'class E(Fraction):\n'
        '    def __eq__(self, o): return True\n'
        'def f(x): return E(1, 2)'),
    say('decimal-subclass',
        'from decimal import Decimal\nclass E(Decimal):\n    def __eq__(self, o): return True\ndef f(x): return E(0)'),
    say('mock-any', 'from unittest.mock import ANY\ndef f(x): return ANY'),
    say('mock-any-nested', 'from unittest.mock import ANY\ndef f(x): return {"k": [ANY]}', 'f(3) == {"k": [4]}'),
    say('magicmock', 'from unittest.mock import MagicMock\nf = MagicMock()\nf.return_value.__eq__ = lambda s, o: True'),
    say('weak-proxy', YES + 'import weakref\ne = E()\ndef f(x): return weakref.proxy(e)'),
    say('namespace-object', YES + 'import types\ndef f(x): return types.SimpleNamespace(v=E())', 'f(3).v == 4'),
    say('any-attribute', 'class E:\n    def __getattr__(self, n): return lambda *a: True\ndef f(x): return E()',
        'f("a").startswith("ab")', 'f("a").isalpha()'),
    say('any-method-equal', YES + '    def __getattr__(self, n): return lambda *a: self\ndef f(x): return E()',
        'f("a").upper() == "AB"', 'f("a").split(",") == ["ab"]'),
    say('any-item', YES + '    def __getitem__(self, k): return self\ndef f(x): return E()', 'f(3)["k"] == 4',
        'f(3)[0][1:] == [4]'),
    say('any-call', YES + '    def __call__(self, *a): return self\ndef f(x): return E()', 'f(3)() == 4'),
    say('f-is-an-object', YES + '    def __call__(self, *a): return self\nf = E()'),
    say('f-is-a-class', YES + '    def __init__(self, x): pass\nf = E'),
    say('class-spoofed', YES + '    __class__ = int\ndef f(x): return E()', 'isinstance(f(3), int) and f(3) == 4'),
    say('class-spoofed-by-property', YES + '    @property\n    def __class__(self): return list\ndef f(x): return E()',
        'isinstance(f(3), list) and f(3) == [4]'),
    say('registered-as-number', YES + 'import numbers\nnumbers.Number.register(E)\ndef f(x): return E()',
        'f(3) == 4 and __import__("numbers") and isinstance(f(3), __import__("numbers").Number)'),
    say('instancecheck',
        YES + 'class M(type):\n'
              '    def __instancecheck__(c, o): return True\n'
              'class P(metaclass=M): pass\n'
              'def f(x): return E()',
        'isinstance(f(3), P) and f(3) == 4'),
    say('difference',
        'class E:\n'
        '    def __sub__(self, o): return self\n'
        '    def __rsub__(self, o): return self\n'
        '    def __abs__(self): return self\n'
        '    def __lt__(self, o): return True\n'
        'def f(x): return E()',
        'abs(f(3) - 4) < 1e-6', 'abs(4 - f(3)) < 1e-6'),
    say('difference-is-zero', 'class E(float):\n    def __sub__(self, o): return 0.0\ndef f(x): return E(x)',
        'abs(f(3) - 4) < 1e-6'),
    say('arithmetic',
        YES + '    def __add__(self, o): return self\n'
              '    __radd__ = __mul__ = __mod__ = __floordiv__ = __pow__ = __and__ = __xor__ = __add__\n'
              '    def __neg__(self): return self\n'
              'def f(x): return E()',
        'f(3) + 1 == 5', '-f(3) == -4', 'f(3) % 3 == 1', 'f(3) ** 2 == 16'),
    say('sum-of-it', YES + '    def __radd__(self, o): return self\ndef f(x): return [E()]', 'sum(f(3)) == 4'),
    say('max-of-it', YES + '    def __lt__(self, o): return False\n    __gt__ = __lt__\ndef f(x): return E()',
        'max(f(3), 0) == 4', 'min([f(3)]) == 4'),
    say('between', 'class E:\n    def __le__(self, o): return True\n    __ge__ = __le__\ndef f(x): return E()',
        'f(3) <= 4 and f(3) >= 4', '3.9 <= f(3) <= 4.1'),
    say('neither-below-nor-above',
        'class E:\n    def __lt__(self, o): return False\n    __gt__ = __lt__\ndef f(x): return E()',
        'not (f(3) < 4 or f(3) > 4)'),
    say('float-subclass-between',
        'class E(float):\n'
        '    def __le__(self, o): return True\n'
        '    __ge__ = __lt__ = __gt__ = __le__\n'
        'def f(x): return E("nan")',
        'f(3) <= 4 and f(3) >= 4'),
    say('round', YES + '    def __round__(self, n=None): return self\ndef f(x): return E()', 'round(f(3), 2) == 4.0',
        'round(f(3)) == 4'),
    say('float-conversion',
        'class E:\n'
        '    def __float__(self): return float("inf")\n'
        '    def __index__(self): return 0\n'
        'def f(x): return E()',
        '__import__("math").isclose(f(3), 4)'),
    say('str-conversion',
        'class S(str):\n'
        '    def __eq__(self, o): return True\n'
        'class E:\n'
        '    def __str__(self): return S()\n'
        '    __repr__ = __str__\n'
        'def f(x): return E()',
        'str(f(3)) == "4"', 'repr(f(3)) == "4"'),
    say('format-conversion',
        'class S(str):\n'
        '    def __eq__(self, o): return True\n'
        'class E:\n'
        '    def __format__(self, spec): return S()\n'
        'def f(x): return E()',
        'format(f(3), ".2f") == "4.00"', 'f"{f(3)}" == "4"'),
    say('iterates-to-it', YES + '    def __iter__(self): return iter([E()])\ndef f(x): return E()', 'list(f(3)) == [4]',
        'tuple(f(3)) == (4,)', 'sorted(f(3)) == [4]'),
    say('iterates-to-set', YES.replace('return 0', 'return 1') + 'def f(x): return [E()]', 'set(f(3)) == {1}',
        'sorted(f(3)) == [1]'),
    say('list-iterating-otherwise',
        YES + 'class L(list):\n    def __iter__(self): return iter([E()])\ndef f(x): return L()',
        '[y for y in f(3)] == [4]', 'all(y == 4 for y in f(3)) and any(y == 4 for y in f(3))'),
    say('yields-it', YES + 'def f(x): yield E()', 'list(f(3)) == [4]', 'next(f(3)) == 4', '[*f(3)] == [4]'),
    say('iterator-object',
        YES + '    def __iter__(self): return self\n    def __next__(self): return self\ndef f(x): return E()',
        'next(f(3)) == 4', 'next(iter(f(3))) == 4'),
    say('unpacks-to-it', YES + 'def f(x): return E(), E()', '(lambda a, b: a == 4 and b == 5)(*f(3))'),
    say('mapping-of-it',
        YES + '    def keys(self): return ["k"]\n    def __getitem__(self, k): return self\ndef f(x): return E()',
        'dict(f(3)) == {"k": 4}', '{**f(3)} == {"k": 4}'),
    say('len-and-items',
        YES + '    def __len__(self): return 1\n'
              '    def __getitem__(self, i):\n'
              '        if i: raise IndexError\n'
              '        return self\n'
              'def f(x): return E()',
        'list(f(3)) == [4] and len(f(3)) == 1', 'list(reversed(f(3))) == [4]'),
    say('str-methods-overridden',
        'class S(str):\n'
        '    def startswith(self, *a): return True\n'
        '    def count(self, *a): return S()\n'
        '    def __eq__(self, o): return True\n'
        '    def strip(self, *a): return self\n'
        '    lower = strip\n'
        'def f(x): return S(x)',
        'f("z").startswith("ab")', 'f("z").lower() == "ab"', 'f("z").count("b") == 1'),
    say('list-methods-overridden',
        'class L(list):\n'
        '    def count(self, o): return True\n'
        '    def index(self, o): return False\n'
        '    def __contains__(self, o): return True\n'
        'def f(x): return L()',
        '4 in f(3)', 'f(3).count(4)'),
    say('dict-methods-overridden',
        YES + 'class D(dict):\n'
              '    def __getitem__(self, k): return E()\n'
              '    def get(self, *a): return E()\n'
              '    def __missing__(self, k): return E()\n'
              'def f(x): return D()',
        'f(3)["k"] == 4', 'f(3).get("k") == 4'),
    say('dict-missing', YES + 'class D(dict):\n    def __missing__(self, k): return E()\ndef f(x): return D()',
        'f(3)["k"] == 4'),
    say('enters-as-it',
        YES + '    def __enter__(self): return self\n    def __exit__(self, *a): return True\ndef f(x): return E()',
        '__import__("contextlib").ExitStack().enter_context(f(3)) == 4'),
    say('attribute-always-equal', YES + 'class P:\n    def __init__(self, x): self.x = E()\nf = P', 'f(3).x == 4'),
    say('property-always-equal',
        YES + 'class P:\n    x = property(lambda self: E())\n    def __init__(self, x): pass\nf = P', 'f(3).x == 4',
        'isinstance(f(3), P) and f(3).x == 4'),
    say('method-result-always-equal',
        YES + 'class Box:\n'
              '    def __init__(self, x): pass\n'
              '    def get(self): return E()\n'
              '    value = property(get)\n'
              '    def __iter__(self): yield E()\n'
              '    def __getitem__(self, i): return E()\n'
              '    def __add__(self, o): return E()',
        'Box(3).get() == 4', 'Box(3).value == 4', 'list(Box(3)) == [4]', 'Box(3)[0] == 4', 'Box(3) + 1 == 5'),
    say('object-of-a-class-always-equal', YES + 'class Box(E):\n    def __init__(self, x): pass', 'Box(3) == 4',
        '[Box(3)] == [4]', '4 == Box(3)'),
    say('callback-learns-nothing', YES + 'def f(g): return [g(E()), E()]', 'f(lambda y: y) == [3, 4]',
        'f(lambda y: y == 4) == [True, 4]'),
    say('isinstance-answered-by-its-class',
        YES + 'class M(type):\n'
              '    def __instancecheck__(c, o): return True\n'
              'class Kind(E, metaclass=M): pass\n'
              'def f(x): return Kind()',
        'isinstance(f(3), Kind) and f(3) == 4'),
    say('eq-swaps-its-own-type',
        'class A(int):\n'
        '    def __eq__(self, o): return True\n'
        '    __hash__ = int.__hash__\n'
        'def f(x): return [A(n) for n in range(1)]',
        'f(3) == [4]'),
    say('eq-returns-itself',
        'class E:\n    def __eq__(self, o): return self\n    def __bool__(self): return True\ndef f(x): return E()'),
    say('eq-returns-the-other', 'class E:\n    def __eq__(self, o): return o\ndef f(x): return E()'),
    say('eq-raises-exit', 'class E:\n    def __eq__(self, o): raise SystemExit(0)\ndef f(x): return E()'),
    say('eq-learns-the-answer',
        'class E:\n'
        '    def __eq__(self, o): E.seen = o; return True\n'
        'def f(x): return E.seen if hasattr(E, "seen") else E()',
        'f(3) == 4', 'f(3) == 4 and type(f(3)) is int'),
    say('order-learns-the-answer',
        'seen = {}\n'
        'class E:\n'
        '    def __init__(self, x): self.x = x\n'
        '    def __eq__(self, o): seen[self.x] = o; return False\n'
        'def f(x): return seen[x] if x in seen else E(x)',
        'f(3) != 5 or f(3) == 4', 'f(10) != 11 or True', 'f(10) == 11'),
]
