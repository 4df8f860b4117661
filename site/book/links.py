"""Follow every link of a built site without a network: files, anchors, and addresses of this project's own files."""
import re
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

# Colab's and Kaggle's links to a notebook contain the project's address too
OWN = re.compile(r'(?:github\.com|colab\.research\.google\.com/github)/([\w-]+/[\w-]+)/(?:blob|tree)/(\w+)/([^#?]+)')


class Page(HTMLParser):
    "The links and anchors of one HTML file, and what it loads."
    def __init__(self, path):
        super().__init__()
        self.links, self.loads, self.anchors = [], [], set()
        self.feed(path.read_text(encoding='utf-8'))

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        self.anchors |= {given[name] for name in ('id', 'name') if given.get(name)}
        if tag == 'a' and given.get('href'): self.links.append(given['href'])
        elif tag == 'link' and given.get('rel') not in ('canonical', 'search'): self.loads.append(given.get('href', ''))
        elif tag in ('script', 'img', 'iframe', 'source') and given.get('src'): self.loads.append(given['src'])


def _own_file(link, root, repository):
    "What is wrong with a link to a file of the project; None for other addresses."
    for found in OWN.finditer(link):
        if repository.endswith(found[1]) and not (root/unquote(found[3])).exists(): return 'not in the repository'


def _inside(link, file, pages, site):
    "What is wrong with a link to the site itself."
    parts = urlsplit(link)
    path = (file.parent/unquote(parts.path)).resolve() if parts.path else file
    if path.is_dir(): path /= 'index.html'
    if not path.is_relative_to(site): return 'leads out of the site'
    if not path.exists(): return 'no such file'
    if parts.fragment and path in pages and unquote(parts.fragment) not in pages[path].anchors: return 'no such anchor'


def broken(site, root, repository):
    "Lines `page: link: what is wrong` of all links that lead nowhere, and of files that a page loads from elsewhere."
    site = Path(site).resolve()
    pages = {path: Page(path) for path in sorted(site.rglob('*.html')) if '_static' not in path.parts}
    wrong = []
    for file, page in pages.items():
        for link in {*page.links, *page.loads}:
            if link.startswith(('data:', 'mailto:', 'javascript:')): continue
            outside = re.match(r'(https?:)?//', link)
            if outside and link in page.loads: problem = 'is loaded from elsewhere'
            else: problem = _own_file(link, root, repository) if outside else _inside(link, file, pages, site)
            if problem: wrong.append(f'{file.relative_to(site)}: {link}: {problem}')
    return sorted(wrong)
