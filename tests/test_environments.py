"The project's requirements keep the packages of Colab and Kaggle; resolved against the package index, not installed."
import configparser
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from structure import ROOT

PINS = dict(
    colab=dict(python='python3.13',
               packages='torch==2.11.0 transformers==5.15.0 peft==0.20.0 datasets==4.0.0 ipywidgets==7.7.1 '
                        'ipython==7.34.0 ipykernel==6.17.1 fastcore==2.2.0 pandas matplotlib numpy'),
    kaggle=dict(python='python3.12',
                packages='torch==2.11.0 transformers==5.15.0 ipywidgets==8.1.5 fastcore<2 ipykernel pandas '
                         'matplotlib numpy'))
OFFLINE = ('dns error', 'error sending request', 'Could not connect', 'Failed to fetch')


def requirements()->list:
    ini = configparser.ConfigParser(delimiters=['='])
    ini.read(ROOT/'settings.ini')
    return ini['DEFAULT']['train_requirements'].split()


def resolved(name)->dict:
    "Versions of the project's requirements if the environment's packages, except `datasets`, stay: name -> version."
    python, packages = PINS[name]['python'].removeprefix('python'), PINS[name]['packages'].split()
    with tempfile.TemporaryDirectory() as folder:
        wanted, kept = Path(folder)/'wanted.txt', Path(folder)/'kept.txt'
        wanted.write_text('\n'.join(requirements()))
        # TRL needs a newer `datasets` than Colab's
        kept.write_text('\n'.join(p for p in packages if not p.startswith('datasets')))
        command = [sys.executable, '-m', 'uv', 'pip', 'compile', '-q', '--no-annotate', '--no-header',
                   '--python-version', python, '--python-platform', 'linux', '-c', str(kept), str(wanted)]
        done = subprocess.run(command, capture_output=True, text=True)
    if any(x in done.stderr for x in OFFLINE): pytest.skip('the package index cannot be reached')
    assert done.returncode == 0, done.stderr
    return dict(line.split('==') for line in done.stdout.split() if '==' in line)


@pytest.mark.parametrize('name', PINS)
def test_installed_packages_stay(name):
    found = resolved(name)
    for pin in PINS[name]['packages'].split():
        package, _, version = pin.partition('==')
        if version and package in found and package != 'datasets': assert found[package] == version
    assert found['torch'] == '2.11.0' and 'trl' in found
    assert found['ipywidgets'].startswith('7.7' if name == 'colab' else '8.1')
