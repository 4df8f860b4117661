"The page: its models give what PyTorch gives, its games are the library's, and a browser plays it to the end."
import functools
import http.server
import json
import re
import shutil
import subprocess
import sys
import threading
import time

import pytest
import torch
from structure import ROOT

from adversarial_rl.model.players import Discriminator, Generator
from adversarial_rl.model.policy import load_model, Policy
from adversarial_rl.problems.curriculum import curriculum, SPLITS, starter_problems, to_problem

sys.path.insert(0, str(ROOT/'site'))
import build  # noqa: E402
import record  # noqa: E402


def find_node():
    "The program `node`: the machine's, or the one that the browser's driver brings."
    if found := build.find('node'): return found
    try:
        from playwright._impl._driver import compute_driver_executable
        return compute_driver_executable()[0]
    except ImportError: return None


NODE = find_node()
CHROMIUM = next((p for name in ('chromium', 'chromium-browser', 'google-chrome') if (p := shutil.which(name))), None)
TRAINED = json.loads((record.RECORDED/'training.json').read_text())
needs_node = pytest.mark.skipif(not NODE, reason='no node here; pip install playwright brings one')


def run_node(script, folder, **asked):
    "Run a script of tests/page on questions; the answers."
    (folder/'asked.json').write_text(json.dumps(asked))
    done = subprocess.run([NODE, ROOT/'tests'/'page'/script, folder], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return json.loads((folder/'answered.json').read_text())


def as_page(problem): return dict(description=problem.description, signature=problem.function_signature)


def stages_of(t, i):
    "What the page says of a transcript: token ids and text of each stage."
    stages = [t.ids[i][t.action[i] & (t.stage[i] == k)].tolist() for k in range(t.truncated.shape[1])]
    return dict(ids=stages, texts=t.texts[i])


def rows_to_score(t, step):
    "The ids of each transcript, and the position from which logits are compared: all of them in one of ten."
    ids = [t.ids[i][t.mask[i]].tolist() for i in range(len(t))]
    return [{'ids': x, 'from': 0 if i % step == 0 else len(x) - 4} for i, x in enumerate(ids)]


@pytest.fixture(scope='module')
def compared(tmp_path_factory):
    "Both players' greedy transcripts on 400 held-out problems and logits along them, by PyTorch and by the page."
    folder, problems = tmp_path_factory.mktemp('models'), starter_problems('held_out', 400)
    policy = Policy(*load_model('starter'), ['generator', 'discriminator'])
    players = [Generator(policy, max_new_tokens=64), Discriminator(policy, max_new_tokens=64)]
    transcripts = {player.name: player.write(problems, 1, 0) for player in players}
    rows = [row for t in transcripts.values() for row in rows_to_score(t, 10)]
    texts = [policy.tokenizer.decode(row['ids']) for row in rows] + [p.reference_solution for p in problems]
    texts += [t for p in problems for t in p.baseline_tests] + ['', ' \n\n  x', "it's 12 345", 'Grüße, 世界!']
    answered = run_node('models.mjs', folder, model=str(ROOT/'checkpoints'/'starter'), texts=texts, rows=rows,
                        problems=[as_page(p) for p in problems])
    return policy, players, problems, transcripts, texts, rows, answered, folder


@needs_node
def test_tokenizer_is_equal_on_all_texts(compared):
    policy, players, problems, _, texts, _, answered, _ = compared
    expected = [policy.tokenizer(text, add_special_tokens=False)['input_ids'] for text in texts]
    assert answered['encoded'] == expected
    assert answered['decoded'] == [policy.tokenizer.decode(ids, skip_special_tokens=True) for ids in expected]
    assert answered['prompts'] == [players[0].pieces(p) for p in problems]


@needs_node
@pytest.mark.parametrize('name', ['generator', 'discriminator'])
def test_greedy_tokens_are_the_same(compared, name):
    _, _, problems, transcripts, _, _, answered, _ = compared
    for i, problem in enumerate(problems): assert answered[name][i] == stages_of(transcripts[name], i), problem


@needs_node
def test_logits_are_within_1e_4(compared):
    policy, *_, rows, _, folder = compared
    found = torch.frombuffer(bytearray((folder/'logits.bin').read_bytes()), dtype=torch.float32)
    found, at, worst = found.view(-1, policy.model.config.vocab_size), 0, 0.
    for row in rows:
        with policy.reference(), torch.no_grad():
            logits = policy.model(torch.tensor([row['ids']])).logits[0, row['from']:]
        worst = max(worst, (found[at:at + len(logits)] - logits).abs().max().item())
        at += len(logits)
    assert at == len(found)
    print(f'largest difference of {found.numel()} logits: {worst:.1e}')
    assert worst < 1e-4


@needs_node
def test_curriculum_and_board_games_are_the_library_s(tmp_path):
    "Every problem; every position of tic-tac-toe; probabilities of the last step of training at some of them."
    pytest.importorskip('pyspiel')
    from safetensors.torch import load_file

    from adversarial_rl.core.machine import platform
    from adversarial_rl.selfplay.board_games import name_of, see, solve
    from adversarial_rl.selfplay.strength import move_probabilities
    from adversarial_rl.selfplay.trainer import make_learner
    positions = {''.join(str(p.state).split()): p for p in solve('tic_tac_toe').values()}
    boards = list(positions)
    measured = [b for b in boards if positions[b].moves][::40]
    build.write_curriculum(tmp_path/'curriculum.json')
    adapter = record.RECORDED/TRAINED['tic_tac_toe'][-1]['learner']
    found = run_node('games.mjs', tmp_path, model=str(ROOT/'checkpoints'/'starter_games'), adapter=str(adapter),
                     curriculum=json.loads((tmp_path/'curriculum.json').read_text()), boards=boards,
                     measured=measured)
    known = [[p.description, p.function_signature, p.reference_solution, split]
             for split in SPLITS for p in map(to_problem, curriculum(split))]
    assert sorted(found['problems']) == sorted(known)
    for board, answer in zip(boards, found['boards']):
        state, position = positions[board].state, positions[board]
        assert answer['end'] == (state.returns()[0] if state.is_terminal() else None), board
        if state.is_terminal(): continue
        assert answer['prompt'] == see(state)
        assert answer['names'] == [name_of(state, a) for a in state.legal_actions()]
        assert answer['best'] == sorted(position.best)
    policy = make_learner('starter_games', 16, platform('cpu'))
    record.apply_low_rank(policy, 'learner', load_file(adapter))
    for board, answer, p in zip(measured, found['chances'],
                                move_probabilities(policy, [positions[b].state for b in measured])):
        assert answer == pytest.approx(list(p.values()), abs=1e-4), board


@needs_node
def test_the_opening_round_is_broken_by_a_test_that_the_baseline_lacks():
    "At the best step of training; after new recordings, another round has to be found."
    played = record.opening(NODE)
    assert played['step'] == max(TRAINED['game'], key=lambda row: row['solved'])['step']
    assert played['baseline'] and all(row['state'] == 'passed' for row in played['baseline'])
    assert any(row['state'] == 'failed' for row in played['valid'])


def test_recorded_verdicts_are_those_of_today():
    "The gallery's programs are those of the notebook, and the grader still rejects each of them."
    from adversarial_rl.grader.grading import grade
    shown = json.loads((record.RECORDED/'cheats.json').read_text())
    assert {x['name']: x['code'] for x in shown['programs']} == record.notebook_03()['CHEATS']
    for program in shown['programs']:
        assert any(program['verdicts'].values()) and not program['verdicts']['this project']
        assert not grade(program['code'], shown['tests']).passed, program['name']


def test_the_page_is_small_and_loads_only_its_own_files(tmp_path):
    "About two megabytes; no address outside but links that a reader may follow, and what other sites show of it."
    assert build.build(tmp_path/'page', pyodide=False) < build.MOST
    for path in (tmp_path/'page').rglob('*'):
        if path.suffix not in ('.html', '.css', '.js', '.py'): continue
        own = re.sub(r'<a [^>]*href="[^"]+"|<meta property="og:[^>]+', '', path.read_text())
        outside = re.findall(r'https?://[^\s"\'<>)]+', own)
        assert not outside, path
        assert path.suffix == '.css' or len(path.read_text().splitlines()) < 260, f'{path}: two ideas in one file'


class Quiet(http.server.SimpleHTTPRequestHandler):
    "Without a log."
    def log_message(self, *args): pass


@pytest.fixture(scope='module')
def address(tmp_path_factory):
    "The page with its Python, served."
    folder = tmp_path_factory.mktemp('page')/'page'
    kept = ROOT/'output'/'npm'   # Where `make page` keeps the package
    if kept.exists(): shutil.copytree(kept, folder.parent/'npm')
    try: build.build(folder)
    except SystemExit as e: pytest.skip(str(e))
    server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), functools.partial(Quiet, directory=folder))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f'http://127.0.0.1:{server.server_port}/'
    server.shutdown()


@pytest.fixture(scope='module', params=[(1280, 'light'), (390, 'dark')], ids=['wide-light', 'phone-dark'])
def window(request):
    "A browser that opens pages of a width and in a theme."
    from playwright.sync_api import sync_playwright
    if not CHROMIUM: pytest.skip('no Chromium here; apt-get install chromium')
    width, theme = request.param
    with sync_playwright() as p:
        args = ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage']
        browser = p.chromium.launch(executable_path=CHROMIUM, args=args)
        yield lambda: browser.new_context(viewport=dict(width=width, height=900), color_scheme=theme), width
        browser.close()


@pytest.fixture
def page(window, address):
    "The page at a width and in a theme; what goes wrong in it fails the test, as does any request elsewhere."
    context, width = window[0](), window[1]
    context.set_default_timeout(120_000)
    page, wrong = context.new_page(), []
    page.on('pageerror', lambda e: wrong.append(str(e)))
    page.on('console', lambda m: wrong.append(m.text) if m.type == 'error' else None)
    page.on('request', lambda r: None if r.url.startswith((address, 'data:', 'blob:')) else wrong.append(r.url))
    page.goto(address)
    page.wait_for_selector('body[data-ready=round]')
    yield page
    assert page.evaluate('document.documentElement.scrollWidth') <= width, 'wider than the window'
    assert not wrong
    context.close()


def until(page, condition, arg=None, seconds=120):
    "Wait for a condition in the page; `wait_for_function` would need an evaluation that the page forbids."
    end = time.time() + seconds
    while not page.evaluate(condition, arg):
        assert time.time() < end, f'{condition} never held: {page.locator("main").inner_text()[:2000]}'
        page.wait_for_timeout(100)


def stages_shown(page): return page.eval_on_selector_all('#stages li', 'all => all.map(x => x.innerText)')


def play_problem(page, text):
    "Type a problem, play it, wait for the verdict."
    before = page.locator('#verdict').inner_html()
    page.fill('#description', text)
    page.keyboard.press('Enter')
    until(page, 'before => document.querySelector("#verdict").innerHTML !== before', before)
    page.wait_for_selector('#verdict:not([aria-busy]) .big')


def test_a_round_is_played_forked_and_broken(page):
    page.wait_for_selector('.squares span')
    play_problem(page, 'Return the sum of the even numbers in xs')
    assert page.locator('#split').inner_text() and len(stages_shown(page)) == 5
    assert 'def f(xs):' in stages_shown(page)[4] and page.locator('.squares span').count() == 10
    own, verdict = stages_shown(page), page.locator('#verdict').inner_html()
    word = page.locator('.word').first
    word.hover()
    assert page.locator('#alternatives').is_visible()
    word.click()
    page.locator('#alternatives button:not([aria-current])').first.click()
    page.wait_for_selector('#fork:not([hidden])')
    assert stages_shown(page) != own and page.locator('.word.forced').count() == 1
    page.get_by_role('button', name='Undo').click()
    assert stages_shown(page) == own
    until(page, 'before => document.querySelector("#verdict").innerHTML === before', verdict)


def test_an_address_shows_a_round_again(page, address):
    "With the reader's breaking test, and with a forced word; a wrong address shows the opening round and a line."
    def copied():
        page.click('#copy')
        until(page, 'document.querySelector("#copy").textContent !== "Copy link"')
        return page.url
    page.wait_for_selector('.squares span')
    assert page.locator('.big').inner_text().startswith('Broken, though it passes')
    opening = stages_shown(page)
    page.fill('#own-test', 'f([9, 5, 2, 5])')
    page.keyboard.press('Enter')
    until(page, 'document.querySelector("#own-status").textContent === "It holds. Try an empty input, or a number that '
                'the words name."')
    assert 'test=&' in copied() + '&'   # It broke nothing
    page.fill('#own-test', 'f([5, 1])')
    page.keyboard.press('Enter')
    until(page, 'document.querySelector("#own-status").textContent === "You broke it."')
    broken = copied()
    page.locator('.word').first.click()
    page.locator('#alternatives button:not([aria-current])').first.click()
    forked, other = copied(), stages_shown(page)
    assert broken != forked and other != opening
    page.goto(broken)
    until(page, 'document.querySelector("#own-status")?.textContent === "You broke it."')
    assert stages_shown(page) == opening and page.locator('#own-test').input_value() == 'f([5, 1])'
    page.goto(forked)
    page.wait_for_selector('#fork:not([hidden])')
    assert stages_shown(page) == other
    for wrong in ('step=7', 'say=900:1', 'say=x', 'problem=', 'tempo=1'):
        page.goto(f'{address}#round?{wrong}')
        page.wait_for_selector('#trouble:not([hidden])')
        until(page, 'x => document.querySelector("#stages").innerText.includes(x)', 'Drop each 5')
        assert stages_shown(page) == opening
    page.goto(f'{address}#round?problem=Return+the+sum+of+xs')
    page.wait_for_selector('#trouble', state='hidden')


def test_words_of_no_problem_lead_to_the_nearest_one(page):
    page.fill('#description', 'what is the sum of even numbers?')
    page.keyboard.press('Enter')
    page.click('#nearest button')
    assert page.locator('#description').input_value() == 'Return the sum of the even numbers in xs.'
    page.wait_for_selector('#nearest', state='hidden')
    page.fill('#description', '¿qué?')
    page.keyboard.press('Enter')
    until(page, 'document.querySelector("#split").textContent === "not in the curriculum"')
    assert not page.locator('#nearest').is_visible()   # No shared word, no guess


def test_recorded_rounds_of_a_real_model_are_shown(page):
    page.click('nav a[href="#real"]')
    page.wait_for_selector('body[data-ready=real]')
    rounds = json.loads((record.RECORDED/'rounds.json').read_text())
    assert page.locator('#rounds article').count() == len(rounds) >= 2
    assert page.locator('#rounds .stages li').count() == 5 * len(rounds)
    assert page.locator('#trained article').count() == 2
    page.locator('#rounds article a').first.click()
    page.wait_for_selector('body[data-ready=round]')
    assert page.locator('#description').input_value() == rounds[0]['problem']['description']


def test_board_games_are_played_to_the_end(page):
    page.click('nav a[href="#boards"]')
    page.wait_for_selector('body[data-ready=boards]')
    for _ in range(5):
        until(page, '/Your move|You |draw/.test(document.querySelector("#tic-tac-toe .state").textContent)')
        if 'Your move' not in page.locator('#tic-tac-toe .state').inner_text(): break
        page.locator('.board button:not([aria-disabled])').first.click()
        page.wait_for_timeout(100)
    until(page, '/You (won|lost)|A draw/.test(document.querySelector("#tic-tac-toe .state").textContent)')
    assert 'You won' in page.locator('#tic-tac-toe').inner_text()   # In the score of all games
    for _ in range(2):
        for _ in range(3):
            page.wait_for_selector('#kuhn-poker .cards ~ .line button:not([disabled])')
            if page.locator('#kuhn-poker').get_by_role('button', name='Next hand').count(): break
            page.locator('#kuhn-poker .cards ~ .line button').last.click()
        page.locator('#kuhn-poker').get_by_role('button', name='Next hand').click()
    assert '2 hands' in page.locator('#kuhn-poker').inner_text()
    before = page.locator('#kuhn-poker table').inner_text()
    train, slider = (page.locator(f'#kuhn-poker {name}') for name in ('button:text("Train it")', 'input[type=range]'))
    assert slider.input_value() == '0'
    train.click()
    until(page, 'document.querySelector("#kuhn-poker button").disabled')
    assert slider.input_value() == slider.get_attribute('max')
    until(page, 'x => document.querySelector("#kuhn-poker table").innerText !== x', before)
