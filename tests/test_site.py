"The site's sources, its link checker and the workflow that publishes it; tests/test_book.py builds it."
import re
import sys
from pathlib import Path

import pytest
from structure import ROOT

sys.path.insert(0, str(ROOT/'site'/'book'))
import links  # noqa: E402
import sources  # noqa: E402

KNOWN = sources.pages()


def files(entries):
    "All pages of a part of the table of contents, in order."
    for entry in entries: yield from (entry['file'], *files(entry.get('sections', [])))


def test_contents_are_all_notebooks_in_the_order_of_their_folders():
    listed = [file for part in sources.contents()['parts'] for file in files(part['chapters'])]
    assert sorted([*listed, 'README']) == sorted(str(page.with_suffix('')) for page in KNOWN)
    chapters = [file for file in listed if re.match(r'nbs/\d', file)]
    assert chapters == sorted(chapters, key=lambda x: (x.split('/')[1], not x.endswith('index'), x))
    assert {str(p.relative_to(ROOT).with_suffix('')) for p in (ROOT/'nbs').glob('*/*.ipynb')} <= set(listed)


@pytest.mark.parametrize('link, target', [
    ('../09_game/01_round.ipynb#top', '../09_game/01_round.ipynb#top'), ('../train', '../train/index.md'),
    ('../lessons', '../lessons/00_syllabus.ipynb'), ('../../RESULTS.md', '../../RESULTS.md'), ('#Here', '#here'),
    ('../../configs', f'{sources.REPOSITORY}/tree/main/configs'),
    ('../../configs/t4.yaml', f'{sources.REPOSITORY}/blob/main/configs/t4.yaml'), ('https://x.org', 'https://x.org')])
def test_a_link_is_turned_towards_the_site(link, target):
    turned = sources.Links(Path('nbs/05_learn/03_ppo.ipynb'), KNOWN)
    assert turned(f'[`a`]({link}) and `[a](b)`') == f'[`a`]({target}) and `[a](b)`'


def test_badges_become_words_and_a_missing_file_ends_the_build():
    turned = sources.Links(Path('README.md'), KNOWN)
    assert turned('[![Open](https://x.org/a.svg)](https://y.org)') == '[Open](https://y.org)'
    assert turned('![One round](nbs/images/round.gif)') == '![One round](nbs/images/round.gif)'
    assert turned('<picture><source srcset="b.gif"><img alt="Two" src="b.gif"></picture>') == '![Two](b.gif)'
    assert turned.images == {Path('nbs/images/round.gif'), Path('b.gif')}
    with pytest.raises(SystemExit, match='README.md links to nowhere.md, which is not there'): turned('[x](nowhere.md)')


def test_a_notebook_is_shown_without_marks_and_hidden_cells():
    path = Path('nbs/05_learn/03_ppo.ipynb')
    shown = sources.shown_notebook(path, sources.Links(path, KNOWN))
    code = [c for c in shown['cells'] if c['cell_type'] == 'code']
    assert not [c for c in code if '#|' in c['source'] or 'nbdev_export' in c['source']]
    assert any('exported' in c['metadata']['tags'] for c in code) and any(c['outputs'] for c in code)
    folded = [c['source'] for c in code if 'hide-input' in c['metadata']['tags']]
    assert any(source.startswith('def _with_advantages') for source in folded)
    assert not any('class Learner' in source for source in folded)
    assert 'adversarial_rl/learn/ppo.py' in shown['cells'][0]['source']


def test_dead_links_are_found(tmp_path):
    "A file, an anchor, an address of this repository, and what a page would load from elsewhere."
    (tmp_path/'sub').mkdir()
    good = ['b.html#there', 'sub/', '#here', 'https://x.org', f'{sources.REPOSITORY}/blob/main/README.md#run-it']
    bad = ['c.html', 'b.html#gone', '../x.html', f'{sources.REPOSITORY}/blob/main/gone.md',
           f'https://colab.research.google.com/github{sources.REPOSITORY[18:]}/blob/main/nbs/gone.ipynb']
    page = ''.join(f'<a href="{link}">x</a>' for link in (*good, *bad)) + '<img src="https://x.org/a.png" id="here">'
    (tmp_path/'a.html').write_text(page)
    for name in ('b.html', 'sub/index.html'): (tmp_path/name).write_text('<p id="there">')
    found = links.broken(tmp_path, ROOT, sources.REPOSITORY)
    assert sorted(line.split(': ')[1] for line in found) == sorted([*bad, 'https://x.org/a.png'])
