"The site of all notebooks is built with every link followed."
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from structure import ROOT

BOOK = ROOT/'.venv'/'site'/'bin'/'python'   # `make site` and `make test-all` install jupyter-book there


@pytest.fixture(scope='module')
def site(tmp_path_factory):
    "The site without Pyodide, which test_page.py runs."
    if not BOOK.with_name('jupyter-book').exists(): pytest.skip('no jupyter-book here; make site installs it')
    folder = tmp_path_factory.mktemp('site')
    kept = ROOT/'output'/'npm'   # Where `make site` keeps what npm brought
    if kept.exists(): shutil.copytree(kept, folder/'npm')
    path = os.pathsep.join([os.environ['PATH'], str(Path(sys.executable).parent)])
    done = subprocess.run([BOOK, ROOT/'site'/'book'/'book.py', '--without-pyodide', folder/'site'],
                          capture_output=True, text=True, env=os.environ | dict(PATH=path))
    if done.stderr.startswith('npm '): pytest.skip(done.stderr)
    assert done.returncode == 0, done.stderr[-5000:]
    assert 'every link followed' in done.stdout
    return folder/'site'


def test_it_holds_every_notebook_and_stored_outputs(site):
    for nb in (ROOT/'nbs').glob('*/*.ipynb'): assert (site/nb.relative_to(ROOT).with_suffix('.html')).exists(), nb
    assert 'README.html' in (site/'index.html').read_text()
    assert '2 cores, float32' in (site/'nbs'/'train'/'01_play_one_round.html').read_text()
