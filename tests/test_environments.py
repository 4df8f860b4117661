"What Colab and Kaggle ship is kept by the project's requirements; resolved against the package index, nothing is installed."
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from environments import PINS, resolved


def find(name):
    try: return resolved(name)
    except subprocess.CalledProcessError as e:
        if any(x in e.stderr for x in ('dns error', 'error sending request', 'Could not connect', 'Failed to fetch')): pytest.skip('no package index at hand')
        raise AssertionError(e.stderr) from None


@pytest.mark.parametrize('name', PINS)
def test_what_is_there_stays(name):
    found = find(name)
    for pin in PINS[name]['packages'].split():
        package, _, version = pin.partition('==')
        if version and package in found and package != 'datasets': assert found[package] == version
    assert found['torch'] == '2.11.0' and found['ipywidgets'].startswith('7.7' if name == 'colab' else '8.1') and 'trl' in found


def test_a_requirement_that_would_replace_pytorch_is_found(monkeypatch):
    monkeypatch.setattr('environments.requirements', lambda: ['torch>=2.12'])
    with pytest.raises(AssertionError, match='torch'): find('colab')
