"A run's folders: one run at a time, nothing finished is lost, other settings are refused, lost rows stay a gap."
import json
import signal
import time

import processes
import pytest
import test_grpo
import test_spiral
import test_training
from small import metrics as rows
from structure import ROOT

from adversarial_rl.grpo import code_execution as grpo, output_game as code_game
from adversarial_rl.record.checkpoints import load_checkpoint, newest_checkpoint

SHORT = ['--training_args.max_steps', '2', '--training_args.save_steps', '1']
BRIEF = [*test_training.ONLY_GENERATOR, '--report-to', 'none']
TRAINERS = {   # Name -> its command in a folder, with a few steps and with many
    'run_training': lambda folder, *more: ['run_training', *test_training.arguments(folder, *BRIEF, *more)],
    'grpo_code_execution': lambda folder, *more: ['grpo_code_execution',
                                                  *test_grpo.flags(grpo, folder/'out', *SHORT, *more)],
    'grpo_code_game': lambda folder, *more: ['grpo_code_game',
                                             *test_grpo.flags(code_game, folder/'out', *SHORT, *more)],
    'spiral_self_play': lambda folder, *more: test_spiral.command(folder, '--steps', '3', *more)}
LONG = {'run_training': ['--n-generator-steps', '1000'], 'spiral_self_play': ['--steps', '1000'],
        'grpo_code_execution': ['--training_args.max_steps', '1000'],
        'grpo_code_game': ['--training_args.max_steps', '1000']}
every_trainer = pytest.mark.parametrize('name', [
    pytest.param(name, marks=test_spiral.needs_openspiel if 'spiral' in name else ()) for name in TRAINERS])


@pytest.fixture
def start():
    "Starts a trainer in a process; what still runs is killed when the test ends."
    started = []
    def begin(name, folder, *more):
        started.append(processes.Command(*TRAINERS[name](folder, *more), cwd=ROOT))
        return started[-1]
    yield begin
    for process in started: end(process)


def end(process):
    process.send_signal(signal.SIGKILL)
    process.wait()


def run(name, folder, *more): return processes.run(*TRAINERS[name](folder, *more), cwd=ROOT)


def wait_for_rows(process, folder, n):
    end = time.time() + 240
    while len(rows(folder)) < n and process.poll() is None and time.time() < end: time.sleep(.02)
    assert len(rows(folder)) >= n and process.poll() is None


def error_of(done):
    "The one line of a refusal."
    assert done.returncode == 2 and 'Traceback' not in done.stderr, done.stderr[-2000:]
    line, = [x for x in done.stderr.splitlines() if x.startswith('error: ')]
    return line


def contents(folder):
    "Every file below, by its path, but for those of earlier runs and the card of the model that TRL writes."
    def own(p): return p.name != 'README.md' and not any(x.startswith('previous_') for x in p.parts)
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob('*')) if p.is_file() and own(p)}


@every_trainer
def test_a_second_run_in_the_same_folder_is_refused_until_the_first_is_gone(name, tmp_path, start):
    first = start(name, tmp_path, *LONG[name])
    wait_for_rows(first, tmp_path, 2)
    for flags in ([], ['--resume', 'true']):
        line = error_of(run(name, tmp_path, *flags))
        assert 'in use by another run' in line and f'process {first._process.pid}' in line
        assert '--output-dir' in line or '--checkpoint-dir' in line
    end(first)
    steps = [r['step'] for r in rows(tmp_path)]
    assert steps == sorted(set(steps)) and len(steps) >= 2
    done = run(name, tmp_path)
    assert done.returncode == 0, done.stderr[-2000:]
    assert not list(tmp_path.rglob('.lock'))


@every_trainer
def test_a_start_without_resume_keeps_what_earlier_runs_left(name, tmp_path):
    runs = []
    for number in range(3 if name == 'spiral_self_play' else 2):
        done = run(name, tmp_path)
        assert done.returncode == 0, done.stderr[-2000:]
        assert (f'previous_{number}' in done.stdout) == bool(number)
        runs.append(contents(tmp_path))
    for number in range(1, len(runs)):
        for path, data in runs[number - 1].items():
            folder, _, file = path.partition('/')
            assert (tmp_path/folder/f'previous_{number}'/file).read_bytes() == data, path
    assert [r['step'] for r in rows(tmp_path)] and not (tmp_path/'out'/'previous_3').exists()


LONG_ENOUGH = {'run_training': ['--n-generator-steps', '2'], 'spiral_self_play': ['--steps', '5']}
CHANGES = {   # Two settings that shape the next step, and how a refusal names them
    'run_training': (['--learning-rate', '1e-5', '--group-size', '4'],
                     ['learning_rate 0.002, not 1e-05', 'group_size 3, not 4']),
    'spiral_self_play': (['--learning-rate', '1e-5', '--games-per-step', '8'],
                         ['learning_rate', 'not 1e-05', 'games_per_step 16, not 8']),
    'grpo_code_execution': (['--training_args.learning_rate', '1e-5', '--tests_weight', '0.5'],
                            ['training_args.learning_rate', 'not 1e-5', 'tests_weight 0.0, not 0.5']),
    'grpo_code_game': (['--training_args.learning_rate', '1e-5', '--max_lines', '2'],
                       ['training_args.learning_rate', 'not 1e-5', 'max_lines 1, not 2'])}


@every_trainer
def test_a_resume_with_other_settings_says_every_difference_or_accepts_them(name, tmp_path):
    "More steps in GRPO are another schedule, so they are a difference too."
    assert run(name, tmp_path).returncode == 0
    flags, differences = CHANGES[name]
    more = ['--training_args.max_steps', '4'] if 'grpo' in name else LONG_ENOUGH[name]
    before = contents(tmp_path)
    line = error_of(run(name, tmp_path, *more, *flags, '--resume', 'true'))
    assert all(x in line for x in differences) and '--accept-changes' in line and 'was made with' in line
    assert contents(tmp_path) == before
    done = run(name, tmp_path, *more, *flags, '--resume', 'true', '--accept-changes', 'true')
    assert done.returncode == 0, done.stderr[-2000:]
    assert 'going on with other settings' in done.stdout and all(x in done.stdout for x in differences)
    steps = [r['step'] for r in rows(tmp_path)]
    assert steps == sorted(steps) and len(steps) > len(before['out/metrics.jsonl'].splitlines())
    again = run(name, tmp_path, *more, *flags, '--resume', 'true')
    assert again.returncode == 0, again.stderr[-2000:]


@every_trainer
def test_a_lost_row_is_a_gap_and_the_history_stays(name, tmp_path, start):
    "Killed; the last row is gone and one in the middle is damaged."
    process = start(name, tmp_path, *LONG[name], *(['--save-steps', '1'] if 'grpo' not in name else []))
    wait_for_rows(process, tmp_path, 7)
    end(process)
    path = tmp_path/'out'/'metrics.jsonl'
    saved = step_of_newest(name, tmp_path)
    lines = [x for x in path.read_text().splitlines() if json.loads(x)['step'] < saved + ('run' not in name)]
    kept = [json.loads(x) for x in lines[:2] + lines[3:-1]]
    path.write_text('\n'.join([*lines[:2], lines[2][:20], *lines[3:-1]]) + '\n')
    resumed = start(name, tmp_path, *LONG[name], *(['--save-steps', '1'] if 'grpo' not in name else []),
                    '--resume', 'true')
    wait_for_step(resumed, tmp_path, saved + 2)
    end(resumed)
    assert rows(tmp_path)[:len(kept)] == kept
    assert not list(tmp_path.rglob('previous_*'))


def step_of_newest(name, folder):
    if 'grpo' in name:
        whole = [p.parent for p in (folder/'out').glob('checkpoint-*/trainer_state.json') if is_json(p)]
        return max(int(p.name.split('-')[1]) for p in whole)
    return load_checkpoint(newest_checkpoint(folder/'ck')[0])[1]['step']


def is_json(path):
    try: return bool(json.loads(path.read_text()))
    except ValueError: return False


def wait_for_step(process, folder, step):
    end = time.time() + 240
    while max([r['step'] for r in rows(folder)], default=0) < step and process.poll() is None and time.time() < end:
        time.sleep(.05)
    assert process.poll() is None


@pytest.mark.parametrize('folder, message', [('', 'has no name; name one'), ('link', 'is a link to gone, which')])
def test_a_folder_that_cannot_be_meant_is_refused(folder, message, tmp_path, monkeypatch, capfd):
    from adversarial_rl.core.commands import evaluate_mbpp
    monkeypatch.chdir(tmp_path)
    (tmp_path/'link').symlink_to('gone')
    assert evaluate_mbpp(['--model', 'references', '--output-dir', folder]) == 2
    assert message in capfd.readouterr().err and [p.name for p in tmp_path.iterdir()] == ['link']
