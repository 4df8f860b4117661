"""Builds environments with the versions of Colab and Kaggle, and runs every companion notebook in them, quickly.

    python tests/environments.py colab    # Needs Python 3.13 and several gigabytes: PyTorch comes with CUDA
    python tests/environments.py kaggle --python python3.12 --only 01_play_one_round 03_fool_the_grader

Each notebook runs in an empty folder, so its first cell installs the project (the last commit of this clone) with
what it needs. First it checks that pip would not replace PyTorch. The exit code is 0 if nothing failed.
"""
import argparse
import configparser
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PINS = dict(
    colab=dict(python='python3.13',
               packages='torch==2.11.0 transformers==5.15.0 peft==0.20.0 datasets==4.0.0 ipywidgets==7.7.1 '
                        'ipython==7.34.0 ipykernel==6.17.1 fastcore==2.2.0 pandas matplotlib numpy'),
    kaggle=dict(python='python3.12',
                packages='torch==2.11.0 transformers==5.15.0 ipywidgets==8.1.5 fastcore<2 ipykernel pandas '
                         'matplotlib numpy'))
ZIP = 'https://github.com/adversarial-rl/adversarial_rl/archive/HEAD.zip'
KEPT = ('torch', 'ipywidgets', 'ipython', 'numpy', 'pandas')   # What pip may not touch
RUNNER = '''
import sys, nbformat
from nbclient import NotebookClient
book = nbformat.read(sys.argv[1], 4)
NotebookClient(book, timeout=1200, kernel_name='python3').execute()
said = [o.text for c in book.cells if c.cell_type == 'code' for o in c.outputs if o.get('name') == 'stderr']
sys.exit(f'said on stderr: {said}' if said else 0)
'''


def pip(python, *args):
    command = [python, '-m', 'pip', '--disable-pip-version-check', *args]
    return subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


def build(name, python, folder):
    "The environment's interpreter."
    env, inside = folder/'env', str(folder/'env'/'bin'/'python')
    if not (env/'built').exists():
        shutil.rmtree(env, ignore_errors=True)
        subprocess.run([python, '-m', 'venv', str(env)], check=True)
        packages = ['setuptools', 'wheel', 'nbclient', 'nbformat', *PINS[name]['packages'].split()]
        pip(inside, 'install', '-q', '--progress-bar', 'off', *packages)
        (env/'built').touch()
    return inside


def requirements()->list:
    "The project's for training, as pip reads them."
    ini = configparser.ConfigParser(delimiters=['='])
    ini.read(ROOT/'settings.ini')
    return ini['DEFAULT']['train_requirements'].split()


def replaced(python, folder)->dict:
    "What pip would install for the project's requirements: name -> version."
    report = folder/'report.json'
    pip(python, 'install', '-q', '--dry-run', '--report', str(report), *requirements())
    return {x['metadata']['name'].lower(): x['metadata']['version'] for x in json.loads(report.read_text())['install']}


def resolved(name)->dict:
    """Versions of the project's requirements if the environment's packages, except `datasets`, stay: name -> version.

    Raises `CalledProcessError` if there are none.
    """
    python, packages = PINS[name]['python'].removeprefix('python'), PINS[name]['packages'].split()
    with tempfile.TemporaryDirectory() as folder:
        wanted, kept = Path(folder)/'wanted.txt', Path(folder)/'kept.txt'
        wanted.write_text('\n'.join(requirements()))
        # TRL needs a newer `datasets` than Colab's
        kept.write_text('\n'.join(p for p in packages if not p.startswith('datasets')))
        command = [sys.executable, '-m', 'uv', 'pip', 'compile', '-q', '--no-annotate', '--no-header',
                   '--python-version', python, '--python-platform', 'linux', '-c', str(kept), str(wanted)]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
    return dict(line.split('==') for line in done.stdout.split() if '==' in line)


def visit(python, notebook, folder)->str:
    "Run a notebook in an empty folder; what went wrong, or nothing."
    place = folder/notebook.stem
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(parents=True)
    subprocess.run(['git', 'archive', '--prefix=project/', '-o', place/'HEAD.zip', 'HEAD'], cwd=ROOT, check=True)
    (place/notebook.name).write_text(notebook.read_text().replace(ZIP, f'file://{place}/HEAD.zip'))
    env = {k: v for k, v in os.environ.items() if k not in ('PYTHONPATH', 'VIRTUAL_ENV')}
    env |= dict(ARL_QUICK='1', OMP_NUM_THREADS='1', PYDEVD_DISABLE_FILE_VALIDATION='1',
                PATH=f'{Path(python).parent}:{os.environ["PATH"]}',
                JUPYTER_PATH=f'{Path(python).parent.parent}/share/jupyter')
    command = [python, '-W', 'ignore', '-c', RUNNER, notebook.name]
    done = subprocess.run(command, cwd=place, env=env, capture_output=True, text=True)
    return '' if done.returncode == 0 else done.stderr[-1500:]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('name', choices=PINS)
    parser.add_argument('--python', help='interpreter to build with')
    parser.add_argument('--folder', help='where the environment is built and kept; output/environments/NAME by default')
    parser.add_argument('--only', nargs='+', help='notebooks')
    args = parser.parse_args()
    folder = Path(args.folder or ROOT/'output'/'environments'/args.name).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    python = build(args.name, args.python or PINS[args.name]['python'], folder)
    new = replaced(python, folder)
    print('pip would install', ', '.join(f'{k} {v}' for k, v in sorted(new.items())) or 'nothing')
    if wrong := [k for k in KEPT if k in new]: sys.exit(f"pip would replace {', '.join(wrong)}")
    failed = 0
    for notebook in sorted((ROOT/'nbs'/'train').glob('*.ipynb')):
        if args.only and notebook.stem not in args.only: continue
        start = time.perf_counter()
        wrong = visit(python, notebook, folder)
        failed += bool(wrong)
        result = f'{"FAILED" if wrong else "ran"} in {time.perf_counter() - start:.0f} s'
        print(f'{notebook.stem:<26}{result}\n{wrong}'.rstrip(), flush=True)
    sys.exit(failed > 0)


if __name__ == '__main__': main()
