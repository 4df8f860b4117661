"Experiments: each condition runs for a moment, finished runs are not repeated, a failing run gives one clear line."
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from adversarial_rl.core.errors import UsageError
from adversarial_rl.core.settings import PPOConfig, TrainingConfig
from adversarial_rl.lab.comparison import main
from adversarial_rl.lab.condition import CONDITIONS, REWARDS, run_condition
from adversarial_rl.lab.experiment import Experiment, run_experiment, Runner
from adversarial_rl.lab.trl_control import rollout_of
from adversarial_rl.model.players import Generator
from adversarial_rl.model.policy import load_model, Policy
from adversarial_rl.problems.curriculum import starter_problems

ROOT = Path(__file__).parent.parent
STARTER = ROOT/'configs'/'starter.yaml'


def small(folder):
    training = TrainingConfig(
        generator_model='starter', discriminator_model='starter', device='cpu', problems_per_step=4, group_size=4,
        max_tests=1, max_new_tokens=48, output_dir=str(folder))
    return training, PPOConfig(learning_rate=1e-3, kl_coef=0)


@pytest.mark.parametrize('name', [*CONDITIONS, *REWARDS])
def test_each_condition_runs_and_measures(name, tmp_path):
    condition = (CONDITIONS | REWARDS)[name]
    r = run_condition(condition, *small(tmp_path), seconds=2, marks=1, problems=8, show=lambda *a, **k: None)
    first, last = r.marks
    assert r.steps >= 1 and (first['step'], last['step']) == (0, r.steps) and last['seconds'] >= 2
    assert ('pass_rate' in first) == ('generator' in condition.learners)
    assert ('validity' in first) == ('discriminator' in condition.learners)
    assert (r.tester is not None) == (condition.trainer == 'own' and condition.settings.get('opponents') != 0)
    assert all((steps > 0) <= (player in condition.learners) for player, steps in (r.learned or {}).items())
    if name == 'random': assert r.tester.validity_of_distinct.mean == 1


def test_trl_gets_the_sampled_transcripts():
    "The tokens from which TRL learns are those that the model chose."
    model, tokenizer = load_model('starter')
    problems = {p.id: p for p in starter_problems('training', 2)}
    prompts = [i for i in problems for _ in range(2)]
    generator = Generator(Policy(model, tokenizer, ['generator']), max_new_tokens=48)
    rows = rollout_of(generator, problems, 2)(prompts, None)
    for k, i in enumerate(prompts):
        opening, *later = generator.pieces(problems[i])
        ids, mask, logp = (rows[name][k] for name in ('completion_ids', 'env_mask', 'logprobs'))
        assert rows['prompt_ids'][k] == opening
        assert [t for t, m in zip(ids, mask) if not m] == [t for piece in later for t in piece]
        assert all((x == 0) >= (not m) for x, m in zip(logp, mask)) and rows['code'][k] in tokenizer.decode(ids)


class Copies(Experiment):
    "Each run copies the JSON file of its condition."
    def flags(self, run): return [str(self.output/f'{run.condition}.json'), str(run.folder/'training_results.json')]
    def finished(self, run): return run.results() != {}
    def table(self, runs): return str({c: [r.results()['steps'] for r in seeds] for c, seeds in runs.items()})

    def figure(self, runs):
        (self.output/'copies.png').write_bytes(b'a picture')
        return self.output/'copies.png'


def copies(folder, **conditions):
    for name, steps in conditions.items(): (folder/f'{name}.json').write_text(json.dumps(dict(steps=steps)))
    return Copies(folder, [0, 1], {c: c for c in conditions}, 'copies', 'json.tool')


def test_an_experiment_writes_its_table_and_figure(tmp_path, capfd):
    document = tmp_path/'RESULTS.md'
    document.write_text('a\n<!-- copies: x -->\nstale\n<!-- end of copies -->\nb\n')
    run_experiment(copies(tmp_path, one=1, two=2), str(document))
    assert document.read_text() == "a\n<!-- copies: x -->\n{'one': [1, 1], 'two': [2, 2]}\n<!-- end of copies -->\nb\n"
    assert (tmp_path/'nbs'/'images'/'copies.png').read_bytes() == b'a picture'
    assert "{'one': [1, 1], 'two': [2, 2]}" in capfd.readouterr().out


def test_finished_runs_are_not_repeated(tmp_path):
    experiment = copies(tmp_path, one=1, two=2)
    run_experiment(experiment)
    (tmp_path/'one'/'1'/'training_results.json').write_text('{"steps": 1')
    before = {p: p.stat().st_mtime_ns for p in tmp_path.glob('*/*/training_results.json')}
    assert [(r.condition, r.seed) for r in experiment.missing()] == [('one', 1)]
    run_experiment(experiment)
    repeated = [p for p, changed in before.items() if p.stat().st_mtime_ns != changed]
    assert repeated == [tmp_path/'one'/'1'/'training_results.json']


def test_a_failing_run_gives_one_line_and_keeps_the_others(tmp_path):
    experiment = copies(tmp_path, one=1, two=2)
    (tmp_path/'two.json').unlink()
    with pytest.raises(UsageError, match='two, seed 0 did not finish: .*No such file.*log in') as raised:
        run_experiment(experiment)
    assert '\n' not in str(raised.value) and 'two.json' in (tmp_path/'two'/'0'/'log.txt').read_text()
    (tmp_path/'two.json').write_text('{"steps": 2}')
    run_experiment(experiment)


def test_one_core_and_one_thread_a_run(tmp_path, monkeypatch):
    "At no time are there more runs than cores, and each has a core of its own."
    class Sleepers(Copies):
        def flags(self, run):
            program = 'import os, time; print(os.environ["OMP_NUM_THREADS"], os.sched_getaffinity(0)); time.sleep(.5)'
            return ['-n', '1', '-r', '1', '-s', program, 'pass']
        def finished(self, run): return run.log.exists()
    seen = []
    monkeypatch.setattr(Runner, 'finish', lambda self, p, f=Runner.finish: seen.append(len(self.active)) or f(self, p))
    experiment = Sleepers(tmp_path, [0, 1, 2], {'a': 'a'}, 'sleepers', 'timeit')
    Runner(experiment, experiment.missing()).execute()
    logs = [run.log.read_text().splitlines()[0] for run in experiment.runs()['a']]
    assert len(seen) == 3 and max(seen) <= len(os.sched_getaffinity(0))
    assert {log for log in logs} <= {f'1 {{{core}}}' for core in os.sched_getaffinity(0)}


def test_the_command_compares_and_repeats_nothing(tmp_path, capfd):
    document, output = tmp_path/'RESULTS.md', tmp_path/'out'
    document.write_text('a\n<!-- conditions: x -->\nstale\n<!-- end of conditions -->\nb\n')
    flags = ['--only', 'baseline', 'trl', '--seeds', '0', '--seconds', '1', '--marks', '1', '--problems', '40',
             '--output-dir', str(output)]
    assert main([*flags, '--config', str(STARTER), '--results', str(document)]) == 0
    out, text = capfd.readouterr().out, document.read_text()
    assert "| TRL's GRPO on the baseline tests |" in out and 'baseline tests alone, all stages at once' in text
    assert 'stale' not in text and text.endswith('b\n')
    assert (tmp_path/'nbs'/'images'/'comparison_conditions.png').stat().st_size > 10_000
    before = {p: p.stat().st_mtime_ns for p in output.glob('*/0/training_results.json')}
    assert len(before) == 2 and main([*flags, '--config', str(STARTER)]) == 0
    assert before == {p: p.stat().st_mtime_ns for p in before}
    other = tmp_path/'other.yaml'
    other.write_text(STARTER.read_text().replace('learning_rate: 2e-3', 'learning_rate: 1e-3'))
    assert main([*flags, '--config', str(other)]) == 0
    assert all(json.loads(p.read_text())['settings']['learning_rate'] == 1e-3 for p in before)


def test_interrupted_it_leaves_no_run_behind(tmp_path):
    flags = ['--only', 'baseline', '--seeds', '0', '--seconds', '600', '--marks', '1', '--problems', '40',
             '--config', str(STARTER), '--output-dir', str(tmp_path)]
    command = [sys.executable, '-m', 'adversarial_rl.lab', 'compare_training', *flags]
    p = subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE, text=True)
    log, end = tmp_path/'baseline'/'0'/'log.txt', time.time() + 120
    while not (log.exists() and 'step 0' in log.read_text()) and time.time() < end: time.sleep(.2)
    p.send_signal(2)
    assert p.wait(60) == 130 and 'Traceback' not in p.stderr.read()
    assert str(tmp_path) not in subprocess.run(['ps', '-eo', 'args'], capture_output=True, text=True).stdout


@pytest.mark.parametrize('flags, message', [
    (['--seeds', *map(str, range(11))], 'one to ten'), (['--seconds', '0'], 'above 0'),
    (['--only', 'utrl'], '--what conditions'), (['--results', 'absent.md'], 'absent.md')])
def test_a_mistake_gives_one_line(flags, message, tmp_path, capsys):
    assert main([*flags, '--output-dir', str(tmp_path/'o')]) == 2
    err = capsys.readouterr().err
    assert message in err and err.count('\n') == 1


def test_the_lab_lists_its_commands():
    done = subprocess.run([sys.executable, '-m', 'adversarial_rl.lab', '--help'], capture_output=True, text=True)
    names = [line.split()[0] for line in done.stdout.splitlines()[2:]]
    assert done.returncode == 0 and {'compare_seeds', 'compare_training', 'make_starter', 'bench'} <= set(names)
    done = subprocess.run([sys.executable, '-m', 'adversarial_rl.lab', 'compare'], capture_output=True, text=True)
    assert done.returncode == 2 and 'compare: no such command' in done.stderr and done.stderr.count('\n') == 1
