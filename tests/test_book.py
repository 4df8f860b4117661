"The site of all notebooks is built with every link followed, and a browser finds a word in it, in both themes."
import functools
import http.server
import os
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from structure import ROOT

BOOK = ROOT/'.venv'/'site'/'bin'/'python'   # `make site` and `make test-all` install jupyter-book there
CHROMIUM = next((p for name in ('chromium', 'chromium-browser', 'google-chrome') if (p := shutil.which(name))), None)


@pytest.fixture(scope='module')
def site(tmp_path_factory):
    "The site without Pyodide, which test_page.py runs."
    if not BOOK.with_name('jupyter-book').exists(): pytest.skip('no jupyter-book here; make site installs it')
    folder = tmp_path_factory.mktemp('site')
    kept = ROOT/'output'/'npm'   # Where `make site` keeps what npm brought
    if kept.exists(): shutil.copytree(kept, folder/'npm')
    path = os.pathsep.join([os.environ['PATH'], str(Path(sys.executable).parent)])
    done = subprocess.run([BOOK, ROOT/'site'/'book'/'book.py', '--without-pyodide', folder/'site'],
                          capture_output=True, text=True, env=os.environ | dict(PATH=path))
    if done.stderr.startswith('npm '): pytest.skip(done.stderr)
    assert done.returncode == 0, done.stderr[-5000:]
    assert 'every link followed' in done.stdout
    return folder/'site'


def test_it_holds_every_notebook_and_stored_outputs(site):
    for nb in (ROOT/'nbs').glob('*/*.ipynb'): assert (site/nb.relative_to(ROOT).with_suffix('.html')).exists(), nb
    assert 'README.html' in (site/'index.html').read_text()
    assert '2 cores, float32' in (site/'nbs'/'train'/'01_play_one_round.html').read_text()


@pytest.mark.skipif(not CHROMIUM, reason='no Chromium here; apt-get install chromium')
@pytest.mark.parametrize('width, theme', [(1280, 'light'), (390, 'dark')], ids=['wide-light', 'phone-dark'])
def test_a_browser_reads_and_searches_it(site, width, theme):
    from playwright.sync_api import sync_playwright
    handler = type('Quiet', (http.server.SimpleHTTPRequestHandler,), dict(log_message=lambda *args: None))
    server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), functools.partial(handler, directory=site))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    address, wrong = f'http://127.0.0.1:{server.server_port}/', []
    with sync_playwright() as p:
        browser = p.chromium.launch(executable_path=CHROMIUM, args=['--no-sandbox', '--disable-gpu'])
        page = browser.new_context(viewport=dict(width=width, height=900), color_scheme=theme).new_page()
        page.set_default_timeout(120_000)
        page.on('pageerror', lambda e: wrong.append(str(e)))
        page.on('request', lambda r: None if r.url.startswith((address, 'data:', 'blob:')) else wrong.append(r.url))
        page.goto(address)
        page.get_by_role('link', name='Notebooks').click()
        page.wait_for_url('**/README.html')
        page.goto(f'{address}nbs/lessons/02_advantages.html')
        page.wait_for_selector('mjx-container')   # A formula
        assert page.evaluate('document.documentElement.dataset.theme') == theme
        assert page.evaluate('document.documentElement.scrollWidth') <= width, 'wider than the window'
        page.goto(f'{address}search.html?q=exploitability')
        found = page.locator('#search-results a', has_text='Lesson 7')
        found.first.wait_for()
        browser.close()
    server.shutdown()
    assert not wrong
