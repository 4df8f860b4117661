"""A command of the project in a process of its own, forked from one that has the libraries loaded: loading them takes five seconds and more, and the tests start a hundred.
What a test says of a command's own start (its help, a wheel, an environment that libraries read as they are loaded) it says with `subprocess`."""
import atexit
import multiprocessing
import os
import subprocess
import sys
import tempfile
from configparser import ConfigParser
from importlib import import_module
from multiprocessing.reduction import DupFd
from pathlib import Path

ini = ConfigParser(delimiters=['='])
ini.read(Path(__file__).parents[1] / 'settings.ini', encoding='utf-8')
MODULES = {name: target.partition(':')[0] for name, _, target in
           (line.partition('=') for line in ini['DEFAULT']['console_scripts'].split())}
context = multiprocessing.get_context('forkserver')
context.set_forkserver_preload(['adversarial_rl.game.trainer', 'adversarial_rl.game.inference', 'adversarial_rl.mbpp.evaluate', 'adversarial_rl.record.plots', 'adversarial_rl.grpo.output_game', 'transformers.models.qwen2.modeling_qwen2', 'trl.trainer.grpo_trainer'])


def _work(command, flags, cwd, env, streams):
    for at, stream in enumerate(streams, 1): os.dup2(stream.detach(), at)
    os.chdir(cwd)
    os.environ.clear()
    os.environ.update(env)
    sys.argv = [command, *flags]
    code = import_module(MODULES[command]).main(list(flags))
    atexit._run_exitfuncs()   # A forked process ends without
    sys.exit(code)


class Command:
    "A command of settings.ini with flags; what it says is kept in files until it has ended."
    def __init__(self, command, *flags, cwd=None, env=None):
        self.args = [command, *map(str, flags)]
        self._said = [tempfile.TemporaryFile('w+') for _ in range(2)]
        self._process = context.Process(target=_work, args=(command, self.args[1:], str(cwd or os.getcwd()), dict(env or os.environ), _Streams(self._said)))
        self._process.start()

    def poll(self): return self._process.exitcode
    returncode = property(poll)

    def wait(self, timeout=None):
        self._process.join(timeout)
        if self.poll() is None: raise subprocess.TimeoutExpired(self.args, timeout)
        return self.poll()

    def communicate(self, timeout=None):
        "Its output and its errors."
        self.wait(timeout)
        for stream in self._said: stream.seek(0)
        return tuple(stream.read() for stream in self._said)

    def send_signal(self, number):
        if self.poll() is None: os.kill(self._process.pid, number)

    def kill(self): self._process.kill()


class _Streams:
    "Handed over as the process starts."
    def __init__(self, files): self.files = files
    def __reduce__(self): return list, ([DupFd(f.fileno()) for f in self.files],)


def run(command, *flags, **kw):
    process = Command(command, *flags, **kw)
    said = process.communicate()
    return subprocess.CompletedProcess(process.args, process.returncode, *said)
