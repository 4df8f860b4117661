"JupyterLab in headless Chromium: run all cells, move every control, and expect another picture."
import json
import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request

import pytest
from structure import ROOT

CHROMIUM = next((p for name in ('chromium', 'chromium-browser', 'google-chrome') if (p := shutil.which(name))), None)
pytestmark = pytest.mark.skipif(not CHROMIUM, reason='no Chromium here; apt-get install chromium')


VIEWS = ('metrics', 'runs', 'attempts', 'replay', 'mbpp')
MAKE = '''
import sys, tempfile
from pathlib import Path
sys.path[:0] = ['tests', '.']
from test_views import all_views
shown = all_views(Path(tempfile.mkdtemp()))
'''


def notebook(*sources):
    "A notebook of code cells."
    cells = [dict(cell_type='code', id=f'c{i}', metadata={}, outputs=[], execution_count=None, source=source)
             for i, source in enumerate(sources)]
    kernel = dict(name='python3', display_name='Python 3', language='python')
    return dict(cells=cells, metadata=dict(kernelspec=kernel), nbformat=4, nbformat_minor=5)


def wait_for(address, log):
    "Until the server answers; shows the end of its log if it does not within a minute."
    for _ in range(240):
        try:
            urllib.request.urlopen(f'{address}/api/status', timeout=2)
            return
        except OSError: time.sleep(.25)
    raise AssertionError(log.read_text()[-2000:])


@pytest.fixture(scope='module')
def lab(tmp_path_factory):
    "JupyterLab on a copy of what the notebooks need; its folder and address."
    root = tmp_path_factory.mktemp('lab')
    for name in ('adversarial_rl', 'nbs/train', 'configs', 'data', 'checkpoints/starter', 'tests'):
        shutil.copytree(ROOT/name, root/name, ignore=shutil.ignore_patterns('__pycache__'))
    shutil.copy(ROOT/'settings.ini', root)
    (root/'views.ipynb').write_text(json.dumps(notebook(MAKE, *(f'shown[{name!r}]' for name in VIEWS))))
    with socket.socket() as s:
        s.bind(('127.0.0.1', 0))
        port = s.getsockname()[1]
    config = root/'settings'
    (config/'lab').mkdir(parents=True)
    env = os.environ | dict(JUPYTER_CONFIG_DIR=str(config), JUPYTERLAB_SETTINGS_DIR=str(config/'lab'),
                            JUPYTERLAB_WORKSPACES_DIR=str(config/'workspaces'), ARL_QUICK='1', PYTHONPATH=str(root))
    argv = [sys.executable, '-m', 'jupyterlab', '--no-browser', '--allow-root', '--ServerApp.token=',
            '--ServerApp.password=', '--ServerApp.disable_check_xsrf=True', f'--ServerApp.port={port}',
            f'--ServerApp.root_dir={root}']
    with (root/'lab.log').open('w') as log: p = subprocess.Popen(argv, cwd=root, env=env, stdout=log, stderr=log)
    try:
        wait_for(f'http://127.0.0.1:{port}', root/'lab.log')
        yield root, f'http://127.0.0.1:{port}'
    finally:
        p.terminate()
        p.wait(120)


@pytest.fixture(scope='module')
def page():
    from playwright.sync_api import sync_playwright
    with sync_playwright() as p:
        args = ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage']
        browser = p.chromium.launch(executable_path=CHROMIUM, args=args)
        yield browser.new_page(viewport=dict(width=1000, height=1400))
        browser.close()


ERROR = '[data-mime-type="application/vnd.jupyter.error"]'
IDLE = '.jp-Notebook-ExecutionIndicator[data-status="idle"]'
PROMPTS = "() => [...document.querySelectorAll('.jp-CodeCell .jp-InputArea-prompt')].map(x => x.textContent)"


def finished(page):
    "Whether every cell has a number and the kernel is idle."
    prompts = page.evaluate(PROMPTS)
    ran = any(t.strip('[]: ') for t in prompts) and not any('*' in t for t in prompts)
    return ran and page.query_selector(IDLE)


def run_all(page, address, notebook, seconds=240):
    "Open a notebook, run every cell, and wait for the last."
    from playwright.sync_api import TimeoutError
    page.goto(f'{address}/lab/tree/{notebook}?reset')
    page.wait_for_selector('.jp-Notebook .jp-Cell', timeout=60000)
    page.wait_for_selector(IDLE, timeout=60000)
    try: page.click('.jp-Dialog button.jp-mod-accept', timeout=4000)   # "Select kernel", which only some starts show
    except TimeoutError: pass
    page.click('text=Run >> nth=0')
    page.click('[data-command="runmenu:run-all"]')
    end = time.time() + seconds
    while not finished(page):
        assert time.time() < end, f'{notebook}: still running'
        page.wait_for_timeout(500)
    errors = [x.text_content()[:2000] for x in page.query_selector_all(ERROR)]
    assert not errors, errors


def sources(box):
    return [x.get_attribute('src') for x in box.query_selector_all('img')]


def changed(page, box, before, what):
    end = time.time() + 20
    while sources(box) == before and time.time() < end: page.wait_for_timeout(100)
    assert sources(box) != before, f'{what} changes nothing on the page'


def move_controls(page, box, name):
    "Move each dropdown, list and slider of a view once; returns how many there were."
    n = 0
    for select in box.query_selector_all('.widget-dropdown select'):
        if len(select.query_selector_all('option')) < 2: continue
        before = sources(box)
        select.select_option(index=1)
        changed(page, box, before, f'{name}: a dropdown')
        n += 1
    for many in box.query_selector_all('.widget-select-multiple select'):
        if len(many.query_selector_all('option')) < 2: continue
        before = sources(box)
        many.select_option(index=0)
        changed(page, box, before, f'{name}: a list')
        n += 1
    for handle in box.query_selector_all('.noUi-handle'):
        before = sources(box)
        low, high, now = (float(handle.get_attribute(f'aria-value{x}')) for x in ('min', 'max', 'now'))
        if low == high: continue
        handle.focus()
        page.keyboard.press('Home' if now > low else 'End')
        changed(page, box, before, f'{name}: a slider')
        n += 1
    return n


def test_every_control_of_every_view(lab, page, tmp_path):
    root, address = lab
    run_all(page, address, 'views.ipynb')
    boxes = [x for x in page.query_selector_all('.jp-OutputArea-output .widget-vbox') if x.query_selector('img')]
    assert len(boxes) == len(VIEWS)
    for name, box in zip(VIEWS, boxes):
        box.scroll_into_view_if_needed()
        assert move_controls(page, box, name) >= 1
        picture = box.query_selector('img').bounding_box()
        assert picture['width'] <= box.bounding_box()['width'] + 1, f'{name}: the picture is cut off'
        box.screenshot(path=tmp_path/f'{name}.png')
    assert not page.query_selector_all(ERROR)
    if 'ARL_SCREENS' in os.environ: shutil.copytree(tmp_path, os.environ['ARL_SCREENS'], dirs_exist_ok=True)


def test_a_companion_notebook(lab, page):
    "A companion notebook from the first cell to the last, with its view."
    root, address = lab
    run_all(page, address, 'nbs/train/03_fool_the_grader.ipynb')
    box = next(x for x in page.query_selector_all('.jp-OutputArea-output .widget-vbox') if x.query_selector('img'))
    assert move_controls(page, box, 'fool the grader') == 1
