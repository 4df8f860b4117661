"Self-play from its command line: killed it goes on the same way, opponents of every kind, mistakes in one line."
import json
import time
from pathlib import Path

import pytest

pytest.importorskip('pyspiel', reason='needs open_spiel')
import processes
from test_mbpp import rows as mbpp_rows

from adversarial_rl.record.tracking import read_metrics
from adversarial_rl.selfplay import spiral
from adversarial_rl.selfplay.config import self_play_ppo, SpiralConfig

ROOT = Path(__file__).parent.parent
SMALL = ['--config', 'configs/spiral_self_play_starter.yaml', '--steps', '6', '--games-per-step', '16', '--eval-games', '8', '--eval-steps', '3', '--save-steps', '1', '--report-to', 'none']


def flags(folder, *more): return [*SMALL, '--output-dir', str(folder/'out'), '--checkpoint-dir', str(folder/'ck'), *more]
def command(folder, *more): return ['spiral_self_play', *flags(folder, *more)]
def told(folder): return [{k: v for k, v in r.items() if 'seconds' not in k} for r in read_metrics(folder/'out'/'metrics.jsonl')]


def test_killed_in_the_middle_it_goes_on_the_same_way(tmp_path):
    "Two games, earlier selves as opponents, a reference that moves, steps that get smaller, MBPP measured; metrics, games and results are those of a run that was not killed."
    (tmp_path/'mbpp.json').write_text(json.dumps(mbpp_rows()))
    more = ['--games', 'tic_tac_toe kuhn_poker', '--pool-size', '3', '--steps', '23', '--mbpp-eval', '--mbpp-dataset-path', str(tmp_path/'mbpp.json'), '--mbpp-eval-interval-steps', '10', '--mbpp-eval-num-questions', '2', '--reference-steps', '2', '--learning-rate-decay', '0.5']
    one, two = tmp_path/'one', tmp_path/'two'
    done = processes.run(*command(one, *more), cwd=ROOT)
    assert done.returncode == 0, done.stderr[-2000:]
    p = processes.Command(*command(two, *more), cwd=ROOT)
    end = time.time() + 240
    while not (two/'ck'/'checkpoint_step_21.json').exists() and p.poll() is None and time.time() < end: time.sleep(.01)
    p.kill(); p.wait()
    assert not (two/'out'/'training_results.json').exists()
    again = processes.run(*command(two, *more, '--resume'), cwd=ROOT)
    assert again.returncode == 0 and 'going on from' in again.stdout, again.stderr[-2000:]
    assert told(one) == told(two) and (one/'out'/'game_history.jsonl').read_text() == (two/'out'/'game_history.jsonl').read_text()
    a, b = (json.loads((x/'out'/'training_results.json').read_text()) for x in (one, two))
    assert a['after'] == b['after'] and a['before'] == b['before'] and a['broke'] == b['broke']
    rows = told(one)
    assert [r['step'] for r in rows if 'mbpp_eval/pass_rate' in r] == [0, 10, 20, 23]


def test_an_earlier_checkpoint_is_an_opponent_and_nothing_else_changes(tmp_path):
    assert spiral.main(flags(tmp_path, '--steps', '2')) == 0
    first = json.loads((tmp_path/'out'/'training_results.json').read_text())
    (tmp_path/'other').mkdir()
    assert spiral.main(flags(tmp_path/'other', '--steps', '2', '--opponent-checkpoint', str(tmp_path/'ck'/'checkpoint_step_2.pt'))) == 0
    second = json.loads((tmp_path/'other'/'out'/'training_results.json').read_text())
    assert set(second['after']['against']['tic_tac_toe']) == {'random', 'minimax', 'checkpoint'}
    assert second['after']['against']['tic_tac_toe']['random'] == first['after']['against']['tic_tac_toe']['random']


def test_connect_four_against_the_tree_search(tmp_path):
    "A game too large to search whole: its opponents play, and the share of moves that keep the value is not made up."
    assert spiral.main(flags(tmp_path, '--games', 'connect_four', '--steps', '1', '--eval-games', '3', '--opponents', 'random mcts')) == 0
    after = json.loads((tmp_path/'out'/'training_results.json').read_text())['after']
    assert set(after['against']['connect_four']) == {'random', 'mcts'} and after['moves'] == {}
    game = read_metrics(tmp_path/'out'/'game_history.jsonl')[0]
    assert game['game'] == 'connect_four' and len(game['history']) >= len(game['turns']) - (game['broke'] is not None)


def test_mistakes_are_one_line(tmp_path, capsys):
    for more, says in ((['--games', 'tic_tac'], "'tic_tac_toe'"), (['--opponents', 'chess'], '--opponents chess'), (['--opponent-url', 'http://x'], '--opponent-model'), (['--critic-warmup', '5'], '--critic-warmup'), (['--baseline', 'both'], 'role'),
                       (['--resume'], 'no checkpoint'), (['--games-per-step', '1'], 'at least 2'), (['--opponent-checkpoint', 'none.pt'], 'no such checkpoint'), (['--games', 'hearts'], 'two players'), (['--games', ''], '--games')):
        assert spiral.main(flags(tmp_path, *more)) == 2, more
        err = [line for line in capsys.readouterr().err.splitlines() if line.startswith('error: ')]
        assert len(err) == 1 and says in err[0], (more, err)


def test_every_baseline_is_a_switch(tmp_path):
    for kind in ('role', 'shared', 'none', 'group'):
        assert spiral.main(flags(tmp_path/kind, '--games', 'kuhn_poker', '--baseline', kind, '--steps', '2', '--eval-games', '0')) == 0
        rows = told(tmp_path/kind)
        assert all(f'gradient_variance/{k}' in rows[1] for k in ('role', 'shared', 'none', 'group'))
    role, none = (told(tmp_path/k)[2] for k in ('role', 'none'))
    assert none['kuhn_poker/advantage_first'] == none['kuhn_poker/reward_first'] and role['kuhn_poker/advantage_first'] != role['kuhn_poker/reward_first']


@pytest.mark.parametrize('path', sorted((ROOT/'configs').glob('spiral*.yaml')), ids=lambda p: p.name)
def test_shipped_configuration_is_read(path):
    from adversarial_rl.core.config import parse_config
    from adversarial_rl.core.settings import IntervalConfig, PPOConfig
    config, ppo, _ = parse_config([SpiralConfig, PPOConfig, IntervalConfig], ['--config', f'configs/{path.name}'], '')
    assert self_play_ppo(ppo).critic_warmup == 0 and config.games
