"Notebooks and library are one thing: exported, clean, small, and free of paths of the machine that ran them."
import json
import os
import re
import shutil
import subprocess
import sys

import pytest
from structure import ROOT

LIBRARY = ROOT / 'adversarial_rl'
NOTEBOOKS = sorted((ROOT / 'nbs').glob('*/*.ipynb'))
EXPORT = """import sys
from nbdev.clean import nbdev_clean
from nbdev.doclinks import nbdev_export
nbdev_export()
for notebook in sys.argv[1:]: nbdev_clean(fname=notebook)
"""


@pytest.fixture(scope='module')
def copy(tmp_path_factory):
    "Notebooks, settings and the one module written by hand, exported from nothing and cleaned."
    root = tmp_path_factory.mktemp('export')
    shutil.copy(ROOT / 'settings.ini', root)
    shutil.copytree(ROOT / 'nbs', root / 'nbs', ignore=shutil.ignore_patterns('.ipynb_checkpoints'))
    (root / 'adversarial_rl').mkdir()
    shutil.copy(LIBRARY / '__init__.py', root / 'adversarial_rl')
    notebooks = [str(root / nb.relative_to(ROOT)) for nb in NOTEBOOKS]
    done = subprocess.run([sys.executable, '-c', EXPORT, *notebooks], cwd=root, capture_output=True, text=True,
                          env=dict(os.environ, PYTHONPATH=str(root)))
    assert done.returncode == 0, done.stderr
    return root


def test_library_is_what_the_notebooks_export(copy):
    def sources(root): return {str(p.relative_to(root)): p.read_text() for p in (root / 'adversarial_rl').rglob('*.py')}
    ours, exported = sources(ROOT), sources(copy)
    assert sorted(ours) == sorted(exported)
    assert not [name for name in ours if ours[name] != exported[name]], 'run nbdev_export'


def test_notebooks_are_clean(copy):
    def differs(nb): return nb.read_text() != (copy / nb.relative_to(ROOT)).read_text()
    assert not [nb.name for nb in NOTEBOOKS if differs(nb)], 'run nbdev_clean on each'


@pytest.mark.parametrize('nb', NOTEBOOKS, ids=lambda p: p.name)
def test_notebook_is_fit_to_be_read(nb):
    text, book = nb.read_text(), json.loads(nb.read_text())
    assert len(text) < 500_000
    assert 'widgets' not in book['metadata']
    outputs = json.dumps([c.get('outputs') for c in book['cells']])
    assert not re.search(r'/(home|root|work|tmp|Users)/', outputs), 'an output holds a path'
    assert 'widget-view' not in outputs, 'an output is a widget that readers will not see'
    assert not [o for c in book['cells'] for o in c.get('outputs', []) if o['output_type'] == 'error']


def test_library_imports_no_notebook_tools():
    tools = re.compile(r'^\s*(from|import) (nbdev|fastcore)', re.M)
    assert not [p.name for p in LIBRARY.rglob('*.py') if p.name != '_modidx.py' and tools.search(p.read_text())]
