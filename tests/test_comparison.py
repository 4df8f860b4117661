"Experiments: each condition runs for a moment, finished runs are not repeated, a failing run gives one clear line."
import copy
import json
import subprocess
import sys
import time

import pytest
import torch
from structure import ROOT

from adversarial_rl.core.config import parse_config
from adversarial_rl.core.errors import UsageError
from adversarial_rl.core.settings import EvaluationConfig, PPOConfig, TrainingConfig
from adversarial_rl.lab.__main__ import load_notebook, main
from adversarial_rl.lab.condition import ConditionConfig, Meter, own_trainer, train_for
from adversarial_rl.lab.experiment import Condition, execute, Experiment, KeptRuns, LabConfig, run_experiment, runs_of

NOTEBOOK = 'nbs/experiments/03_comparison.ipynb'
SHORT = ['--config', 'configs/starter.yaml', '--device', 'cpu', '--max-tests', '1', '--max-new-tokens', '48',
         '--held-out', '8', '--learning-rate', '1e-3', '--kl-coef', '0', '--seconds', '.5', '--marks', '1']


@pytest.fixture(scope='module')
def comparison(): return load_notebook(ROOT/NOTEBOOK, 'one')


def compare(flags): return main([NOTEBOOK, *map(str, flags)])


@pytest.mark.parametrize('name', ['main', 'one_model', 'baseline', 'trl', 'random', 'utrl'])
def test_each_condition_runs_and_measures(name, comparison, tmp_path):
    flags = (comparison.CONDITIONS | comparison.REWARDS)[name].flags.split()
    comparison.one([*SHORT, *flags, '--output-dir', str(tmp_path)])
    r = json.loads((tmp_path/'training_results.json').read_text())
    first, last = r['marks']
    assert r['steps'] >= 1 and (first['step'], last['step']) == (0, r['steps']) and last['seconds'] >= .5
    assert ('pass_rate' in first) == ('generator' in r['configuration']['learners'])
    assert (r['tester'] is not None) == (name not in ('baseline', 'trl'))
    if name == 'random': assert r['tester']['validity_of_distinct']['mean'] == 1


def test_only_the_learners_learn(tmp_path):
    "The steps of a frozen player are left out of the schedule."
    kinds = [ConditionConfig, TrainingConfig, PPOConfig, EvaluationConfig]
    for learner in ('generator', 'discriminator'):
        flags = [*SHORT, '--learners', learner, '--critic-warmup', '0', '--output-dir', str(tmp_path)]
        condition, config, ppo, _ = parse_config(kinds, flags, '')
        trainer = own_trainer(condition, config, ppo)
        before = {name: copy.deepcopy(p.policy.adapter(name)) for name, p in trainer.players.items()}
        assert len(train_for(trainer, condition.learners, Meter(1, 1, dict))) == len(trainer.schedule) > 0
        assert {s.learner for s in trainer.schedule} == {learner}
        for name, p in trainer.players.items():
            same = all(torch.equal(x, before[name][k]) for k, x in p.policy.adapter(name).items())
            assert same == (name != learner)


def copies(folder, flags='{output}/{condition}.json {folder}/training_results.json', **conditions):
    "Each run copies the JSON file of its condition."
    for name, steps in conditions.items(): (folder/f'{name}.json').write_text(json.dumps(dict(steps=steps)))
    def table(runs): return str({c: [r.results()['steps'] for r in seeds] for c, seeds in runs.items()})
    def figure(runs, path): path.write_bytes(b'a picture')
    conditions = {c: Condition(c, flags.replace('{condition}', c)) for c in conditions}
    return Experiment('copies', ('-m', 'json.tool'), conditions, [], table, figure)


def config(folder, **more): return LabConfig(seeds=(0, 1), output_dir=str(folder), **more)


def test_finished_runs_are_not_repeated_and_the_table_is_written(tmp_path):
    document, experiment = tmp_path/'RESULTS.md', copies(tmp_path, one=1, two=2)
    document.write_text('a\n<!-- copies: x -->\nstale\n<!-- end of copies -->\nb\n')
    run_experiment(experiment, config(tmp_path, results=[str(document)]))
    assert document.read_text() == "a\n<!-- copies: x -->\n{'one': [1, 1], 'two': [2, 2]}\n<!-- end of copies -->\nb\n"
    assert (tmp_path/'nbs'/'images'/'copies.png').read_bytes() == b'a picture'
    (tmp_path/'one'/'1'/'training_results.json').write_text('{"steps": 1')
    before = {p: p.stat().st_mtime_ns for p in tmp_path.glob('*/*/training_results.json')}
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
    (tmp_path/'run.yaml').write_text('model: {1: a, b: c}')
    with pytest.raises(UsageError, match='^one: its YAML file holds what no setting can be'):
        KeptRuns(tmp_path/'kept.jsonl').unpack(with_file, runs)


@pytest.mark.parametrize('result', ['{"stopped": true}', None])
def test_a_failing_or_stopped_run_gives_one_line_and_keeps_the_others(result, tmp_path):
    experiment = copies(tmp_path, one=1, two=2)
    if result: (tmp_path/'two.json').write_text(result)
    else: (tmp_path/'two.json').unlink()
    with pytest.raises(UsageError, match='two, seed 0 did not finish: .*log in') as raised:
        run_experiment(experiment, config(tmp_path))
    assert '\n' not in str(raised.value) and (tmp_path/'one'/'0'/'finished.json').exists()
    (tmp_path/'two.json').write_text('{"steps": 2}')
    run_experiment(experiment, config(tmp_path))


def test_one_core_and_one_thread_a_run(tmp_path):
    program = 'import os, json; print(json.dumps([os.environ["OMP_NUM_THREADS"], len(os.sched_getaffinity(0))]))'
    experiment = Experiment('cores', ('-c', program), dict(a=Condition('a')), [], str, str)
    runs = runs_of(['a'], [0, 1, 2], tmp_path)['a']
    execute(experiment, runs)
    assert [json.loads((run.folder/'log.txt').read_text()) for run in runs] == [['1', 1]] * 3


@pytest.mark.slow
def test_the_command_compares_and_repeats_nothing(tmp_path, capfd):
    document, output = tmp_path/'RESULTS.md', tmp_path/'out'
    document.write_text('a\n<!-- conditions: x -->\nstale\n<!-- end of conditions -->\nb\n')
    flags = ['--only', 'baseline', 'trl', '--seeds', 0, '--seconds', 1, '--marks', 1, '--problems', 40,
             '--output-dir', output]
    assert compare([*flags, '--results', document]) == 0
    assert "| TRL's GRPO on the baseline tests |" in capfd.readouterr().out and 'stale' not in document.read_text()
    before = {p: p.stat().st_mtime_ns for p in output.glob('*/0/training_results.json')}
    assert len(before) == 2 and compare(flags) == 0
    assert before == {p: p.stat().st_mtime_ns for p in before}


def test_interrupted_it_leaves_no_run_behind(tmp_path):
    flags = f'--only baseline --seeds 0 --seconds 600 --marks 1 --problems 40 --output-dir {tmp_path}'
    command = [sys.executable, '-m', 'adversarial_rl.lab', NOTEBOOK, *flags.split()]
    p = subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE, text=True)
    log, end = tmp_path/'baseline'/'0'/'log.txt', time.time() + 120
    while not (log.exists() and 'step 0' in log.read_text()) and time.time() < end: time.sleep(.2)
    p.send_signal(2)
    assert p.wait(300) == 130 and 'Traceback' not in p.stderr.read()
    assert str(tmp_path) not in subprocess.run(['ps', '-eo', 'args'], capture_output=True, text=True).stdout


@pytest.mark.parametrize('flags, message', [
    (['--only', 'utrl'], '--what conditions'), (['--results', 'absent.md'], 'absent.md')])
def test_a_mistake_gives_one_line(flags, message, tmp_path, capsys):
    assert compare([*flags, '--output-dir', tmp_path/'o']) == 2
    err = capsys.readouterr().err
    assert message in err and err.count('\n') == 1
