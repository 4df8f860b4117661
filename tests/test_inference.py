"run_inference from its command line: one problem, a batch that is killed, broken checkpoints, mistakes."
import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time

import processes
import pytest
import torch

from adversarial_rl.core.errors import UsageError
from adversarial_rl.core.files import resource
from adversarial_rl.core.settings import PPOConfig, TrainingConfig
from adversarial_rl.game.inference import main
from adversarial_rl.game.trainer import AdversarialTrainer
from adversarial_rl.model.loading import load_trained
from adversarial_rl.problems.curriculum import starter_problems
from adversarial_rl.problems.problem import load_problems, save_problems
from adversarial_rl.record.checkpoints import checkpoints, FORMAT, load_checkpoint, newest_checkpoint

PROBLEM = starter_problems('training', 1)[0]
ONE = ['--problem', PROBLEM.description, '--signature', PROBLEM.function_signature, '--tests', '; '.join(PROBLEM.baseline_tests[:2]), '--max-tokens', '64']


def trainer(folder, **kw):
    small = dict(generator_model='starter', discriminator_model='starter', device='cpu', problems_per_step=3, group_size=3, held_out=4, max_new_tokens=48, max_tests=1,
                 n_discriminator_steps=1, n_generator_steps=1, k_alternating_steps=0, checkpoint_dir=str(folder))
    return AdversarialTrainer(TrainingConfig(**(small | kw)), PPOConfig(learning_rate=1e-3, critic_warmup=0))


@pytest.fixture(scope='module')
def trained(tmp_path_factory):
    folder = tmp_path_factory.mktemp('ck')
    t = trainer(folder)
    for _ in range(3): t.train_step()
    return t.save({'reward/generator': .5, 'validity': .5}), t


def run(*argv): return processes.run('run_inference', *argv)


def test_what_is_loaded_is_what_was_trained(trained):
    path, t = trained
    players = load_trained(path, 'cpu')
    for name, p in players.items():
        own = t.players[name].policy.parameters(name)
        assert all(torch.equal(v, own[k]) for k, v in p.policy.parameters(name).items())
    info = json.loads(path.with_suffix('.json').read_text())
    assert path.name == 'checkpoint_stage_2_epoch_1.pt' and (info['stage'], info['epoch'], info['step'], info['stage_name']) == (2, 1, 3, 'structured')
    assert info['models'] == {'generator': 'starter', 'discriminator': 'starter'} and info['libraries']['torch'] == torch.__version__.split('+')[0] or info['libraries']['torch'] == torch.__version__
    assert info['score'] == pytest.approx(.7 * .5 + .3 * .5) and info['timestamp'] and len(info['sha256']) == 64 and info['configuration']['lora_rank'] == 16


def test_one_problem(trained, tmp_path):
    done = run('--checkpoint', trained[0], *ONE, '--execute-tests', '--attempts', '4', '--output', tmp_path/'o.json')
    assert done.returncode == 0, done.stderr
    for title in ('Informal reasoning', 'Structured reasoning', 'Pseudocode', 'Constraints and invariants', 'Executable code'): assert f'── {title} ' in done.stdout
    assert 'def f(' in done.stdout and done.stdout.count('assert f(') >= 2 and 'of 4, chosen with' in done.stdout
    r = json.loads((tmp_path/'o.json').read_text())
    assert len(r['programs']) == 4 and r['code'] == r['programs'][r['chosen']] and len(r['passed']) == 2


def test_without_reasoning_only_code_is_printed(trained, capfd):
    for flag in ('--no-reasoning', '--no_reasoning'):
        assert main(['--checkpoint', str(trained[0]), *ONE, flag]) == 0
        printed = capfd.readouterr().out
        compile(printed, 'code', 'exec')
        assert printed.startswith('def f(')


def test_the_same_seed_says_the_same(trained, capfd):
    say = []
    for seed in '112':
        assert main(['--checkpoint', str(trained[0]), *ONE, '--temperature', '1.5', '--seed', seed]) == 0
        say.append(capfd.readouterr().out)
    assert say[0] == say[1] and say[0] != say[2]


def test_a_batch_killed_goes_on_where_it_stopped(trained, tmp_path):
    save_problems(load_problems(resource('data/example_problems.json'))[:12], tmp_path/'some.json')
    ask = ['--checkpoint', trained[0], '--batch', '--problems-file', tmp_path/'some.json', '--max-tokens', '24', '--attempts', '2', '--execute-tests']
    whole = run(*ask, '--output', tmp_path/'whole.jsonl')
    assert whole.returncode == 0 and 'passed all tests, the attempt chosen' in whole.stdout and 'raise --max-tokens' in whole.stdout, whole.stderr
    cut, kills = tmp_path/'cut.jsonl', 0
    for lines in (2, 4, 7):
        process = processes.Command('run_inference', *ask, '--output', cut)
        while process.poll() is None and (not cut.exists() or cut.read_text().count('\n') < lines): time.sleep(.01)
        process.send_signal(signal.SIGKILL)
        kills += process.wait() == -signal.SIGKILL
    before = cut.read_text().count('\n')
    again = run(*ask, '--output', cut)
    assert kills == 3 and before < 13 and again.returncode == 0, again.stderr
    assert cut.read_text() == (tmp_path/'whole.jsonl').read_text() and again.stdout.split('results in')[0] == whole.stdout.split('results in')[0]
    other = run(*ask, '--output', cut, '--temperature', '0.2')
    assert other.returncode == 2 and 'was begun with temperature 0.7, not 0.2' in other.stderr
    (tmp_path/'some.json').rename(tmp_path/'moved.json')
    moved = [tmp_path/'moved.json' if x == tmp_path/'some.json' else x for x in ask]
    assert run(*moved, '--output', cut).returncode == 0
    (tmp_path/'moved.json').write_text((tmp_path/'moved.json').read_text().replace('Return', 'Give back', 1))
    other = run(*moved, '--output', cut)
    assert other.returncode == 2 and 'was begun with problems' in other.stderr and cut.read_text() == (tmp_path/'whole.jsonl').read_text()


@pytest.mark.parametrize('there', [b'\xff\xfe\x00', b'{"settings": 3}\n', b'[]\n', b'notes\n', b'SETTINGS{}\n', b'SETTINGS{"id": 3}\n'])
def test_a_file_that_is_no_batch_stays_as_it_is(trained, tmp_path, there, capfd):
    path, ask = tmp_path/'o.jsonl', ['--checkpoint', str(trained[0]), '--batch', '--problems-file', str(resource('data/example_problems.json')), '--output', str(tmp_path/'o.jsonl')]
    there = there.replace(b'SETTINGS', b'{"settings": {"attempts": 1}}\n')
    path.write_bytes(there)
    code, err = main(ask), capfd.readouterr().err
    assert code == 2 and 'holds no such results' in err and path.read_bytes() == there


def test_results_are_written_though_nobody_reads_and_the_terminal_knows_ascii_alone(trained, tmp_path):
    command = [sys.executable, '-m', 'adversarial_rl.game.inference', '--checkpoint', str(trained[0]), *ONE]
    process = subprocess.Popen([*command, '--output', str(tmp_path/'a.json')], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    process.stdout.close()
    err = process.stderr.read()
    assert process.wait() == 141 and not err and json.loads((tmp_path/'a.json').read_text())['code'], err
    done = subprocess.run(command, capture_output=True, text=True, env=dict(os.environ, PYTHONIOENCODING='ascii'))
    assert done.returncode == 0 and 'Informal reasoning' in done.stdout and 'def f(' in done.stdout, done.stderr


def altered(path, target, **changed):
    "A checkpoint like the one at `path` whose information differs, with a sum that fits."
    whole = torch.load(path, weights_only=True)
    whole['info'] |= changed
    torch.save(whole, target)
    target.with_suffix('.json').write_text(json.dumps(whole['info'] | dict(sha256=hashlib.sha256(target.read_bytes()).hexdigest())))
    return target


def broken(trained, folder, qwen, tokenizer):
    "Checkpoints that cannot be used, with what is said of them."
    path, out = trained[0], []
    def copy(name, data=None, **changed):
        target = folder/f'{name}.pt'
        target.write_bytes(path.read_bytes() if data is None else data)
        target.with_suffix('.json').write_text(json.dumps(json.loads(path.with_suffix('.json').read_text()) | changed))
        return target
    def other(name, **changed): return altered(path, folder/f'{name}.pt', **changed)
    raw = path.read_bytes()
    flipped = bytearray(raw); flipped[len(raw) // 2] ^= 1
    out += [(folder/'absent.pt', 'no such checkpoint'), (copy('cut', raw[:1000]), 'is damaged or cut short'), (copy('flipped', bytes(flipped)), 'is damaged'),
            (copy('format', format=1), 'is of format 1, this version reads format 3'), (copy('empty', b''), 'is damaged or cut short')]
    out.append((copy('junk', b'junk', sha256=hashlib.sha256(b'junk').hexdigest()), 'is not a checkpoint'))
    alone = folder/'alone.pt'; alone.write_bytes(raw)
    out.append((alone, 'no readable alone.json'))
    qwen().save_pretrained(folder/'model'); tokenizer.save_pretrained(folder/'model')
    out.append((other('other', models={'generator': str(folder/'model'), 'discriminator': 'starter'}), 'another architecture'))
    c = json.loads(path.with_suffix('.json').read_text())['configuration']
    out.append((other('rank', configuration=c | dict(lora_rank=4)), 'adapter of other shapes'))
    out.append((other('gone', models={'generator': str(folder/'no-model'), 'discriminator': 'starter'}), 'no-model'))
    return out


def test_broken_checkpoints_are_one_line(trained, tmp_path, qwen, tokenizer, capfd):
    cases = broken(trained, tmp_path, qwen, tokenizer)
    capfd.readouterr()
    for path, says in cases:
        code, err = main(['--checkpoint', str(path), *ONE]), capfd.readouterr().err
        assert code == 2 and says in err and len(err.strip().splitlines()) == 1 and err.startswith('error: '), (path, err)


def again(c, folder, *flags):
    "The command line that repeats a configuration, as far as it can be said in flags."
    switches = ('resume', 'resume_from', 'require_isolation', 'group_baseline', 'fill_expected', 'stages', 'problems', 'checkpoint_dir', 'output_dir')
    return [*[x for k, v in c.items() if k not in switches for x in (f'--{k}', str(v))], '--checkpoint-dir', str(folder/'ck'), '--output-dir', str(folder/'out'), *flags]


def test_training_does_not_go_on_from_broken_checkpoints(trained, tmp_path, qwen, tokenizer, capfd):
    from adversarial_rl.game.run_training import main as train_main
    cases = broken(trained, tmp_path, qwen, tokenizer)
    c = load_checkpoint(trained[0])[1]['configuration']
    capfd.readouterr()
    for path, says in cases:
        if path.stem in ('other', 'gone', 'rank'): continue   # There the checkpoint's own words differ from the command's
        code, err = train_main(again(c, tmp_path, '--resume-from', str(path))), capfd.readouterr().err
        assert code == 2 and says in err and 'Traceback' not in err, (path, err)
    assert train_main(again(c | dict(lora_rank=4), tmp_path, '--resume-from', str(trained[0]))) == 2
    assert 'was made with lora_rank 16, not 4' in capfd.readouterr().err


def test_resume_falls_back_to_the_newest_that_verifies_and_says_so(tmp_path, capfd):
    from adversarial_rl.game.run_training import main as train_main
    t = trainer(tmp_path/'ck')
    for _ in range(4): t.train_step(); path = t.save({'reward/generator': .5, 'validity': .5})
    path.write_bytes(path.read_bytes()[:-1000])
    c = json.loads(path.with_suffix('.json').read_text())['configuration']
    assert train_main(again(c, tmp_path, '--resume')) == 0
    said = capfd.readouterr()
    assert f'skipped {path}: is damaged or cut short' in said.err and 'checkpoint_stage_2_epoch_1.pt at step 3' in said.out


def test_going_on_from_an_earlier_checkpoint_repeats_what_came_after(tmp_path, capfd):
    from adversarial_rl.game.run_training import main as train_main
    c, flags = load_checkpoint(trainer(tmp_path/'first').save({}))[1]['configuration'], ['--save-total-limit', '100']
    assert train_main(again(c, tmp_path, *flags)) == 0
    last = load_checkpoint(tmp_path/'ck'/'checkpoint_stage_5_epoch_2')
    assert train_main(again(c, tmp_path, *flags, '--resume-from', str(tmp_path/'ck'/'checkpoint_stage_3_epoch_1.pt'))) == 0
    assert 'at step 5' in capfd.readouterr().out
    repeated = load_checkpoint(tmp_path/'ck'/'checkpoint_stage_5_epoch_2')
    assert all(torch.equal(v, repeated[0]['players'][p][k]) for p, x in last[0]['players'].items() for k, v in x.items()) and last[1]['metrics'] == repeated[1]['metrics']
    assert (tmp_path/'ck'/'previous'/'checkpoint_stage_4_epoch_1.pt').exists()


def finish(c, folder, *flags):
    from adversarial_rl.game.run_training import main as train_main
    assert train_main(again(c, folder, *flags)) == 0
    return json.loads((folder/'out'/'training_results.json').read_text())


def test_going_on_in_another_folder_takes_the_best_along(tmp_path, capfd):
    "As if the run had never moved: same scores, same best; what another run left in the new folder is set aside."
    c, keep = load_checkpoint(trainer(tmp_path/'first').save({}))[1]['configuration'], ['--save-total-limit', '100']
    (tmp_path/'a').mkdir(); (tmp_path/'b').mkdir()
    finish(c, tmp_path/'a', *keep)
    finish(c | dict(seed=5), tmp_path/'b')
    strange = (tmp_path/'b'/'ck'/'checkpoint_best.pt').read_bytes()
    last = tmp_path/'a'/'ck'/'checkpoint_stage_4_epoch_2.pt'
    best = load_checkpoint(tmp_path/'a'/'ck'/'checkpoint_best')[1]
    capfd.readouterr()
    finish(c, tmp_path/'b', '--resume-from', str(last))
    assert 'tells of 0 of the 8 steps before' in capfd.readouterr().err
    found = load_checkpoint(tmp_path/'b'/'ck'/'checkpoint_best')[1]
    assert (found['step'], found['score']) == (best['step'], best['score']) or best['step'] > 8
    ends = [load_checkpoint(tmp_path/x/'ck'/'checkpoint_stage_5_epoch_2') for x in 'ab']
    assert ends[0][1]['metrics'] == ends[1][1]['metrics'] and ends[0][0]['best'] == ends[1][0]['best']
    assert (tmp_path/'b'/'ck'/'previous'/'checkpoint_best.pt').read_bytes() == strange


def test_a_finished_run_tells_its_results_again_without_its_metrics(tmp_path):
    c = load_checkpoint(trainer(tmp_path/'first').save({}))[1]['configuration']
    first = finish(c, tmp_path)
    shutil.rmtree(tmp_path/'out')
    again_ = finish(c, tmp_path, '--resume')
    assert again_['held_out'] == first['held_out'] and again_['stages'] == {}


def test_training_does_not_go_on_with_other_problems(tmp_path, capfd):
    "The file may move, its content may not change."
    from adversarial_rl.game.run_training import main as train_main
    problems, path = load_problems(resource('data/example_problems.json'))[:12], tmp_path/'some.json'
    save_problems(problems, path)
    c = load_checkpoint(trainer(tmp_path/'ck', problems_file=str(path)).save({}))[1]['configuration'] | dict(max_new_tokens=12)
    finish(c, tmp_path)
    path.rename(tmp_path/'moved.json')
    finish(c | dict(problems_file=str(tmp_path/'moved.json')), tmp_path, '--resume')
    save_problems(problems[1:], path)
    assert train_main(again(c, tmp_path, '--resume')) == 2
    assert 'was made with other problems' in capfd.readouterr().err


def test_the_json_beside_a_checkpoint_is_for_its_reader(trained, tmp_path, capfd):
    "What it lacks, or says wrongly, changes nothing; without a step the checkpoint is not gone on from, and that is said."
    path = tmp_path/'checkpoint_stage_2_epoch_1.pt'
    path.write_bytes(trained[0].read_bytes())
    sha = json.loads(trained[0].with_suffix('.json').read_text())['sha256']
    path.with_suffix('.json').write_text(json.dumps(dict(format=FORMAT, sha256=sha, step='three', models=None)))
    assert main(['--checkpoint', str(path), *ONE]) == 0
    assert checkpoints(tmp_path) == []
    with pytest.raises(UsageError, match='checkpoint_stage_2_epoch_1.json names no step'): newest_checkpoint(tmp_path)


def test_out_of_memory_while_going_on_is_not_told_as_damage(trained, tmp_path, capfd, monkeypatch):
    from adversarial_rl.game.run_training import main as train_main
    shutil.copytree(trained[0].parent, tmp_path/'ck')
    c, before = load_checkpoint(trained[0])[1]['configuration'], sorted(p.name for p in (tmp_path/'ck').iterdir())
    def full(*_, **__): raise RuntimeError("[enforce fail at alloc_cpu.cpp] DefaultCPUAllocator: can't allocate memory: you tried to allocate 1 bytes")
    monkeypatch.setattr(torch, 'load', full)
    assert train_main(again(c, tmp_path, '--resume')) == 2
    assert 'out of memory' in capfd.readouterr().err and sorted(p.name for p in (tmp_path/'ck').iterdir()) == before


def test_a_checkpoint_of_a_card_runs_on_a_processor_but_does_not_go_on_there(trained, tmp_path, capfd):
    from adversarial_rl.game.run_training import main as train_main
    state, info = load_checkpoint(trained[0])
    path = tmp_path/'ck'/'checkpoint_stage_1_epoch_1.pt'
    path.parent.mkdir()
    altered(trained[0], path, device='cuda:0')
    assert main(['--checkpoint', str(path), *ONE]) == 0
    code = train_main(again(info['configuration'], tmp_path, '--resume'))
    err = capfd.readouterr().err
    assert code == 2 and 'was made on cuda:0' in err and 'use --device cuda' in err


@pytest.mark.parametrize('flags, says', [
    (['--problem', 'Return x.'], 'has no signature'), (['--signature', 'def f(x):'], 'give one of --problem'), (['--problem', 'a', '--problem-file', 'b', '--signature', 'def f(x):'], 'give one of'),
    (['--problem', 'a', '--signature', 'f(x)'], '--signature must be one line'), (['--problem', 'a', '--signature', 'def f(x):', '--tests', 'assert f(1 == 2'], '--tests: not valid Python'),
    (['--problem', 'a', '--signature', 'def f(x):', '--tests', 'f(1) == 2'], 'asserts nothing'), (['--problem', 'a', '--signature', 'def f(x):', '--execute-tests'], '--execute-tests needs --tests'),
    (['--problem', 'a', '--signature', 'def f(x): pass\ndef g(y):'], '--signature must be one line'), (['--problem', 'a', '--signature', 'def f(x):', '--tests', 'assert f(' + '-' * 10**6 + '1)'], '--tests: not valid Python'),
    (['--problem', '  ', '--signature', 'def f(x):'], '--problem: is empty'), (['--problem', '\udcff bad', '--signature', 'def f(x):'], '--problem: is not UTF-8 text'),
    ([*ONE, '--device', 'cpu:7'], '--device cpu:7: not known'), ([*ONE, '--output', '/tmp'], '--output /tmp: is a folder'),
    (['--problem-file', 'absent.txt', '--signature', 'def f(x):'], 'cannot be read'), (['--batch'], 'needs --problems-file'), (['--batch', '--problems-file', 'absent.json'], 'no such problems file'),
    (['--batch', '--problems-file', 'starter', '--problem', 'x'], 'from --problems-file alone'), (['--problems-file', 'starter'], '--problems-file is for --batch'),
    ([*ONE, '--temperature', '-1'], 'must be at least 0'), ([*ONE, '--top-p', '2'], 'must be at most 1'), ([*ONE, '--attempts', '0'], 'must be at least 1'),
    ([*ONE, '--device', 'cuda:99'], '--device'), ([*ONE, '--output', '/proc/nowhere/o.json'], 'cannot be written to')])
def test_mistakes(trained, flags, says, capfd):
    code, err = main(['--checkpoint', str(trained[0]), *flags]), capfd.readouterr().err
    assert code == 2 and says in err and len(err.strip().splitlines()) == 1


def test_a_checkpoint_must_be_named(capfd):
    assert main(ONE) == 2 and '--checkpoint: must be given' in capfd.readouterr().err


@pytest.mark.skipif(sys.platform != 'linux', reason='limits by /proc')
def test_out_of_memory_is_one_line(trained, tmp_path):
    "Under a real limit on memory, far more attempts than fit."
    program = """import resource, sys
from importlib import import_module
main = import_module(sys.argv[1]).main
import_module('adversarial_rl.game.trainer'), import_module('adversarial_rl.record.plots')   # Else the limit would meet PyTorch
mapped = int(open('/proc/self/statm').read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (mapped + 400 * 2**20,) * 2)
sys.exit(main(sys.argv[2:]))"""
    small = ['--config', 'configs/starter.yaml', '--held-out', '4', '--problems-per-step', '1', '--group-size', '1000', '--max-new-tokens', '4096', '--temperature', '10']
    crowd = ['--max-tokens', '4096', '--attempts', '1000', '--temperature', '10', '--top-p', '1']
    for command, flags, advice in (('run_inference', ['--checkpoint', str(trained[0]), *ONE, *crowd], 'lower --attempts or --max-tokens'), ('run_training', small, 'lower --micro-batch')):
        done = subprocess.run([sys.executable, '-c', program, processes.MODULES[command], *flags], capture_output=True, text=True, cwd=tmp_path, timeout=300)
        assert done.returncode == 2 and f'error: out of memory; {advice}' in done.stderr and 'Traceback' not in done.stderr, done.stderr[-2000:]


def test_help_reads_well():
    done = run('--help')
    assert done.returncode == 0 and 'what is asked, in words' in ' '.join(done.stdout.split()) and '--no-reasoning' in done.stdout
