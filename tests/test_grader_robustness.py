"What happens to the grader on odd machines and in odd processes: low limits, ignored signals, no /proc, many threads."
import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from adversarial_rl import grade, grade_many, run
from adversarial_rl.grader import pool
from adversarial_rl.grader.pool import default_sandbox, Sandbox

RIGHT, TESTS = 'def f(x): return x', ('assert f(1) == 1',)
LINUX = pytest.mark.skipif(sys.platform != 'linux', reason='reads /proc')
SCRIPT = '''from adversarial_rl import grade
from adversarial_rl.core.errors import UsageError
try: print(grade('def f(x): return x', ['assert f(1) == 1']).kind)
except UsageError as e: print(e)'''


def test_threads_that_start_together_share_one_pool(monkeypatch):
    started, start = [], Sandbox.__init__
    def count(self, *args, **kw):
        started.append(self)
        start(self, *args, **kw)
    monkeypatch.setattr(Sandbox, '__init__', count)
    default_sandbox().close()
    started.clear()
    with ThreadPoolExecutor(8) as threads: kinds = list(threads.map(lambda n: run(f'x = {n}').kind, range(8)))
    assert kinds == ['success'] * 8 and len(started) == 1


def test_a_fork_while_the_pool_starts_is_not_locked_for_ever():
    with pool._locks.setdefault(os.getpid(), pool.threading.Lock()):
        if (pid := os.fork()) == 0: os._exit(0 if grade(RIGHT, TESTS).passed else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0


@pytest.mark.parametrize('before', ['signal.signal(signal.SIGCHLD, signal.SIG_IGN)',
                                    'signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 32))'])
def test_signals_that_the_parent_ignores_or_blocks(before):
    done = subprocess.run([sys.executable, '-c', f'import signal\n{before}\n{SCRIPT}'], capture_output=True, text=True)
    assert done.stdout == 'success\n', done.stderr


def test_a_client_that_dies_while_its_template_starts_leaves_no_folder(tmp_path, monkeypatch):
    "The template finds that its parent is another process than the one that began it."
    root = tmp_path/'sandbox'
    root.mkdir()
    monkeypatch.setattr(pool.os, 'getpid', lambda: 1)
    with pytest.raises((EOFError, OSError)): pool.Template(f'{root}/0').wait()
    for _ in range(100):
        if not root.exists(): break
        time.sleep(.1)
    assert not root.exists()


LATE = ['from __future__ import annotations\ndef f(x: absent): return x', 'import datetime\n'
        'def f(x): return int(datetime.datetime.strptime(str(2000 + x), "%Y").year) - 2000',
        'import asyncio\ndef f(x): return asyncio.run(asyncio.sleep(0, x))',
        'from concurrent.futures import ThreadPoolExecutor\ndef f(x): return [*ThreadPoolExecutor(1).map(abs, [x])][0]']


@pytest.mark.parametrize('code', LATE)
def test_modules_that_load_late_work_where_no_program_opens_files(code):
    with Sandbox(1, off=('namespaces', 'landlock')) as sandbox:
        [outcome] = grade_many([(code, ['assert f(5) == 5'])], sandbox=sandbox)
    assert outcome.passed, outcome
