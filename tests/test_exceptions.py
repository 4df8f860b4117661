"Exceptions cross between tests and program as plain Python has them: with their classes, contents and methods."
import pytest
from in_python import passes

from adversarial_rl.grader.grading import grade

PROGRAM = '''
import contextlib, json
class Base(Exception): pass
class Bad(Base):
    "Told."
    code = 7
    def __init__(self, x=5, cause=None):
        super().__init__(f'bad {x}')
        self.x, self.cause = x, cause
    def why(self): return f'why {self.x}'
    def __repr__(self): return 'Bad!'
class Worse(Bad): pass
class Node:
    def __init__(self, n): self.n = n
    class Error(Exception): pass
    def fail(self): raise Node.Error('node')
class Shown:
    def __enter__(self): self.seen = None; return self
    def __exit__(self, kind, e, traceback):
        self.seen, self.same = kind and kind.__name__, kind is None or type(e) is kind
        return kind in (Bad, Worse)
    def fail(self): raise Bad(1)
def f(x): raise Worse(x)
def bad(x):
    try: {}[x]
    except KeyError as e: raise Bad(Node(x), e)
def caused(x):
    try: {}[x]
    except KeyError as e: raise ValueError('caused') from e
def loads(x): return json.loads(x)
def final(g, end):
    try: return g()
    finally: end()
def keeps_on(g):
    try: return g()
    except BaseException: return 'kept on'
class Counted(Exception):
    count = 0
    def __init__(self): Counted.count += 1
def safe(g):
    try: return g()
    except Exception as e: return e
def name(g):
    try: return g()
    except Exception as e: return type(e).__name__
def retry(g, n, kinds):
    for _ in range(n):
        try: return g()
        except kinds as e: last = e
    raise last
def gives_up(g):
    try: return g()
    except Exception as e: raise Bad('gave up', e) from e
'''
NAMES = '''Base Bad Worse Node Shown f bad caused loads safe name retry gives_up final keeps_on
Counted'''.split()
CASE = 'import unittest\nclass T(unittest.TestCase):\n    def test(self):\n        '


def caught(call, then, kind='Exception'): return f'try: {call}\nexcept {kind} as e: {then}\nelse: assert False'


PASS = {
    'methods': caught('f(1)', 'assert e.why() == "why 1" and repr(e) == "Bad!" and str(e) == "bad 1"', 'Bad'),
    'attributes': caught('f(1)', 'assert (e.x, e.code, e.args, vars(e)["x"]) == (1, 7, ("bad 1",), 1)', 'Base'),
    'cause': caught('caused(1)', 'assert isinstance(e.__cause__, KeyError) and e.__cause__.args == (1,)', 'ValueError'),
    'class': caught('f(1)', 'assert type(e) is Worse and e.__class__ is Worse and type(e).__name__ == "Worse"'),
    'a kind in a class': caught('Node(1).fail()', 'assert str(e) == "node"', 'Node.Error'),
    'a kind of unittest': CASE + 'with self.assertRaises(Bad) as c: f(1)\n        self.assertEqual(c.exception.x, 1)\n'
                          '        self.assertIsInstance(c.exception, Worse)\n'
                          '        self.assertRaisesRegex(Bad, "bad 2", f, 2)',
    'one of the tests comes back': 'err = KeyError(1)\ndef g(): raise err\nassert safe(g) in [err]\n'
                                   + caught('retry(g, 3, KeyError)', 'assert e in [err]'),
    'what it was raised from': 'def g(): raise KeyError(1)\n'
                               + caught('gives_up(g)', 'assert isinstance(e.__cause__, KeyError)', 'Bad'),
    'no Exception': 'def g(): raise KeyboardInterrupt\nlog = []\n'
                    'try: final(g, lambda: log.append(1))\nexcept KeyboardInterrupt: pass\nassert log == [1]\n'
                    'assert keeps_on(g) == "kept on"',
    'contexts': 's = Shown()\nwith s: s.fail()\nassert s.seen == "Bad" and s.same',
    }
ERROR = 'class Error(Exception):\n    '
FAIL = {   # Programs, and tests that they do not pass
    'text that fails': (ERROR + 'def __str__(self): return self.missing\ndef f(x): raise Error', 'assert str(e)'),
    'exception as argument': ('def f(x): raise ValueError(KeyError("bad"))', 'assert e.args == ("bad",)'),
    'truth': (ERROR + 'def __bool__(self): return False\ndef f(x): raise Error', 'assert e'),
    'interrupt that is swallowed': ('def f(x): raise ValueError\n'
                                    'def g(h):\n    try: h()\n    except BaseException: pass',
                                    '\n    def h(): raise KeyboardInterrupt\n    try: g(h)\n'
                                    '    except KeyboardInterrupt: pass\n    else: assert False'),
    'unequal': (ERROR + 'def __eq__(self, x): return True\ndef f(x): raise Error', 'assert not e == 5'),
    'method like plain data': (ERROR + 'def startswith(self, x): return True\ndef f(x): raise ValueError\n'
                               'def g(): return Error()', 'assert g().startswith("a")'),
    'module of the judge': ('class Error(Exception): pass\nError.__module__ = "adversarial_rl.grader.proxies"\n'
                            'Error.__name__ = "Unsupported"\ndef f(x): raise Error', 'assert isinstance(e, KeyError)'),
}


@pytest.mark.parametrize('name', PASS)
def test_right_programs_pass(name):
    assert passes(PROGRAM, PASS[name])
    o = grade(PROGRAM, [PASS[name]], function_name=NAMES)
    assert o.passed, o


@pytest.mark.parametrize('name', FAIL)
def test_wrong_programs_fail(name):
    code, then = FAIL[name]
    test = caught('f(1)', then)
    assert not passes(code, test) or name.startswith('method like plain data')
    o = grade(code, [test], function_name=[n for n in ('f', 'g', 'Error', 'Base') if n in code])
    assert o.judged and not o.passed, o


@pytest.mark.parametrize('name, module', [('SkipTest', 'unittest.case'), ('_ShouldStop', 'unittest.case'),
                                          ('Gone', 'adversarial_rl.grader.proxies')])
def test_no_exception_means_something_to_the_judge(name, module):
    "Neither under another's name nor as itself."
    for made in (f'type("{name}", (Exception,), {{"__module__": "{module}"}})', 'unittest.SkipTest'):
        code = f'import unittest\nERROR = {made}\ndef f(x): raise ERROR("x")'
        for test in (CASE + 'self.assertEqual(f(1), 2)', CASE + 'with self.subTest(1): self.assertEqual(f(1), 2)'):
            o = grade(code, [test], function_name='f')
            assert o.judged and not o.passed, o


@pytest.mark.parametrize('kind', [
    '{"python": [7, "builtins.StopIteration"]}', '{"class": [7, "StopIteration", [], []]}'])
def test_no_forged_exception_ends_a_loop(kind):
    code = ('import json, os, struct\ndef f(x):\n'
            f'    raw = json.dumps(["raised", None, [{{"error": [5, {kind}, [], None, []]}}], [], []]).encode()\n'
            '    os.write(4, struct.pack(">I", len(raw)) + raw)')
    o = grade(code, ['for x, y in zip(map(f, [1]), [5]): assert x == y\nassert True'], function_name='f')
    assert o.judged and not o.passed, o


