"A real OpenAI-compatible server on this machine, with a bundled model: prompted, played against, stopped."
import contextlib
import json
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

import pytest
from transformers import AutoTokenizer

from adversarial_rl.core.errors import UsageError
from adversarial_rl.core.files import resource
from adversarial_rl.core.machine import installed
from adversarial_rl.model.agents import Local, Server
from adversarial_rl.model.policy import load_model, Policy
from adversarial_rl.problems.curriculum import prediction_prompt, printing_prompts

pytestmark = pytest.mark.skipif(not all(installed(x) for x in ('openai', 'fastapi', 'uvicorn')),
                                reason='needs openai and transformers[serving]')
MODEL = str(resource('checkpoints/starter_printing'))


def transformers_serve(port):
    program = str(Path(sys.executable).parent/'transformers')
    return [program, 'serve', MODEL, '--port', str(port), '--host', '127.0.0.1', '--device', 'cpu',
            '--dtype', 'float32']


def healthy(port):
    try: urllib.request.urlopen(f'http://127.0.0.1:{port}/health', timeout=1)
    except (urllib.error.URLError, OSError): return False
    return True


@contextlib.contextmanager
def serving(folder, command=transformers_serve):
    with socket.socket() as s:
        s.bind(('127.0.0.1', 0))
        port = s.getsockname()[1]
    log = folder/'log'
    p = subprocess.Popen(command(port), stdout=log.open('w'), stderr=subprocess.STDOUT)
    end = time.time() + 120
    while time.time() < end and not healthy(port):
        if p.poll() is not None: pytest.fail(log.read_text()[-2000:])
        time.sleep(.3)
    try: yield p, f'http://127.0.0.1:{port}/v1'
    finally:
        p.terminate()
        p.wait(120)


@pytest.fixture(scope='module')
def server(tmp_path_factory):
    with serving(tmp_path_factory.mktemp('serve')) as s: yield s


def test_it_writes_what_the_local_model_writes(server):
    prompts = [prediction_prompt(text) for _, text in printing_prompts('held_out', 6)]
    # The server loads the tokenizer like this, with other token boundaries than were saved
    policy = Policy(load_model(MODEL)[0], AutoTokenizer.from_pretrained(MODEL), ['learner'])
    def texts(agent): return [[text.strip() for text in row] for row in agent.write(prompts, 2, temperature=0.)]
    remote, local = texts(Server(server[1], MODEL, 48, chat=False)), texts(Local(policy, max_new_tokens=48))
    assert remote == local and any(text for row in remote for text in row)


def test_a_server_that_stops_is_one_clear_line(server):
    p, url = server
    p.terminate()
    p.wait(120)
    with pytest.raises(UsageError, match='no server answers there'):
        Server(url, MODEL, 8, retries=1).write(['print(1)'] * 3)


SERVER = """import sys, uvicorn
from fastapi import FastAPI
from adversarial_rl.model.agents import Local
from adversarial_rl.model.policy import Policy, load_model
player, app = Local(Policy(*load_model('starter_games'), ['learner']), max_new_tokens=8), FastAPI()
@app.get('/health')
async def health(): return {}
@app.post('/v1/chat/completions')
async def complete(asked: dict):
    text = player.write([asked['messages'][0]['content']], 1, asked['temperature'], asked['seed'])[0][0]
    choice = dict(index=0, message=dict(role='assistant', content=text), finish_reason='stop')
    return dict(id='0', object='chat.completion', created=0, model=asked['model'], choices=[choice])
uvicorn.run(app, host='127.0.0.1', port=int(sys.argv[1]), log_level='warning')
"""


def test_self_play_is_measured_against_it(tmp_path):
    "The games starter behind HTTP, with its own tokenizer: games end, nobody always wins, few rules are broken."
    pytest.importorskip('pyspiel')
    from adversarial_rl.selfplay import spiral
    with serving(tmp_path, lambda port: [sys.executable, '-W', 'ignore', '-c', SERVER, str(port)]) as (_, url):
        flags = ['--config', 'configs/spiral_self_play_starter.yaml', '--steps', '1', '--games-per-step', '4',
                 '--eval-games', '12', '--report-to', 'none', '--output-dir', str(tmp_path/'out'),
                 '--checkpoint-dir', str(tmp_path/'ck'), '--opponents', f'random {url}#starter_games']
        assert spiral.main(flags) == 0
    results = json.loads((tmp_path/'out'/'training_results.json').read_text())
    rates = results['after']['against']['tic_tac_toe'][f'{url}#starter_games']
    assert all(0 < r['won']['mean'] < 1 and r['broke']['mean'] < .3 for r in rates.values())
