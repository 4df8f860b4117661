"Experiments: each condition runs for a moment, finished runs are not repeated, a failing run gives one clear line."
import copy
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch

from adversarial_rl.core.config import parse_config
from adversarial_rl.core.errors import UsageError
from adversarial_rl.core.settings import EvaluationConfig, PPOConfig, TrainingConfig
from adversarial_rl.lab.__main__ import main
from adversarial_rl.lab.comparison import CONDITIONS, REWARDS
from adversarial_rl.lab.condition import ConditionConfig, Meter, own_trainer, run_condition, train_for
from adversarial_rl.lab.experiment import Condition, execute, Experiment, KeptRuns, LabConfig, run_experiment, runs_of
from adversarial_rl.lab.trl_control import rollout_of
from adversarial_rl.model.players import Generator
from adversarial_rl.model.policy import load_model, Policy
from adversarial_rl.problems.curriculum import starter_problems

ROOT = Path(__file__).parent.parent
STARTER = ROOT/'configs'/'starter.yaml'


def compare(flags): return main(['compare_training', *flags])


def small(flags, folder):
    flags = [w.format(output=folder) for w in flags.split() if 'model' not in w and 'starter' not in w]
    short = '--max-tests 1 --max-new-tokens 48 --held-out 8 --learning-rate 1e-3 --kl-coef 0 --seconds .5 --marks 1'
    given = ['--config', 'configs/starter.yaml', *flags, '--output-dir', str(folder), '--device', 'cpu', *short.split()]
    return parse_config([ConditionConfig, TrainingConfig, PPOConfig, EvaluationConfig], given, '')[:3]


@pytest.mark.parametrize('name', [*CONDITIONS, *REWARDS])
def test_each_condition_runs_and_measures(name, tmp_path):
    condition, config, ppo = small((CONDITIONS | REWARDS)[name].flags, tmp_path)
    r = run_condition(condition, config, ppo)
    first, last = r['marks']
    assert r['steps'] >= 1 and (first['step'], last['step']) == (0, r['steps']) and last['seconds'] >= .5
    assert ('pass_rate' in first) == ('generator' in condition.learners)
    assert ('validity' in first) == ('discriminator' in condition.learners)
    assert (r['tester'] is not None) == (name not in ('baseline', 'trl', 'code'))
    if name == 'random': assert r['tester'].validity_of_distinct.mean == 1


def test_only_the_learners_learn(tmp_path):
    "The steps of a frozen player are left out of the schedule."
    for learner in ('generator', 'discriminator'):
        condition, config, ppo = small(f'--learners {learner} --critic-warmup 0', tmp_path)
        trainer = own_trainer(condition, config, ppo)
        before = {name: copy.deepcopy(p.policy.adapter(name)) for name, p in trainer.players.items()}
        assert len(train_for(trainer, condition.learners, Meter(1, 1, dict))) == len(trainer.schedule) > 0
        assert {s.learner for s in trainer.schedule} == {learner}
        for name, p in trainer.players.items():
            same = all(torch.equal(x, before[name][k]) for k, x in p.policy.adapter(name).items())
            assert same == (name != learner)


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


def copies(folder, flags='{output}/{condition}.json {folder}/training_results.json', **conditions):
    "Each run copies the JSON file of its condition."
    for name, steps in conditions.items(): (folder/f'{name}.json').write_text(json.dumps(dict(steps=steps)))
    def table(runs): return str({c: [r.results()['steps'] for r in seeds] for c, seeds in runs.items()})
    def figure(runs, path): path.write_bytes(b'a picture')
    conditions = {c: Condition(c, flags.replace('{condition}', c)) for c in conditions}
    return Experiment('copies', 'json.tool', conditions, [], table, figure)


def config(folder, **more): return LabConfig(seeds=(0, 1), output_dir=str(folder), **more)


def test_an_experiment_writes_its_table_and_figure(tmp_path, capfd):
    document = tmp_path/'RESULTS.md'
    document.write_text('a\n<!-- copies: x -->\nstale\n<!-- end of copies -->\nb\n')
    run_experiment(copies(tmp_path, one=1, two=2), config(tmp_path, results=str(document)))
    assert document.read_text() == "a\n<!-- copies: x -->\n{'one': [1, 1], 'two': [2, 2]}\n<!-- end of copies -->\nb\n"
    assert (tmp_path/'nbs'/'images'/'copies.png').read_bytes() == b'a picture'
    assert "{'one': [1, 1], 'two': [2, 2]}" in capfd.readouterr().out


def test_finished_runs_are_not_repeated(tmp_path):
    experiment, runs = copies(tmp_path, one=1, two=2), runs_of(['one', 'two'], [0, 1], tmp_path)
    run_experiment(experiment, config(tmp_path))
    (tmp_path/'one'/'1'/'training_results.json').write_text('{"steps": 1')
    before = {p: p.stat().st_mtime_ns for p in tmp_path.glob('*/*/training_results.json')}
    assert [(r.condition, r.seed) for r in experiment.missing(runs)] == [('one', 1)]
    run_experiment(experiment, config(tmp_path))
    repeated = [p for p, changed in before.items() if p.stat().st_mtime_ns != changed]
    assert repeated == [tmp_path/'one'/'1'/'training_results.json']


def test_other_flags_or_another_configuration_file_repeat_a_run(tmp_path):
    (tmp_path/'run.yaml').write_text('steps: 1')
    flags = '{output}/one.json {folder}/training_results.json'
    runs, file = runs_of(['one'], [0], tmp_path), str(tmp_path/'run.yaml')
    experiment = copies(tmp_path, flags=flags, one=1)
    run_experiment(experiment, config(tmp_path))
    assert not experiment.missing(runs)
    assert copies(tmp_path, flags=f'{flags} --indent 2', one=1).missing(runs)
    with_file = copies(tmp_path, flags=f'{flags} {file}', one=1)
    (tmp_path/'one'/'0'/'finished.json').write_text(json.dumps(with_file.record(runs['one'][0])))
    assert not with_file.missing(runs)
    (tmp_path/'run.yaml').write_text('steps: 2')
    assert with_file.missing(runs)


def test_a_stopped_run_is_not_finished(tmp_path):
    experiment, runs = copies(tmp_path, one=1), runs_of(['one'], [0, 1], tmp_path)
    (tmp_path/'one.json').write_text('{"stopped": true}')
    with pytest.raises(UsageError, match='one, seed 0 did not finish'): run_experiment(experiment, config(tmp_path))
    assert len(experiment.missing(runs)) == 2


def test_a_failing_run_gives_one_line_and_keeps_the_others(tmp_path):
    experiment = copies(tmp_path, one=1, two=2)
    (tmp_path/'two.json').unlink()
    with pytest.raises(UsageError, match='two, seed 0 did not finish: .*No such file.*log in') as raised:
        run_experiment(experiment, config(tmp_path))
    assert '\n' not in str(raised.value) and 'two.json' in (tmp_path/'two'/'0'/'log.txt').read_text()
    (tmp_path/'two.json').write_text('{"steps": 2}')
    run_experiment(experiment, config(tmp_path))


def test_one_core_and_one_thread_a_run(tmp_path):
    "Each run has a core of its own; runs on one core follow each other."
    program = ('import os, time, json; print(json.dumps([os.environ["OMP_NUM_THREADS"], *os.sched_getaffinity(0), '
               'time.time(), time.sleep(.5), time.time()]))')
    flags = ['-n', '1', '-r', '1', '-s', program, 'pass']
    experiment = Experiment('sleepers', 'timeit', dict(a=Condition('a')), flags, str, str)
    runs = runs_of(['a'], [0, 1, 2], tmp_path)['a']
    execute(experiment, runs)
    logs = [json.loads((run.folder/'log.txt').read_text().splitlines()[0]) for run in runs]
    assert {threads for threads, *_ in logs} == {'1'}
    for core in os.sched_getaffinity(0):
        spans = sorted((start, end) for _, at, start, _, end in logs if at == core)
        assert all(end <= start for (_, end), (start, _) in zip(spans, spans[1:]))
    assert {core for _, core, *_ in logs} <= os.sched_getaffinity(0)


def test_the_command_compares_and_repeats_nothing(tmp_path, capfd):
    document, output = tmp_path/'RESULTS.md', tmp_path/'out'
    document.write_text('a\n<!-- conditions: x -->\nstale\n<!-- end of conditions -->\nb\n')
    flags = ['--only', 'baseline', 'trl', '--seeds', '0', '--seconds', '1', '--marks', '1', '--problems', '40',
             '--output-dir', str(output)]
    assert compare([*flags, '--results', str(document)]) == 0
    out, text = capfd.readouterr().out, document.read_text()
    assert "| TRL's GRPO on the baseline tests |" in out and 'baseline tests alone, all stages at once' in text
    assert 'stale' not in text and text.endswith('b\n')
    assert (tmp_path/'nbs'/'images'/'conditions.png').stat().st_size > 10_000
    before = {p: p.stat().st_mtime_ns for p in output.glob('*/0/training_results.json')}
    assert len(before) == 2 and compare(flags) == 0
    assert before == {p: p.stat().st_mtime_ns for p in before}
    other = tmp_path/'other.yaml'
    other.write_text(STARTER.read_text().replace('learning_rate: 2e-3', 'learning_rate: 1e-3'))
    assert compare([*flags, '--run-config', str(other)]) == 0
    assert all(json.loads(p.read_text())['configuration']['learning_rate'] == 1e-3 for p in before)


def test_interrupted_it_leaves_no_run_behind(tmp_path):
    flags = ['--only', 'baseline', '--seeds', '0', '--seconds', '600', '--marks', '1', '--problems', '40',
             '--output-dir', str(tmp_path)]
    command = [sys.executable, '-m', 'adversarial_rl.lab', 'compare_training', *flags]
    p = subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE, text=True)
    log, end = tmp_path/'baseline'/'0'/'log.txt', time.time() + 120
    while not (log.exists() and 'step 0' in log.read_text()) and time.time() < end: time.sleep(.2)
    p.send_signal(2)
    assert p.wait(300) == 130 and 'Traceback' not in p.stderr.read()
    assert str(tmp_path) not in subprocess.run(['ps', '-eo', 'args'], capture_output=True, text=True).stdout


@pytest.mark.parametrize('flags, message', [
    (['--seeds', *map(str, range(11))], 'one to ten'), (['--seconds', '0'], 'at least 0.1'),
    (['--only', 'utrl'], '--what conditions'), (['--results', 'absent.md'], 'absent.md')])
def test_a_mistake_gives_one_line(flags, message, tmp_path, capsys):
    assert compare([*flags, '--output-dir', str(tmp_path/'o')]) == 2
    err = capsys.readouterr().err
    assert message in err and err.count('\n') == 1


def test_the_lab_lists_its_commands():
    done = subprocess.run([sys.executable, '-m', 'adversarial_rl.lab', '--help'], capture_output=True, text=True)
    names = [line.split()[0] for line in done.stdout.splitlines()[2:]]
    assert done.returncode == 0 and {'compare_seeds', 'compare_training', 'make_starter', 'bench'} <= set(names)
    done = subprocess.run([sys.executable, '-m', 'adversarial_rl.lab', 'compare'], capture_output=True, text=True)
    assert done.returncode == 2 and 'compare: no such command' in done.stderr and done.stderr.count('\n') == 1


@pytest.mark.parametrize('line', ['model: 2020-01-01', 'model: {1: a, b: c}'])
def test_a_yaml_file_with_what_no_setting_can_be_gets_one_line(line, tmp_path):
    (tmp_path/'run.yaml').write_text(line)
    experiment = Experiment('x', 'json.tool', {'a': Condition('a')}, [str(tmp_path/'run.yaml')], str, lambda *_: None)
    with pytest.raises(UsageError, match='^a: its YAML file holds what no setting can be'):
        KeptRuns(tmp_path/'kept.jsonl').unpack(experiment, runs_of(['a'], [0], tmp_path))
