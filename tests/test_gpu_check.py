"The checks for a GPU run on a CPU at toy sizes, as far as they go there; one that crashes or hangs ends alone."
import json
import os
import signal
import subprocess
import sys
import time
from importlib.util import find_spec
from pathlib import Path

import pytest

pytestmark = [pytest.mark.slow, pytest.mark.skipif(sys.platform == 'win32', reason='no forkserver')]
SCRIPT = Path(__file__).parent/'gpu'/'check.py'


@pytest.fixture(scope='module')
def check():
    "The script as a module, with its helpers importable."
    before, variables = list(sys.path), dict(os.environ)
    sys.path.insert(0, str(SCRIPT.parent))
    import check
    yield check
    sys.path[:] = before
    os.environ.clear()   # It adds to the path of Python, which later tests would inherit
    os.environ.update(variables)


def test_all_checks_pass_at_toy_sizes(tmp_path):
    command = [sys.executable, SCRIPT, '--device', 'cpu', '--out', tmp_path]
    done = subprocess.run(command, capture_output=True, text=True)
    lines = [json.loads(line) for line in (tmp_path/'checks.jsonl').read_text().splitlines()]
    assert [json.loads(line) for line in done.stdout.splitlines()] == lines
    machine, *rows = lines
    assert machine['device'] == 'cpu' and 'torch' in machine['libraries']
    assert [row['check'] for row in rows] == list(range(1, 11))
    skipped = {} if find_spec('pyspiel') else {10: 'not installed: open_spiel'}
    for row in rows:
        assert row['state'] == ('skipped' if row['check'] in skipped else 'passed'), row
        assert row.get('reason') == skipped.get(row['check']) and row['seconds'] >= 0
    assert done.returncode == 0, done.stderr


def crash(place, found): os.kill(os.getpid(), signal.SIGKILL)
def hang(place, found): time.sleep(600)
def wrong(place, found): found.require(False, 'it is wrong')
def fails(place, found): raise ValueError('no such thing')


@pytest.mark.parametrize('run,failure', [
    (crash, 'its process ended with exit code -9'), (hang, 'did not end within 1 seconds'), (wrong, 'it is wrong'),
    (fails, 'ValueError: no such thing')])
def test_a_check_that_fails_crashes_or_hangs_ends_alone(check, tmp_path, monkeypatch, run, failure):
    context, lines = check.multiprocessing.get_context('fork'), []
    monkeypatch.setattr(check.multiprocessing, 'get_context', lambda _: context)   # Knows the checks of this test
    monkeypatch.setattr(context, 'set_forkserver_preload', lambda _: None)
    checks = {1: check.Check('first', run, 1 if run is hang else 60), 2: check.Check('second', lambda *_: None, 60)}
    monkeypatch.setattr(check, 'CHECKS', checks)
    assert check.run_checks([1, 2], check.Place('cpu', '', tmp_path), lines.append) == 1
    assert [line['state'] for line in lines] == ['failed', 'passed'] and lines[0]['failures'] == [failure]


def test_without_a_gpu_it_says_so(tmp_path):
    import torch
    if torch.cuda.is_available(): pytest.skip('there is one')
    done = subprocess.run([sys.executable, SCRIPT, '--out', tmp_path], capture_output=True, text=True)
    assert done.returncode == 2 and '--device cuda: PyTorch sees no GPU here; --device cpu' in done.stderr
