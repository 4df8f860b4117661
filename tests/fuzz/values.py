"Values that cross between program and judge, and bytes that almost do."
import json
from collections import Counter, defaultdict, deque, OrderedDict
from datetime import date, datetime, time, timedelta, timezone
from decimal import Decimal
from fractions import Fraction
from pathlib import PosixPath, PurePosixPath
from uuid import UUID

from hypothesis import strategies as st

from adversarial_rl.grader.codec import NATIVE, pack, READ

NAMES = sorted(READ)

def joined(x): return x.encode('utf-16', 'surrogatepass').decode('utf-16', 'surrogatepass')   # As JSON reads it
def unfolded(x): return x.replace(fold=0)   # ISO 8601 does not tell apart the two equal times of a night in autumn


integers = st.integers() | st.integers(-2**1100, 2**1100) | st.sampled_from([0, -1, 2**63, 1 << 1000, -(1 << 1000)])
texts = st.text(st.characters(codec='utf-8') | st.sampled_from('"\\\0\ud800\udc00\x1e'), max_size=8).map(joined)
zones = st.sampled_from([None, timezone.utc, timezone(timedelta(hours=-3, minutes=30))])


def hashable_leaves():
    return st.one_of(st.none(), st.booleans(), integers, st.floats(), texts, st.binary(max_size=8),
                     st.complex_numbers(), st.fractions(), st.decimals(allow_nan=False), st.dates(),
                     st.datetimes(timezones=zones).map(unfolded), st.times().map(unfolded), st.timedeltas(),
                     st.builds(range, st.integers(-9, 9), st.integers(-9, 9), st.integers(1, 4)))


def hashables():
    return st.recursive(hashable_leaves(), lambda x: st.lists(x, max_size=3).map(tuple) | st.frozensets(x, max_size=3),
                        max_leaves=6)


def containers(x):
    "Every container of the codec, around values."
    pairs = st.dictionaries(hashables(), x, max_size=3)
    lists = st.lists(x, max_size=4)
    return st.one_of(lists, lists.map(tuple), pairs, pairs.map(OrderedDict), pairs.map(Counter),
                     pairs.map(lambda d: defaultdict(None, d)), st.sets(hashables(), max_size=3),
                     pairs.map(dict.keys), pairs.map(dict.items), pairs.map(dict.values),
                     st.builds(deque, lists, st.none() | st.integers(0, 5)))


def crosses(kind): return type(kind) is type   # `Fraction` is made by another class


def plain():
    "Any value that is plain data."
    leaves = hashables() | st.binary(max_size=8).map(bytearray) | st.decimals() | st.slices(9)
    leaves |= st.uuids() | st.sampled_from([..., *filter(crosses, EXACT)])
    leaves |= st.sampled_from(['', 'a/b', '/x', '..', 'é\ud800']).map(lambda x: PosixPath(x) / PurePosixPath(x))
    return st.recursive(leaves, containers, max_leaves=12)


VIEWS = {type(view) for view in ({}.keys(), {}.items(), {}.values())}


def parts(x):
    "The values inside a value, and whether their order counts."
    match x:
        case Counter() | dict(): return [y for pair in x.items() for y in pair], True
        case set() | frozenset(): return list(x), False
        case list() | tuple() | deque(): return list(x), True
    return (list(x), True) if type(x) in VIEWS else (None, True)


def shape(x):
    "A value as text that tells all differences that a test could see."
    inner, ordered = parts(x)
    if inner is None: return f'{type(x).__name__} {x!r}'
    rows = list(map(shape, inner))
    maxlen = x.maxlen if type(x) is deque else ''
    return f'{type(x).__name__} {maxlen} {rows if ordered else sorted(rows)}'


EXACT = NATIVE | {tuple, list, dict, Counter, OrderedDict, defaultdict, set, frozenset, deque, bytes, bytearray,
                  complex, range, slice, Fraction, Decimal, datetime, date, time, timedelta, *VIEWS,
                  PosixPath, PurePosixPath, UUID, type(...), type}


def is_exact(x, others=()):
    "Whether a value and all values inside it are of built-in types, or of one of `others`."
    if type(x) in others: return True
    return type(x) in EXACT and all(is_exact(y, others) for y in parts(x)[0] or ())


def trees(*leaves):
    "Arbitrary JSON whose objects often bear the codec's names."
    natives = st.one_of(st.none(), st.booleans(), integers, st.floats(), texts,
                        st.sampled_from(['0x10', '1e99', '2026-01-02', '12:00', 'nan', *NAMES]), *leaves)
    names = st.sampled_from([*NAMES, 'box', 'own', 'known', 'eval', ''])
    return st.recursive(natives, lambda x: st.lists(x, max_size=4) | st.dictionaries(names, x, max_size=2)
                        | st.tuples(names, x).map(lambda pair: {pair[0]: pair[1]}), max_leaves=16)


@st.composite
def mutated(draw, raws):
    "Bytes with a few of them cut out, doubled, or replaced."
    raw = bytearray(draw(raws))
    for _ in range(draw(st.integers(1, 4))):
        at, size = draw(st.integers(0, len(raw))), draw(st.integers(0, 6))
        raw[at:at + size] = draw(st.sampled_from([b'', b'0', b'"', b'{', b'}', b'[', b']', b',', b'null', b'-', b'1e5'])
                                 | st.binary(max_size=3) | st.just(bytes(raw[at:at + 12])))
    return bytes(raw)


def text_of(form): return json.dumps(form).encode()


def messages():
    "JSON of the codec, right, mutated and arbitrary."
    right = plain().map(lambda x: text_of(pack(x, repr)))
    return st.one_of(right, trees().map(text_of), mutated(right | trees().map(text_of)), st.binary(max_size=60))
