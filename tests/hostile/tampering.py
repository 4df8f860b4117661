"Programs that change what a test depends on: its names, its modules, its interpreter."
from .case import Case, ENDED, one, TESTS, WRONG

BROKEN = (*WRONG, *ENDED)
CLOSE = one('abs(f(3) - 4) < 1e-6', 'abs(f(10) - 11) < 1e-6')
MATH = ('import math\nassert math.isclose(f(3), 4)', 'import math\nassert math.isclose(f(10), 11)')
CHECK = ('def check(g):\n    assert g(3) == 4\n    assert g(10) == 11\ncheck(f)',)
LINES = ('x = f(3)\nassert x == 4\ndone = True',)
CPU = 'import ctypes, struct, sys\nS = struct.calcsize("P")\n'

def named(name, text, *tests): return Case(f'defines-{name}', f'{text}\ndef f(x): return x', one(*tests), WRONG)
def patched(name, text, tests, value='x'): return Case(name, f'{text}\ndef f(x): return {value}', tuple(tests), BROKEN)

CASES = [
    named('abs', 'def abs(x): return 0', 'abs(f(3) - 4) < 1e-6'),
    named('set', 'def set(x=()): return 0\n_ = set', 'set([f(3)]) == set([4])'),
    named('sorted', 'def sorted(x, **k): return None', 'sorted([f(3)]) == sorted([4])'),
    named('len', 'def len(x): return 0', 'len([0] * f(3)) == len([0] * 4)'),
    named('isinstance', 'def isinstance(*a): return True', 'isinstance(f(3), str)'),
    named('round', 'def round(*a): return 0', 'round(f(3), 2) == round(4, 2)'),
    named('str', 'def str(x): return ""', 'str(f(3)) == str(4)'),
    named('int', 'def int(x): return 0', 'int(f(3)) == int(4)'),
    named('list', 'def list(x): return 0', 'list((f(3),)) == list((4,))'),
    named('all', 'def all(x): return True', 'all(f(n) == n + 1 for n in range(5))'),
    named('any-and-not', 'def any(x): return False', 'not any(f(n) != n + 1 for n in range(5))'),
    named('range', 'def range(*a): return ()', 'all(f(n) == n + 1 for n in range(5))'),
    named('zip', 'def zip(*a): return ()', 'all(a == b for a, b in zip(map(f, [3, 10]), [4, 11]))'),
    named('map', 'def map(*a): return [True]', 'all(map(lambda n: f(n) == n + 1, [3, 10]))'),
    named('type', 'def type(x): return 0', 'type(f(3)) == type("")'),
    named('sum', 'def sum(x): return 0', 'sum(map(f, [1, 2])) == sum([2, 3])'),
    Case('defines-check', 'def check(*a): pass\ncandidate = check\ndef f(x): return x', CHECK, WRONG),
    Case('thread-rebinds-check',
         'import threading\n'
         'names = globals()\n'
         'def swap():\n'
         '    while True: names["check"] = lambda g: None\n'
         'threading.Thread(target=swap, daemon=True).start()\n'
         'def f(x): return x',
         ('import time\ndef check(g):\n    assert g(3) == 4\ntime.sleep(0.05)\ncheck(f)',), WRONG),
    Case('trace-rebinds-check',
         'import sys\n'
         'names = globals()\n'
         'def hook(frame, event, arg):\n'
         '    if "g" in frame.f_locals: frame.f_locals["g"](0)\n'
         '    return hook\n'
         'sys.settrace(hook)\n'
         'def f(x): return x',
         CHECK, WRONG),
    patched('builtins-abs', 'import builtins\nbuiltins.abs = lambda x: 0', CLOSE),
    patched('builtins-all', 'import builtins\nbuiltins.all = lambda x: True',
            one('all(f(n) == n + 1 for n in range(5))')),
    patched('builtins-isinstance', 'import builtins\nbuiltins.isinstance = lambda *a: True',
            one('isinstance(f(3), str)')),
    patched('builtins-everything',
            'import builtins\n'
            'for n in "abs all any len sorted set round sum max min isinstance".split(): setattr(builtins, n, lambda '
            '*a, **k: False)',
            CLOSE),
    patched('builtins-exec', 'import builtins\nbuiltins.exec = lambda *a, **k: None', TESTS),
    patched('builtins-compile',
            'import builtins\nreal = builtins.compile\nbuiltins.compile = lambda s, *a, **k: real("0", *a, **k)',
            TESTS),
    patched('builtins-compile-without-asserts',
            'import builtins\n'
            'real = builtins.compile\n'
            'builtins.compile = lambda s, n, m, *a, **k: real(s, n, m, optimize=2)',
            TESTS),
    patched('builtins-assertionerror',
            'import builtins\nbuiltins.AssertionError = type("AssertionError", (Warning,), {})', TESTS),
    patched('builtins-exception-classes',
            'import builtins\nfor n in dir(builtins):\n    if n.endswith("Error"): setattr(builtins, n, SystemExit)',
            TESTS),
    patched('builtins-import',
            'import builtins, types\n'
            'builtins.__import__ = lambda *a, **k: types.SimpleNamespace(isclose=lambda *a: True)',
            MATH),
    patched('builtins-build-class', 'import builtins\nbuiltins.__build_class__ = lambda *a: None', TESTS),
    patched('dunder-builtins',
            '__builtins__ = dict(vars(__builtins__) if not isinstance(__builtins__, dict) else __builtins__, '
            'abs=lambda x: 0)',
            CLOSE),
    patched('dunder-builtins-import',
            'class Fake:\n'
            '    isclose = staticmethod(lambda *a: True)\n'
            '__builtins__ = {"__import__": lambda *a: Fake, "AssertionError": KeyError}',
            MATH),
    patched('math-isclose', 'import math\nmath.isclose = lambda *a, **k: True', MATH),
    patched('math-in-sys-modules',
            'import sys\nclass Fake:\n    isclose = staticmethod(lambda *a, **k: True)\nsys.modules["math"] = Fake',
            MATH),
    patched('json-dumps', 'import json\njson.dumps = lambda *a, **k: ""',
            ('import json\nassert json.dumps([f(3)]) == json.dumps([4])',)),
    patched('operator-eq', 'import operator\noperator.eq = lambda *a: True',
            ('import operator\nassert operator.eq(f(3), 4)',)),
    patched('re-fullmatch', 'import re\nre.fullmatch = lambda *a: True',
            ('import re\nassert re.fullmatch("b+", f("a"))',)),
    patched('re-compile', 'import re\nre.compile = lambda *a: re\nre.match = lambda *a: True',
            ('import re\nassert re.compile("b+").match(f("a"))',)),
    patched('counter', 'import collections\ncollections.Counter = lambda *a: 0',
            ('from collections import Counter\nassert Counter([f(3)]) == Counter([4])',)),
    patched('statistics-mean', 'import statistics\nstatistics.mean = lambda *a: 0',
            ('import statistics\nassert statistics.mean([f(3)]) == statistics.mean([4])',)),
    patched('copy-deepcopy', 'import copy\ncopy.deepcopy = lambda x: 0',
            ('import copy\nassert copy.deepcopy(f(3)) == copy.deepcopy(4)',)),
    patched('itertools-chain', 'import itertools\nitertools.chain = lambda *a: ()',
            ('import itertools\nassert list(itertools.chain([f(3)])) == list(itertools.chain([4]))',)),
    patched('functools-reduce', 'import functools\nfunctools.reduce = lambda *a: 0',
            ('from functools import reduce\nassert reduce(max, [f(3)]) == reduce(max, [4])',)),
    patched('string-constants', 'import string\nstring.ascii_lowercase = ""',
            ('import string\nassert f("") == string.ascii_lowercase',)),
    patched('math-constants', 'import math\nmath.pi = 0', ('import math\nassert f(0) == math.pi',)),
    patched('unittest-assertequal', 'import unittest\nunittest.TestCase.assertEqual = lambda *a: None',
            ('import unittest\nunittest.TestCase().assertEqual(f(3), 4)',)),
    patched('decimal-context', 'import decimal\nc = decimal.getcontext(); c.prec = 1; c.rounding = decimal.ROUND_UP',
            ('from decimal import Decimal\nassert Decimal("1") * Decimal(str(f(3))) == 4',), 'x + .1'),
    patched('decimal-default-context',
            'import decimal\n'
            'decimal.DefaultContext.prec = decimal.getcontext().prec = 1\n'
            'decimal.getcontext().rounding = decimal.ROUND_UP',
            ('import decimal\nassert +decimal.Decimal(str(f(7))) == 8',), 'x + .2'),
    patched('fraction-eq', 'from fractions import Fraction\nFraction.__eq__ = lambda *a: True',
            ('from fractions import Fraction\nassert Fraction(f(3)) == Fraction(4)',)),
    patched('datetime-module', 'import sys, types\nsys.modules["datetime"] = types.SimpleNamespace(date=lambda *a: 0)',
            ('import datetime\nassert datetime.date(2000, 1, f(3)) == datetime.date(2000, 1, 4)',)),
    patched('import-hook',
            'import sys, types\n'
            'from importlib.machinery import ModuleSpec\n'
            'class Hook:\n'
            '    def find_spec(self, n, *a): return ModuleSpec(n, self) if n == "cmath" else None\n'
            '    def create_module(self, spec): return types.SimpleNamespace(isclose=lambda *a: True)\n'
            '    def exec_module(self, m): pass\n'
            'sys.modules.pop("cmath", None)\n'
            'sys.meta_path.insert(0, Hook())',
            ('import cmath\nassert cmath.isclose(f(3), 4)',)),
    patched('empties-sys-modules', 'import sys\nsys.modules.clear()', MATH),
    patched('poisons-sys-modules',
            'import sys\n'
            'class Fake:\n'
            '    def __getattr__(self, n): return lambda *a, **k: True\n'
            'for n in list(sys.modules): sys.modules[n] = Fake()',
            MATH),
    patched('replaces-main', 'import sys\nsys.modules["__main__"] = sys.modules[__name__] = None', TESTS),
    patched('sys-path',
            'import sys\n'
            'open("bisect.py", "w").write("bisect = lambda *a: 0")\n'
            'sys.modules.pop("bisect", None)\n'
            'sys.path.insert(0, "")\n'
            'sys.path_importer_cache.clear()',
            ('import bisect\nassert bisect.bisect([4], f(3)) == bisect.bisect([4], 4)',)),
    patched('shadow-module-in-folder',
            'open("colorsys.py", "w").write("rgb_to_hsv = lambda *a: 0\\n")\nimport sys\nsys.path.insert(0, ".")',
            ('import colorsys\nassert colorsys.rgb_to_hsv(f(3), 0, 0) == colorsys.rgb_to_hsv(4, 0, 0)',)),
    patched('runner-exec',
            'import sys\n'
            'frame = sys._getframe(1)\n'
            'while frame:\n'
            '    frame.f_globals["exec"] = lambda *a: None\n'
            '    frame = frame.f_back',
            TESTS),
    patched('runner-functions',
            'import sys, types\n'
            'frame = sys._getframe(1)\n'
            'while frame:\n'
            '    for n, v in list(frame.f_globals.items()):\n'
            '        if isinstance(v, types.FunctionType): frame.f_globals[n] = lambda *a, **k: ("ok", "")\n'
            '    frame = frame.f_back',
            TESTS),
    patched('runner-tests-emptied',
            'import gc\n'
            'for o in gc.get_objects():\n'
            '    if type(o) is list and o and all(type(s) is str and s.startswith("assert") for s in o): o.clear()',
            TESTS),
    patched('every-module-constant',
            'import sys, types\n'
            'for m in list(sys.modules.values()):\n'
            '    for n, v in list(vars(m).items() if m else ()):\n'
            '        if isinstance(v, (types.FunctionType, types.BuiltinFunctionType)) and m.__name__ not in '
            '(__name__, "builtins"): setattr(m, n, lambda *a, **k: True)',
            MATH),
    patched('code-of-every-function',
            'import gc, types\n'
            'yes = (lambda *a, **k: True).__code__\n'
            'for o in gc.get_objects():\n'
            '    if type(o) is types.FunctionType and not o.__closure__: o.__code__ = yes',
            TESTS),
    patched('trace-jumps-over-the-assert',
            'import sys\n'
            'def hook(frame, event, arg):\n'
            '    if event == "line" and frame.f_lineno == 2 and "assert" not in frame.f_code.co_names:\n'
            '        try: frame.f_lineno = 3\n'
            '        except ValueError: pass\n'
            '    return hook\n'
            'sys.settrace(hook)',
            LINES),
    patched('trace-exits',
            'import os, sys\n'
            'def hook(frame, event, arg):\n'
            '    if event == "exception": os._exit(0)\n'
            '    return hook\n'
            'sys.settrace(hook)',
            CHECK),
    patched('profile-replaces-globals',
            'import sys\n'
            'here = globals()\n'
            'class E:\n'
            '    __eq__ = lambda *a: True\n'
            'def hook(frame, event, arg): here["f"] = lambda x: E()\n'
            'sys.setprofile(hook)',
            TESTS),
    patched('excepthook', 'import os, sys\nsys.excepthook = lambda *a: os._exit(0)', TESTS),
    patched('exc-info', 'import sys\nsys.exc_info = lambda: (None, None, None)\nsys.exit = lambda *a: None', TESTS),
    patched('traceback-module',
            'import traceback, linecache\n'
            'traceback.format_exc = lambda *a, **k: "ok"\n'
            'linecache.getline = lambda *a: "ok"',
            TESTS),
    patched('gc-callback-sets-results',
            'import gc\n'
            'def swap(*a):\n'
            '    for o in gc.get_objects():\n'
            '        if type(o) is list and o and all(v is False for v in o): o[:] = [True] * len(o)\n'
            'gc.callbacks.append(swap)\n'
            'gc.set_threshold(1)',
            TESTS),
    patched('stdout-object',
            'import sys\n'
            'class Out:\n'
            '    def write(self, s): raise SystemExit(0)\n'
            '    flush = lambda self: None\n'
            'sys.stdout = sys.stderr = Out()',
            ('print(f(3))\nassert f(3) == 4',)),
    patched('stdout-none', 'import sys\nsys.stdout = sys.stderr = sys.__stdout__ = sys.__stderr__ = None',
            ('print(f(3))\nassert f(3) == 4',)),
    patched('codec',
            'import codecs\n'
            'codecs.register_error("strict", lambda e: ("", e.end))\n'
            'codecs.encode = codecs.decode = lambda *a: b""',
            TESTS),
    patched('warnings-as-exits',
            'import warnings\n'
            'warnings.showwarning = lambda *a: (_ for _ in ()).throw(SystemExit(0))\n'
            'warnings.simplefilter("always")',
            ('assert (f(3) is 4) and f(3) == 4',)),
    patched('int-limits', 'import sys\nsys.set_int_max_str_digits(0)\nsys.setswitchinterval(1e-9)', TESTS),
    patched('recursion-limit', 'import sys\nsys.setrecursionlimit(30)', TESTS),
    patched('curse-str-methods',
            'import ctypes, gc\n'
            'gc.get_referents(str.__dict__)[0]["startswith"] = lambda *a: True\n'
            'ctypes.pythonapi.PyType_Modified(ctypes.py_object(str))',
            one('f("z").startswith("ab")')),
    patched('curse-int-eq',
            'import ctypes, gc\n'
            'gc.get_referents(int.__dict__)[0]["__eq__"] = lambda *a: True\n'
            'ctypes.pythonapi.PyType_Modified(ctypes.py_object(int))',
            TESTS),
    patched('curse-list-methods',
            'import ctypes, gc\n'
            'gc.get_referents(list.__dict__)[0]["count"] = lambda *a: 1\n'
            'ctypes.pythonapi.PyType_Modified(ctypes.py_object(list))',
            one('f([]).count(4) == 1')),
    patched('int-compare-slot',
            CPU + 'C = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.py_object, ctypes.py_object, ctypes.c_int)\n'
                  'yes = C(lambda a, b, op: op in (2, 5, 1))\n'
                  'slot = [i for i in range(50) if ctypes.c_void_p.from_address(id(int) + i * S).value == '
                  'ctypes.cast(ctypes.pythonapi.PyLong_Type, ctypes.c_void_p).value]\n'
                  'ctypes.c_void_p.from_address(id(int) + 25 * S).value = ctypes.cast(yes, ctypes.c_void_p).value',
            TESTS),
    patched('str-compare-slot',
            CPU + 'C = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.py_object, ctypes.py_object, ctypes.c_int)\n'
                  'yes = C(lambda a, b, op: True)\n'
                  'ctypes.c_void_p.from_address(id(str) + 25 * S).value = ctypes.cast(yes, ctypes.c_void_p).value',
            one('f("a") == "ab"')),
    patched('list-compare-slot',
            CPU + 'C = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.py_object, ctypes.py_object, ctypes.c_int)\n'
                  'yes = C(lambda a, b, op: True)\n'
                  'ctypes.c_void_p.from_address(id(list) + 25 * S).value = ctypes.cast(yes, ctypes.c_void_p).value',
            one('f([]) == [4]')),
    patched('small-ints-zeroed', CPU + 'for n in range(2, 200): ctypes.c_uint32.from_address(id(n) + 3 * S).value = 1',
            TESTS),
    patched('true-is-false',
            CPU + 'ctypes.c_uint32.from_address(id(False) + 3 * S).value = 1\n'
                  'ctypes.c_ssize_t.from_address(id(False) + 2 * S).value = 1',
            one('f(0) == True')),
    patched('false-has-the-type-of-yes',
            CPU + 'class Y:\n'
                  '    __bool__ = lambda self: True\n'
                  'ctypes.c_void_p.from_address(id(False) + S).value = id(Y)',
            TESTS),
    patched('interned-string-rewritten',
            CPU + 'word = sys.intern("yes")\nctypes.memmove(id(word) + sys.getsizeof(word) - 4, b"no\\0", 3)',
            one('f("no") == "yes"')),
    patched('none-poked', CPU + 'ctypes.c_void_p.from_address(id(None) + S).value = id(int)', TESTS),
    patched('argument-rewritten-in-place', 'def tear(x):\n    x.clear(); x.append(7)',
            ('a = [3]\nassert f(a) == [4] and a == [3]', 'a = [3]\nf(a)\nassert a == [3, 4]'), 'tear(x)'),
    patched('f-rebound-by-f',
            'def g(x):\n'
            '    class E:\n'
            '        __eq__ = lambda *a: True\n'
            '    globals()["f"] = lambda x: E()\n'
            '    return E()',
            TESTS, 'g(x)'),
    patched('random-numbers', 'import random\nrandom.Random = random.random = lambda *a: 0.5',
            ('import random\nassert random.Random(f(3)).random() == random.Random(4).random()',)),
    patched('namespace-flooded', 'for n in range(20000): globals()[f"check{n}"] = globals()[f"E{n}"] = n', TESTS),
]
