"Third-party modules that the caller chose: they work in programs and tests, and nothing beside them can be reached."
import json
import os
import subprocess
import sys

import pytest

from adversarial_rl import grade_many, Grader, Limits
from adversarial_rl.core.errors import UsageError
from adversarial_rl.grader.packages import choose
from adversarial_rl.grader.pool import isolated, Job, Sandbox, sandbox_report

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
def one(x): return np.array([2])
def same(x): return np.array(x)
def svd(m): return np.linalg.svd(np.array(m))
def center(m): return np.mean(m, axis=0)
def above(a, n): return a[a > n]
def grow(a): a += 1"""
EMPTY = ['(nothing(1) == np.array([2, 3])).all()', 'np.allclose(nothing(1), [2, 3])',
         'np.isclose(nothing(1), [2, 3]).all()',
         'np.all(np.abs(nothing(1) - np.array([2, 3])) < 1e-6)', 'not (np.abs(nothing(1) - [2, 3]) > 1e-6).any()',
         'not (nothing(1) != np.array([2, 3])).any()', '(np.array([2, 3]) == nothing(1)).all()',
         '(one(1) == np.array([2, 2])).all()', 'np.allclose([2, 2], one(1))', '(nothing(1) == [[2, 3]]).all()']
HONEST = ['u, s, v = svd([[1., 2], [3, 4]])\nassert np.allclose(u * s @ v, [[1, 2], [3, 4]])',
          'a = np.arange(6).reshape(3, 2)\nassert (a - center(a)).sum() == 0 and (same(a) >= same(a).min()).all()',
          'assert (same([[1, 2], [1, 2]]) == np.array([1, 2])).all() and (same([3, 3]) == 3).all()',
          'assert above(np.arange(3), 5).size == 0 and (above(np.arange(3), 5) == []).all()',
          'a = np.zeros(2)\ngrow(a)\ngrow(a)\nassert (a == [2, 2]).all()',
          'a = same([1, 2])\ngrow(a)\na += 1\nassert list(a) == [3, 4]',
          'x = same([1, 2])\nassert type(x) == np.ndarray == type(x) and isinstance(x, np.ndarray)',
          'assert repr(same([1, 2])) == "array([1, 2])"',
          'assert same(same([1, 2]) * 2).tolist() == [2, 4] and np.array_equal(same([]), np.array([]))',
          'assert str(same([1, 2])) == "[1 2]" and same([[1, 2]])[0][1] == 2',
          'assert np.concatenate([same([1]), [2]]).sum() == 3',
          'np.testing.assert_allclose(same([.1]), [.1])\nassert np.isclose(same([1]) / 3, 1 / 3).all()',
          'import copy, pickle\nx = same([1])\nassert (copy.deepcopy(x) == x).all() and np.sort(same([2, 1]))[0] == 1']


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


CHANGES = '''import os, numpy
folder, done = os.path.dirname(numpy.__file__), []
for change in (lambda: open(numpy.__file__, 'r+b'), lambda: open(folder + '/made_by_a_program.py', 'x'),
               lambda: os.mkdir(folder + '/made_by_a_program'), lambda: os.utime(folder)):
    try: done.append(change())
    except OSError: pass
def f(x): return len(done)'''


@pytest.mark.parametrize('off', HOSTS[:4])
def test_no_program_changes_a_package(off):
    with Sandbox(1, off, modules=['numpy']) as s: o = graded(s, CHANGES, ['assert f(1) == 0'])
    assert o.passed, o


def test_an_array_of_another_shape_is_not_equal():
    "Though numpy, by broadcasting, finds an empty array equal to everything."
    with Sandbox(1, modules=['numpy']) as s:
        tests = [f'import numpy as np\n{test}' for test in HONEST]
        o = graded(s, SHAPES, tests)
        assert not [(test, said) for test, said in zip(tests, o.messages) if said]
        wrong = graded(s, SHAPES, [f'import numpy as np\nassert {test}' for test in EMPTY])
        assert not any(wrong.per_test), [test for test, passed in zip(EMPTY, wrong.per_test) if passed]


ARRAYS = ['all(double([1, 2]) == [2, 4])', 'all(double([1, 2]) > 1)', 'sum(double([1, 2]) > 2) == 1',
          'max(double([1, 2]) - 1) == 3', 'list(double([1, 2]) + 1) == [3, 5]', 'double([[1, 2]])[0, 1] == 4',
          'any(double([1, 2]) == 4)', 'list(double([1, 2]) * 2) == [4, 8]', 'len(double([1, 2]) * 2) == 2',
          'double(double([1])) == [4]', 'not double([0])', 'len(double([1, 2])) == 2', 'double([1, 2]) == [2, 4]',
          'abs(double(2) - 4) < 1e-9', 'double([1, 2]).shape == (2,)']


def test_a_test_without_imports_meets_arrays_too():
    "Where it does more than compare answers, which as data would be lists."
    program = 'import numpy as np\ndef double(x): return np.asarray(x) * 2'
    with Grader(modules=['numpy']) as g:
        o = g.grade(program, [f'assert {test}' for test in ARRAYS], 'double')
        assert not [(test, said) for test, said in zip(ARRAYS, o.messages) if said]
        assert not any(g.grade('def double(x): return 7', [f'assert {test}' for test in ARRAYS], 'double').per_test)


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


def test_no_walls_are_lost_with_modules():
    with Grader(modules=['numpy'], workers=2) as chosen, Grader(workers=2) as bare:
        assert sandbox_report(chosen.sandbox) == sandbox_report(bare.sandbox)
        assert isolated(sandbox_report(chosen.sandbox)) == isolated(sandbox_report(bare.sandbox))
        a, b = (g.grade_many([Job('x = 1')])[0] for g in (chosen, bare))
        assert a.layers == b.layers


def test_a_message_with_numpy_leaves_handles_alone():
    "In a process of its own, because this changes the codec."
    shown = """import json, numpy
from adversarial_rl.grader import codec, packages
packages.cross(numpy)
class Inert:
    def __getattribute__(self, *name): raise AssertionError(name)
    __getitem__ = __float__ = __len__ = __index__ = __iter__ = __getattribute__
handle = {'handle': [0, 'object', 'C', []]}
forms = [{'scalar': handle}, {'scalar': ['d', handle]}, {'array': handle}, {'array': ['d', [1], [handle]]},
         {'array': ['d', [handle], [1.0]]}, {'array': ['d', handle, [1.0]]}, {'array': ['d', [1], handle]}]
def read(form):
    try: return type(codec.unpack(json.dumps(form).encode(), lambda form: Inert())).__name__
    except ValueError: return 'refused'
print([read(form) for form in forms])
codec.READ.update(packages.AS_NUMPY)
print([read(form) for form in forms])"""
    lines = subprocess.run([sys.executable, '-c', shown], capture_output=True, text=True).stdout.splitlines()
    assert [x.count('refused') for x in lines] == [4, 7], lines


def test_without_the_choice_numpy_is_absent():
    with Grader(workers=1) as g:
        o = g.grade_many([Job('import numpy')])[0]
        assert o.kind == 'runtime_error' and 'ModuleNotFoundError' in o.message


def test_what_a_package_requires_comes_with_it():
    pytest.importorskip('pandas')
    program = 'import pandas as pd\ndef f(): return pd.DataFrame({"a": [1, 2]}).a.sum(), pd.Series([1.5]).to_numpy()'
    with Grader(modules=['pandas'], workers=1) as g:
        assert {'pandas', 'numpy'} < set(g.sandbox.packages.versions)
        tests = ['assert f() == (3, [1.5])', 'import pandas\nassert f()[0] == pandas.Series([3])[0]']
        assert g.grade(program, tests).passed


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


def test_the_command_and_its_json_take_modules(tmp_path):
    (tmp_path/'program.py').write_text(PROGRAM)
    (tmp_path/'tests.py').write_text('import numpy as np\nassert np.allclose(twice([1]), [2])\nassert total([1]) == 1')
    command = [sys.executable, '-m', 'adversarial_rl.grader']
    done = subprocess.run([*command, 'program.py', '--tests', 'tests.py', '--modules', 'numpy'], cwd=tmp_path,
                          capture_output=True, text=True)
    assert done.returncode == 0 and 'success: 2 of 2 tests passed' in done.stdout, done
    row = json.dumps(dict(program=PROGRAM, tests=DATA))
    done = subprocess.run([*command, '--json', '--modules', 'numpy'], input=row, capture_output=True, text=True)
    assert done.returncode == 0 and json.loads(done.stdout)['passed'], done


@pytest.fixture
def installed(tmp_path, monkeypatch):
    "A folder on the path with five made-up distributions."
    def install(name, files, requires=''):
        info = f"{name.replace(chr(45), chr(95))}-1.0.dist-info"
        rows = {**files, f'{info}/METADATA': f'Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n{requires}'}
        for path, text in rows.items():
            (tmp_path/path).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path/path).write_text(text)
        (tmp_path/info/'RECORD').write_text(''.join(f'{path},,\n' for path in [*rows, f'{info}/RECORD']))
    install('made-one', {'made_one/__init__.py': 'from made_two import y\nx = y + 1', 'made_one/deep/more.py': 'z = 3'},
            'Requires-Dist: made_two>=1\nRequires-Dist: made-three; extra == "all"\nRequires-Dist: absent>3\n')
    install('made_two', {'made_two.py': 'y = 1'})
    install('made-three', {'made_shared/three/__init__.py': 'w = 3', 'made_shared/single.py': 'v = 4'})
    install('made-four', {'made_shared/four/__init__.py': 'secret = 4'})
    install('made-broken', {'made_broken/__init__.py': '1 / 0'})
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path


@pytest.mark.parametrize('off', HOSTS[:4])
def test_single_files_requirements_and_shared_folders(installed, off):
    assert list(choose(['made_one']).versions) == ['made-one', 'made_two']
    read = """import made_one, made_one.deep.more, importlib
def f(name):
    try: return importlib.import_module(name).__name__
    except ImportError: return ''
def g(): return made_one.x + made_one.deep.more.z"""
    tests = ['assert g() == 5', 'assert f("made_two") == "made_two"', 'assert not f("made_shared.three")']
    if not (held := walls(off)): pytest.skip('no wall hides files here')
    if held == {'seccomp'}:   # No file can be opened
        read = read.replace(', made_one.deep.more', '').replace('made_one.deep.more.z', '3')
    with Sandbox(1, off, modules=['made_one']) as s: assert graded(s, read, tests).passed
    if held == {'seccomp'}: return
    with Sandbox(1, off, modules=['made-three']) as s:
        tests = ['assert f("made_shared.three") and f("made_shared.single")', 'assert not f("made_shared.four")',
                 'assert not f("made_two")']
        program = read.replace('import made_one, made_one.deep.more, importlib', 'import importlib')
        assert graded(s, program, tests).per_test[0]
        read_four = f'open({str(installed/"made_shared"/"four"/"__init__.py")!r}).read()'
        assert not grade_many([Job(read_four)], sandbox=s)[0].passed


def test_a_package_that_fails_to_import_is_named(installed):
    with Sandbox(1, modules=['made-broken']) as s:
        with pytest.raises(UsageError, match='made_broken cannot be imported'): s.map([Job('')])


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


def test_no_program_provides_a_module_that_a_test_forgot_to_import():
    tests = ['assert np.allclose(f(1), [1])', 'assert numpy.allclose(f(1), [1])', 'a = f(1)\nassert np.sum(a) == 1']
    false = """class np:
    allclose = staticmethod(lambda *a: True)
    sum = staticmethod(lambda *a: 1)
numpy = np
def f(x): return [0]"""
    with Grader(modules=['numpy'], workers=1) as g:
        for name in '', 'f': assert g.grade(false, tests, name).per_test == (False,) * 3
        assert g.grade('import numpy as np\ndef f(x): return np.array([x])', tests).passed
        for name in '', 'f': assert g.grade('def f(x): return [x]', tests, name).passed


def test_pytest_works_in_tests():
    tests = ['with pytest.raises(ValueError, match="neg"): f(-1)', 'assert f(1) == pytest.approx(0.3333333)',
             'with pytest.raises(ValueError): f(1)', 'assert pytest.approx(0.4) == f(1)']
    with Grader(modules=['pytest'], workers=1) as g:
        program = 'def f(x):\n    if x < 0: raise ValueError("negative")\n    return x / 3'
        assert g.grade(program, [f'import pytest\n{test}' for test in tests]).per_test == (True, True, False, False)
        for name in '', 'f': assert g.grade(program, tests, name).per_test == (True, True, False, False)


@pytest.mark.parametrize('off', HOSTS[:3])
def test_programs_draw_random_numbers_of_their_own(off):
    "So none is right by drawing what another drew; the generator of numpy is imported before any program starts."
    code = 'import numpy as np\ndef f(): return float(np.random.rand())'
    with Sandbox(1, off=off, modules=['numpy']) as s:
        drawn = [report.steps[1].message for report in s.map([Job(f'{code}  # {n}', ('f()',)) for n in range(4)])]
    assert len(set(drawn)) == 4, drawn


@pytest.mark.parametrize('asked', ['np.sum(f(1)) == 3', 'f(1).sum() == 3', 'np.dot(f(1), 2) == 3',
                                   'f(1).tolist() == 3', 'np.max(f(1)) == 3', 'f(1).all()'])
def test_no_function_of_a_named_tuple_is_a_method_of_an_array(asked):
    program = ('from collections import namedtuple\nR = namedtuple("R", "all sum dot tolist max")\n'
               'def f(x): return R(*[lambda *a, **k: 3] * 5)')
    with Sandbox(1, modules=['numpy']) as s: o = graded(s, program, [f'import numpy as np\nassert {asked}'])
    assert o.judged and not o.passed, o
