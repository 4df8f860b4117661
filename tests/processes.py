"""A command of the project in a process of its own, forked from one that has the libraries loaded: loading them takes five seconds and more, and the tests start a hundred.
What a test says of a command's own start (its help, a wheel, an environment that libraries read as they are loaded) it says with `subprocess`."""
import atexit
import multiprocessing
import os
import subprocess
import sys
import tempfile
from importlib import import_module
from multiprocessing.reduction import DupFd

context = multiprocessing.get_context('forkserver')
context.set_forkserver_preload(['adversarial_rl.adversarial', 'adversarial_rl.inference', 'adversarial_rl.evaluate', 'adversarial_rl.plots', 'adversarial_rl.code_game', 'transformers.models.qwen2.modeling_qwen2', 'trl.trainer.grpo_trainer'])


def _work(module, flags, cwd, env, streams):
    for at, stream in enumerate(streams, 1): os.dup2(stream.detach(), at)
    os.chdir(cwd)
    os.environ.clear()
    os.environ.update(env)
    sys.argv = [module, *flags]
    code = import_module(f'adversarial_rl.{module}').main(list(flags))
    atexit._run_exitfuncs()   # A forked process ends without
    sys.exit(code)


class Command:
    "`adversarial_rl.MODULE` with flags; what it says is kept in files until it has ended."
    def __init__(self, module, *flags, cwd=None, env=None):
        self.args = [module, *map(str, flags)]
        self._said = [tempfile.TemporaryFile('w+') for _ in range(2)]
        self._process = context.Process(target=_work, args=(module, self.args[1:], str(cwd or os.getcwd()), dict(env or os.environ), _Streams(self._said)))
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


def run(module, *flags, **kw):
    process = Command(module, *flags, **kw)
    said = process.communicate()
    return subprocess.CompletedProcess(process.args, process.returncode, *said)
