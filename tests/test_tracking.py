"Metrics in files and in W&B's offline folder; tables after a kill; no secret in any output."
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

import processes
import pytest
from small import arguments, metrics, untimed

from adversarial_rl.record.tracking import LongWait

SECRETS = dict(WANDB_API_KEY='5e27' * 10, HF_TOKEN='hf_' + 'Sentinel' * 4)
DOTENV = 'dotenvSentinel' * 3


def run(folder, *flags, **env):
    clean = {k: v for k, v in os.environ.items() if not k.startswith('WANDB')}
    return processes.run('run_training', *arguments(folder, *flags), cwd=folder, env=clean | env)


def table(folder):
    "Rows of a run's CSV."
    with (folder/'out'/'metrics.csv').open(newline='') as f: return list(csv.DictReader(f))


def table_of_metrics(folder):
    "The CSV's rows as they should be, made from the JSON lines."
    rows = metrics(folder)
    columns = dict.fromkeys(k for row in rows for k in row)
    return [{k: '' if row.get(k) is None else str(row[k]) for k in columns} for row in rows]


def wandb_records(path):
    "Protobuf records of a .wandb file: LevelDB's log format after a header of 7 bytes."
    data, at, record = path.read_bytes(), 7, b''
    assert data[:4] == b':W&B'
    while at + 7 <= len(data):
        left = 32768 - at % 32768   # Of this block; a block's last bytes are padding where no header fits
        if left < 7:
            at += left
            continue
        size, kind = struct.unpack('<HB', data[at + 4:at + 7])
        record += data[at + 7:at + 7 + size]
        at += 7 + size
        if kind in (1, 4):   # A whole record, or the last part of one
            yield record
            record = b''


def wandb_history(path):
    "Rows of metrics of a .wandb file."
    from wandb.proto import wandb_internal_pb2 as pb
    rows = []
    for data in wandb_records(path):
        record = pb.Record()
        record.ParseFromString(data)
        if record.WhichOneof('record_type') != 'history': continue
        items = record.history.item
        rows.append({item.key or '/'.join(item.nested_key): json.loads(item.value_json) for item in items})
    return rows


@pytest.fixture(scope='module')
def offline(tmp_path_factory):
    "A complete small run with W&B offline, and secrets in the environment and in `.env`."
    pytest.importorskip('wandb')
    folder = tmp_path_factory.mktemp('offline')
    (folder/'.env').write_text(f'SOME_TOKEN={DOTENV}\nWANDB_MODE=offline\n')
    done = run(folder, **SECRETS)
    assert done.returncode == 0, done.stderr
    return folder, done


def test_wandb_offline_gets_the_metrics(offline):
    folder, done = offline
    path, = (folder/'out'/'wandb').glob('offline-run-*/*.wandb')
    assert f"logged to W&B: {folder/'out'/'wandb'}" in done.stderr.splitlines()
    assert (folder/'out'/'wandb_id').read_text() in path.name
    sent, rows = wandb_history(path), metrics(folder)
    assert [row['_step'] for row in sent] == [row['step'] for row in rows] == list(range(10))
    assert all(row['reward/discriminator'] == x['reward/discriminator'] for row, x in zip(sent, rows))


def test_no_secret_in_any_output(offline):
    folder, done = offline
    files = [p for p in folder.rglob('*') if p.is_file() and not p.is_symlink() and p.name != '.env']
    texts = [done.stdout.encode(), done.stderr.encode()] + [p.read_bytes() for p in files]
    assert len(texts) > 10
    for secret in (*SECRETS.values(), DOTENV): assert not any(secret.encode() in text for text in texts)


def test_a_run_into_a_pipe_is_quiet(offline):
    lines = offline[1].stderr.splitlines()
    assert all(line.startswith(('warning: on this machine', 'logged to W&B: ')) for line in lines)


def test_the_csv_equals_the_json_lines(offline):
    assert table(offline[0]) == table_of_metrics(offline[0])


def test_a_killed_and_resumed_run_has_the_same_table_and_the_same_id(tmp_path, offline):
    env = os.environ | dict(WANDB_MODE='offline')
    killed = processes.run('run_training', *arguments(tmp_path), cwd=tmp_path, env=env, dies_at=('metrics.jsonl', 4))
    assert killed.returncode == -signal.SIGKILL
    name = (tmp_path/'out'/'wandb_id').read_text()
    with (tmp_path/'out'/'metrics.csv').open('a') as f: f.write('9,half a li')
    resumed = run(tmp_path, '--resume', WANDB_MODE='offline')
    assert resumed.returncode == 0, resumed.stderr
    assert table(tmp_path) == table_of_metrics(tmp_path) and (tmp_path/'out'/'wandb_id').read_text() == name
    assert untimed(metrics(tmp_path)) == untimed(metrics(offline[0]))
    assert all(name in path.name for path in (tmp_path/'out'/'wandb').glob('offline-run-*/*.wandb'))


def test_a_key_that_does_not_work_is_one_warning_and_the_files_go_on(tmp_path):
    pytest.importorskip('wandb')
    broken = dict(WANDB_API_KEY='too-short-a-key', WANDB_MODE='online', WANDB_BASE_URL='http://127.0.0.1:9')
    done = run(tmp_path, '--n-discriminator-steps', '0', '--report-to', 'wandb', **broken)
    assert done.returncode == 0, done.stderr
    assert done.stderr.count('warning: wandb failed and is left out') == 1
    assert 'Traceback' not in done.stderr and 'too-short-a-key' not in done.stderr + done.stdout
    assert len(metrics(tmp_path)) == 5 and table(tmp_path) == table_of_metrics(tmp_path)


def test_a_library_that_is_not_installed_is_one_line(tmp_path, monkeypatch, capfd):
    from adversarial_rl.core.commands import run_training
    from adversarial_rl.record import tracking
    monkeypatch.setattr(tracking, 'installed', lambda name: '')
    assert run_training(arguments(tmp_path, '--report-to', 'wandb')) == 2
    assert 'pip install wandb' in capfd.readouterr().err.strip().splitlines()[-1]


def test_with_a_key_and_without_the_package_a_line_says_so(tmp_path, monkeypatch, capsys):
    from adversarial_rl.core import machine
    from adversarial_rl.record.tracking import Tracker
    monkeypatch.setenv('WANDB_API_KEY', 'key')
    monkeypatch.setattr(machine, 'installed', lambda name: '')
    Tracker(tmp_path, report_to='auto')
    assert capsys.readouterr().err == 'not logged to W&B: it is not installed; pip install wandb\n'
    monkeypatch.delenv('WANDB_API_KEY')
    Tracker(tmp_path, report_to='auto')
    assert not capsys.readouterr().err


def read_terminal(terminal):
    "What is written to a terminal, part by part, until its other end is closed."
    while True:
        try: part = os.read(terminal, 4096)
        except OSError: return
        if not part: return
        yield part


def test_a_terminal_shows_progress_and_ctrl_c_reaches_wandb_too(tmp_path):
    "Ctrl-C in a terminal goes to every process of the group, also to the one that W&B started."
    pytest.importorskip('wandb')
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack('HHHH', 24, 160, 0, 0))
    command = [sys.executable, '-m', 'adversarial_rl.game.trainer', *arguments(tmp_path),
               '--n-generator-steps', '100']   # More than it has time for
    process = subprocess.Popen(command, stderr=theirs, stdout=subprocess.DEVNULL, cwd=tmp_path,
                               env=os.environ | dict(WANDB_MODE='offline'), start_new_session=True)
    os.close(theirs)
    shown, interrupted = b'', False
    for part in read_terminal(ours):
        shown += part
        if interrupted or len(metrics(tmp_path)) < 4: continue
        os.killpg(process.pid, signal.SIGINT)
        interrupted = True
    text = shown.decode()
    assert process.wait(300) == 130 and 'Traceback' not in text and 'warning: wandb' not in text
    took = r'(\d+:)?\d\d:\d\d'   # On a slow machine an hour or more is left
    bar = rf'(informal|structured) · (discriminator|generator): .*/505 \[{took}<{took}, ' \
          r'.*generator -?\d\.\d\d discriminator -?\d\.\d\d validity \d'
    assert re.search(bar, text), text


def in_a_terminal(*command, cwd):
    "What a command writes to a terminal of 100 columns as its stderr, and its stdout."
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack('HHHH', 24, 100, 0, 0))
    process = subprocess.Popen(command, stderr=theirs, stdout=subprocess.PIPE, cwd=cwd, text=True)
    os.close(theirs)
    shown = b''.join(read_terminal(ours)).decode()
    assert process.wait(300) == 0, shown
    return shown, process.stdout.read()


AT_ONCE = 'from adversarial_rl.record.tracking import LongWait; LongWait.__init__.__defaults__ = 0., .01; '


def test_every_long_wait_of_a_run_shows_its_rate_and_the_time_left(tmp_path):
    "What would be long with a real model: measuring before the first step, sampling, and both players' updates."
    code = AT_ONCE + 'import sys; from adversarial_rl.game.trainer import main; sys.exit(main(sys.argv[1:]))'
    shown, printed = in_a_terminal(sys.executable, '-c', code, *arguments(tmp_path), cwd=tmp_path)
    for what in ('measuring the players: .*[0-3]/4', r'sampling: .*\d+/\d+', r'updating the discriminator: .*/\d+',
                 r'updating the generator: .*/\d+'):
        assert re.search(what + r' \[\d\d:\d\d<', shown), what
    assert shown.index('measuring') < shown.index('updating') and '│' not in printed and 'sampling:' not in printed


def test_a_wait_ends_without_a_trace_below_the_bar_of_the_steps(tmp_path):
    code = AT_ONCE + '''
from adversarial_rl.record.tracking import progress_bar
import time
with progress_bar(2) as bar, LongWait('sampling', 10, 'token') as wait:
    wait.done = 5
    time.sleep(.2)
'''
    shown, _ = in_a_terminal(sys.executable, '-c', code, cwd=tmp_path)
    first, *drawn = shown.split('\r\n')
    assert '0/2' in first and any(re.search(r'sampling:  50%.* 5/10 .*token/s', line) for line in drawn)
    last = [row for row in shown.split('\r') if 'sampling' in row or not row.strip()]
    assert not last[-1].strip(), shown


def test_outside_a_terminal_a_wait_is_a_line_now_and_then_and_short_work_is_silent(capsys):
    with LongWait('sampling', 10, 'token'): pass
    assert capsys.readouterr().err == ''
    with LongWait('sampling', 10, 'token', after=.01, every=.002) as wait:
        wait.done = 5
        while 'sampling' not in (said := capsys.readouterr().err): pass
    assert re.fullmatch(r'(sampling:  50%\|.*\| 5/10 \[.*\dtoken/s\]\n)+', said)
    with pytest.raises(KeyboardInterrupt), LongWait('sampling', 10, 'token', after=.01) as wait: raise KeyboardInterrupt
    assert not wait.thread.is_alive()
