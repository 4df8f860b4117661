"Suites of tests as a discriminator might write them, for references that differ in what they remember and cost."
import re

from adversarial_rl.problems.problem import Problem

NUMBERS = [*'0 1 2 7 12 -1 20 30 True'.split()] * 4 + ['10 ** 3', '10 ** 11', '240', '960']
LISTS = ['[]', '[1]', '[3, 1, 2]', '[1, 1]', '(1, 2)', '"ab"', 'range(5)'] * 4 + [
    '[None, 2]', '[0] * 999', 'range(10 ** 9)', '[[]]']
REFERENCES = {   # Of `f` -> arguments that it takes
    'def f(x): return x + 1': NUMBERS,
    'def f(n):\n    total = 0\n    for i in range(n): total += i\n    return total': NUMBERS,
    'def f(n): return 1 if n < 1 else n * f(n - 1)': NUMBERS,
    'from functools import lru_cache\n@lru_cache(None)\ndef f(n): return n if n < 2 else f(n - 1) + f(n - 2)': NUMBERS,
    'memo = {}\ndef f(n):\n    if n not in memo: memo[n] = n if n < 2 else f(n - 1) + f(n - 2)\n'
    '    return memo[n]': NUMBERS,
    'def f(n): return [True] * n': NUMBERS,
    'kept = []\ndef f(n):\n    kept.append(bytes(10 ** 5 * n))\n    return n': NUMBERS,
    'def f(n):\n    print("x" * 50 * n)\n    return n': NUMBERS,
    'def f(n):\n    try: return f(n - 1) + 1 if n else 0\n    except RecursionError: return -1': NUMBERS,
    'def f(n):\n    try: return len([0] * n)\n    except MemoryError: return -1': NUMBERS,
    'def f(xs): return sorted(xs)': LISTS,
    'def f(xs):\n    xs.sort()\n    return xs': LISTS,
    'def f(xs): return list(set(xs))': LISTS,
    'def f(xs):\n    for x in xs: yield x': LISTS,
    'from collections import Counter\ndef f(xs): return Counter(xs)': LISTS,
    'def f(xs): return str(xs)': LISTS,
    'calls = 0\ndef f(xs):\n    global calls\n    calls += 1\n    return len(xs) + (calls > 40)': LISTS}

TRUE = '<f> == <f>; <look> != -7; not <look> == "no"; <f> is not None; isinstance(<f>, object)'
LARGE = '<f> != bytes(<mb> * 2 ** 20); len(bytes(<mb> * 2 ** 20)) > 0; bytes(<mb> * 2 ** 20)'
COSTLY = '''sum(range(10 ** <tens>)) >= 0; -1.5 not in range(10 ** <tens>); [0] * 10 ** <tens> != <f>; 1 / 0
    len(str(<f>)) < 10 ** 6; 9 ** 9 ** <tens> > 1; <look>; int("x") == 1; <f>[0] == 1; <f> < 10 ** 9'''
PARTS = dict(   # Name -> what may stand in its place
    test='''<true>; <true>; <large>; <large>; <true> and <any>; <true> or <any>; (<true> or <any>) and <any>
        (<true> or <large>) and <large>; not (<true> and <any>); <any>; <look> == <want>; <f> == <want>''',
    true=TRUE, large=LARGE, any=f'<true>; <large>; {COSTLY}', f='f(<given>)', want='0; 1; []; 2; "a"; [1]',
    look='<f>; <f>; <f>; len(<f>); list(<f>); str(<f>); sorted(<f>); sum(<f>); [<f>, <f>]; <f> + <f>; set(<f>)',
    mb='1; 100; 150; 240; 400', tens='1; 1; 5; 6; 7; 8; 11')
PARTS = {name: [x.strip() for x in re.split('[;\n]', text)] for name, text in PARTS.items()}


def written(rng, text, **more):
    "A text with something in each of its places."
    return re.sub('<([a-z]+)>', lambda m: written(rng, rng.choice((PARTS | more)[m[1]]), **more), text)


def suites(rng):
    "A problem, and texts of suites: tests that are often right, and often have a part that costs much or raises."
    reference, given = rng.choice([*REFERENCES.items()])
    some = 'f([1])' if given is LISTS else 'f(1)'
    problem = Problem('f', 'Something.', 'def f(x):', (f'assert {some} is not None',), reference)
    def suite(): return '\n'.join(f'assert {written(rng, "<test>", given=given)}' for _ in range(12))
    return problem, [suite() for _ in range(rng.randint(1, 3))]
