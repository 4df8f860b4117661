"The README's Python runs, and the files that its links name exist."
import pkgutil
import re
import subprocess
import sys
from importlib.metadata import metadata

import processes
import pytest
import structure
from structure import ROOT

README = (ROOT / 'README.md').read_text()
TRAIN = ('--config configs/starter.yaml --n-discriminator-steps 1 --n-generator-steps 0 --k-alternating-steps 0 '
         '--together-steps 0 --held-out 4 --report-to none').split()


def test_its_python_runs(tmp_path):
    folders = ['--output-dir', tmp_path / 'output', '--checkpoint-dir', tmp_path / 'checkpoints' / 'run']
    assert processes.run('run_training', *TRAIN, *folders, cwd=ROOT).returncode == 0
    code, = re.findall(r'```python\n(.*?)```', README, re.S)
    done = subprocess.run([sys.executable, '-c', code], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith('success (True, True)\n') and done.stdout.endswith("10': True}\n")


def test_its_links_lead_to_files():
    for document in ('README.md', 'CONTRIBUTING.md', 'CHANGELOG.md', 'RESULTS.md'):
        links = re.findall(r'\]\((?!https?:|#)([^)#]+)', (ROOT / document).read_text())
        assert not [link for link in links if not (ROOT / link).exists()], document


def test_documents_are_short():
    assert len(README) < 12_500 and (ROOT/'RESULTS.md').stat().st_size < 20_480
    tables = re.findall(r'(?:^\|.*\n)+', README, re.M)
    assert max(len(table.splitlines()) - 2 for table in tables) <= 8


@pytest.mark.parametrize('document', ['README.md', 'CONTRIBUTING.md', 'RESULTS.md'])
def test_every_name_of_the_library_in_a_document_is_there(document):
    "Such as `grader.suites.validate_many`."
    names = re.findall(r'`((?:' + '|'.join(structure.CHAPTERS) + r')(?:\.\w+)+)`', (ROOT / document).read_text())
    for name in names: pkgutil.resolve_name(f'adversarial_rl.{name}')
    assert names or document != 'CONTRIBUTING.md'


PAGES = [ROOT/'README.md', *ROOT.glob('environments/*/README.md'), *ROOT.glob('nbs/14_engines/*.ipynb')]


@pytest.mark.parametrize('page', PAGES, ids=lambda p: str(p.relative_to(ROOT)))
def test_an_install_command_works_in_a_clone(page):
    "The project is not on the package index, and an older pip drops an extra whose name is not the normal one."
    extras = metadata('adversarial_rl').get_all('Provides-Extra')
    for source, names in re.findall(r"pip install '(.+?)\[(.+?)\]'", page.read_text(encoding='utf-8')):
        assert source == '.' and set(names.split(',')) <= set(extras)
