"Each lesson: its stubs and likely mistakes fail their checks, its solutions pass, and it has what a lesson has."
import os
import re
from pathlib import Path

import lessons
import nbformat
import pytest
from IPython.core.inputtransformer2 import TransformerManager
from lessons import kind, LESSONS, SOLUTION
from structure import ROOT

LINK = re.compile(r'\]\((?!https?:)([^)#]+)')
NOTEBOOKS = sorted((ROOT/'nbs'/'lessons').glob('*.ipynb'))

MISTAKES = {   # Lesson: (exercise, words of its solution, what a student wrote there)
    '01': [(1, '[actions]', '[actions].detach()'), (1, '(logits - logits.logsumexp(0))', 'logits.softmax(0).log()'),
           (3, 'logits.detach().softmax(0))\n    return', 'logits.detach())\n    return'),
           (3, 'grad(loss, logits)', 'grad(loss, logits)\n        gradient = old = gradient + (old if history else 0)'),
           (3, 'history = []', 'history, rng = [], torch.Generator()'), (3, 'rate * gradient', '2 * gradient'),
           (4, ' * transcripts.action', '')],
    '02': [(1, 'rewards.mean()', '10'), (2, 'return rewards - means[group]', 'return rewards.sub_(means[group])')],
    '03': [(1, '(logp - old_logp).exp()', '(old_logp - logp).exp()'), (3, ') > -', ') < -')],
    '04': [(1, '.sum()', '.sum().item()'), (1, 'logp.exp() * (logp - ref_logp)',
                                           'logits.softmax(0) * (logits.softmax(0) / reference.softmax(0)).log()'),
           (2, 'dict(k1=r, k2=r**2 / 2, k3=(-r).exp() - 1 + r)', 'dict(k1=r)'),
           (3, 'reference.log_softmax(0) + rewards / beta', '(reference.softmax(0) * (rewards / beta).exp()).log()'),
           (4, '.1', '.03')],
    '05': [(1, 'in tests', 'in tests[:1]'), (1, 'in tests', 'in tests[-1:]'), (1, 'names = {}', 'names = globals()'),
           (1, 'BaseException', 'Exception'), (2, 'return Equal()', 'return x + 1.0'),
           (3, 'import os\nos._exit(0)', 'class N(int):\n    locals()["__e" + "q__"] = lambda *_: True\nf = N'),
           (4, 'json.dumps(value, sort_keys=True) != json.dumps(expected, sort_keys=True)', 'value != expected'),
           (4, 'json.dumps(value, sort_keys=True) != json.dumps(expected, sort_keys=True)',
            'type(value) is not type(expected) or value != expected'), (4, 'in cases', 'in cases[:1]')],
    '06': [(1, 'sum(counted)', 'sum(row)'), (3, "'assert f([1]) == 2'", '')],
    '07': [(1, 'PAYOFF @ policy', 'policy @ PAYOFF'), (1, '.max()', '.abs().max()'),
           (2, 'logits + rate', 'logits - rate'),
           (2, 'rate * policy * earned', 'rate * sum(p * (PAYOFF @ p) for p in policies)'),   # Gradients add up
           (2, 'rate * policy * earned',                                                     # The opponent moves, too
            'rate * torch.autograd.functional.jacobian(lambda x: x.softmax(0) @ PAYOFF @ x.softmax(0), logits)'),
           (3, 'payoff @ counts', 'counts @ payoff'), (4, 'return [', 'return [] and [')],
    '08': [(1, '.025, .975', '.05, .95'), (1, 'size=(draws, len(values))', 'size=(draws, 160)'),
           (2, 'after - before', 'np.sort(after) - np.sort(before)'),
           (2, 'return interval(after - before)', 'return [y - x for x, y in zip(interval(before), interval(after))]'),
           (3, 't * np.std', '2.776 * np.std'), (3, 'return np.mean', 'return np.median'), (3, ', ddof=1', ''),
           (4, 'held_out[validation.argmax()]', 'held_out.mean()'),
           (4, 'held_out[validation.argmax()]', 'validation.max()')],
}


def cells(path):
    "(kind, source) of each cell; a kind is markdown, code, exercise or check."
    return [(kind(c), c.source) for c in nbformat.read(path, 4).cells]


def text_of(path): return '\n'.join(source for k, source in cells(path) if k == 'markdown')


def test_there_are_eight_and_the_syllabus_names_them():
    syllabus = text_of(ROOT/'nbs'/'lessons'/'00_syllabus.ipynb')
    assert len(LESSONS) == 8 and all(f'({path.name})' in syllabus for path in LESSONS)


@pytest.mark.parametrize('path', NOTEBOOKS, ids=lambda p: p.stem)
def test_its_links_lead_somewhere(path):
    links = LINK.findall(text_of(path))
    assert not [link for link in links if not (path.parent/link).exists()]
    taught = [path.parent/link for link in links if re.match(r'\.\./(05|07|09|11)_.*ipynb|.*15_use', link)]
    assert not [nb for nb in taught if f'](../lessons/{path.name})' not in text_of(nb)], 'no link back to the lesson'


def test_they_begin_alike():
    assert len({next(source for k, source in cells(path) if k == 'code') for path in LESSONS}) == 1


@pytest.mark.parametrize('path', LESSONS, ids=lambda p: p.stem)
def test_its_minutes_add_up_and_hints_stand_before_solutions(path):
    total, read, work = map(int, re.search(r'(\d+) minutes: (\d+) to read, (\d+) for', text_of(path)).groups())
    minutes = re.findall(r'^## Exercise \d: .* \((\d+) minutes, (?:easy|medium|hard)\)$', text_of(path), re.M)
    assert total == read + work and work == sum(map(int, minutes))
    folded = re.findall(r'<summary>(.*?)</summary>', text_of(path))
    assert folded == ['Hint', 'Solution'] * len(minutes) + ['Answers']


@pytest.mark.parametrize('path', LESSONS, ids=lambda p: p.stem)
def test_it_stores_pictures_and_nothing_in_its_exercises(path):
    code = [c for c in nbformat.read(path, 4).cells if c.cell_type == 'code']
    outputs = [o for c in code for o in c.outputs]
    assert sum('image/png' in o.get('data', {}) for o in outputs) >= 2
    assert not [o for o in outputs if o.output_type == 'error' or o.get('name') == 'stderr']
    assert not [c for c in code if bool(c.outputs) != (kind(c) == 'check') and kind(c) in ('check', 'exercise')]


@pytest.mark.parametrize('path', LESSONS, ids=lambda p: p.stem)
def test_the_student_edition_has_hints_and_no_solutions(path, tmp_path):
    lessons.student(path, tmp_path)
    book = nbformat.read(tmp_path/path.name, 4)
    nbformat.validate(book)
    text = text_of(tmp_path/path.name)
    solutions = SOLUTION.findall(text_of(path))
    assert set(re.findall(r'<summary>(.*?)</summary>', text)) == {'Hint'} and text.count('Hint<') == len(solutions)
    assert not [s for s in solutions if s in text] and 'colab.research' not in text
    assert [c.source for c in book.cells if c.cell_type == 'code'] == [s for k, s in cells(path) if k != 'markdown']
    assert not [c for c in book.cells if c.get('outputs')]
    assert not [x for x in LINK.findall(text) if not Path(os.path.normpath(ROOT/'output'/'student'/x)).exists()]


@pytest.mark.parametrize('path', LESSONS, ids=lambda p: p.stem)
def test_its_stubs_and_mistakes_fail_and_its_solutions_pass(path):
    variables, exercise, stub, check = {}, 0, '', ''
    for k, source in cells(path):
        if k == 'exercise': exercise, stub = exercise + 1, source
        elif k == 'check':
            check, alone = source, dict(variables)
            exec(stub, alone)
            with pytest.raises((NotImplementedError, AssertionError)): exec(check, alone)
        elif k == 'markdown' and (solution := SOLUTION.search(source)):
            for number, right, wrong in MISTAKES[path.stem[:2]]:
                if number != exercise: continue
                assert right in solution[1], f'no such words in the solution of {exercise}: {right}'
                alone = dict(variables)
                exec(solution[1].replace(right, wrong, 1), alone)
                with pytest.raises(AssertionError) as refused: exec(check, alone)
                assert str(refused.value), f'the check should say what is wrong with: {wrong}'
            exec(solution[1], variables)
            exec(check, variables)
        elif k == 'code': exec(TransformerManager().transform_cell(source), variables)   # The first may ask pip
