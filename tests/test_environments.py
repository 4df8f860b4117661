"The project's requirements keep the packages of Colab and Kaggle; resolved against the package index, not installed."
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from environments import PINS, resolved


def find(name):
    try: return resolved(name)
    except subprocess.CalledProcessError as e:
        offline = ('dns error', 'error sending request', 'Could not connect', 'Failed to fetch')
        if any(x in e.stderr for x in offline): pytest.skip('the package index cannot be reached')
        raise AssertionError(e.stderr) from None


@pytest.mark.parametrize('name', PINS)
def test_installed_packages_stay(name):
    found = find(name)
    for pin in PINS[name]['packages'].split():
        package, _, version = pin.partition('==')
        if version and package in found and package != 'datasets': assert found[package] == version
    assert found['torch'] == '2.11.0' and 'trl' in found
    assert found['ipywidgets'].startswith('7.7' if name == 'colab' else '8.1')


def test_a_requirement_that_would_replace_pytorch_is_found(monkeypatch):
    monkeypatch.setattr('environments.requirements', lambda: ['torch>=2.12'])
    with pytest.raises(AssertionError, match='torch'): find('colab')
