"The companion notebooks have one setup cell, a claim and a control; each runs from top to bottom, silent on stderr."
import json
import os
import re
import shutil
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
TRAIN = ROOT/'nbs'/'train'
BOOKS = sorted(TRAIN.glob('*.ipynb'))
WORDS = ('**Control', 'signature figure', 'Healthy', 'Sick', 'Try it yourself', '**Limits.**',
         'kaggle.com/kernels/welcome')
COLAB = 'colab.research.google.com/github/adversarial-rl/adversarial_rl/blob/main/nbs/train'


def cells(nb, kind='code'):
    book = json.loads(nb.read_text())
    return [(''.join(c['source']), c) for c in book['cells'] if c['cell_type'] == kind]


def test_one_setup_cell_for_all():
    assert len({cells(nb)[0][0] for nb in BOOKS}) == 1
    assert len((TRAIN/'.notest').read_text()) == 0


@pytest.mark.parametrize('nb', BOOKS, ids=lambda p: p.stem)
def test_it_has_what_a_companion_has(nb):
    code, prose = cells(nb), '\n'.join(s for s, _ in cells(nb, 'markdown'))
    assert [i for i, (_, c) in enumerate(code) if c['metadata'].get('tags') == ['parameters']] == [1]
    assert '**Claim.**' in prose or '**Question.**' in prose
    for word in (*WORDS, f'{COLAB}/{nb.name}'): assert word in prose, word
    assert 'assert' in code[-1][0]
    outputs = [o for _, c in code for o in c['outputs']]
    assert any('image/png' in o.get('data', {}) for o in outputs), 'no picture in it'
    assert re.search(r'\d+ cores?\b', json.dumps(code[0][1]['outputs'])), 'does not say which machine made it'
    assert not [o for o in outputs if o.get('name') == 'stderr']


TWINS = dict(browse='attempt_figure', compare_runs='runs_figure', explore_metrics='watch', step_through='game_figure',
             explore_mbpp='mbpp_figure')   # Widget -> what draws the same without one


@pytest.mark.parametrize('nb', BOOKS, ids=lambda p: p.stem)
def test_every_widget_has_a_picture_that_is_stored(nb):
    code = cells(nb)
    calls = [call for source, _ in code for call in re.findall(r'^(\w+)\(', source, re.M)]
    explored = re.findall(r'^explore\((\w+)', '\n'.join(source for source, _ in code), re.M)
    for figure in [TWINS[call] for call in calls if call in TWINS] + explored:
        drawn = [c for source, c in code if re.search(rf'^(Image\(png\()?{figure}\(', source, re.M)]
        assert drawn, f'{figure} is in no cell of its own'
        for c in drawn: assert not c['outputs'] or 'image/png' in json.dumps(c['outputs']), figure


@pytest.mark.parametrize('nb', BOOKS, ids=lambda p: p.stem)
def test_it_runs_quick(nb, monkeypatch):
    import nbformat
    from nbclient import NotebookClient
    for folder in (ROOT/'output').glob('quick_*'): shutil.rmtree(folder)
    monkeypatch.setenv('ARL_QUICK', '1')
    monkeypatch.setenv('PYTHONPATH', os.pathsep.join(filter(None, (str(ROOT), os.environ.get('PYTHONPATH')))))
    book = nbformat.read(nb, 4)
    resources = dict(metadata=dict(path=str(TRAIN)))
    NotebookClient(book, timeout=600, kernel_name='python3', resources=resources).execute()
    outputs = [o for c in book.cells if c.cell_type == 'code' for o in c.outputs]
    assert not [o.text for o in outputs if o.get('name') == 'stderr']
