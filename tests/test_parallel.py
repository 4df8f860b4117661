"A run in two processes, started by a launcher: what one process does, but for rounding; also killed and resumed."
import contextlib
import os
import re
import subprocess
import sys
import time
from types import SimpleNamespace
from unittest import mock

import processes
import pytest
import torch
from small import metrics, results, untimed
from structure import ROOT

from adversarial_rl.core import parallel
from adversarial_rl.core.errors import UsageError
from adversarial_rl.core.files import locked
from adversarial_rl.record.checkpoints import load_checkpoint, newest_checkpoint

SMALL = ['--config', 'configs/starter.yaml', '--n-discriminator-steps', '1', '--n-generator-steps', '1',
         '--k-alternating-steps', '0', '--together-steps', '0', '--held-out', '10', '--problems-per-step', '5',
         '--minibatches', '2', '--kl-coef', '0.01', '--report-to', 'none']
LAUNCH = [sys.executable, '-m', 'torch.distributed.run', '--standalone', '--nproc_per_node', '2']
ENVIRONMENT = os.environ | dict(OMP_NUM_THREADS='1')


def arguments(folder, *flags):
    return [*SMALL, '--output-dir', str(folder/'out'), '--checkpoint-dir', str(folder/'ck'), *flags]


def command(folder, *flags): return [*LAUNCH, '-m', 'adversarial_rl.game.trainer', *arguments(folder, *flags)]


def launched(folder, *flags):
    return subprocess.run(command(folder, *flags), cwd=ROOT, capture_output=True, text=True, env=ENVIRONMENT,
                          timeout=600)


def run(folder, *flags, several=False):
    if several: done = launched(folder, *flags)
    else: done = processes.run('run_training', *arguments(folder, *flags), cwd=ROOT)
    assert done.returncode == 0, done.stderr[-3000:]
    return done


def same(one, two):
    "Metrics and weights of two runs, but for rounding."
    for a, b in zip(untimed(metrics(one)), untimed(metrics(two)), strict=True):
        assert a.keys() == b.keys()
        for k, x in a.items():
            expected = pytest.approx(b[k], rel=1e-3, abs=1e-4) if isinstance(x, float) else b[k]
            assert x == expected, (a['step'], k)
    last = newest_checkpoint(one/'ck')[0].name
    (a, _), (b, _) = (load_checkpoint(x/'ck'/last) for x in (one, two))
    for name in a['players']:
        apart = torch.cat([(x - b['players'][name][k]).abs().flatten() for k, x in a['players'][name].items()])
        # Where a gradient is nothing but rounding, Adam still steps by up to the learning rate (2e-3 here).
        assert (apart > 1e-5).float().mean() < 1e-3 and apart.max() < 1e-3, name


@pytest.fixture(scope='module')
def one(tmp_path_factory):
    folder = tmp_path_factory.mktemp('one')
    run(folder)
    return folder


def test_two_processes_do_what_one_does(one, tmp_path):
    done = run(tmp_path, several=True)
    same(one, tmp_path)
    assert results(one)['held_out'] == results(tmp_path)['held_out'] and done.stdout.count('results and figure in') == 1


def wait_until_free(folder, end):
    "Until the killed process that has the folder's lock is gone."
    while time.time() < end:
        try:
            with locked(folder): return
        except UsageError: time.sleep(.05)


def test_killed_it_goes_on_with_another_number_of_processes(one, tmp_path):
    "SIGKILL to the launcher and its workers, which have sessions of their own, in a run of two; one process goes on."
    p = subprocess.Popen(command(tmp_path), cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                         env=ENVIRONMENT, start_new_session=True)
    end = time.time() + 240
    def second_stage(): return list((tmp_path/'ck').glob('checkpoint_stage_2*.json'))
    while not second_stage() and p.poll() is None and time.time() < end: time.sleep(.05)
    assert p.poll() is None
    for pid in [p.pid, *processes.descendants(p.pid)]:
        with contextlib.suppress(ProcessLookupError): os.kill(pid, 9)   # Workers end when their launcher does
    p.wait()
    wait_until_free(tmp_path/'out', end)
    run(tmp_path, '--resume')
    same(one, tmp_path)


def test_a_mistake_ends_all_processes(tmp_path):
    done = launched(tmp_path, '--resume')
    assert done.returncode != 0 and 'no checkpoint' in done.stderr


@pytest.mark.parametrize('device, gpus, message', [
    ('cuda:1', 2, '--device cuda:1: 2 processes would share it; use --device cuda, and choose GPUs with CUDA_VISIBLE'),
    ('mps', 0, '--device mps: 2 processes would share it'),
    ('auto', 1, '2 processes for 1 GPUs; start one for each, such as accelerate launch --num_processes 1'),
    ('cuda', 2, ''), ('auto', 2, ''), ('auto', 0, ''), ('cpu', 2, '')])
def test_each_process_has_a_gpu_of_its_own_or_none_has(monkeypatch, device, gpus, message):
    import accelerate
    asked = []
    def state(cpu):
        asked.append(cpu)
        return SimpleNamespace(process_index=1, num_processes=2, destroy_process_group=lambda: None)
    monkeypatch.setattr(accelerate, 'PartialState', state)
    monkeypatch.setattr(torch.cuda, 'is_available', lambda: gpus > 0)
    monkeypatch.setattr(torch.cuda, 'device_count', lambda: gpus)
    for name, value in dict(WORLD_SIZE=2, LOCAL_WORLD_SIZE=2, RANK=0, MASTER_ADDR='localhost', MASTER_PORT=1).items():
        monkeypatch.setenv(name, str(value))
    with mock.patch.dict(parallel._process):
        if message:
            with pytest.raises(UsageError, match=re.escape(message)): parallel.join(device)
        else:
            parallel.join(device)
            assert (parallel.world(), parallel.is_first_process()) == (2, False)
    assert asked == ([] if message else [device == 'cpu' or not gpus])


@pytest.mark.parametrize('size', ['two', '2'])
def test_a_world_without_a_launcher_is_one_line(monkeypatch, size):
    monkeypatch.setenv('WORLD_SIZE', size)
    with pytest.raises(UsageError, match=f'WORLD_SIZE is {size}, and no launcher'): parallel.join()
