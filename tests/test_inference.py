"run_inference from its command line: one problem, a batch that is killed, broken checkpoints, mistakes."
import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
from dataclasses import replace

import processes
import pytest
import torch
from small import rewritten, small, wait_for_lines

from adversarial_rl.core.commands import run_training
from adversarial_rl.core.files import resource
from adversarial_rl.game.inference import main, solve
from adversarial_rl.game.trainer import AdversarialTrainer, COLUMNS
from adversarial_rl.model.players import load_trained
from adversarial_rl.problems.curriculum import starter_problems
from adversarial_rl.problems.problem import load_problems, Problem, save_problems
from adversarial_rl.record.checkpoints import load_checkpoint

PROBLEM = starter_problems('training', 1)[0]
ONE = ['--problem', PROBLEM.description, '--signature', PROBLEM.function_signature,
       '--tests', '; '.join(PROBLEM.baseline_tests[:2]), '--max-tokens', '64']
ADD = ['--problem', 'a', '--signature', 'def f(x):']


def trainer(folder, **changed):
    return AdversarialTrainer(*small(folder, held_out=4, max_new_tokens=48, checkpoint_dir=str(folder), **changed))


def description(path): return json.loads(path.with_suffix('.json').read_text())


@pytest.fixture(scope='module')
def trained(tmp_path_factory):
    folder = tmp_path_factory.mktemp('ck')
    t = trainer(folder)
    for _ in range(3): t.train_step()
    t.recent = [dict.fromkeys(COLUMNS, .5)]
    return t.save(), t


def run(*argv): return processes.run('run_inference', *argv)


def test_one_problem(trained, tmp_path):
    done = run('--checkpoint', trained[0], *ONE, '--execute-tests', '--attempts', '4', '--output', tmp_path/'o.json')
    assert done.returncode == 0, done.stderr
    stages = ('Informal reasoning', 'Structured reasoning', 'Pseudocode', 'Constraints and invariants',
              'Executable code')
    for title in stages: assert f'── {title} ' in done.stdout
    assert 'def f(' in done.stdout and done.stdout.count('assert f(') >= 2 and 'of 4, chosen with' in done.stdout
    r = json.loads((tmp_path/'o.json').read_text())
    assert len(r['programs']) == 4 and r['code'] == r['programs'][r['chosen']] and len(r['passed']) == 2


def test_it_says_that_no_attempt_passes_the_given_tests(trained, capfd):
    wrong = 'assert f(1) == "never"'
    assert main(['--checkpoint', str(trained[0]), '--problem', 'Return n.', '--signature', 'def f(n):',
                          '--tests', wrong, '--attempts', '2', '--device', 'cpu']) == 0
    assert 'no attempt passes all given tests; this one fails 1 of 1' in capfd.readouterr().out
    players = load_trained(trained[0])
    problem = Problem('n', 'Return n.', 'def f(n):', (wrong,), '')
    assert solve(players, problem, problem.baseline_tests)['given'] == {wrong: False}


def test_without_reasoning_only_code_is_printed(trained, capfd):
    for flag in ('--no-reasoning', '--no_reasoning'):
        assert main(['--checkpoint', str(trained[0]), *ONE, flag]) == 0
        printed = capfd.readouterr().out
        compile(printed, 'code', 'exec')
        assert printed.startswith('def f(')


def batch(trained, problems_file, output, *flags):
    return ['--checkpoint', str(trained[0]), '--batch', '--problems-file', str(problems_file), '--output', str(output),
            *flags]


def test_a_killed_batch_goes_on_where_it_stopped(trained, tmp_path):
    problems, output = tmp_path/'some.json', tmp_path/'cut.jsonl'
    small = ['--max-tokens', '24', '--attempts', '2', '--execute-tests']
    save_problems(load_problems(resource('data/example_problems.json'))[:12], problems)
    whole = run(*batch(trained, problems, tmp_path/'whole.jsonl', *small))
    assert whole.returncode == 0, whole.stderr
    assert 'passed all tests, the attempt chosen' in whole.stdout and 'raise --max-tokens' in whole.stdout
    flags = batch(trained, problems, output, *small)
    for lines in (2, 4, 7):
        killed = processes.run('run_inference', *flags, dies_at=(output.name, lines))
        assert killed.returncode == -signal.SIGKILL and output.read_text().count('\n') >= lines
    assert output.read_text().count('\n') < 13
    resumed = run(*flags)
    assert resumed.returncode == 0, resumed.stderr
    assert output.read_text() == (tmp_path/'whole.jsonl').read_text()
    assert resumed.stdout.split('results in')[0] == whole.stdout.split('results in')[0]


def test_two_batches_do_not_share_a_file(trained, tmp_path):
    "The second is refused before it loads a model, also where its file of results has another ending."
    flags = ['--checkpoint', trained[0], '--batch', '--problems-file', 'starter', '--max-tokens', '16', '--output']
    lines = tmp_path/'r.jsonl'
    first = processes.Command('run_inference', *flags, lines)
    wait_for_lines(lines, 3, first)
    for name in ('r.jsonl', 'r.json'):
        second = run(*flags, tmp_path/name)
        assert second.returncode == 2 and len(second.stderr.strip().splitlines()) == 1, second.stderr
        assert 'in use by another run' in second.stderr and 'name another file' in second.stderr
    first.send_signal(signal.SIGTERM)
    err = first.communicate(timeout=120)[1]
    rows = [json.loads(line)['id'] for line in lines.read_text().splitlines()[1:]]
    assert f'{len(rows)} of 400 problems are in {lines}' in err and len(set(rows)) == len(rows)
    assert [p.name for p in tmp_path.iterdir()] == ['r.jsonl']


def test_a_batch_goes_on_with_the_same_settings_and_problems_alone(trained, tmp_path):
    problems, moved, output = tmp_path/'some.json', tmp_path/'moved.json', tmp_path/'o.jsonl'
    small = ['--max-tokens', '24', '--attempts', '2', '--execute-tests']
    save_problems(load_problems(resource('data/example_problems.json'))[:3], problems)
    assert run(*batch(trained, problems, output, *small)).returncode == 0
    written = output.read_text()
    warmer = run(*batch(trained, problems, output, *small, '--temperature', '0.2'))
    assert warmer.returncode == 2 and 'was begun with temperature 0.7, not 0.2' in warmer.stderr
    problems.rename(moved)
    assert run(*batch(trained, moved, output, *small)).returncode == 0
    moved.write_text(moved.read_text().replace('Return', 'Give back', 1))
    changed = run(*batch(trained, moved, output, *small))
    assert changed.returncode == 2 and 'was begun with problems' in changed.stderr and output.read_text() == written


BEGUN = b'{"settings": {"attempts": 1}}\n'


@pytest.mark.parametrize('content', [b'\xff\xfe\x00', b'{"settings": 3}\n', b'[]\n', b'notes\n', BEGUN + b'{}\n',
                                     BEGUN + b'{"id": 3}\n'])
def test_a_file_that_holds_no_batch_is_not_changed(trained, tmp_path, content, capfd):
    path = tmp_path/'o.jsonl'
    path.write_bytes(content)
    code = main(batch(trained, resource('data/example_problems.json'), path))
    assert code == 2 and 'holds other data' in capfd.readouterr().err and path.read_bytes() == content


def altered(path, target, **changed):
    "A checkpoint like the one at `path` with other information and a checksum that fits."
    return rewritten(path, target, lambda whole: whole['info'].update(changed))


def damaged(path, folder):
    "Copies of a checkpoint with damaged data or description, each with a part of its message."
    raw, info = path.read_bytes(), description(path)
    flipped = bytearray(raw)
    flipped[len(raw) // 2] ^= 1
    def copy(name, data, **changed):
        target = folder/f'{name}.pt'
        target.write_bytes(data)
        target.with_suffix('.json').write_text(json.dumps(info | changed))
        return target
    alone = folder/'alone.pt'
    alone.write_bytes(raw)
    return [(folder/'absent.pt', 'no such checkpoint'), (alone, 'no readable alone.json'),
            (copy('cut', raw[:1000]), 'is damaged or cut short'), (copy('flipped', bytes(flipped)), 'is damaged'),
            (copy('empty', b''), 'is damaged or cut short'),
            (copy('format', raw, format=1), 'has format 1, this version reads format 3'),
            (copy('junk', b'junk', sha256=hashlib.sha256(b'junk').hexdigest()), 'is not a checkpoint')]


def unfit(path, folder, qwen, tokenizer):
    "Copies of a checkpoint that do not fit the models they name, each with a part of its message."
    qwen().save_pretrained(folder/'model')
    tokenizer.save_pretrained(folder/'model')
    def models(name): return dict(generator=str(folder/name), discriminator='starter')
    rank = description(path)['configuration'] | dict(lora_rank=4)
    return [(altered(path, folder/'other.pt', models=models('model')), 'adapter of other shapes'),
            (altered(path, folder/'rank.pt', configuration=rank), 'adapter of other shapes'),
            (altered(path, folder/'gone.pt', models=models('no-model')), 'no-model')]


def test_broken_checkpoints_are_one_line(trained, tmp_path, qwen, tokenizer, capfd):
    cases = damaged(trained[0], tmp_path) + unfit(trained[0], tmp_path, qwen, tokenizer)
    capfd.readouterr()
    for path, message in cases:
        code, err = main(['--checkpoint', str(path), *ONE]), capfd.readouterr().err
        assert code == 2 and message in err, (path, err)
        assert len(err.strip().splitlines()) == 1 and err.startswith('error: '), (path, err)


def command_line(configuration, folder, *flags):
    "Flags of run_training that repeat a checkpoint's configuration, as far as flags can."
    left_out = ('resume', 'resume_from', 'require_isolation', 'group_baseline', 'stages', 'problems',
                'checkpoint_dir', 'output_dir', 'chat_template_options', 'modules')
    pairs = [(f'--{k}', str(v)) for k, v in configuration.items() if k not in left_out]
    return [*[word for pair in pairs for word in pair], '--checkpoint-dir', str(folder/'ck'),
            '--output-dir', str(folder/'out'), '--mbpp-eval-num-questions', '5', *flags]   # In place of the machine's


def configuration(path): return load_checkpoint(path)[1]['configuration']


def test_training_does_not_resume_from_broken_checkpoints(trained, tmp_path, capfd):
    cases = damaged(trained[0], tmp_path)
    c = configuration(trained[0])
    capfd.readouterr()
    for path, message in cases:
        code = run_training(command_line(c, tmp_path, '--resume-from', str(path)))
        err = capfd.readouterr().err
        assert code == 2 and message in err and 'Traceback' not in err, (path, err)
    assert run_training(command_line(c | dict(lora_rank=4), tmp_path, '--resume-from', str(trained[0]))) == 2
    assert 'was made with lora_rank 16, not 4' in capfd.readouterr().err


def test_resume_falls_back_to_the_newest_checkpoint_that_is_whole(tmp_path, capfd):
    t = trainer(tmp_path/'ck')
    for _ in range(4):
        t.train_step()
        path = t.save()
    path.write_bytes(path.read_bytes()[:-1000])
    assert run_training(command_line(description(path)['configuration'], tmp_path, '--resume')) == 0
    printed = capfd.readouterr()
    assert f'skipped {path}: is damaged or cut short' in printed.err
    assert 'checkpoint_stage_2_epoch_1.pt at step 3' in printed.out


def same_weights(a, b):
    return all(torch.equal(v, b['players'][p][k]) for p, weights in a['players'].items() for k, v in weights.items())


def test_resuming_from_an_earlier_checkpoint_repeats_the_later_steps(tmp_path, capfd):
    c, flags = configuration(trainer(tmp_path/'first').save()), ['--save-total-limit', '100']
    assert run_training(command_line(c, tmp_path, *flags)) == 0
    metrics = (tmp_path/'out'/'metrics.jsonl').read_bytes()
    state, info = load_checkpoint(tmp_path/'ck'/'checkpoint_stage_5_epoch_2')
    earlier = str(tmp_path/'ck'/'checkpoint_stage_3_epoch_1.pt')
    assert run_training(command_line(c, tmp_path, *flags, '--resume-from', earlier)) == 0
    assert 'at step 5' in capfd.readouterr().out
    repeated, repeated_info = load_checkpoint(tmp_path/'ck'/'checkpoint_stage_5_epoch_2')
    assert same_weights(state, repeated) and info['metrics'] == repeated_info['metrics']
    assert (tmp_path/'ck'/'previous_1'/'checkpoint_stage_4_epoch_1.pt').exists()
    assert (tmp_path/'out'/'previous_1'/'metrics.jsonl').read_bytes() == metrics


def finish(c, folder, *flags):
    assert run_training(command_line(c, folder, *flags)) == 0
    return json.loads((folder/'out'/'training_results.json').read_text())


def test_training_does_not_resume_with_other_problems(tmp_path, capfd):
    "The file may move, its content may not change."
    problems, path = load_problems(resource('data/example_problems.json'))[:12], tmp_path/'some.json'
    save_problems(problems, path)
    c = configuration(trainer(tmp_path/'ck', problems_file=str(path)).save()) | dict(max_new_tokens=12)
    finish(c, tmp_path)
    path.rename(tmp_path/'moved.json')
    finish(c | dict(problems_file=str(tmp_path/'moved.json')), tmp_path, '--resume')
    save_problems(problems[1:], path)
    assert run_training(command_line(c, tmp_path, '--resume')) == 2
    assert 'was made with other problems' in capfd.readouterr().err


def test_a_problem_in_a_locale_of_ascii_is_read_as_utf_8(trained, tmp_path):
    ascii = os.environ | dict(LC_ALL='POSIX', PYTHONUTF8='0', PYTHONCOERCECLOCALE='0', PYTHONIOENCODING='')
    words = 'from adversarial_rl.core.commands import run_inference as c; raise SystemExit(c())'
    flags = ['--checkpoint', trained[0], *ADD, '--tests', 'assert f("ю") == "é"', '--max-tokens', '8']
    flags[flags.index('a')] = 'Верни x.'
    done = subprocess.run([sys.executable, '-c', words, *map(str, flags), '--output', str(tmp_path/'r.json')],
                          env=ascii, capture_output=True, cwd=tmp_path)
    assert done.returncode == 0 and json.loads((tmp_path/'r.json').read_text())['id'] == 'problem', done.stderr


def test_a_checkpoint_made_on_a_gpu_runs_on_a_cpu_but_is_not_resumed_there(trained, tmp_path, capfd):
    path = tmp_path/'ck'/'checkpoint_stage_1_epoch_1.pt'
    path.parent.mkdir()
    altered(trained[0], path, device='cuda:0')
    assert main(['--checkpoint', str(path), *ONE]) == 0
    code = run_training(command_line(configuration(trained[0]), tmp_path, '--resume'))
    err = capfd.readouterr().err
    assert code == 2 and 'was made on cuda:0' in err and 'use --device cuda' in err


@pytest.mark.parametrize('flags, message', [
    (['--signature', 'def f(x):'], 'give one of --problem'),
    ([*ADD, '--problem-file', 'b'], 'give one of'),
    (['--problem', 'a', '--signature', 'f(x)'], "--signature must be one line such as 'def f(x):', found 'f(x)'"),
    ([*ADD, '--tests', 'assert g(1) == 2'], "'assert g(1) == 2' does not call f, which --signature names"),
    (['--problem', 'a', '--signature', 'def f(x): pass\ndef g(y):'], '--signature must be one line'),
    ([*ADD, '--tests', 'assert f(1 == 2'], '--tests: not valid Python'),
    ([*ADD, '--tests', 'assert f(' + '-' * 10**6 + '1)'], '--tests: not valid Python'),
    ([*ADD, '--tests', 'f(1) == 2'], 'asserts nothing'),
    ([*ADD, '--execute-tests'], '--execute-tests needs --tests'),
    (['--problem', '  ', '--signature', 'def f(x):'], '--problem: is empty'),
    (['--problem', '\udcff bad', '--signature', 'def f(x):'], '--problem: is not UTF-8 text'),
    (['--problem-file', 'absent.txt', '--signature', 'def f(x):'], 'cannot be read'),
    (['--batch'], 'needs --problems-file'),
    (['--batch', '--problems-file', 'starter', '--problem', 'x'], 'from --problems-file alone'),
    (['--problems-file', 'starter'], '--problems-file is for --batch'),
    ([*ONE, '--attempts', '0'], 'must be at least 1'),
    ([*ONE, '--device', 'cuda:99'], '--device'),
    ([*ONE, '--modules', 'no_such_package'], 'no_such_package is not installed here'),
    ([*ONE, '--output', '/tmp'], '--output /tmp: is not a regular file'),
    ([*ONE, '--output', '/proc/nowhere/o.json'], 'cannot be written to')])
def test_a_mistake_is_one_line_and_exit_code_2(trained, flags, message, capfd):
    code, err = main(['--checkpoint', str(trained[0]), *flags]), capfd.readouterr().err
    assert code == 2 and message in err and len(err.strip().splitlines()) == 1


linux_only = pytest.mark.skipif(sys.platform != 'linux', reason='the limit needs /proc')
LIMITED = """import resource, sys
from importlib import import_module
main = import_module(sys.argv[1]).main
for name in ('game.trainer', 'record.plots'): import_module(f'adversarial_rl.{name}')   # Before the limit is set
mapped = int(open('/proc/self/statm').read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (mapped + int(sys.argv.pop(2)) * 2**20,) * 2)
sys.exit(main(sys.argv[2:]))"""


def limited(command, mib, *flags, cwd):
    "The command, ended, with so much more address space than its libraries take."
    line = [sys.executable, '-c', LIMITED, processes.MODULES[command], str(mib), *flags]
    return subprocess.run(line, capture_output=True, text=True, cwd=cwd, timeout=300)


@linux_only
def test_inference_out_of_memory_is_one_line(trained, tmp_path):
    "Sampling halves its rows, so not one attempt may fit."
    done = limited('run_inference', 60, '--checkpoint', str(trained[0]), *ONE, '--max-tokens', '4096',
                   '--attempts', '1000', '--temperature', '10', '--top-p', '1', cwd=tmp_path)
    assert done.returncode == 2 and 'error: out of memory; lower --attempts or --max-tokens' in done.stderr, done.stderr
    assert 'Traceback' not in done.stderr, done.stderr


@linux_only
def test_training_out_of_memory_is_one_line(tmp_path):
    "One transcript can be sampled and not learned from: its prompt is long, and backward needs every activation."
    shutil.copytree(resource('checkpoints/starter'), tmp_path/'wide')
    config = json.loads((tmp_path/'wide'/'config.json').read_text()) | dict(max_position_embeddings=10**6)
    (tmp_path/'wide'/'config.json').write_text(json.dumps(config))
    long = [replace(p, description='add ' * 10_000) for p in starter_problems('training', 2)]
    save_problems(long, tmp_path/'long.json')
    done = limited('run_training', 300, '--generator-model', 'wide', '--discriminator-model', 'wide', '--problems-file',
                   'long.json', '--held-out', '1', '--problems-per-step', '1', '--group-size', '4',
                   '--max-new-tokens', '8', '--mbpp-eval', 'false', '--device', 'cpu', cwd=tmp_path)
    assert done.returncode == 2 and 'error: out of memory; lower --micro-batch' in done.stderr, done.stderr
    assert 'Traceback' not in done.stderr, done.stderr
