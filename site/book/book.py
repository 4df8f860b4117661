"""Write the site of all notebooks, with the page as its front: `python site/book/book.py [FOLDER]`, output/site.

It needs jupyter-book below 2, and npm for Pyodide and MathJax. A warning or a link that leads nowhere is an error.
"""
import argparse
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import build  # noqa: E402
import links  # noqa: E402
import sources  # noqa: E402

MATHJAX = '3.2.2'
FORMULAS = ('tex-mml-chtml.js', 'output/chtml/fonts/woff-v2/')   # The script, and what it shows


def write_book(folder, kept):
    "The notebooks as HTML."
    with tempfile.TemporaryDirectory() as place:
        written = sources.write(Path(place))
        build.unpack(f'mathjax@{MATHJAX}', 'es5/', FORMULAS, Path(place)/'static'/'mathjax', kept)
        command = [Path(sys.executable).with_name('jupyter-book'), 'build', '-q', '-W', '--keep-going', place]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode: sys.exit(f'book.py: {done.stdout[-3000:]}{done.stderr[-3000:]}'.replace(f'{place}/', ''))
        shutil.copytree(Path(place)/'_build'/'html', folder)
    return len(written)


def add_page(folder, kept, pyodide=True):
    "The page as the site's first, with a link to the notebooks."
    with tempfile.TemporaryDirectory() as place:
        build.build(page := Path(place)/'page', pyodide, kept)
        for path in page.rglob('*'):
            copy = folder/path.relative_to(page)
            if path.is_dir(): copy.mkdir(exist_ok=True)
            elif copy.exists() and copy.name != 'index.html': sys.exit(f'book.py: two files for {copy}')
            else: shutil.copy(path, copy)
    index = (folder/'index.html').read_text()
    assert build.NOTEBOOKS in index
    (folder/'index.html').write_text(index.replace(build.NOTEBOOKS, 'README.html'))
    (folder/'.nojekyll').touch()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('folder', nargs='?', type=Path, default=sources.ROOT/'output'/'site')
    parser.add_argument('--without-pyodide', action='store_true', help='the page writes programs, but runs none')
    options = parser.parse_args()
    folder = options.folder.resolve()
    if folder.exists(): shutil.rmtree(folder)
    kept = folder.parent/'npm'
    count = write_book(folder, kept)
    add_page(folder, kept, not options.without_pyodide)
    if wrong := links.broken(folder, sources.ROOT, sources.REPOSITORY):
        sys.exit('\n'.join([*wrong, f'book.py: {len(wrong)} links lead nowhere']))
    print(f'{options.folder}: {count} pages, {build.size(folder) / 1e6:.0f} MB, every link followed\n'
          f'to look at it: python3 -m http.server --directory {options.folder}')


if __name__ == '__main__': main()
