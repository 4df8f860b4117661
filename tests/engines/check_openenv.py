"The environment of OpenEnv behind its own server and client: episodes, many clients, seccomp alone, and being killed."
import asyncio
import json
import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from contextlib import contextmanager
from pathlib import Path

import pytest
from adversarial_openenv import ProgramClient, Submission

from adversarial_rl import starter_problems

ENVIRONMENT = Path(__file__).resolve().parents[2]/'environments'/'adversarial_openenv'
PROBLEMS = starter_problems('held_out', 50)
WRONG = 'def f(*args): return None'

# A server whose grader does without some layers, as on a host that does not allow them
STARTER = '''
import sys, uvicorn
from adversarial_rl.grader import pool
if off := sys.argv[2]: pool._shared[()] = pool.Sandbox(off=tuple(off.split(',')))
uvicorn.run('server.app:app', host='127.0.0.1', port=int(sys.argv[1]), log_level='warning')
'''


def descendants(pid):
    "Process numbers of all children, theirs included."
    rows = [Path(f'/proc/{n}/stat') for n in os.listdir('/proc') if n.isdigit()]
    parents = {}
    for path in rows:
        try: parents[int(path.parent.name)] = int(path.read_text().rpartition(')')[2].split()[1])
        except OSError: pass
    found = {pid}
    for _ in parents: found |= {n for n, parent in parents.items() if parent in found}
    return found - {pid}


def alive(pid):
    "Whether a process runs; one that only waits to be collected does not."
    try: return Path(f'/proc/{pid}/stat').read_text().rpartition(')')[2].split()[0] not in 'ZX'
    except OSError: return False


def until(condition, seconds=300):
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end: time.sleep(.05)
    return condition()


@contextmanager
def server(folder, off=''):
    "A server's process and address; temporary files lie in the folder."
    with socket.create_server(('127.0.0.1', 0)) as s: port = s.getsockname()[1]
    url = f'http://127.0.0.1:{port}'
    env = dict(os.environ, TMPDIR=str(folder))
    process = subprocess.Popen([sys.executable, '-c', STARTER, str(port), off], cwd=ENVIRONMENT, env=env)
    def answers():
        try: return urllib.request.urlopen(f'{url}/health').status == 200
        except OSError: return False
    try:
        assert until(lambda: answers() or process.poll() is not None) and process.poll() is None
        yield process, url
    finally:
        process.terminate()
        process.wait()


@pytest.fixture(scope='module')
def place(tmp_path_factory): return tmp_path_factory.mktemp('server')


@pytest.fixture(scope='module')
def running(place):
    "With seccomp alone, as in a hosted space, which allows neither namespaces nor, on older kernels, Landlock."
    with server(place, off='namespaces,landlock,user') as (process, url): yield process, url


def post(url, content):
    request = urllib.request.Request(url, json.dumps(content).encode(), {'Content-Type': 'application/json'})
    try: return json.loads(urllib.request.urlopen(request).read())
    except urllib.error.HTTPError as e: return dict(status=e.code, text=e.read().decode())


def test_an_episode(running):
    problem = PROBLEMS[0]
    with ProgramClient(base_url=running[1]).sync() as env:
        first = env.reset(split='held_out', index=0, attempts=3)
        assert problem.description in first.observation.prompt and not first.done
        wrong = env.step(Submission(code=WRONG))
        assert (wrong.reward, wrong.done, wrong.observation.attempts_left) == (0, False, 2)
        assert wrong.observation.total == len(problem.baseline_tests) and wrong.observation.kind != 'success'
        right = env.step(Submission(code=problem.reference_solution))
        assert (right.reward, right.done, right.observation.kind) == (1, True, 'success')
        assert env.state().step_count == 2
        with pytest.raises(RuntimeError, match='episode is over'): env.step(Submission(code=WRONG))


def test_an_episode_brings_its_own_tests(running):
    "An agent cannot choose what it is graded on."
    with ProgramClient(base_url=running[1]).sync() as env:
        env.reset(split='held_out', index=0)
        with pytest.raises(RuntimeError, match='its own tests'): env.step(Submission(code=WRONG, tests=['assert True']))


@pytest.mark.parametrize('wrong, message', [(dict(split='heldout'), 'must be one of'), (dict(index=10**6), 'problems'),
                                            (dict(index=-1), 'problems'), (dict(attempts=0), 'at least one')])
def test_a_reset_says_what_is_wrong(running, wrong, message):
    with ProgramClient(base_url=running[1]).sync() as env:
        with pytest.raises(RuntimeError, match=message): env.reset(**wrong)
    told = post(f'{running[1]}/reset', wrong)
    assert told['status'] == 400 and message in told['text']


async def episode(url, n):
    "Rewards of a wrong program and of the right one."
    async with ProgramClient(base_url=url) as env:
        await env.reset(split='held_out', index=n, attempts=2)
        return [(await env.step(Submission(code=code))).reward for code in (WRONG, PROBLEMS[n].reference_solution)]


def test_fifty_clients_at_once(running):
    async def play(): return await asyncio.gather(*(episode(running[1], n) for n in range(50)))
    assert asyncio.run(play()) == [[0, 1]] * 50


def test_a_server_that_is_killed_leaves_nothing(tmp_path):
    with server(tmp_path) as (process, url):
        asyncio.run(episode(url, 0))
        started = descendants(process.pid)
        process.kill()
        process.wait()
        assert until(lambda: not any(map(alive, started))), 'processes are left'
        assert until(lambda: not list(tmp_path.iterdir())), 'files are left'
