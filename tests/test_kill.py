"A run killed at twenty moments, half of them while it writes a checkpoint, ends like one that never stopped."
import random
import signal
import sys
import time

import pytest
import torch
from processes import Command
from small import arguments, metrics as rows, results, untimed

from adversarial_rl.record.checkpoints import checkpoints, load_checkpoint

pytestmark = [pytest.mark.slow, pytest.mark.skipif(sys.platform == 'win32', reason='no SIGKILL')]
KILLS = 20
RUN = ('--held-out 6 --n-generator-steps 2 --k-alternating-steps 1 --together-steps 1 --critic-warmup 1').split()


def start(folder, *flags): return Command('run_training', *arguments(folder, *RUN, *flags), cwd=folder)


def kill_somewhere(folder, process, rng, in_save, step):
    "Kill after a few steps, anywhere in `step` seconds or while a checkpoint is written; None if the run ended."
    first, more, name = len(rows(folder)), rng.randint(0, 2), None
    while process.poll() is None and len(rows(folder)) < first + more: time.sleep(.002)
    end = time.time() + (20 * step if in_save else rng.random() * step)
    while process.poll() is None and time.time() < end and not name:
        name = next((p.name for p in (folder/'ck').glob('.checkpoint_*')), None) if in_save else None
        if not in_save: time.sleep(.005)
    process.send_signal(signal.SIGKILL)
    said = process.communicate()
    if process.returncode != -signal.SIGKILL:
        assert process.returncode == 0, said
        return None
    return f'writing {name}' if name else 'anywhere'


def test_killed_anywhere_equals_never_stopped(tmp_path): assert killed(tmp_path, start, KILLS) >= 5


def killed(tmp_path, start, kills, step=.6): # A function of a folder and flags; seconds that a step takes
    "Runs killed so often end like one that never stopped; how many kills were in the middle of a checkpoint."
    rng, whole, cut = random.Random(0), tmp_path/'whole', tmp_path/'cut'
    whole.mkdir()
    cut.mkdir()
    assert start(whole).wait() == 0
    table, runs = [], 0
    while len(table) < kills:
        runs += 1
        flags = []
        while len(table) < kills:
            process = start(cut, *flags)
            where = kill_somewhere(cut, process, rng, len(table) % 2 == 1, step)
            if where is None: break
            found = checkpoints(cut/'ck')
            done = len(rows(cut)) if flags or found else 0
            saved = load_checkpoint(found[0])[1]['step'] if found else None
            table.append((len(table) + 1, where, done, saved, done - saved if found else 0))
            flags = ['--resume'] if found else []
        if len(table) == kills:
            process = start(cut, *flags)
            said = process.communicate()
            assert process.returncode == 0, said
        compare(whole, cut)
    print(f"\nkill  {'where':50} steps done  in the checkpoint  redone")
    for row in table: print('{:4}  {:50} {:10}  {!s:>17}  {:6}'.format(*row))
    print(f'{runs} runs, all equal to the one that never stopped')
    assert all(0 <= row[-1] <= 1 for row in table)
    return sum('writing' in row[1] for row in table)


def compare(whole, cut):
    assert untimed(rows(whole)) == untimed(rows(cut))
    (a, x), (b, y) = (load_checkpoint(checkpoints(f/'ck')[0]) for f in (whole, cut))
    assert same(a, b) and x['metrics'] == y['metrics']
    (a, x), (b, y) = (load_checkpoint(f/'ck'/'checkpoint_best') for f in (whole, cut))
    assert same(a, b) and (x['step'], x['score']) == (y['step'], y['score'])
    assert results(whole)['held_out'] == results(cut)['held_out']
    assert not list((cut/'ck').glob('.*'))


def same(a, b):
    if isinstance(a, torch.Tensor): return torch.equal(a, b)
    if isinstance(a, dict): return a.keys() == b.keys() and all(same(a[k], b[k]) for k in a)
    if isinstance(a, (list, tuple)): return len(a) == len(b) and all(map(same, a, b))
    return a == b
