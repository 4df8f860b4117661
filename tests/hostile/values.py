"Results that break a reader: endless, cyclic, gigantic, or with hostile methods. All of them are wrong."
from .case import Case, ENDED, SHORT, TESTS, WRONG

BIG = (*WRONG, 'memory_limit', 'timeout', 'crash')
LISTED = ('assert list(f(3)) == [4]',)

def wrong(name, text, kinds=WRONG, tests=TESTS, **k): return Case(name, text, tests, kinds, **k)
def cls(name, body, kinds=WRONG, tests=TESTS, base='', **k):
    return Case(name,
                f'class H{base}:\n' + ''.join(f'    {row}\n' for row in body.splitlines()) + 'def f(x): return H()',
                tests, kinds, **k)

METHODS = '''eq ne lt le gt ge hash bool len iter repr str add sub getitem contains call format index int
float'''.split()

CASES = [
    wrong('list-deep', 'def f(x):\n    y = []\n    for _ in range(10**5): y = [y]\n    return y', BIG),
    wrong('dict-deep', 'def f(x):\n    y = {}\n    for _ in range(10**5): y = {0: y}\n    return y', BIG),
    wrong('tuple-deep', 'def f(x):\n    y = ()\n    for _ in range(10**5): y = (y,)\n    return y', BIG),
    wrong('frozenset-deep', 'def f(x):\n    y = frozenset()\n    for _ in range(500): y = frozenset([y])\n    return y',
          BIG),
    wrong('list-cyclic', 'def f(x):\n    y = []\n    y.append(y)\n    return y'),
    wrong('dict-cyclic', 'def f(x):\n    y = {}\n    y["k"] = [y]\n    return y'),
    wrong('lists-cyclic-in-pairs', 'def f(x):\n    a, b = [], []\n    a.append(b); b.append(a)\n    return (a, b)'),
    wrong('lists-that-double', 'def f(x):\n    y = []\n    for _ in range(60): y = [y, y]\n    return y', BIG,
          limits=SHORT),
    wrong('dicts-that-double', 'def f(x):\n    y = 0\n    for _ in range(60): y = {1: y, 2: y}\n    return y', BIG,
          limits=SHORT),
    wrong('list-gigantic', 'def f(x): return [0] * 10**7', BIG),
    wrong('list-of-strings-shared', 'def f(x): return ["x" * 10**6] * 10**4', BIG),
    wrong('str-gigantic', 'def f(x): return "\\x00" * 3 * 10**7', BIG),
    wrong('bytes-gigantic', 'def f(x): return bytes(3 * 10**7)', BIG),
    wrong('int-gigantic', 'def f(x): return 1 << 10**8', BIG),
    wrong('int-negative-gigantic', 'def f(x): return -(7 << 10**7)', BIG),
    wrong('ints-large-and-many', 'def f(x): return [1 << 5000] * 10**4', BIG),
    wrong('range-gigantic', 'def f(x): return range(10**30)', BIG,
          ('assert list(f(3)) == [4]', 'assert sum(f(3)) == 4'), limits=SHORT),
    wrong('range-searched', 'class N:\n    def __eq__(self, o): return False\ndef f(x): return range(10**18)', BIG,
          ('assert 4.5 in f(3)',), limits=SHORT),
    wrong('decimal-gigantic', 'from decimal import Decimal\ndef f(x): return Decimal("1e999999")', BIG,
          ('assert int(f(3)) == 4',), limits=SHORT),
    wrong('fraction-gigantic', 'from fractions import Fraction\ndef f(x): return Fraction(1 << 10**6, 3)', BIG),
    wrong('generator-endless', 'def f(x):\n    while True: yield 0', BIG, LISTED, limits=SHORT),
    wrong('generator-endless-compared', 'def f(x):\n    while True: yield 0'),
    wrong('generator-stuck', 'def f(x):\n    while True: pass\n    yield', BIG, LISTED, limits=SHORT),
    wrong('generator-of-always-equals', 'class E:\n    __eq__ = lambda *a: True\ndef f(x):\n    while True: yield E()',
          BIG, ('assert next(f(3)) == 4',)),
    wrong('iterator-endless', 'import itertools\ndef f(x): return itertools.repeat(0)', BIG,
          ('assert sorted(f(3)) == [4]',), limits=SHORT),
    wrong('iterator-never-equal', 'import itertools\ndef f(x): return itertools.count(9)', BIG, ('assert 4 in f(3)',),
          limits=SHORT),
    wrong('map-that-exits', 'import os\ndef f(x): return map(os._exit, [0])', ('early_exit',), LISTED),
    wrong('nan', 'def f(x): return float("nan")', ('assertion_failure',)),
    wrong('nan-in-list', 'def f(x): return [float("nan")]', ('assertion_failure',), ('assert f(3) == [4.0]',)),
    wrong('infinity', 'def f(x): return float("inf")', ('assertion_failure',),
          ('assert abs(f(3) - 4) < 1e9', 'assert f(3) <= 4')),
    wrong('nan-keys', 'def f(x): return {float("nan"): n for n in range(99)}', ('assertion_failure',)),
    wrong('dict-of-odd-keys', 'def f(x): return {(): 1, frozenset(): 2, b"": 3, None: 4, 1j: 5, print: 6, f: 7}'),
    wrong('dict-that-changes-in-iteration',
          'class K:\n'
          '    def __hash__(self): d.clear(); return 1\n'
          '    def __eq__(self, o): d.clear(); return True\n'
          'd = {}\n'
          'def f(x):\n'
          '    d[K()] = d\n'
          '    return d',
          (*WRONG, *ENDED)),
    wrong('list-changed-by-a-thread',
          'import threading\n'
          'y = [0] * 10**5\n'
          'def churn():\n'
          '    while True: y.clear(); y.extend([0] * 10**5)\n'
          'threading.Thread(target=churn, daemon=True).start()\n'
          'def f(x): return y',
          BIG),
    wrong('coroutine', 'async def f(x): return x'),
    wrong('lambda', 'def f(x): return lambda: x'),
    wrong('class', 'def f(x): return int'),
    wrong('lambda-chain',
          'def f(x):\n    g = lambda: x\n    for _ in range(10**4): g = (lambda g: lambda: g())(g)\n    return g', BIG,
          ('assert f(3)() == 4',)),
    wrong('module', 'import os\ndef f(x): return os'),
    wrong('frame', 'import sys\ndef f(x): return sys._getframe()'),
    wrong('code', 'def f(x): return f.__code__'),
    wrong('globals-themselves', 'def f(x): return globals()'),
    wrong('builtins-themselves', 'def f(x): return __builtins__'),
    wrong('memoryview', 'def f(x): return memoryview(bytearray(4))'),
    wrong('memoryview-released', 'def f(x):\n    m = memoryview(b"abcd")\n    m.release()\n    return m'),
    wrong('file', 'def f(x): return open(0)', (*WRONG, *ENDED)),
    wrong('weakref', 'import weakref\nclass T: pass\ndef f(x): return weakref.ref(T())'),
    wrong('weak-proxy-dead', 'import weakref\nclass T: pass\ndef f(x): return weakref.proxy(T())'),
    wrong('exception-returned', 'def f(x): return AssertionError(x)'),
    wrong('exception-class-returned', 'def f(x): return SystemExit'),
    wrong('notimplemented', 'def f(x): return NotImplemented'),
    wrong('ellipsis', 'def f(x): return ...'),
    wrong('type-object', 'def f(x): return object()'),
    wrong('generic-alias', 'def f(x): return list[int]'),
    wrong('slice', 'def f(x): return slice(x)'),
    wrong('mappingproxy', 'import types\ndef f(x): return types.MappingProxyType({4.5: x})'),
    wrong('super-object', 'class A:\n    def g(self): return super()\ndef f(x): return A().g()'),
    wrong('lock', 'import threading\ndef f(x): return threading.Lock()'),
    wrong('uninitialised', 'def f(x): return object.__new__(type("T", (), {"__slots__": ("a",)}))'),
    wrong('array', 'import array\ndef f(x): return array.array("i", [x])'),
    wrong('datetime-with-hostile-zone',
          'import datetime\n'
          'class Z(datetime.tzinfo):\n'
          '    def utcoffset(self, d): raise SystemExit(0)\n'
          '    dst = tzname = utcoffset\n'
          'def f(x): return datetime.datetime(2000, 1, 1, tzinfo=Z())',
          (*WRONG, 'early_exit')),
    wrong('defaultdict-with-hostile-factory',
          'import os\nfrom collections import defaultdict\ndef f(x): return defaultdict(lambda: os._exit(0))',
          (*WRONG, 'early_exit'), ('assert f(3)["k"] == 4',)),
    cls('reduce-that-exits',
        'def __reduce__(self): import os; os._exit(0)\n__reduce_ex__ = lambda s, p: s.__reduce__()'),
    cls('reduce-bomb', 'def __reduce__(self): return (bytes, (10**10,))\ndef __getstate__(self): return H()'),
    cls('repr-that-never-ends', 'def __repr__(self):\n    while True: pass\n__str__ = __format__ = __repr__',
        (*WRONG, 'timeout'), limits=SHORT),
    cls('repr-that-is-huge', 'def __repr__(self): return "x" * 10**9\n__str__ = __repr__', BIG),
    cls('repr-that-recurs', 'def __repr__(self): return repr(self)\n__str__ = __repr__', (*WRONG, 'crash'),
        ('assert str(f(3)) == "4"',)),
    cls('len-negative', 'def __len__(self): return -1', tests=('assert len(f(3)) == 4', 'assert f(3) == 4')),
    cls('len-huge', 'def __len__(self): return 10**30', tests=('assert len(f(3)) == 4',)),
    cls('len-of-list-lies', 'def __len__(self): return 10**18\ndef __iter__(self): return iter([9] * 3)',
        tests=('assert f(3) == [4]', 'assert list(f(3)) == [4]'), base='(list)', kinds=(*WRONG, 'memory_limit')),
    cls('length-hint-huge',
        'def __iter__(self): return self\n'
        'def __next__(self): raise StopIteration\n'
        'def __length_hint__(self): return 10**15',
        tests=LISTED, kinds=(*WRONG, 'memory_limit')),
    cls('iter-that-exits', 'def __iter__(self): raise SystemExit(0)', (*WRONG, 'early_exit'), LISTED),
    cls('iter-is-itself', 'def __iter__(self): return self\n__next__ = lambda self: self', BIG, LISTED, limits=SHORT),
    cls('getitem-endless', 'def __getitem__(self, i): return i', BIG, LISTED, limits=SHORT),
    cls('hash-that-is-no-number', 'def __hash__(self): return "x"', tests=('assert f(3) in {4}',)),
    cls('bool-that-exits', 'def __bool__(self): raise SystemExit(0)', (*WRONG, 'early_exit'), ('assert not f(3)',)),
    cls('bool-that-is-no-bool', 'def __bool__(self): return 4', ('runtime_error', 'assertion_failure'),
        ('assert not f(3)', 'assert f(3) == 4')),
    cls('class-property-raises', '__class__ = property(lambda self: 1 / 0)'),
    cls('class-property-never-ends', '@property\ndef __class__(self):\n    while True: pass', (*WRONG, 'timeout'),
        limits=SHORT),
    cls('class-property-exits', '@property\ndef __class__(self): raise SystemExit(0)', (*WRONG, 'early_exit')),
    cls('getattribute-raises', 'def __getattribute__(self, n): raise SystemExit(0)', (*WRONG, 'early_exit')),
    cls('getattribute-exits', 'def __getattribute__(self, n): import os; os._exit(0)', (*WRONG, 'early_exit')),
    cls('index-lies', 'def __index__(self): return 10**9\n__int__ = __index__',
        tests=('assert [0, 1][f(3)] == 1', 'assert int(f(3)) == 4')),
    cls('every-method-raises', '\n'.join(f'def __{n}__(self, *a): raise KeyboardInterrupt' for n in METHODS),
        (*WRONG, 'early_exit')),
    *(cls(f'{base}-with-hostile-iteration',
          'def __iter__(self):\n'
          '    while True: yield 0\n'
          'def __len__(self): return 3\n'
          'def __getitem__(self, i): return 4.5\n'
          'items = keys = values = __iter__',
          BIG, ('assert list(f(3)) == [4]',), f'({base})', limits=SHORT)
      for base in ('list', 'tuple', 'dict', 'set', 'frozenset', 'str', 'bytes')),
    cls('int-with-hostile-arithmetic',
        '__pos__ = __add__ = __index__ = __int__ = __abs__ = lambda self, *a: H()\n__eq__ = lambda *a: True',
        base='(int)'),
    cls('float-with-hostile-arithmetic',
        '__pos__ = __float__ = __sub__ = __abs__ = lambda self, *a: 0.0\n__eq__ = lambda *a: True', base='(float)'),
    wrong('metaclass-that-bites',
          'class M(type):\n'
          '    def __getattribute__(c, n): raise SystemExit(0)\n'
          '    def __eq__(c, o): return True\n'
          '    def __hash__(c): raise SystemExit(0)\n'
          '    __instancecheck__ = __subclasscheck__ = __eq__\n'
          'class H(metaclass=M): pass\n'
          'def f(x): return H()',
          (*WRONG, 'early_exit')),
    wrong('mro-that-bites',
          'class M(type):\n    def mro(c): return [c, list, object]\nclass H(metaclass=M): pass\ndef f(x): return H()',
          (*WRONG, *ENDED)),
    wrong('class-reassigned-on-the-way',
          'class A:\n'
          '    def __eq__(self, o): self.__class__ = B; return True\n'
          'class B(A): pass\n'
          'def f(x): return [A()]',
          WRONG, ('assert f(3) == [4]',)),
    wrong('raises-always-equal-arguments',
          'class E:\n    __eq__ = lambda *a: True\ndef f(x): raise ValueError(E(), E())'),
    wrong('raises-objects-with-endless-text',
          'class R:\n'
          '    def __str__(self):\n'
          '        while True: pass\n'
          '    __repr__ = __str__\n'
          'kept = R()\n'
          'def f(x): raise KeyError(kept, [kept])',
          (*WRONG, 'timeout'), limits=SHORT),
    wrong('raises-group', 'def f(x): raise ExceptionGroup("g", [ValueError(x)])'),
    wrong('raises-base-group', 'def f(x): raise BaseExceptionGroup("g", [SystemExit(0)])', (*WRONG, 'early_exit')),
    wrong('raises-unicode-error', 'def f(x): return b"\\xff".decode()'),
    wrong('raises-names-of-builtins-falsely',
          'class E(Exception): pass\nE.__name__ = "StopIteration"\nclass object_: pass\ndef f(x): raise E', WRONG,
          ('assert all(map(lambda n: f(n) == n + 1, [3, 10]))',)),
    wrong('raises-stopasynciteration', 'def f(x): raise StopAsyncIteration'),
    wrong('raises-indexerror-as-an-end',
          'class H:\n    def __getitem__(self, i): raise IndexError\ndef f(x): return H()', WRONG,
          ('assert list(f(3)) == [4]',)),
    wrong('raises-gigantic-arguments', 'def f(x): raise ValueError([0] * 10**6, {n: n for n in range(10**4)})', BIG),
    wrong('raises-cyclic-arguments',
          'def f(x):\n    y = []\n    y.append(y)\n    e = ValueError(y)\n    e.__cause__ = e\n    raise e'),
    wrong('raises-assertionerror-subclass', 'class Passed(AssertionError): pass\ndef f(x): raise Passed'),
    wrong('raises-stopiteration-subclass', 'class Passed(StopIteration): value = 4.5\ndef f(x): raise Passed', WRONG,
          ('assert list(iter(lambda: f(3), 4)) == []', 'assert [f(n) for n in [3]] == [4]')),
    wrong('raises-stopiteration-inside-all', 'def f(x): raise StopIteration', WRONG,
          ('assert all(f(n) == n + 1 for n in [3, 10])',
           'assert all(map(lambda n: f(n) == n + 1, [3, 10])) and f(3) == 4')),
    wrong('raises-generatorexit-subclass', 'class G(GeneratorExit): pass\ndef f(x): raise G'),
    wrong('raises-keyboardinterrupt-subclass', 'class K(KeyboardInterrupt): pass\ndef f(x): raise K',
          (*WRONG, 'early_exit')),
    wrong('raises-systemexit-with-object',
          'class E:\n    __eq__ = lambda *a: True\n    __index__ = lambda self: 0\ndef f(x): raise SystemExit(E())',
          ('early_exit',)),
    wrong('raises-exception-without-init', 'class E(Exception):\n    def __new__(c, *a): raise c\ndef f(x): raise E',
          (*WRONG, 'crash')),
    wrong('raises-and-deletes-itself',
          'class E(Exception):\n'
          '    __class__ = property(lambda self: AssertionError)\n'
          '    __traceback__ = property(lambda self: 1 / 0)\n'
          'def f(x): raise E',
          (*WRONG, 'early_exit')),
    wrong('raises-what-the-test-expects-of-another', 'def f(x): raise ValueError',
          ('runtime_error', 'assertion_failure'), ('try: f(3)\nexcept KeyError: pass\nelse: raise AssertionError',)),
    wrong('argument-mutated', 'def f(x):\n    x.append(9)\n    return x', ('assertion_failure',),
          ('x = [3]\nassert f(x) == [3, 4] and x == [3]',)),
    wrong('argument-cleared', 'def f(x):\n    x.clear()\n    return x', ('assertion_failure',),
          ('x = [3]\nassert f(x) == [4]\nassert x',)),
    wrong('argument-made-cyclic', 'def f(x):\n    x.append(x)\n    return x', WRONG,
          ('x = [3]\nassert f(x) == [3, 4]',)),
    wrong('argument-filled-with-always-equals',
          'class E:\n    __eq__ = lambda *a: True\ndef f(x):\n    x[:] = [E()] * 3\n    return x', WRONG,
          ('x = [2, 1]\nf(x)\nassert x == [1, 2]', 'x = [3, 1, 2]\nassert f(x) == [1, 2, 3]')),
    wrong('default-argument-grows', 'def f(x, seen=[]):\n    seen.append(seen)\n    return seen'),
    wrong('f-is-a-number', 'f = 4.5', ('runtime_error',)), wrong('f-is-missing', 'g = 4.5', ('runtime_error',)),
    wrong('f-is-a-hostile-callable',
          'class F:\n'
          '    def __call__(self, x): return self\n'
          '    def __getattr__(self, n): raise SystemExit(0)\n'
          '    def __eq__(self, o): return True\n'
          'f = F()',
          (*WRONG, 'early_exit')),
    wrong('f-calls-itself-through-results',
          'class R:\n'
          '    def __init__(self, x): self.x = x\n'
          '    def __call__(self, *a): return R(self)\n'
          '    def __getattr__(self, n): return R(self)\n'
          'f = R',
          (*WRONG, 'timeout'), ('assert f(3)()().a.b() == 4',)),
    wrong('handles-by-the-million', 'def f(x): return [object() for _ in range(10**6)]', BIG),
]
