"Every command: help without the heavy libraries, closed streams, signals, and a range for each setting."
import os
import signal
import subprocess
import sys
import time
from importlib import import_module

import processes
import pytest

from adversarial_rl.core import commands
from adversarial_rl.core.commands import Command
from adversarial_rl.core.config import Sources
from adversarial_rl.core.settings import PPOConfig, TrainingConfig
from adversarial_rl.game import inference
from adversarial_rl.game.trainer import AdversarialTrainer
from adversarial_rl.lab.__main__ import COMMANDS
from adversarial_rl.record.checkpoints import checkpoints, load_checkpoint
from adversarial_rl.record.tracking import read_metrics

USERS = {c.name: c for c in vars(commands).values() if isinstance(c, Command)}
EVERY = USERS | COMMANDS
HEAVY = ('torch', 'transformers', 'peft', 'trl', 'matplotlib', 'pandas')


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


def began(name, *flags, **kw):
    "The process of a command, started as its console script starts it."
    words = [sys.executable, '-c', f'import sys\n{start(name)}\nsys.exit(start())', *map(str, flags)]
    return subprocess.Popen(words, stderr=subprocess.PIPE, text=True, **kw)


@pytest.mark.parametrize('flags', [['--help'], ['--print-config', '--checkpoint', 'c.pt']])
def test_a_reader_that_has_gone_ends_the_command_quietly(flags):
    read, write = os.pipe()
    os.close(read)
    process = began('run_inference', *flags, stdout=write)
    os.close(write)
    assert process.communicate()[1] == '' and process.returncode in (0, 141)   # argparse hides that help was not read


@pytest.mark.parametrize('closed, code', [('>&-', 0), ('<&-', 0), ('2>&-', 0), ('>&- 2>&- <&-', 0),
                                          ('2>&- --seed -1', 2)])
def test_closed_streams_are_no_mistake(closed, code, tmp_path):
    script = f'import sys\n{start("run_inference")}\nsys.exit(start())'
    line = f'"{sys.executable}" -c \'{script}\' --checkpoint c.pt --print-config {closed}'
    done = subprocess.run(['bash', '-c', line], capture_output=True, text=True, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (code, '')


def test_a_file_that_is_opened_does_not_take_the_place_of_a_closed_stream(tmp_path):
    "What is printed would else go into the file of results."
    program = 'import sys\nfrom adversarial_rl.core.errors import guarded\n' \
              'def main(argv):\n with open("results", "w") as f: print("said"); f.write("result")\n' \
              'sys.exit(guarded(main))'
    done = subprocess.run(['bash', '-c', f'"{sys.executable}" -c \'{program}\' >&-'], cwd=tmp_path)
    assert done.returncode == 0 and (tmp_path/'results').read_text() == 'result'


@pytest.mark.skipif(sys.platform != 'linux', reason='no /proc')
def test_ctrl_c_while_libraries_are_loaded_is_one_line(tmp_path):
    process = began('evaluate_tester', '--problems', 400, cwd=tmp_path, stdout=subprocess.DEVNULL)
    maps = f'/proc/{process.pid}/maps'
    while process.poll() is None and 'libtorch' not in open(maps).read(): time.sleep(.005)
    process.send_signal(signal.SIGINT)
    err = process.communicate(timeout=120)[1]
    assert process.returncode == 130 and err.strip() == 'interrupted'


def tiny(folder):
    "A trainer of the game that writes into this folder."
    config = TrainingConfig(generator_model='starter', discriminator_model='starter', device='cpu', held_out=2,
                            checkpoint_dir=str(folder/'ck'), output_dir=str(folder/'out'))
    return AdversarialTrainer(config, PPOConfig())


@pytest.mark.parametrize('number, code', [(signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_a_signal_ends_a_batch_and_says_what_is_kept(number, code, tmp_path):
    path, lines = tiny(tmp_path).save(), tmp_path/'r.jsonl'
    flags = ['--checkpoint', path, '--batch', '--problems-file', 'starter', '--output', lines, '--max-tokens', '16']
    process = processes.Command('run_inference', *flags)
    while process.poll() is None and (not lines.exists() or lines.read_bytes().count(b'\n') < 3): time.sleep(.02)
    process.send_signal(number)
    err = process.communicate(timeout=120)[1]
    assert process.returncode == code and 'Traceback' not in err
    kept = lines.read_bytes().count(b'\n') - 1
    assert f'stopped by {signal.Signals(number).name}: {kept} of 400 problems are in {lines}' in err


def test_a_signal_right_after_a_line_counts_that_line(tmp_path, monkeypatch, capfd):
    "It may arrive when a result is on the disk and the program has not taken note of it."
    path, lines, append_line = tiny(tmp_path).save(), tmp_path/'r.jsonl', inference.append_line

    def stopped(file, line):
        append_line(file, line)
        raise KeyboardInterrupt
    monkeypatch.setattr(inference, 'append_line', stopped)
    code = inference.main(['--checkpoint', str(path), '--batch', '--problems-file', 'starter',
                           '--output', str(lines), '--max-tokens', '16'])
    assert code == 130 and 'interrupted: 1 of 400 problems are in' in capfd.readouterr().err


@pytest.mark.parametrize('number', [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_lets_a_training_finish_its_step_and_save(number, tmp_path):
    flags = ['--config', 'configs/starter.yaml', '--problems-per-step', '2', '--group-size', '2', '--held-out', '2',
             '--max-new-tokens', '16', '--save-steps', '1000', '--output-dir', tmp_path/'o',
             '--checkpoint-dir', tmp_path/'c']
    process, rows = processes.Command('run_training', *flags), tmp_path/'o'/'metrics.jsonl'
    while process.poll() is None and not (rows.exists() and rows.read_bytes().count(b'\n')): time.sleep(.02)
    process.send_signal(number)
    err = process.communicate(timeout=120)[1]
    done = len(read_metrics(rows))
    newest = checkpoints(tmp_path/'c')[0]
    assert process.returncode == 128 + number and 'Traceback' not in err
    assert f'stopped by {signal.Signals(number).name}: {newest} is saved; the same command with --resume goes on' in err
    assert load_checkpoint(newest)[1]['step'] == done


def test_nohup_is_obeyed():
    line = f'trap "" HUP; "{sys.executable}" -c \'from adversarial_rl.core.errors import guarded; import os, signal; ' \
           'guarded(lambda argv: (os.kill(os.getpid(), signal.SIGHUP), print("goes on")))\''
    assert subprocess.run(['bash', '-c', line], capture_output=True, text=True).stdout == 'goes on\n'
