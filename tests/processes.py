"""A command of the project in a process of its own, forked from one that has loaded the libraries.

Loading them takes five seconds and more, and the tests start a hundred commands. Tests of a command's own start
(its help, a wheel, variables that libraries read while they load) use `subprocess`.
"""
import atexit
import multiprocessing
import os
import signal
import subprocess
import sys
import tempfile
from importlib import import_module
from multiprocessing.reduction import DupFd
from pathlib import Path

from adversarial_rl.core import commands

MODULES = {name: f'adversarial_rl.{c.module}' for name, c in vars(commands).items() if isinstance(c, commands.Command)}
LOADED = ['adversarial_rl.game.trainer', 'adversarial_rl.game.inference', 'adversarial_rl.mbpp.evaluator',
          'adversarial_rl.record.plots', 'adversarial_rl.grpo.output_game',
          'transformers.models.qwen2.modeling_qwen2', 'trl.trainer.grpo_trainer']

context = multiprocessing.get_context('forkserver')
context.set_forkserver_preload(LOADED)


def _die_at(name, lines):
    "SIGKILL to this process once a file of this name has that many lines on the disk: a watcher might come too late."
    sync = os.fsync
    def watched(number):
        sync(number)
        path = Path(os.readlink(f'/proc/self/fd/{number}'))
        if path.name == name and path.read_bytes().count(b'\n') >= lines: os.kill(os.getpid(), signal.SIGKILL)
    os.fsync = watched


def _run_main(command, flags, cwd, env, streams, dies_at):
    "The forked process: redirect output, then run the command's main function."
    for number, stream in enumerate(streams, 1): os.dup2(stream.detach(), number)
    os.chdir(cwd)
    os.environ.clear()
    os.environ.update(env)
    sys.argv = [command, *flags]
    if dies_at: _die_at(*dies_at)
    code = import_module(MODULES[command]).main(list(flags))
    atexit._run_exitfuncs()  # A forked process ends without them
    sys.exit(code)


class Command:
    """A running console script of settings.ini; its output goes to files until it has ended.

    With `dies_at`, a file's name and a number of lines, it is killed at the moment when the file has them."""
    def __init__(self, command, *flags, cwd=None, env=None, dies_at=None):
        self.args = [command, *map(str, flags)]
        self._output = [tempfile.TemporaryFile('w+') for _ in range(2)]
        work = (command, self.args[1:], str(cwd or os.getcwd()), dict(env or os.environ), _Streams(self._output),
                dies_at)
        self._process = context.Process(target=_run_main, args=work)
        self._process.start()

    def poll(self): return self._process.exitcode
    returncode = property(poll)

    def wait(self, timeout=None):
        self._process.join(timeout)
        if self.poll() is None: raise subprocess.TimeoutExpired(self.args, timeout)
        return self.poll()

    def communicate(self, timeout=None):
        "Wait for the end; returns what it wrote to stdout and to stderr."
        self.wait(timeout)
        for stream in self._output: stream.seek(0)
        return tuple(stream.read() for stream in self._output)

    def send_signal(self, number):
        if self.poll() is None: os.kill(self._process.pid, number)

    def kill(self): self._process.kill()


class _Streams:
    "Files that are handed over while the process starts."
    def __init__(self, files): self.files = files
    def __reduce__(self): return list, ([DupFd(f.fileno()) for f in self.files],)


def descendants(pid):
    "Process numbers of all children, theirs included."
    below = [int(n) for task in Path(f'/proc/{pid}/task').glob('*/children') for n in task.read_text().split()]
    return below + [n for child in below for n in descendants(child)]


def run(command, *flags, **kw):
    "Run a command to its end; returns a `subprocess.CompletedProcess`."
    process = Command(command, *flags, **kw)
    stdout, stderr = process.communicate()
    return subprocess.CompletedProcess(process.args, process.returncode, stdout, stderr)
