"A real OpenAI-compatible server on this machine, with a bundled model: prompted, played against, stopped."
import contextlib
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
from adversarial_rl.problems.printing import prediction_prompt, printing_prompts

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


@pytest.fixture
def fresh_server(tmp_path):
    "One that no other test has stopped."
    with serving(tmp_path) as (_, url): yield url


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


@pytest.mark.parametrize('kind', ['server', 'model'])
def test_the_game_is_played_against_it(kind, tmp_path, request):
    "Two steps of the output-prediction game against a model behind a real server, and against another model here."
    from adversarial_rl.grpo import output_game as code_game
    from adversarial_rl.record.tracking import read_metrics
    flags = ['--config', 'configs/grpo_code_game_starter.yaml', '--training_args.max_steps', '2',
             '--training_args.per_device_train_batch_size', '16', '--predictor_steps', '0',
             '--evaluation.enabled', 'false', '--wandb.enabled', 'false', '--device', 'cpu',
             '--output_dir', str(tmp_path/'out'), '--opponent.kind', kind, '--opponent.id', MODEL]
    if kind == 'server':
        flags += ['--opponent.url', request.getfixturevalue('fresh_server'), '--opponent.chat', 'false']
    assert code_game.main(flags) == 0
    assert any('opponent_accuracy' in r for r in read_metrics(tmp_path/'out'/'metrics.jsonl'))
