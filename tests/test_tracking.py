"Metrics where they go: files, W&B's offline folder, TensorBoard; a killed run's tables; secrets nowhere."
import csv
import fcntl
import json
import os
import pty
import re
import signal
import struct
import subprocess
import sys
import termios
import time

import processes
import pytest

from adversarial_rl.record.tracking import read_metrics, Tracker

FEW = ['--config', 'configs/starter.yaml', '--problems-per-step', '3', '--group-size', '3', '--held-out', '4', '--max-new-tokens', '40', '--n-discriminator-steps', '1',
       '--n-generator-steps', '1', '--k-alternating-steps', '0', '--together-steps', '0', '--critic-warmup', '0']
SENTINELS = dict(WANDB_API_KEY='5e27' * 10, HF_TOKEN='hf_' + 'Sentinel' * 4)
DOTENV = 'dotenvSentinel' * 3
NAMES = ('reward/generator', 'reward/discriminator', 'validity', 'generator/clip_frac', 'discriminator/entropy')


def ask(folder, *flags): return [*FEW, '--output-dir', str(folder/'out'), '--checkpoint-dir', str(folder/'ck'), *flags]


def run(folder, *flags, **env):
    clean = {k: v for k, v in os.environ.items() if not k.startswith('WANDB')}
    return processes.run('run_training', *ask(folder, *flags), cwd=folder, env=clean | env)


def rows(folder): return read_metrics(folder/'out'/'metrics.jsonl')


def same_as_csv(folder):
    "Whether the CSV holds what the JSON lines hold, cell by cell."
    cell = lambda x: '' if x is None else str(x)
    with (folder/'out'/'metrics.csv').open(newline='') as f: table = list(csv.DictReader(f))
    lines = rows(folder)
    return len(table) == len(lines) and all({k: cell(r.get(k)) for k in t} == t and set(r) <= set(t) for t, r in zip(table, lines))


def wandb_history(path):
    "Rows of a .wandb file: LevelDB's log format after a header of 7 bytes, a protobuf record in each."
    from wandb.proto import wandb_internal_pb2 as pb
    data, records, at, whole = path.read_bytes(), [], 7, b''
    assert data[:4] == b':W&B'
    while at + 7 <= len(data):
        if (left := 32768 - at % 32768) < 7: at += left; continue
        size, kind = struct.unpack('<HB', data[at + 4:at + 7])
        whole += data[at + 7:at + 7 + size]
        at += 7 + size
        if kind in (1, 4): records.append(whole); whole = b''
    found = []
    for r in records:
        record = pb.Record()
        record.ParseFromString(r)
        if record.WhichOneof('record_type') == 'history': found.append({i.key or '/'.join(i.nested_key): json.loads(i.value_json) for i in record.history.item})
    return found


@pytest.fixture(scope='module')
def offline(tmp_path_factory):
    "A whole small run with W&B offline and a secret in every place where one may be."
    pytest.importorskip('wandb')
    folder = tmp_path_factory.mktemp('offline')
    (folder/'.env').write_text(f'SOME_TOKEN={DOTENV}\nWANDB_MODE=offline\n')
    done = run(folder, **SENTINELS)
    assert done.returncode == 0, done.stderr
    return folder, done


def test_wandb_offline_holds_every_metric(offline):
    folder, done = offline
    path, = (folder/'out'/'wandb').glob('offline-run-*/*.wandb')
    history, ours = wandb_history(path), rows(folder)
    assert [h['_step'] for h in history] == [r['step'] for r in ours] == list(range(10))
    for h, r in zip(history, ours): assert {k: h[k] for k, v in r.items() if v is not None} == {k: v for k, v in r.items() if v is not None}
    assert set(NAMES) <= {k for h in history for k in h}
    assert (folder/'out'/'wandb_id').read_text() in path.name


def test_no_secret_anywhere(offline):
    folder, done = offline
    texts = [done.stdout.encode(), done.stderr.encode()] + [p.read_bytes() for p in folder.rglob('*') if p.is_file() and not p.is_symlink() and p.name != '.env']
    assert len(texts) > 10
    for secret in (*SENTINELS.values(), DOTENV): assert not [t for t in texts if secret.encode() in t]


def test_a_run_into_a_pipe_is_quiet(offline):
    assert not [l for l in offline[1].stderr.splitlines() if not l.startswith('warning: on this machine')]


def test_a_program_under_test_sees_no_secret(monkeypatch):
    from adversarial_rl.grader.grading import grade
    for k, v in SENTINELS.items(): monkeypatch.setenv(k, v)
    assert grade('import os\ndef f(k): return k in os.environ', [f'assert f({k!r}) == False' for k in SENTINELS]).passed


def test_csv_equals_json_lines(offline):
    assert same_as_csv(offline[0])


def test_tensorboard_is_read_back(tmp_path):
    pytest.importorskip('tensorboard')
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
    for first in (0, 2):
        with Tracker(tmp_path, first, report_to='tensorboard') as t:
            for step in range(first, 4): t.write({'step': step, 'stage': 'code', 'reward/avg_batch_reward': step + first / 10, 'kl': None})
    events = EventAccumulator(str(tmp_path/'tensorboard'))
    events.Reload()
    assert events.Tags()['scalars'] == ['reward/avg_batch_reward']
    assert [(e.step, round(e.value, 3)) for e in events.Scalars('reward/avg_batch_reward')] == [(0, 0), (1, 1), (2, 2.2), (3, 3.2)]


def test_killed_and_resumed_is_the_same_table_and_the_same_run(tmp_path, offline):
    process = processes.Command('run_training', *ask(tmp_path), cwd=tmp_path, env=os.environ | dict(WANDB_MODE='offline'))
    end = time.time() + 120
    while time.time() < end and process.poll() is None and not ((tmp_path/'out'/'metrics.jsonl').exists() and len(rows(tmp_path)) >= 4): time.sleep(.02)
    process.send_signal(signal.SIGKILL)
    process.wait()
    name = (tmp_path/'out'/'wandb_id').read_text()
    with (tmp_path/'out'/'metrics.csv').open('a') as f: f.write('9,half a li')
    again = run(tmp_path, '--resume', WANDB_MODE='offline')
    assert again.returncode == 0, again.stderr
    assert same_as_csv(tmp_path) and (tmp_path/'out'/'wandb_id').read_text() == name
    strip = lambda rs: [{k: v for k, v in r.items() if 'second' not in k} for r in rs]
    assert strip(rows(tmp_path)) == strip(rows(offline[0]))
    last = max((tmp_path/'out'/'wandb').glob('offline-run-*/*.wandb'), key=lambda p: p.stat().st_mtime)
    assert name in last.name and wandb_history(last)[-1]['_step'] == 9


def test_a_key_that_does_not_work_is_one_warning_and_the_files_go_on(tmp_path):
    pytest.importorskip('wandb')
    flags = ['--n-discriminator-steps', '0', '--report-to', 'wandb']
    done = run(tmp_path, *flags, WANDB_API_KEY='too-short-a-key', WANDB_MODE='online', WANDB_BASE_URL='http://127.0.0.1:9')
    assert done.returncode == 0, done.stderr
    said = [l for l in done.stderr.splitlines() if l.startswith('warning: wandb is left out')]
    assert len(said) == 1 and 'Traceback' not in done.stderr and 'too-short-a-key' not in done.stderr + done.stdout
    assert len(rows(tmp_path)) == 5 and same_as_csv(tmp_path)


def test_a_library_that_is_not_there_is_one_line(tmp_path, monkeypatch, capfd):
    from adversarial_rl.game import run_training
    from adversarial_rl.record import tracking
    monkeypatch.setattr(tracking, 'installed', lambda name: '')
    assert run_training.main([*FEW, '--output-dir', str(tmp_path/'out'), '--checkpoint-dir', str(tmp_path/'ck'), '--report-to', 'tensorboard']) == 2
    assert 'pip install tensorboard' in capfd.readouterr().err.strip().splitlines()[-1]
    assert tracking.reporters('auto') == []


def test_a_terminal_shows_stage_phase_rewards_and_time_left_and_ctrl_c_reaches_wandb_too(tmp_path):
    "Ctrl-C in a terminal goes to every process of the group, also to the one that W&B started."
    pytest.importorskip('wandb')
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack('HHHH', 24, 160, 0, 0))
    process = subprocess.Popen([sys.executable, '-m', 'adversarial_rl.game.run_training', *ask(tmp_path)], stderr=theirs, stdout=subprocess.DEVNULL, cwd=tmp_path, env=os.environ | dict(WANDB_MODE='offline'), start_new_session=True)
    os.close(theirs)
    said, asked = b'', False
    while True:
        try: part = os.read(ours, 4096)
        except OSError: break
        if not part: break
        said += part
        if not asked and (tmp_path/'out'/'metrics.jsonl').exists() and len(rows(tmp_path)) >= 4: os.killpg(process.pid, signal.SIGINT); asked = True
    text = said.decode()
    assert process.wait(60) == 130 and 'Traceback' not in text and 'warning: wandb' not in text
    assert re.search(r'(informal|structured) · (discriminator|generator): .*/10 \[\d\d:\d\d<\d\d:\d\d, .*generator -?\d\.\d\d discriminator -?\d\.\d\d validity \d', text), text
    path, = (tmp_path/'out'/'wandb').glob('offline-run-*/*.wandb')
    assert [h['_step'] for h in wandb_history(path)] == [r['step'] for r in rows(tmp_path)]
