"Exceptions cross between tests and program as plain Python has them: with their classes, contents and methods."
import pytest
from in_python import opens_files, passes

from adversarial_rl.grader.grading import grade

PROGRAM = '''
import contextlib, json, subprocess
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
class Other(Base): pass
class Both(KeyError, AttributeError): pass
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
def alone(x):
    try: {}[x]
    except KeyError: raise ValueError('alone') from None
def both(x): raise Both(x)
def raises(e): raise e
def loads(x): return json.loads(x)
def noted():
    e = ValueError('noted')
    e.add_note('hint')
    raise e
def opens(): return open('/no/such/file')
def file_of(e): return e.filename
def final(g, end):
    try: return g()
    finally: end()
def keeps_on(g):
    try: return g()
    except BaseException: return 'kept on'
class Several(Exception):
    def __len__(self): return 2
    def __iter__(self): return iter([1, 2])
    def __getitem__(self, i): return i
    def __call__(self): return 'called'
class Counted(Exception):
    count = 0
    def __init__(self): Counted.count += 1
def counts(): raise Counted
def status_of(e): return e.status
class System(OSError): errno = 5
class Doubtful(Exception):
    def __bool__(self): raise RuntimeError
def doubtful(): raise Doubtful(1)
def run(): raise subprocess.CalledProcessError(3, 'ls')
def named(): raise ImportError('x', name='y')
def objects(): raise ValueError(Node(1), Node(2))
def safe(g):
    try: return g()
    except Exception as e: return e
def name(g):
    try: return g()
    except Exception as e: return type(e).__name__
def cause(g):
    try: g()
    except Exception as e: return type(e.__cause__).__name__
def text(g):
    try: g()
    except Exception as e: return str(e)
def retryable(g):
    try: g()
    except Exception as e: return getattr(e, 'retryable', None)
def retry(g, n, kinds):
    for _ in range(n):
        try: return g()
        except kinds as e: last = e
    raise last
def gives_up(g):
    try: return g()
    except Exception as e: raise Bad('gave up', e) from e
@contextlib.contextmanager
def wraps():
    try: yield
    except KeyError as e: raise Bad('w') from e
'''
NAMES = '''Base Bad Worse Other Both Node Shown f bad caused alone both raises loads noted opens run named objects safe
name cause text retryable retry gives_up wraps file_of final keeps_on Several Counted counts status_of System
doubtful'''.split()
CASE = 'import unittest\nclass T(unittest.TestCase):\n    def test(self):\n        '


def caught(call, then, kind='Exception'): return f'try: {call}\nexcept {kind} as e: {then}\nelse: assert False'


PASS = {
    'methods': caught('f(1)', 'assert e.why() == "why 1" and repr(e) == "Bad!" and str(e) == "bad 1"', 'Bad'),
    'attributes': caught('f(1)', 'assert (e.x, e.code, e.args, vars(e)["x"]) == (1, 7, ("bad 1",), 1)', 'Base'),
    'objects as attributes': caught('bad(1)', 'assert isinstance(e.cause, KeyError) and "Node" in str(e)'),
    'an attribute that is set': caught('f(1)', '\n    e.y = 3\n    assert e.y == 3 and e.x == 1'),
    'notes': caught('noted()', 'assert e.__notes__ == ["hint"]'),
    'a note that is added': caught('f(1)', '\n    e.add_note("more")\n    assert e.__notes__ == ["more"]'),
    'cause': caught('caused(1)', 'assert isinstance(e.__cause__, KeyError) and e.__cause__.args == (1,)', 'ValueError'),
    'context': caught('alone(1)', 'assert e.__suppress_context__ and e.__cause__ is None', 'ValueError'),
    'traceback': 'import traceback\n' + caught('caused(1)', 'assert "KeyError" in str(traceback.format_exception(e))'),
    'of a missing file': caught('opens()', 'assert (e.errno, e.filename) == (2, "/no/such/file")',
                                'FileNotFoundError'),
    'of the library': 'import subprocess\n' + caught('run()', 'assert (e.returncode, e.cmd) == (3, "ls")',
                                                     'subprocess.CalledProcessError'),
    'a name': caught('named()', 'assert e.name == "y"', 'ImportError'),
    'several bases': caught('both(1)', 'assert isinstance(e, KeyError) and type(e) is Both', 'AttributeError'),
    'arguments that are objects': caught('objects()', 'assert len(e.args) == 2 and e.args[1].n == 2'),
    'long texts': caught('raises(ValueError("a" * 3000))', 'assert str(e) == "a" * 3000'),
    'class': caught('f(1)', 'assert type(e) is Worse and e.__class__ is Worse and type(e).__name__ == "Worse"'),
    'subclasses': 'assert issubclass(Worse, Base) and not issubclass(Bad, Worse) and issubclass(Bad, Exception)',
    'subclasses of what is caught': caught('f(1)', 'assert issubclass(type(e), Bad) and not isinstance(e, Other)'),
    'attributes of classes': 'assert Bad.code == 7 and Worse.code == 7 and Bad.__doc__ == "Told."',
    'made by the test': 'e = Bad(3)\nassert (e.x, str(e), e.why(), isinstance(e, Base)) == (3, "bad 3", "why 3", True)',
    'raised by the test': caught('raise Bad(3)', 'assert e.x == 3', 'Base'),
    'a class that is raised': caught('raise Bad', 'assert e.x == 5', 'Base'),
    'a module in a function': 'def test():\n    import json\n    try: loads("{")\n'
                              '    except json.JSONDecodeError as e: return e.pos\n\nassert test() == 1',
    'a name in a function': 'def test():\n    from json import JSONDecodeError\n    try: loads("{")\n'
                            '    except JSONDecodeError: return\n    assert False\ntest()',
    'kinds in a variable': 'import json\nKINDS = (json.JSONDecodeError, Bad)\ntry: loads("{")\nexcept KINDS: pass\n'
                           'else: assert False\n' + caught('f(1)', 'pass', 'KINDS'),
    'kinds in a loop': 'for kind in (Bad, Worse, Exception):\n    try: f(1)\n    except kind: continue\n'
                       '    assert False',
    'a kind as a keyword': 'def check(g, *a, kind=Exception):\n    try: g(*a)\n    except kind: return True\n'
                           '    return False\nassert check(f, 1, kind=Bad) and check(f, 1)',
    'a kind in a class': caught('Node(1).fail()', 'assert str(e) == "node"', 'Node.Error'),
    'a kind of unittest': CASE + 'with self.assertRaises(Bad) as c: f(1)\n        self.assertEqual(c.exception.x, 1)\n'
                          '        self.assertIsInstance(c.exception, Worse)\n'
                          '        self.assertRaisesRegex(Bad, "bad 2", f, 2)',
    'a kind in a case': 'import unittest\nclass T(unittest.TestCase):\n    def setUp(self): self.kind = Bad\n'
                        '    def test(self):\n        with self.assertRaises(self.kind): f(1)',
    'an exception returned': 'def g(): raise KeyError(1)\nr = safe(g)\nassert type(r) is KeyError and r.args == (1,)\n'
                             + caught('raise r', 'assert e in [r]', 'KeyError'),
    'one of the program returned': 'r = safe(lambda: f(1))\nassert isinstance(r, Bad) and r.x == 1',
    'one of the tests comes back': 'err = KeyError(1)\ndef g(): raise err\nassert safe(g) in [err]\n'
                                   + caught('retry(g, 3, KeyError)', 'assert e in [err]'),
    'a class of the tests': 'class Mine(KeyError): pass\ndef g(): raise Mine("a")\nassert name(g) == "Mine"\n'
                            + caught('retry(g, 2, (Mine, ValueError))', 'assert e.args == ("a",)', 'Mine'),
    'a text of the tests': 'class Mine(Exception):\n    def __str__(self): return "mine"\n'
                           'def g(): raise Mine("raw")\nassert text(g) == "mine"',
    'an empty text of the tests': 'class Mine(Exception):\n    def __str__(self): return ""\n'
                                  'def g(): raise Mine("raw")\nassert text(g) == ""',
    'one whose truth fails': caught('doubtful()', 'assert e.args == (1,)'),
    'an exception in another': 'def g():\n    try: {}[1]\n    except KeyError as e: raise ValueError(e)\n'
                               'assert text(g) == "1"',
    'a class attribute of the tests': 'class Mine(Exception): retryable = True\ndef g(): raise Mine\n'
                                      'assert retryable(g) is True',
    'a cause of the tests': 'def g():\n    try: {}[1]\n    except KeyError as e: raise ValueError(2) from e\n'
                            'assert cause(g) == "KeyError"',
    'an argument': caught('raises(KeyError(3))', 'assert e.args == (3,)', 'KeyError'),
    'one of the program as an argument': 'try: f(1)\nexcept Bad as e: first = e\n'
                                         + caught('raises(first)', 'assert e is first', 'Worse'),
    'what it was raised from': 'def g(): raise KeyError(1)\n'
                               + caught('gives_up(g)', 'assert isinstance(e.__cause__, KeyError)', 'Bad'),
    'of a missing file that the tests open':
        'assert file_of(FileNotFoundError(2, "no", "x")) == "x"\n'
        'assert text(lambda: open("/no/x")) == "[Errno 2] No such file or directory: \'/no/x\'"',
    'no Exception': 'def g(): raise KeyboardInterrupt\nlog = []\n'
                    'try: final(g, lambda: log.append(1))\nexcept KeyboardInterrupt: pass\nassert log == [1]\n'
                    'assert keeps_on(g) == "kept on"',
    'special methods': 'e = Several()\nassert (len(e), list(e), e[5], e()) == (2, [1, 2], 5, "called")',
    'an attribute of a class': 'Counted.count = 3\ntry: counts()\nexcept Counted: pass\nassert Counted.count == 4',
    'raised from another by the test': caught('raise Bad(1) from KeyError("k")', 'assert e.__cause__.args == ("k",)')
                                       + '\n' + caught('raise Bad(1) from None', 'assert e.__suppress_context__'),
    'raised in a handler': 'try: {}[1]\nexcept KeyError:\n    try: f(1)\n'
                           '    except Bad as e: assert isinstance(e.__context__, KeyError)',
    'one that the test changes': 'class Mine(Exception): pass\ne = Mine()\ne.status = 1\nassert status_of(e) == 1\n'
                                 'e.status = 2\nassert status_of(e) == 2',
    'a text of its class': caught('f(1)', 'assert e.__doc__ is None and Bad.__doc__ == "Told."', 'Worse'),
    'attributes that other exceptions have': 'assert System.errno == 5 and Bad.args is not None',
    'a private attribute': 'e = Bad(1)\ne._text = "mine"\nassert e._text == "mine"',
    'many of the tests': 'made = [KeyError(i) for i in range(50)]\ndef g(i): raise made[i]\n'
                         'assert all(safe(lambda: g(i)) in [made[i]] for i in range(50))',
    'contexts': 's = Shown()\nwith s: s.fail()\nassert s.seen == "Bad" and s.same',
    'contexts in contexts': 's, t = Shown(), Shown()\nok = False\ntry:\n    with s:\n'
                            '        with t: raise KeyError(1)\nexcept KeyError: ok = True\n'
                            'assert ok and s.seen == t.seen == "KeyError"',
    'a context later': 'err = None\ntry: f(1)\nexcept Bad as e: err = e\ns = Shown()\nwith s: raise err\n'
                       'assert s.seen == "Worse" and s.same',
    'a context after many': 's = Shown()\nwith s:\n    seen = []\n    for _ in range(20):\n        try: s.fail()\n'
                            '        except Bad as e: seen.append(e)\n    raise seen[0]\nassert s.seen == "Bad"',
    'a context that wraps': 'ok = False\ntry:\n    with wraps(): raise KeyError(1)\nexcept Bad as e: ok = e.x == "w"\n'
                            'assert ok',
}
ERROR = 'class Error(Exception):\n    '
FAIL = {   # Programs, and tests that they do not pass
    'text that fails': (ERROR + 'def __str__(self): return self.missing\ndef f(x): raise Error', 'assert str(e)'),
    'text that is none': (ERROR + 'def __str__(self): return 5\ndef f(x): raise Error', 'assert len(str(e)) > 0'),
    'empty text': (ERROR + 'def __str__(self): return ""\ndef f(x): raise Error("word")', 'assert "word" in str(e)'),
    'exception as argument': ('def f(x): raise ValueError(KeyError("bad"))', 'assert e.args == ("bad",)'),
    'two arguments': ('def f(x): raise ValueError(object(), object())', 'assert len(e.args) == 1'),
    'long text': ('def f(x): raise ValueError("a" * 3000)', 'assert len(str(e)) <= 1000'),
    'attribute': (ERROR + 'def __init__(self): self.orig = KeyError()\ndef f(x): raise Error',
                  'assert not hasattr(e, "orig")'),
    'property that fails': (ERROR + '@property\n    def code(self): raise RuntimeError\ndef f(x): raise Error',
                            'assert getattr(e, "code", 7) == 7'),
    'private attribute': (ERROR + '_code = 3\ndef f(x): raise Error', 'assert not hasattr(e, "_code")'),
    'truth': (ERROR + 'def __bool__(self): return False\ndef f(x): raise Error', 'assert e'),
    'hidden context': ('def f(x):\n    try: {}[x]\n    except KeyError: raise ValueError from None',
                       'assert not e.__suppress_context__'),
    'two of one name': ('def make():\n    class Error(Exception): pass\n    return Error\n'
                        'Error, Second = make(), make()\ndef f(x): raise Second', 'assert isinstance(e, Error)'),
    'one that is defined again': ('class Error(Exception): pass\nOld = Error\nclass Error(Exception): pass\n'
                                  'def f(x): raise Old', 'assert type(e) is Error'),
    'subclass': ('class Base(Exception): pass\nclass Error(Base): pass\ndef f(x): raise Error',
                 'assert not issubclass(Error, Base) and isinstance(e, Error)'),
    'own instance': (ERROR + 'pass\ndef f(x): raise Error', 'assert not isinstance(Error(), Error)'),
    'own class': (ERROR + 'code = 7\ndef f(x): raise Error', 'assert not hasattr(Error, "code")'),
    'own constructor': (ERROR + 'def __init__(self): pass\ndef f(x): raise Error', 'assert Error("m", "n").args'),
    'one object twice': ('ERR = ValueError()\ndef f(x): raise ERR',
                         '\n    try: f(2)\n    except ValueError as second: assert second is not e'),
    'interrupt that is swallowed': ('def f(x): raise ValueError\n'
                                    'def g(h):\n    try: h()\n    except BaseException: pass',
                                    '\n    def h(): raise KeyboardInterrupt\n    try: g(h)\n'
                                    '    except KeyboardInterrupt: pass\n    else: assert False'),
    'unequal': (ERROR + 'def __eq__(self, x): return True\ndef f(x): raise Error', 'assert not e == 5'),
    'not in': (ERROR + 'def __eq__(self, x): return True\ndef f(x): raise Error', 'assert e not in [1, 2]'),
    'hash': (ERROR + '__hash__ = None\ndef f(x): raise Error', 'assert len({e}) == 1'),
    'order': (ERROR + 'def __lt__(self, x): return True\ndef f(x): raise Error',
              '\n    try: e < e\n    except TypeError: pass\n    else: assert False'),
    'function': (ERROR + 'def __call__(self): return 1\ndef f(x): raise Error', 'assert not callable(e)'),
    'class attribute that others have': (ERROR + 'args = 3\ndef f(x): raise Error', 'assert Error.args != 3'),
    'text of its class': ('class Error(Exception): "Told."\ndef f(x): raise Error', 'assert e.__doc__ is None'),
    'class that derives from it': (ERROR + 'pass\ndef f(x): raise Error',
                                   '\n    E = Error\n    class Mine(E):\n        def __init__(self): raise KeyError\n'
                                   '    assert isinstance(Mine(), Error)'),
    'counted': (ERROR + 'count = 0\n    def __init__(self): Error.count += 5\ndef f(x): raise Error',
                '\n    Error.count = 0\n    try: f(1)\n    except Error: assert Error.count == 0'),
    'no Exception': ('def f(x): raise ValueError\ndef g(x): raise GeneratorExit',
                     '\n    try: g(1)\n    except Exception: pass\n    else: assert False'),
    'name with a dot': (ERROR + 'pass\nError.__name__ = "Wrong.Name"\ndef f(x): raise Error',
                        'assert type(e).__name__ == "Wrong_Name"'),
    'method like plain data, raised before': (
        'class Error(Exception):\n    def startswith(self, x): return True\nERR = Error()\ndef f(x): raise ERR\n'
        'def g(): return ERR', 'assert g().startswith("a")'),
    'method like plain data': (ERROR + 'def startswith(self, x): return True\ndef f(x): raise ValueError\n'
                               'def g(): return Error()', 'assert g().startswith("a")'),
    'module of the judge': ('class Error(Exception): pass\nError.__module__ = "adversarial_rl.grader.proxies"\n'
                            'Error.__name__ = "Unsupported"\ndef f(x): raise Error', 'assert isinstance(e, KeyError)'),
}


@pytest.mark.parametrize('name', PASS)
def test_right_programs_pass(name):
    assert passes(PROGRAM, PASS[name])
    o = grade(PROGRAM, [PASS[name]], function_name=NAMES)
    if 'missing file' in name and not opens_files(o): pytest.skip('no program opens files on this host')
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


@pytest.mark.parametrize('kind', ['"builtins.StopIteration"', '[6, "builtins", "StopIteration", [], []]'])
def test_no_forged_exception_ends_a_loop(kind):
    code = ('import json, os, struct\ndef f(x):\n'
            f'    raw = json.dumps(["raised", {{"handle": [5, "error", "StopIteration", {kind}]}}, []]).encode()\n'
            '    os.write(4, struct.pack(">I", len(raw)) + raw)')
    o = grade(code, ['for x, y in zip(map(f, [1]), [5]): assert x == y\nassert True'], function_name='f')
    assert o.judged and not o.passed and o.kind == 'runtime_error', o


def test_an_exception_of_the_judge_for_want_of_memory_can_be_given_back():
    code = 'def f(x):\n    if x is None: raise MemoryError\n    return type(x).__name__'
    test = 'try: f(None)\nexcept MemoryError as e: found = e\nassert f(found) == "MemoryError"'
    assert grade(code, [test], function_name='f').passed


def test_an_exception_that_cannot_be_shown_fails_its_test():
    code = ('class M:\n    def __bool__(self): raise KeyboardInterrupt\n'
            'def f(x):\n    e = SyntaxError("a")\n    e.msg = M()\n    raise e')
    assert grade(code, ['for i in (1, 2): assert f(i) == 2'], function_name='f').kind == 'runtime_error'
