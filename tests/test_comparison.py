"The comparison: real runs of every condition for a moment, tables and figures from them, and nothing that is finished run twice."
import json
import subprocess
import sys
import time
from pathlib import Path

import pytest

from adversarial_rl.core.settings import PPOConfig, TrainingConfig
from adversarial_rl.lab.comparison import main
from adversarial_rl.lab.condition import CONDITIONS, REWARDS, run_condition

ROOT = Path(__file__).parent.parent


def small(folder, **kw):
    return TrainingConfig(generator_model='starter', discriminator_model='starter', device='cpu', problems_per_step=4, group_size=4, max_tests=1, max_new_tokens=48, output_dir=str(folder)), PPOConfig(learning_rate=1e-3, kl_coef=0)


@pytest.mark.parametrize('name', [*CONDITIONS, *REWARDS])
def test_each_condition_runs_and_measures(name, tmp_path):
    condition = (CONDITIONS | REWARDS)[name]
    r = run_condition(condition, *small(tmp_path), seconds=2, marks=1, problems=8, show=lambda *a, **k: None)
    assert r['steps'] >= 1 and [m['step'] for m in r['marks']] == [0, r['steps']] and r['marks'][-1]['seconds'] >= 2
    assert ('pass_rate' in r['marks'][0]) == ('generator' in condition.learners) and ('validity' in r['marks'][0]) == ('discriminator' in condition.learners)
    assert ('tester' in r) == (condition.trainer == 'own' and condition.settings.get('opponents') != 0)
    if condition.trainer == 'own': assert all((r['learned'][p] > 0) <= (p in condition.learners) for p in r['learned'])
    if name == 'random': assert r['tester']['validity_of_distinct']['mean'] == 1


def test_the_control_is_given_what_was_sampled(tmp_path):
    "TRL is given real transcripts: the tokens it learns from are those the model chose."
    from adversarial_rl.lab.condition import rollout_of
    from adversarial_rl.model.players import Generator
    from adversarial_rl.model.policy import load_model, Policy
    from adversarial_rl.problems.curriculum import starter_problems
    model, tokenizer = load_model('starter')
    problems = {p.id: p for p in starter_problems('training', 2)}
    generator = Generator(Policy(model, tokenizer, ['generator']), max_new_tokens=48)
    found = rollout_of(generator, problems, 2)([i for i in problems for _ in range(2)], None)
    for k, i in enumerate([i for i in problems for _ in range(2)]):
        assert found['prompt_ids'][k] == generator.pieces(problems[i])[0]
        forced = [t for t, m in zip(found['completion_ids'][k], found['env_mask'][k]) if not m]
        assert forced == [t for piece in generator.pieces(problems[i])[1:] for t in piece]
        assert all((x == 0) >= (not m) for x, m in zip(found['logprobs'][k], found['env_mask'][k])) and found['code'][k] in tokenizer.decode(found['completion_ids'][k])


def test_the_command_makes_tables_and_runs_nothing_twice(tmp_path, capfd):
    readme = tmp_path/'README.md'
    readme.write_text('a\n<!-- conditions: x -->\nstale\n<!-- end of conditions -->\nb\n')
    flags = ['--only', 'golden', 'trl', '--seeds', '0', '--seconds', '1', '--marks', '1', '--problems', '40', '--config', str(ROOT/'configs'/'starter.yaml'), '--output-dir', str(tmp_path/'out'), '--results', str(readme)]
    assert main(flags) == 0
    out, text = capfd.readouterr().out, readme.read_text()
    assert "| TRL's GRPO on the golden tests |" in out and 'golden tests alone, all stages at once' in text and 'stale' not in text and text.endswith('b\n')
    assert (tmp_path/'nbs'/'images'/'comparison_conditions.png').stat().st_size > 10_000
    before = {p: p.stat().st_mtime_ns for p in (tmp_path/'out').glob('*.json')}
    assert len(before) == 2 and main(flags) == 0 and before == {p: p.stat().st_mtime_ns for p in before}
    other = tmp_path/'other.yaml'
    other.write_text((ROOT/'configs'/'starter.yaml').read_text().replace('learning_rate: 2e-3', 'learning_rate: 1e-3'))
    assert main([*flags[:-2], '--config', str(other)]) == 0 and all(json.loads(p.read_text())['settings']['learning_rate'] == 1e-3 for p in before)
    before = {p: p.stat().st_mtime_ns for p in before}
    (tmp_path/'out'/'golden_0.json').write_text('{"seconds": 1')
    assert main([*flags[:-2], '--config', str(other)]) == 0 and json.loads((tmp_path/'out'/'golden_0.json').read_text())['steps'] >= 1 and before[tmp_path/'out'/'trl_0.json'] == (tmp_path/'out'/'trl_0.json').stat().st_mtime_ns


def test_killed_it_leaves_no_run_behind_and_goes_on(tmp_path):
    flags = ['--only', 'golden', '--seeds', '0', '--seconds', '600', '--marks', '1', '--problems', '40', '--config', str(ROOT/'configs'/'starter.yaml'), '--output-dir', str(tmp_path)]
    p = subprocess.Popen([sys.executable, '-m', 'adversarial_rl.lab.comparison', *flags], cwd=ROOT, stderr=subprocess.PIPE, text=True)
    log, end = tmp_path/'golden_0.log', time.time() + 120
    while not (log.exists() and 'step 0' in log.read_text()) and time.time() < end: time.sleep(.2)
    p.send_signal(2)
    assert p.wait(60) == 130 and 'Traceback' not in p.stderr.read()
    assert str(tmp_path) not in subprocess.run(['ps', '-eo', 'args'], capture_output=True, text=True).stdout


def test_mistakes_are_told_in_one_line(tmp_path, capsys):
    for flags, told in ((['--seeds'] + [str(i) for i in range(11)], 'one to ten'), (['--seconds', '0'], 'above 0'), (['--only', 'utrl'], '--what conditions'), (['--results', str(tmp_path/'no.md')], 'no.md')):
        assert main([*flags, '--output-dir', str(tmp_path/'o')]) == 2
        err = capsys.readouterr().err
        assert told in err and err.count('\n') == 1
