"Notebooks and library are one thing: exported, clean, small, and free of this machine."
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
NOTEBOOKS = sorted((ROOT/'nbs').glob('*/*.ipynb'))


@pytest.fixture(scope='module')
def copy(tmp_path_factory):
    "The notebooks and settings alone, exported from nothing and cleaned."
    root = tmp_path_factory.mktemp('export')
    shutil.copy(ROOT/'settings.ini', root)
    shutil.copytree(ROOT/'nbs', root/'nbs', ignore=shutil.ignore_patterns('.ipynb_checkpoints'))
    (root/'adversarial_rl').mkdir()
    code = 'import sys; from nbdev.clean import nbdev_clean; from nbdev.doclinks import nbdev_export; nbdev_export(); [nbdev_clean(fname=f) for f in sys.argv[1:]]'
    done = subprocess.run([sys.executable, '-c', code, *(str(root/nb.relative_to(ROOT)) for nb in NOTEBOOKS)], cwd=root, env=dict(os.environ, PYTHONPATH=str(root)), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return root


def test_library_is_what_the_notebooks_export(copy):
    ours, theirs = ({str(p.relative_to(r)): p.read_text() for p in (r/'adversarial_rl').rglob('*.py')} for r in (ROOT, copy))
    assert sorted(ours) == sorted(theirs)
    assert not [name for name in ours if ours[name] != theirs[name]], 'run nbdev_export'


def test_notebooks_are_clean(copy):
    assert not [nb.name for nb in NOTEBOOKS if nb.read_text() != (copy/nb.relative_to(ROOT)).read_text()], 'run nbdev_clean on each'


@pytest.mark.parametrize('nb', NOTEBOOKS, ids=lambda p: p.name)
def test_notebook_is_fit_to_be_read(nb):
    text, book = nb.read_text(), json.loads(nb.read_text())
    assert len(text) < 500_000
    assert 'widgets' not in book['metadata']
    outputs = json.dumps([c.get('outputs') for c in book['cells']])
    assert not re.search(r'/(home|root|work|tmp|Users)/', outputs), 'an output holds a path'
    assert 'widget-view' not in outputs, 'an output is a widget that readers will not see'
    assert not [o for c in book['cells'] for o in c.get('outputs', []) if o['output_type'] == 'error']


def test_importing_the_library_imports_no_torch():
    code = 'import sys, adversarial_rl; sys.exit("torch" in sys.modules)'
    assert subprocess.run([sys.executable, '-c', code]).returncode == 0


def test_library_imports_no_notebook_tools():
    assert not [p.name for p in (ROOT/'adversarial_rl').rglob('*.py') if p.name != '_modidx.py' and re.search(r'^\s*(from|import) (nbdev|fastcore)', p.read_text(), re.M)]
