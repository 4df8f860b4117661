"""What the site is made of: notebooks and documents with their links turned towards the site, and a table of contents.

A page has the path that its source has in the repository, so links between pages stay as they are. What is no page of
the site, such as a program or a folder of configurations, is linked at the repository's address.
"""
import json
import os
import re
import shutil
from configparser import ConfigParser
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
HERE = Path(__file__).resolve().parent
SPELLED = dict(mbpp='MBPP', grpo='GRPO', selfplay='Self-play')
DOCUMENTS = ('README.md', 'RESULTS.md', 'CONTRIBUTING.md', 'CHANGELOG.md', 'site/README.md')
SYLLABUS = Path('nbs/lessons/00_syllabus.ipynb')
CODE = re.compile(r'(```.*?```|`[^`\n]*`)', re.S)

# jupyter-book's own without thebe, which names an address elsewhere
EXTENSIONS = ['sphinx_togglebutton', 'sphinx_copybutton', 'myst_nb', 'jupyter_book', 'sphinx_comments',
              'sphinx_external_toc', 'sphinx_design', 'sphinx_book_theme']

_ini = ConfigParser(delimiters=['='])
_ini.read(ROOT/'settings.ini', encoding='utf-8')
SETTINGS = _ini['DEFAULT']
REPOSITORY = f'https://github.com/{SETTINGS["user"]}/{SETTINGS["repo"]}'


def folders():
    "The folders of notebooks, in the order in which they are read: the course, experiments, the library's chapters."
    return [Path('nbs/lessons'), Path('nbs/train'), Path('nbs/experiments'),
            *sorted(p.relative_to(ROOT) for p in (ROOT/'nbs').glob('[0-9][0-9]_*'))]


def notebooks(folder):
    "A folder's notebooks, in order."
    return sorted(p.relative_to(ROOT) for p in (ROOT/folder).glob('*.ipynb'))


def front(folder):
    "The page that a folder of notebooks begins with."
    return SYLLABUS if folder == SYLLABUS.parent else folder/'index.md'


def pages(): return {*map(Path, DOCUMENTS), *map(front, folders()), *(nb for f in folders() for nb in notebooks(f))}


def address(path):
    "A file or folder of the repository, where the site links to it."
    return f'{REPOSITORY}/{"tree" if (ROOT/path).is_dir() else "blob"}/{SETTINGS["branch"]}/{path}'


class Links:
    "Turns the links of one page towards the site; `images` are the files that it shows."
    def __init__(self, page, known): self.page, self.known, self.images = page, known, set()

    def target(self, link):
        "Where a link leads on the site."
        if link.startswith('#'): return link.lower()   # Jupyter's anchors have the heading's capitals, Sphinx's none
        if re.match(r'[a-z]+:', link): return link
        name, mark, anchor = link.partition('#')
        path = Path(os.path.normpath(self.page.parent/name))
        if path in folders(): path = front(path)
        if path in self.known: return os.path.relpath(path, self.page.parent) + mark + anchor
        if not (ROOT/path).exists(): raise SystemExit(f'{self.page} links to {link}, which is not there')
        return address(path) + mark + anchor

    def image(self, match):
        "A picture of the repository stays; one from elsewhere, such as a badge, is its words."
        words, link = match.groups()
        if link.startswith('http'): return words
        self.images.add(Path(os.path.normpath(self.page.parent/link)))
        return f'<<{words}>>({link})'

    def prose(self, text):
        text = re.sub(r'<picture>.*<img alt="([^"]*)" src="([^"]*)"></picture>', r'![\1](\2)', text)
        text = re.sub(r'!\[([^\]]*)\]\(([^)\s]+)\)', self.image, text)
        text = re.sub(r'\]\(([^)\s]+)\)', lambda m: f']({self.target(m[1])})', text)
        return re.sub(r'<<([^>]*)>>\(', r'![\1](', text)

    def __call__(self, text):
        "Markdown with its links turned; code is left alone."
        return ''.join(part if i % 2 else self.prose(part) for i, part in enumerate(CODE.split(text)))


def read_cells(path): return json.loads((ROOT/path).read_text(encoding='utf-8'))['cells']


def shown_cell(cell, links):
    "A cell as readers see it, without nbdev's marks; None if it is hidden. Private code and set-up are folded."
    source = ''.join(cell['source'])
    if cell['cell_type'] != 'code': return dict(cell, source=links(source))
    marks = re.findall(r'^#\| *(\w+)', source, re.M)
    if 'hide' in marks or 'default_exp' in marks: return None
    names = re.findall(r'^(?:def|class) (\w+)', source, re.M)
    private = bool(names) and all(name.startswith('_') for name in names)
    tags = [*cell['metadata'].get('tags', []), *(['exported'] if 'export' in marks else []),
            *(['hide-input'] if private or source.startswith('#@title') else [])]
    return dict(cell, source=re.sub(r'^#\|.*\n?', '', source, flags=re.M), metadata=dict(cell['metadata'], tags=tags))


def shown_notebook(path, links):
    "A notebook as the site shows it, with the module that it defines named below its title."
    book = json.loads((ROOT/path).read_text(encoding='utf-8'))
    module = next((m[1] for c in book['cells'] if (m := re.match(r'#\| default_exp (\S+)', ''.join(c['source'])))), '')
    book['cells'] = [shown for c in book['cells'] if (shown := shown_cell(c, links))]
    if module:
        file = f'{SETTINGS["lib_path"]}/{module.replace(".", "/")}.py'
        book['cells'][0]['source'] += f'\n\nThe cells with a coloured edge are the module [{file}]({address(file)}).'
    return book


def summary(path):
    "(title, one sentence) of a notebook: its promise, its claim, or how it begins."
    text = '\n'.join(''.join(c['source']) for c in read_cells(path)[:3] if c['cell_type'] == 'markdown')
    title = re.search(r'^# (.+)', text, re.M)[1]
    rest = re.sub(r'^\[!\[.*\n', '', text.split(title, 1)[1], flags=re.M).strip()
    said = (re.search(r'^> *(.+)', rest, re.M) or re.search(r'\*\*Claim\.\*\* (.+?[.?:])(?:\s|$)', rest)
            or re.match(r'(?:\*\*\w+\.\*\* )?(.+?[.?:])(?:\s|$)', rest))
    return title, said[1] if said else ''


def front_page(folder):
    "A folder's own page: one line for each notebook."
    number, _, name = folder.name.partition('_')
    title, lead = ('Companion notebooks', 'Each makes a claim and shows it beside a control.') if not name else (
        f'{int(number)}. {SPELLED.get(name, name.capitalize())}', f'The chapter `{SETTINGS["lib_name"]}.{name}`.')
    lines = [f'- [{title}]({nb.name}): {said}' for nb in notebooks(folder) for title, said in [summary(nb)]]
    return '\n'.join([f'# {title}', '', lead, '', *lines, ''])


def contents():
    "The table of contents, from the folders."
    def entry(folder):
        inside = [nb for nb in notebooks(folder) if nb != front(folder)]
        return dict(file=str(front(folder).with_suffix('')),
                    sections=[dict(file=str(nb.with_suffix(''))) for nb in inside])
    course, chapters = folders()[:2], folders()[2:]
    documents = [dict(file=str(Path(d).with_suffix(''))) for d in DOCUMENTS if d != 'README.md']
    parts = [('The course', map(entry, course)), ('The library', map(entry, chapters)), ('The project', documents)]
    return dict(format='jb-book', root='README',
                parts=[dict(caption=caption, chapters=list(x)) for caption, x in parts])


def config():
    "jupyter-book's settings: nothing is executed, and no page loads anything from elsewhere."
    return dict(
        title=SETTINGS['title'], author=SETTINGS['author'], copyright='', only_build_toc_files=True,
        execute=dict(execute_notebooks='off'),
        parse=dict(myst_enable_extensions=['colon_fence', 'dollarmath']),
        repository=dict(url=REPOSITORY, branch=SETTINGS['branch']),
        html=dict(use_repository_button=True, use_issues_button=True, use_multitoc_numbering=False),
        sphinx=dict(recursive_update=True, config=dict(
            extensions=EXTENSIONS,
            html_static_path=['static'], html_css_files=['book.css'], html_favicon='static/icon.svg',
            templates_path=['templates'], html_context=dict(default_mode='auto'),
            html_sidebars={'**': ['navbar-logo.html', 'play.html', 'search-button-field.html', 'sbt-sidebar-nav.html']},
            html_theme_options=dict(use_download_button=False, navbar_persistent=[]),
            mathjax_path='mathjax/tex-mml-chtml.js', myst_heading_anchors=4, smartquotes=False,
            html_last_updated_fmt='', html_copy_source=False, nb_render_markdown_format='myst')))


def write(folder):
    "All sources of the site."
    known = pages()
    for page in known:
        links, place = Links(page, known), folder/page
        place.parent.mkdir(parents=True, exist_ok=True)
        if page.suffix == '.ipynb': text = json.dumps(shown_notebook(page, links))
        elif str(page) in DOCUMENTS: text = links((ROOT/page).read_text(encoding='utf-8'))
        else: text = links(front_page(page.parent))
        place.write_text(text, encoding='utf-8')
        for image in links.images:
            (folder/image).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT/image, folder/image)
    (folder/'_toc.yml').write_text(json.dumps(contents(), indent=1))   # JSON is YAML
    (folder/'_config.yml').write_text(json.dumps(config(), indent=1))
    shutil.copytree(HERE/'templates', folder/'templates')
    shutil.copytree(HERE/'static', folder/'static')
    return known
