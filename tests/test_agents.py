"A real OpenAI-compatible server on this machine, with the bundled model: asked, overloaded, stopped."
import socket, subprocess, sys, time, urllib.error, urllib.request
from pathlib import Path

import pytest
from transformers import AutoTokenizer

from adversarial_rl.agents import Local, Server
from adversarial_rl.platforms import UsageError, installed, resource
from adversarial_rl.policy import Policy, load_model
from adversarial_rl.printing import prediction_prompt, printing_prompts

pytestmark = pytest.mark.skipif(not all(installed(x) for x in ('openai', 'fastapi', 'uvicorn')), reason='needs openai and transformers[serving]')
MODEL = str(resource('checkpoints/starter_printing'))


@pytest.fixture(scope='module')
def server(tmp_path_factory):
    with socket.socket() as s: s.bind(('127.0.0.1', 0)); port = s.getsockname()[1]
    log = tmp_path_factory.mktemp('serve')/'log'
    p = subprocess.Popen([str(Path(sys.executable).parent/'transformers'), 'serve', MODEL, '--port', str(port), '--host', '127.0.0.1', '--device', 'cpu', '--dtype', 'float32'], stdout=log.open('w'), stderr=subprocess.STDOUT)
    end = time.time() + 120
    while time.time() < end:
        try: urllib.request.urlopen(f'http://127.0.0.1:{port}/health', timeout=1); break
        except (urllib.error.URLError, OSError): time.sleep(.3)
        if p.poll() is not None: pytest.fail(log.read_text()[-2000:])
    yield p, f'http://127.0.0.1:{port}/v1'
    p.terminate()
    p.wait(20)


def test_it_answers_as_the_model_here_does(server):
    prompts = [prediction_prompt(text) for _, text in printing_prompts('held_out', 6)]
    far = Server(server[1], MODEL, 48, chat=False).answer(prompts, 2, temperature=0.)
    tokenizer = AutoTokenizer.from_pretrained(MODEL)   # As the server loads it, with other token boundaries than were saved
    near = Local(Policy(load_model(MODEL)[0], tokenizer, ['learner']), max_new_tokens=48).answer(prompts, 2, temperature=0.)
    assert [[t.strip() for t in row] for row in far] == [[t.strip() for t in row] for row in near] and any(t.strip() for row in far for t in row)


def test_a_server_that_stops_is_one_clear_line(server):
    p, url = server
    p.terminate()
    p.wait(20)
    with pytest.raises(UsageError, match='no server answers there'): Server(url, MODEL, 8, retries=1).answer(['print(1)'] * 3)
