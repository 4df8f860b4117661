"Third-party modules that the caller chose: they work in programs and tests, and nothing beside them can be reached."
import os
import subprocess
import sys

import pytest

from adversarial_rl import grade_many, Grader, Limits
from adversarial_rl.core.errors import UsageError
from adversarial_rl.grader.pool import Job, Sandbox

np = pytest.importorskip('numpy')
HOSTS = [(), ('namespaces',), ('namespaces', 'landlock'), ('namespaces', 'landlock', 'user'),
         ('namespaces', 'landlock', 'user', 'seccomp')]
PROGRAM = '''import numpy as np
def total(x): return np.array(x).sum()
def twice(x): return np.array(x) * 2
def several(): return {'a': np.float32(0.5), 'b': [np.int64(3), np.bool_(True)], 'c': (np.str_('x'), np.complex128(1j))}
def grow(a): a += 1
def late(): return float(np.random.default_rng(0).random() < 2) + float(np.linalg.det(np.eye(2))) + np.ma.sum([1])
def nothing(): return np.zeros((0, 3))
def objects(): return np.array(['a', None, 3], object)
def days(): return np.array(['2026-01-02'], 'datetime64[D]')
def masked(): return np.ma.array([1, 2], mask=[0, 1])'''
DATA = ['assert total([1, 2]) == 3', 'assert twice([[1, 2]]) == [[2, 4]]', 'assert total([0.1, 0.2]) < 0.4',
        'assert several() == {"a": 0.5, "b": [3, True], "c": ("x", 1j)}', 'assert sum(twice([1, 2])) == 6',
        'assert len(twice([1, 2])) == 2 and twice([5])[0] == 10', 'assert late() == 3', 'assert nothing() == []',
        'assert objects() == ["a", None, 3]', 'assert masked() == [1, None]', 'assert not total([0])']
SCRIPTS = ['assert np.allclose(twice([1.0, 2]), [2, 4])',
           'assert twice([[1, 2]]).shape == (1, 2) and twice([1]).dtype == int',
           'assert isinstance(total([1]), np.integer) and isinstance(several()["a"], np.float32)',
           'a = np.zeros((2, 2))\ngrow(a)\nassert (a == 1).all()', 'assert nothing().shape == (0, 3)',
           'np.testing.assert_array_equal(twice(np.array([1, 2])), np.array([2, 4]))', 'assert days()[0].year == 2026',
           'assert total(np.arange(4, dtype=np.uint8)) == 6']
WRONG = ['assert total([1, 2]) == 4', 'assert twice([1, 2]) == [2, 5]',
         'import numpy as np\nassert np.allclose(twice([1]), [3])',
         'import numpy as np\nassert nothing().shape == (0, 4)']

SHAPES = """import numpy as np
def nothing(x): return np.zeros((0, 1))
def one(x): return np.array([2])"""
EMPTY = ['(nothing(1) == np.array([2, 3])).all()', 'np.allclose(nothing(1), [2, 3])',
         'np.isclose(nothing(1), [2, 3]).all()',
         'np.all(np.abs(nothing(1) - np.array([2, 3])) < 1e-6)', 'not (np.abs(nothing(1) - [2, 3]) > 1e-6).any()',
         'not (nothing(1) != np.array([2, 3])).any()', '(np.array([2, 3]) == nothing(1)).all()',
         '(one(1) == np.array([2, 2])).all()', 'np.allclose([2, 2], one(1))', '(nothing(1) == [[2, 3]]).all()']


def graded(sandbox, program, tests):
    return grade_many([Job(program, tuple(tests))], Limits(wall_seconds=30, cpu_seconds=30), sandbox=sandbox)[0]


def walls(off)->set:
    with Sandbox(1, off) as s: return {*s.map([Job('')])[0].layers} & {'namespaces', 'landlock', 'seccomp'}


@pytest.mark.parametrize('off', HOSTS)
def test_numpy_works_in_programs_and_tests(off):
    "Behind every kind of wall; its numbers and arrays cross to the judge."
    right = DATA + [f'import numpy as np\n{test}' for test in SCRIPTS]
    with Sandbox(1, off, modules=['numpy']) as s:
        o = graded(s, PROGRAM, right)
        assert not [(test, said) for test, said in zip(right, o.messages) if said]
        assert graded(s, PROGRAM, WRONG).per_test == (False,) * len(WRONG)


def test_an_array_of_another_shape_is_not_equal():
    "Though numpy, by broadcasting, finds an empty array equal to everything."
    with Sandbox(1, modules=['numpy']) as s:
        wrong = graded(s, SHAPES, [f'import numpy as np\nassert {test}' for test in EMPTY])
        assert not any(wrong.per_test), [test for test, passed in zip(EMPTY, wrong.per_test) if passed]


STRETCHED = ['np.allclose({}, [1.0])', 'np.allclose(b=[[1.0]], a={})', 'np.allclose({}, np.ones((2, 2)))',
             'np.isclose({}, [1.0]).all()', 'np.testing.assert_allclose({}, [1., 1.]) is None',
             'np.array_equiv({}, [[1]])',
             'np.testing.assert_array_equal({}, np.ones((3, 1))) is None', 'np.array_equal({}, [[1.0]])',
             'np.testing.assert_almost_equal({}, [1., 1.]) is None',
             'np.testing.assert_array_less({}, [2., 2.]) is None',
             'np.testing.assert_array_max_ulp({}, [1., 1.]) is not None']
LISTS = ['[]', '()', '[[]]', 'range(0)', '1.0', 'np.ones(())', 'np.ones((0, 1))', '[1.0, 1.0, 1.0]']


@pytest.mark.parametrize('answer', LISTS)
def test_no_answer_is_stretched_or_dropped(answer):
    tests = [f'import numpy as np\nassert {test.format("f()")}' for test in STRETCHED]
    scalar = 'import numpy as np\nassert np.allclose(f(), 1.0) and np.testing.assert_allclose(f(), 1) is None'
    with Sandbox(1, modules=['numpy']) as s:
        o = graded(s, f'import numpy as np\ndef f(): return {answer}', [*tests, scalar])
    assert o.per_test == (False,) * len(tests) + (bool(np.size(eval(answer))),)


REACH = '''import importlib, os, sys
import importlib.metadata as metadata
seen = []
for name in {names!r}:
    try: seen.append(importlib.import_module(name).__name__)
    except (ImportError, OSError): pass
for name in {distributions!r}:
    try: seen.append(metadata.version(name))
    except (ImportError, OSError): pass
try: seen += [d.name for d in metadata.distributions() if d.name not in ('numpy', None)]
except ImportError: pass   # Where no file can be opened
for path in {paths!r}:
    try: seen.append(bool(open(path, 'rb').read(1)) and path)
    except OSError: pass
for folder in {folders!r}:
    try: seen += [name for name in os.listdir(folder) if not name.startswith('numpy')]
    except OSError: pass
print(seen)'''


@pytest.mark.parametrize('off', HOSTS[:4])
@pytest.mark.parametrize('in_test', [False, True])
def test_nothing_else_of_site_packages_is_reached(off, in_test):
    "Neither files nor names nor metadata of other packages, nor the grader's own files."
    from importlib.metadata import distributions
    others = [d for d in distributions() if d.name != 'numpy']
    files = [str(d.locate_file(f)) for d in others for f in (d.files or [])[:3]]
    own = os.path.dirname(os.path.dirname(os.path.realpath(__import__('adversarial_rl').__file__)))
    files += [f'{own}/adversarial_rl/{name}' for name in ('__init__.py', 'problems/data.py', 'grader/program.py')]
    tops = {os.path.dirname(os.path.dirname(np.__file__)), own, f'{own}/adversarial_rl', f'{own}/data'}
    names = [n for d in others for n in (d.read_text('top_level.txt') or '').split() if n.isidentifier()]
    names += ['adversarial_rl.problems', 'torch', 'pandas', 'pip', 'pytest']
    if not (held := walls(off)): pytest.skip('no wall hides files here')
    if np.__file__.startswith(sys.base_prefix + os.sep) and 'namespaces' not in held: tops = set()   # The library's
    program = REACH.format(names=sorted(set(names) - {'numpy', 'adversarial_rl'})[:60], paths=files[:400],
                           folders=sorted(tops), distributions=[d.name for d in others][:60])
    tests = []
    if in_test:
        program, tests = 'def show(text): print(text)', [program.replace('print(seen)', 'show(seen)\nassert True')]
    with Sandbox(1, off, modules=['numpy']) as s: o = graded(s, program, tests)
    assert o.passed and o.stdout == '[]\n', o


def test_memory_limits_hold_on_top_of_the_packages():
    with Grader(Limits(memory_mb=64), workers=1, modules=['numpy']) as g:
        small, large = g.grade_many([Job(f'import numpy\nnumpy.ones(2**{n})') for n in (21, 27)])
    assert small.passed and large.kind == 'memory_limit'


@pytest.mark.parametrize('name, message', [('no_such_package', 'not installed here'), ('math', 'part of Python'),
                                           ('adversarial_rl', 'hold answers'), ('', 'name of one package'),
                                           ('numpy,pandas', 'name of one package')])
def test_a_wrong_name_is_one_clear_line(name, message, tmp_path):
    with pytest.raises(UsageError, match=message): Grader(modules=['numpy', name])
    with pytest.raises(UsageError, match=message): Sandbox(modules=[name])
    (tmp_path/'a.py').write_text('x = 1')
    command = [sys.executable, '-m', 'adversarial_rl.grader', 'a.py', '--tests', 'a.py', '--modules', 'numpy', name]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    line, = done.stderr.splitlines()
    assert (done.returncode, done.stdout) == (2, '') and line.startswith('error: ') and message in line


FORGED = '''import sys, json
def f(x):
    import adversarial_rl.grader.codec as codec
    class Odd: pass
    codec.WRITE[Odd] = ({name!r}, lambda x, inner: {form})
    return Odd()'''
FORMS = ['["O", [1], [1]]', '["l", [10**9], [1]]', '["U9999999999", [1], ["a"]]', '["l", [1], "x"]', '[[], 1, 2]', '1',
         '["i4,i4", [1], [1]]', '["l", [-1], [[1], [2, 3]]]', '["d", 7]', '["S", [1], [{"list": 1}]]', 'None', '{}']


@pytest.mark.parametrize('name', ['scalar', 'array'])
def test_forged_arrays_pass_nothing_and_lose_no_judge(name):
    jobs = [FORGED.format(name=name, form=form) for form in FORMS]
    tests = ['assert f(1) == 41', 'import numpy as np\nassert np.array_equal(f(1), [41]) or f(1) == 41']
    with Grader(modules=['numpy'], workers=1) as g:
        for o in g.grade_many([(job, tests) for job in jobs]): assert o.judged and o.per_test == (False, False), o
