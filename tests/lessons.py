"""Run each lesson with its solutions and store what its other cells show: `python tests/lessons.py`.

With `--student` nothing is run: the lessons go to that folder without solutions, answers and outputs.
"""
import argparse
import re
from pathlib import Path

import nbformat

ROOT = Path(__file__).resolve().parents[1]
LESSONS = sorted((ROOT/'nbs'/'lessons').glob('0[1-9]_*.ipynb'))
SOLUTION = re.compile(r'<details><summary>Solution</summary>\n\n```python\n(.*?)\n```\n\n</details>', re.S)
TOLD = re.compile(r'\s*<details><summary>(?:Solution|Answers)</summary>.*?</details>', re.S)
BADGES = re.compile(r'^\[!\[Open in .*\n+', re.M)   # They open the edition with solutions
AWAY = re.compile(r'\]\(\.\./(?!\.\./)')            # A link from nbs/lessons to another folder of nbs


def kind(cell): return (cell.metadata.get('tags') or [cell.cell_type])[0]


def store(path):
    "Store the outputs of a lesson's cells, of the exercises none."
    from nbclient import NotebookClient
    from nbdev.clean import nbdev_clean
    book, solved = nbformat.read(path, 4), nbformat.read(path, 4)
    solutions = [s for c in book.cells if kind(c) == 'markdown' for s in SOLUTION.findall(c.source)]
    exercises = [c for c in solved.cells if kind(c) == 'exercise']
    for cell, solution in zip(exercises, solutions, strict=True): cell.source = solution
    here = dict(metadata=dict(path=path.parent))
    NotebookClient(solved, timeout=600, kernel_name='python3', resources=here, coalesce_streams=True).execute()
    for cell, ran in zip(book.cells, solved.cells, strict=True):
        if cell.cell_type == 'code': cell.outputs = [] if kind(cell) == 'exercise' else ran.outputs
    nbformat.write(book, path)
    nbdev_clean(fname=str(path))


def student(path, folder):
    "Write a lesson without solutions and outputs; `folder` is two levels below the project, as the lessons are."
    book = nbformat.read(path, 4)
    for cell in book.cells:
        if cell.cell_type == 'code': cell.outputs, cell.execution_count = [], None
        else: cell.source = AWAY.sub('](../../nbs/', BADGES.sub('', TOLD.sub('', cell.source)))
    nbformat.write(book, folder/path.name)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--student', type=Path, metavar='FOLDER', help='such as output/student')
    folder = parser.parse_args().student
    if folder: folder.mkdir(parents=True, exist_ok=True)
    for path in LESSONS:
        if folder: student(path, folder)
        else: store(path)
    if folder: print(f'{len(LESSONS)} lessons without solutions in {folder}')


if __name__ == '__main__': main()
