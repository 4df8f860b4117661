"Every command: help without the heavy libraries, closed streams, signals, and a range for each setting."
import os
import signal
import subprocess
import sys
import time
from importlib import import_module

import processes
import pytest
from small import arguments, metrics, tiny, wait_for_lines

from adversarial_rl.core import commands
from adversarial_rl.core.commands import Command, run_training
from adversarial_rl.core.config import Sources
from adversarial_rl.core.machine import config_file, Platform, platform
from adversarial_rl.record.checkpoints import checkpoints, load_checkpoint

EVERY = {name: c for name, c in vars(commands).items() if isinstance(c, Command)}
HEAVY = ('torch', 'transformers', 'peft', 'trl', 'matplotlib', 'pandas')


def start(name):
    "Source that starts a command as its console script does."
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


REFUSED = [('run_training', '--device mps', 'has none; use --device cpu'),
           ('run_training', '--stages plan', 'out code'),
           ('run_training', '--problems-file none.json', 'none.json: no such problems file'),
           ('run_training', '--resume', 'no checkpoint to go on from'),
           ('run_training', '--resume-from none.pt', 'none.pt: no such checkpoint'),
           ('run_training', '--generator-model nobody/none', "error: model 'nobody/none': not in the local cache"),
           ('run_training', '--output-dir /proc/x', '/proc/x: cannot be written to'),
           ('run_inference', '--checkpoint none.pt', 'give one of --problem'),
           ('run_inference', '--checkpoint none.pt --problem x --tests f(1', '--tests: not valid Python'),
           ('evaluate_mbpp', '--model references --dataset-path none', 'MBPP in none: no such file'),
           ('evaluate_mbpp', '--model references --samples 0 --no-greedy', 'nothing to do'),
           ('evaluate_tester', '--results none.md', 'none.md'),
           ('grpo_code_execution', '--training-args.max-step 3', "the closest is 'max_steps'"),
           ('grpo_code_execution', '--resume', 'no complete checkpoint'),
           ('grpo_code_game', '--opponent.kind model', 'opponent.id'),
           ('spiral_self_play', '--games chesss', "the closest name is 'chess'"),
           ('spiral_self_play', '--opponents none.pt', 'none.pt: no such checkpoint')]


@pytest.mark.parametrize('name, flags, said', REFUSED)
def test_what_needs_no_model_is_refused_before_the_heavy_libraries_are_loaded(name, flags, said, tmp_path):
    heavy = set(HEAVY) - ({'torch'} if platform().capability else set())   # It looks for the GPU
    program = f'import sys\n{start(name)}\ncode = start({flags.split()!r})\n' \
              f'print(*({heavy} & set(sys.modules)))\nsys.exit(code)'
    done = subprocess.run([sys.executable, '-c', program], capture_output=True, text=True, cwd=tmp_path,
                          env=os.environ | dict(HF_HUB_OFFLINE='1'))
    errors = [line for line in done.stderr.splitlines() if line.startswith('error: ')]
    assert (done.returncode, done.stdout) == (2, '\n') and len(errors) == 1 and said in errors[0], done
    assert not list(tmp_path.iterdir())


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


@pytest.mark.parametrize('closed, code', [('>&-', 0), ('<&-', 0), ('2>&-', 0), ('>&- 2>&- <&-', 0),
                                          ('2>&- --seed -1', 2)])
def test_closed_streams_are_no_mistake(closed, code, tmp_path):
    script = f'import sys\n{start("run_inference")}\nsys.exit(start())'
    line = f'"{sys.executable}" -c \'{script}\' --checkpoint c.pt --print-config {closed}'
    done = subprocess.run(['bash', '-c', line], capture_output=True, text=True, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (code, '')


@pytest.mark.skipif(sys.platform != 'linux', reason='no /proc')
def test_ctrl_c_while_libraries_are_loaded_is_one_line(tmp_path):
    process = began('evaluate_tester', '--held-out', 400, cwd=tmp_path, stdout=subprocess.DEVNULL)
    maps = f'/proc/{process.pid}/maps'
    while process.poll() is None and 'libtorch' not in open(maps).read(): time.sleep(.005)
    process.send_signal(signal.SIGINT)
    err = process.communicate(timeout=120)[1]
    assert process.returncode == 130 and err.strip() == 'interrupted: nothing is saved'


@pytest.mark.parametrize('number, code', [(signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_a_signal_ends_a_batch_and_says_what_is_kept(number, code, tmp_path):
    path, lines = tiny(tmp_path).save(), tmp_path/'r.jsonl'
    flags = ['--checkpoint', path, '--batch', '--problems-file', 'starter', '--output', lines, '--max-tokens', '16']
    process = processes.Command('run_inference', *flags)
    wait_for_lines(lines, 3, process)
    process.send_signal(number)
    err = process.communicate(timeout=120)[1]
    assert process.returncode == code and 'Traceback' not in err
    kept = lines.read_bytes().count(b'\n') - 1
    assert f'stopped by {signal.Signals(number).name}: {kept} of 400 problems are in {lines}' in err


@pytest.mark.parametrize('number', [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_lets_a_training_finish_its_step_and_save(number, tmp_path):
    flags = arguments(tmp_path, '--save-steps', '1000', '--n-discriminator-steps', '1000')
    process = processes.Command('run_training', *flags)
    wait_for_lines(tmp_path/'out'/'metrics.jsonl', 1, process)
    process.send_signal(number)
    err = process.communicate(timeout=120)[1]
    newest = checkpoints(tmp_path/'ck')[0]
    assert process.returncode == 128 + number and 'Traceback' not in err
    assert f'stopped by {signal.Signals(number).name}: {newest} is saved; the same command with --resume goes on' in err
    assert load_checkpoint(newest)[1]['step'] == len(metrics(tmp_path))


@pytest.mark.parametrize('number', [signal.SIGINT, signal.SIGTERM])
def test_a_signal_before_the_first_step_says_that_nothing_new_is_saved(number, tmp_path):
    flags = arguments(tmp_path, '--held-out', '400', '--max-new-tokens', '128')   # Measured before the first step
    process = processes.Command('run_training', *flags)
    while process.poll() is None and not (tmp_path/'out'/'config.yaml').exists(): time.sleep(.02)
    process.send_signal(number)
    err = process.communicate(timeout=120)[1]
    assert process.returncode == 128 + number and err.strip().endswith(': nothing new is saved'), err
    assert not checkpoints(tmp_path/'ck')


def test_the_help_of_run_training_says_what_a_bare_run_trains(capsys):
    "On a CPU and on a GPU, as the table of configurations has it."
    assert run_training(['--help']) == 0
    said = ' '.join(capsys.readouterr().out.split())
    cpu = Platform('cpu', 'a CPU', 'float32', 2, 16., 'local')
    assert f'a CPU trains the bundled toy ({config_file(cpu)}, minutes)' in said and 'a GPU Qwen2.5-Coder' in said
    assert said.index('a GPU Qwen2.5-Coder') < said.index('options:')
