"Each lesson: its stubs and likely mistakes fail their checks, its solutions pass, and it has what a lesson has."
import json
import re

import pytest
from IPython.core.inputtransformer2 import TransformerManager
from structure import ROOT

LESSONS = sorted((ROOT/'nbs'/'lessons').glob('0[1-9]_*.ipynb'))
SOLUTION = re.compile(r'<details><summary>Solution</summary>\n\n```python\n(.*?)\n```\n\n</details>', re.S)
LINK = re.compile(r'\]\((?!https?:)([^)#]+)')

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
           (3, 'reference.log_softmax(0) + rewards / beta', '(reference.softmax(0) * (rewards / beta).exp()).log()')],
    '05': [(1, 'in tests', 'in tests[:1]'), (1, 'in tests', 'in tests[-1:]'), (1, 'names = {}', 'names = globals()'),
           (1, 'BaseException', 'Exception'), (2, 'return Equal()', 'return x + 1.0'),
           (3, 'import os\nos._exit(0)', 'class N(int):\n    locals()["__e" + "q__"] = lambda *_: True\nf = N'),
           (4, 'json.dumps(value, sort_keys=True) != json.dumps(expected, sort_keys=True)', 'value != expected'),
           (4, 'json.dumps(value, sort_keys=True) != json.dumps(expected, sort_keys=True)',
            'type(value) is not type(expected) or value != expected'), (4, 'in cases', 'in cases[:1]')],
    '06': [(1, 'sum(counted)', 'sum(row)'), (3, "'assert f([1]) == 2'", '')],
    '07': [(1, 'PAYOFF @ policy', 'policy @ PAYOFF'), (1, '.max()', '.abs().max()'),
           (2, 'logits + rate', 'logits - rate'),
           (3, 'payoff @ counts', 'counts @ payoff'), (4, 'return [', 'return [] and [')],
    '08': [(1, '.025, .975', '.05, .95'), (2, 'after - before', 'np.sort(after) - np.sort(before)'),
           (2, 'return interval(after - before)', 'return [y - x for x, y in zip(interval(before), interval(after))]'),
           (3, 't * np.std', '2.776 * np.std'), (3, 'return np.mean', 'return np.median'),
           (4, 'held_out[validation.argmax()]', 'held_out.mean()')],
}


def cells(path):
    "(kind, source) of each cell; a kind is markdown, code, exercise or check."
    for c in json.loads(path.read_text())['cells']:
        yield (c['metadata'].get('tags') or [c['cell_type']])[0], ''.join(c['source'])


def test_there_are_eight_and_the_syllabus_names_them():
    syllabus = '\n'.join(source for _, source in cells(ROOT/'nbs'/'lessons'/'00_syllabus.ipynb'))
    assert len(LESSONS) == 8 and all(f'({path.name})' in syllabus for path in LESSONS)


@pytest.mark.parametrize('path', sorted((ROOT/'nbs'/'lessons').glob('*.ipynb')), ids=lambda p: p.stem)
def test_its_links_lead_somewhere(path):
    text = '\n'.join(source for kind, source in cells(path) if kind == 'markdown')
    assert not [link for link in LINK.findall(text) if not (path.parent/link).exists()]


@pytest.mark.parametrize('path', LESSONS, ids=lambda p: p.stem)
def test_its_stubs_and_mistakes_fail_and_its_solutions_pass(path, monkeypatch):
    monkeypatch.chdir(path.parent)
    monkeypatch.setenv('PYTHONPATH', '')   # The setup cell adds to it
    variables, exercise, stub, check = {}, 0, '', ''
    for kind, source in cells(path):
        if kind == 'exercise': exercise, stub = exercise + 1, source
        elif kind == 'check':
            check, alone = source, dict(variables)
            exec(stub, alone)
            with pytest.raises((NotImplementedError, AssertionError)): exec(check, alone)
        elif kind == 'markdown' and (solution := SOLUTION.search(source)):
            for number, right, wrong in MISTAKES[path.stem[:2]]:
                if number != exercise: continue
                assert right in solution[1], f'no such words in the solution of {exercise}: {right}'
                alone = dict(variables)
                exec(solution[1].replace(right, wrong, 1), alone)
                with pytest.raises(AssertionError) as refused: exec(check, alone)
                assert str(refused.value), f'the check should say what is wrong with: {wrong}'
            exec(solution[1], variables)
            exec(check, variables)
        elif kind == 'code': exec(TransformerManager().transform_cell(source), variables)   # The first asks pip
