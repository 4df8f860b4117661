"""Run the module notebooks of all chapters, or of those that are named: `python tests/notebooks.py grader learn`.

Two run at a time, as nbdev_test runs them; the exit code is 1 if one fails.
"""
import re
import sys
from pathlib import Path

from nbdev.test import nbdev_test

NBS = Path(__file__).resolve().parents[1] / 'nbs'


def main():
    folders = {re.sub(r'^\d+_', '', p.name): p.name for p in sorted(NBS.glob('[0-9][0-9]_*'))}
    if unknown := set(sys.argv[1:]) - set(folders): sys.exit(f'no chapter {sorted(unknown)[0]}')
    asked = sys.argv[1:] or list(folders)
    left_out = ['experiments', *(name for chapter, name in folders.items() if chapter not in asked)]
    nbdev_test(path=NBS, n_workers=2, skip_folder_re='^(' + '|'.join(['[_.].*', *left_out]) + ')$')


if __name__ == '__main__': main()
