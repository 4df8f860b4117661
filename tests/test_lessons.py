"Each lesson: its stubs fail their checks, its solutions pass them, and it has what a lesson has."
import json
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
LESSONS = sorted((ROOT/'nbs'/'lessons').glob('0[1-9]_*.ipynb'))
SOLUTION = re.compile(r'<details><summary>Solution</summary>\n\n```python\n(.*?)\n```\n\n</details>', re.S)
LINK = re.compile(r'\]\((?!https?:)([^)#]+)')


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
def test_it_has_what_a_lesson_has(path):
    everything = list(cells(path))
    kinds, text = [kind for kind, _ in everything], '\n'.join(source for _, source in everything)
    companion = cells(ROOT/'nbs'/'train'/'01_play_one_round.ipynb')
    first, theirs = (next(s for kind, s in some if kind == 'code') for some in (everything, companion))
    assert first == theirs
    for word in ('**You need**', '**You learn**', '**Time:** 45 minutes', '## To think about', '## Further reading'):
        assert word in text
    assert kinds.count('exercise') == kinds.count('check') == len(SOLUTION.findall(text)) >= 3
    for i, kind in enumerate(kinds):   # An exercise, its check, its solution
        if kind == 'exercise': assert kinds[i + 1] == 'check' and SOLUTION.search(everything[i + 2][1])


@pytest.mark.parametrize('path', LESSONS, ids=lambda p: p.stem)
def test_its_stubs_fail_and_its_solutions_pass(path, monkeypatch):
    monkeypatch.chdir(path.parent)
    monkeypatch.setenv('PYTHONPATH', '')   # The setup cell adds to it
    variables, stub, check = {}, '', ''
    for kind, source in cells(path):
        if kind == 'exercise': stub = source
        elif kind == 'check':
            check, alone = source, dict(variables)
            exec(stub, alone)
            with pytest.raises((NotImplementedError, AssertionError)): exec(check, alone)
        elif kind == 'markdown' and (solution := SOLUTION.search(source)):
            exec(solution[1], variables)
            exec(check, variables)
        elif kind == 'code': exec(source, variables)
