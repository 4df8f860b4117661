"Every command: help without the heavy libraries, closed streams, signals, and a range for each setting."
import subprocess
import sys
from importlib import import_module

import pytest

from adversarial_rl.core import commands
from adversarial_rl.core.commands import Command
from adversarial_rl.core.config import Sources
from adversarial_rl.lab.__main__ import COMMANDS

USERS = {c.name: c for c in vars(commands).values() if isinstance(c, Command)}
EVERY = USERS | COMMANDS
HEAVY = ('torch', 'transformers', 'peft', 'trl')


def start(name):
    "Source that starts a command as its console script does."
    if name in COMMANDS: return f'from adversarial_rl.lab.__main__ import COMMANDS\nstart = COMMANDS["{name}"]'
    return f'from adversarial_rl.core.commands import {name} as start'


@pytest.mark.parametrize('flag, code', [('--help', 0), ('--no-such-flag', 2)])
@pytest.mark.parametrize('name', EVERY)
def test_help_and_mistakes_are_told_before_the_heavy_libraries_are_loaded(name, flag, code):
    program = f'import atexit, sys\n{start(name)}\n' \
              f'atexit.register(lambda: print(*(set({HEAVY}) & set(sys.modules)), file=sys.stderr))\n' \
              f'sys.exit(start([{flag!r}]))'
    done = subprocess.run([sys.executable, '-c', program], capture_output=True, text=True)
    assert (done.returncode, done.stderr.splitlines()[-1]) == (code, ''), done.stderr
    assert (name in done.stdout) if code == 0 else (flag in done.stderr)


def declared(command):
    "Name -> field of all settings of a command."
    parts = [where.rpartition('.') for where in command.settings]
    return Sources([getattr(import_module(f'adversarial_rl.{module}'), kind) for module, _, kind in parts]).fields


@pytest.mark.parametrize('name', EVERY)
def test_every_number_has_a_range(name):
    fields = declared(EVERY[name])
    numbers = {k: f for k, f in fields.items() if f.type in (int, float)}
    assert not [k for k, f in numbers.items() if f.metadata.get('low') is None or f.metadata.get('high') is None]
    assert not [k for k, f in fields.items() if not f.metadata.get('help')]
