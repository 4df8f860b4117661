"The companion notebooks have one setup cell, a claim and a control; each runs from top to bottom, silent on stderr."
import json
import os
import shutil

import pytest
from structure import ROOT

from adversarial_rl.core.machine import Platform

TRAIN = ROOT/'nbs'/'train'
BOOKS = sorted(TRAIN.glob('*.ipynb'))


def cells(nb, kind='code'):
    book = json.loads(nb.read_text())
    return [(''.join(c['source']), c) for c in book['cells'] if c['cell_type'] == kind]


def test_one_setup_cell_for_all():
    assert len({cells(nb)[0][0] for nb in BOOKS}) == 1
    assert len((TRAIN/'.notest').read_text()) == 0


@pytest.mark.parametrize('nb', BOOKS, ids=lambda p: p.stem)
def test_it_runs_quick(nb, monkeypatch):
    import nbformat
    from nbclient import NotebookClient
    for path in (ROOT/'output').glob('quick_*'): shutil.rmtree(path) if path.is_dir() else path.unlink()
    monkeypatch.setenv('ARL_QUICK', '1')
    monkeypatch.setenv('PYTHONPATH', os.pathsep.join(filter(None, (str(ROOT), os.environ.get('PYTHONPATH')))))
    book = nbformat.read(nb, 4)
    resources = dict(metadata=dict(path=str(TRAIN)))
    NotebookClient(book, timeout=600, kernel_name='python3', resources=resources).execute()
    outputs = [o for c in book.cells if c.cell_type == 'code' for o in c.outputs]
    errors = [line for o in outputs if o.get('name') == 'stderr' for line in o.text.splitlines()]
    assert not [line for line in errors if not line.endswith(': done')]   # Runs that have ended


@pytest.mark.parametrize('name', ['02_train_adversarial', '07_evaluate_mbpp'])
def test_a_real_model_is_trained_or_measured_only_if_one_asks(name):
    "Also on a GPU: the flag stands among the parameters, with what it costs, and is off."
    flags, = [source for source, c in cells(TRAIN/f'{name}.ipynb') if 'parameters' in c['metadata'].get('tags', [])]
    assert 'REAL_MODEL = False   # True' in flags and 'hour' in flags
    sources = [source for source, _ in cells(TRAIN/f'{name}.ipynb')]
    namespace = dict(machine=Platform('cuda', 'T4', 'float16', 2, 15., 'colab', (7, 5)), QUICK=False, real='real',
                     size='1.5B', REAL_MODEL=False)
    chosen, = [line for source in sources for line in source.splitlines() if 'REAL_MODEL and not QUICK' in line]
    exec(chosen, namespace)
    assert 'starter' in namespace[chosen.split(' = ')[0]]
