"Notebooks of experiments: each starts, says its flags quickly, and loads what a single run needs."
import json
import re
import subprocess
import sys

import pytest
from structure import ROOT

from adversarial_rl.lab.__main__ import load_notebook, main

NOTEBOOKS = [p for p in sorted((ROOT/'nbs'/'experiments').glob('*.ipynb')) if '"#| lab' in p.read_text()]
HEAVY = ('torch', 'transformers', 'trl')


def parts(path):
    "Functions that a word after the notebook's name calls."
    cells = json.loads(path.read_text())['cells']
    return sorted({m[1] for c in cells if (m := re.match(r'#\| lab (\w+)\n', ''.join(c['source'])))})


@pytest.mark.parametrize('path', NOTEBOOKS, ids=lambda p: p.stem)
def test_an_experiment_says_its_flags_without_the_heavy_libraries(path):
    program = f'import atexit, sys\nfrom adversarial_rl.lab.__main__ import main\n' \
              f'atexit.register(lambda: print(*(set({HEAVY}) & set(sys.modules)), file=sys.stderr))\n' \
              f'sys.exit(main([{str(path)!r}, "--help"]))'
    done = subprocess.run([sys.executable, '-c', program], capture_output=True, text=True, cwd=ROOT)
    assert (done.returncode, done.stderr.strip()) == (0, ''), done.stderr
    assert done.stdout.startswith('usage: ')


@pytest.mark.slow
@pytest.mark.parametrize('path, part', [(p, part) for p in NOTEBOOKS for part in parts(p)], ids=str)
def test_a_single_run_is_defined(path, part):
    assert callable(getattr(load_notebook(path, part), part))


def test_a_mistake_is_one_line(tmp_path, capsys):
    (tmp_path/'plain.ipynb').write_text('{"cells": []}')
    (tmp_path/'text.ipynb').write_text('no notebook')
    for flags in (['absent.ipynb'], [str(tmp_path/'plain.ipynb')], [str(tmp_path/'text.ipynb')],
                  [str(NOTEBOOKS[0]), 'no_such_part'], [str(NOTEBOOKS[0]), '--no-such-flag']):
        assert main(flags) == 2
        err = capsys.readouterr().err
        assert err.startswith('error: ') and err.count('\n') == 1
