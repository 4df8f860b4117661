"Three scripts of about ten lines, which use what README and docstrings show; each runs as it stands."
import json
import runpy
from importlib.util import find_spec

import pytest
from structure import ROOT
from test_mbpp import rows

from adversarial_rl.core.settings import PPOConfig
from adversarial_rl.record.checkpoints import copy_best

SCRIPTS = ROOT/'tests'/'scripts'


@pytest.fixture
def script(tmp_path, monkeypatch, capfd):
    "Run a script in an empty folder; the lines that it prints."
    monkeypatch.chdir(tmp_path)
    def run(name):
        capfd.readouterr()
        runpy.run_path(str(SCRIPTS/f'{name}.py'), run_name='__main__')
        return capfd.readouterr().out.splitlines()
    return run


def test_evaluate_a_function(script, tmp_path, monkeypatch):
    (tmp_path/'mbpp.json').write_text(json.dumps(rows()))
    monkeypatch.setenv('MBPP_DATASET_PATH', str(tmp_path/'mbpp.json'))
    line, = script('evaluate_a_function')
    assert line.startswith('5 0.')


def test_reward_of_trl(script): assert script('reward_of_trl')[-1] == '1 step'


@pytest.mark.skipif(find_spec('pyspiel') is None, reason='needs open_spiel')
def test_play_tic_tac_toe(script):
    from adversarial_rl.selfplay.config import SpiralConfig
    from adversarial_rl.selfplay.trainer import SelfPlay
    trainer = SelfPlay(SpiralConfig(model='starter_games', device='cpu', eval_games=0), PPOConfig())
    copy_best(trainer.save())
    *moves, returns = script('play_tic_tac_toe')
    assert moves and moves[0].startswith('X ') and returns.startswith('(')
