"Programs that write frames of their own to their judge, instead of or beside the answers of their host."
import json
import struct
from dataclasses import dataclass

from hypothesis import strategies as st

from adversarial_rl.grader.codec import pack

from .values import mutated, NAMES, plain, trees

SECRET = 902173465   # No frame holds it, so no answer is right
CALLS = ('f(3)', "f([1, 2], key='x')", "f((1, {2}), {'a': [3]})", 'f(len)', 'f(x=3)', 'f()')
DATA = (
    'assert <f> == SECRET', 'assert sorted(<f>) == [SECRET]', 'assert <f>[0] == SECRET', 'assert len(<f>) == SECRET',
    'assert {1: <f>} == {1: [SECRET]}', 'assert <f> == g(<f>) == SECRET', 'assert str(<f>) == "SECRET"',
    'assert abs(<f> - SECRET) < 1e-9', 'assert {<f>} == {SECRET}', 'assert "%s" % <f> == "SECRET"',
    'assert max(f(3), key=abs) == SECRET', 'assert list(map(f, [3])) == [SECRET]')
SCRIPTS = (
    'x = [1, [2], {"a": {3}}]\nf(x, y=x)\nassert x == [SECRET]', 'assert next(f(3)) == SECRET',
    'assert [x for x in <f>] == [SECRET]', 'assert f(lambda x: x * 2, 3) == SECRET',
    'try: <f>\nexcept Exception as e: assert e.args == (SECRET,)\nelse: assert False',
    'try: <f>\nexcept Bad as e: assert e.code == SECRET\nelse: assert False',
    'try: raise Bad\nexcept Bad as e: assert str(e) == "SECRET"\nelse: assert False',
    'assert Bad.code == SECRET', 'assert Bad(1).args == (SECRET,)',
    'b = Box(1)\nb.push(2)\nb.n = 3\nassert b.items == [SECRET]', 'with <f> as x: assert x == SECRET\nassert 0',
    'from collections import deque, Counter\nx = deque([1]), Counter("a")\nf(*x)\nassert x[0][0] == SECRET',
    'k = 1\nfor k, v in <f>.items(): pass\nassert k == v == SECRET', 'assert f"{<f>}" == "SECRET"',
    'assert f(iter([1, 2]), iter) == SECRET', 'assert f(f, Box, print) == SECRET', 'assert N == SECRET',
    'assert isinstance(<f>, int) and <f> == SECRET', 'assert sum(f(x) for x in range(3)) == SECRET',
    'def check(g):\n    assert g(3) == SECRET\ncheck(f)', 'assert float(<f>) == int(<f>) == SECRET')
PLAYER = '''import os, select
os.set_blocking(4, False)
def play(frames):
    for waits, raw in frames:
        if waits and select.select([3], [], [], 0.05)[0]: os.read(3, 1 << 16)
        try: os.write(4, raw)
        except OSError: pass
def f(*args, **kw):
    play(INSIDE)
    return args[0] if args else 3
def g(x): return x
class Bad(Exception): code = 3
class Box:
    def __init__(self, x): self.items, self.n = [x], x
    def push(self, x):
        play(INSIDE)
        return self.items
N = 3
play(AT_START)
'''


def frame(raw, size=None): return struct.pack('>I', len(raw) if size is None else max(size, 0)) + raw


def few(x): return st.lists(x, max_size=3)


words = st.sampled_from('''f g x N Bad Box ValueError StopIteration SystemExit KeyboardInterrupt object type
Exception int list __class__ __dict__ __init__ _remote callable class exception iterator value raised
count isidentifier'''.split())
numbers = st.integers(-3, 4) | st.sampled_from([2**63, -2**63, 10**30, True, None, 1.5, float('nan')])
special = st.sampled_from('__len__ __iter__ __next__ __eq__ __call__ __contains__ __hash__ __str__'.split())
boxes = numbers | st.tuples(numbers, st.sampled_from(['list', 'dict', 'set', 'deque', 'defaultdict', 'array', 'x']),
                            numbers | words).map(list)
known = st.one_of(st.tuples(st.sampled_from(['own', 'known']), numbers), st.tuples(st.just('box'), boxes),
                  st.tuples(st.just('python'), st.tuples(numbers, words.map('builtins.{}'.format) | words).map(list)))
known = known.map(lambda x: {x[0]: x[1]})
classes = st.recursive(known, lambda x: st.tuples(numbers, words, few(x), few(special)).map(
    lambda y: {'class': list(y)}), max_leaves=4)
handles = st.one_of(
    known, classes, st.tuples(numbers, classes).map(lambda x: {'object': list(x)}),
    st.tuples(numbers, classes, few(known), known | st.none(), few(st.tuples(words, numbers))).map(
        lambda x: {'error': list(x)}),
    st.tuples(words, words, words).map(lambda x: {'told': list(x)}))
odd = st.one_of(
    st.tuples(words, few(words), few(handles)).map(lambda x: {'record': list(x)}),
    st.tuples(st.sampled_from(NAMES), handles | few(handles)).map(lambda x: {x[0]: x[1]}),
    few(st.tuples(handles, handles)).map(lambda x: {'dict': x}))
items = trees(handles, words) | plain().map(lambda x: pack(x, repr)) | odd
contents = few(st.tuples(numbers, few(items))) | items
unused = few(numbers) | items
rest = st.one_of(st.just(([], [])), st.tuples(contents, unused))
said = st.one_of(
    st.tuples(st.just('value'), st.none(), few(items) | few(handles)),
    st.tuples(st.just('raised'), st.none(), few(handles)),
    st.tuples(st.sampled_from(['stop', 'refused', 'missing']), items, few(items)),
    st.tuples(st.just('call'), few(numbers | words) | items, few(items)))
answers = st.one_of(*[st.tuples(said, rest).map(lambda x: [*x[0], *x[1]])] * 2,
                    st.tuples(st.just('failed'), words, words), st.just(['compiled']), st.just(['ready']), items)
texts = answers.map(lambda x: json.dumps(x).encode())
starts = st.sampled_from([b'[', b'{"tuple":[', b'{"a":', b'["value",null,['])
ends = st.sampled_from([b'', b']', b']}', b'}'])
deep = st.builds(lambda n, start, end: start * n + end * n, st.sampled_from([150, 900, 5000]), starts, ends)
doubled = st.builds(lambda a, b: f'{{"{a}":1,"{b}":[]}}'.encode(), st.sampled_from(NAMES), words)
raws = st.one_of(texts, texts, mutated(texts), deep, doubled, st.binary(max_size=40))


@st.composite
def written(draw):
    "Bytes for descriptor 4: mostly a frame of the right length."
    raw = draw(raws)
    match draw(st.integers(0, 9)):
        case 0: return frame(raw, draw(st.integers(0, 2**32 - 1) | st.sampled_from([0, 2**25, 2**25 + 1, 2**31])))
        case 1: return frame(raw, len(raw) + draw(st.integers(-3, 3)))
        case 2: return frame(raw)[:draw(st.integers(0, len(raw) + 4))]
        case 3: return frame(raw) + frame(draw(raws))
        case 4: return draw(mutated(st.just(frame(raw))))
    return frame(raw)


@dataclass(frozen=True)
class Attack:
    "A program that plays frames while it starts or while it is called, and tests that it cannot pass."
    at_start: list    # Of (whether it waits for a request, bytes)
    inside: list
    leaves: bool      # Whether it ends after the frames of its start
    tests: list

    @property
    def code(self):
        played = PLAYER.replace('AT_START', repr(self.at_start)).replace('INSIDE', repr(self.inside))
        return played + 'os._exit(0)\n' * self.leaves


@st.composite
def attacks(draw):
    inside = draw(st.lists(st.tuples(st.booleans(), written()), max_size=2))
    at_start, leaves = [], False
    if not inside or draw(st.integers(0, 3)) == 0:
        ready = draw(st.sampled_from([frame(b'["ready"]')] * 4 + [frame(b'["compiled"]'), b'']))
        at_start = [(False, ready), *[(True, raw) for raw in draw(st.lists(written(), max_size=6))]]
        leaves = draw(st.integers(0, 3)) > 0
    tests = []
    for _ in range(draw(st.integers(1, 3))):
        test = draw(st.sampled_from(DATA) | st.sampled_from(SCRIPTS)).replace('<f>', draw(st.sampled_from(CALLS)))
        tests.append(test.replace('SECRET', str(SECRET)))
    return Attack(at_start, inside, leaves, list(dict.fromkeys(tests)))
