"Self-play from its command line: it resumes after a kill, meets every kind of opponent, reports mistakes in one line."
import json
import signal
import subprocess
import sys
from importlib.util import find_spec

import processes
import pytest
from small import metrics, results as results_of, untimed
from structure import ROOT
from test_mbpp import rows as mbpp_rows

from adversarial_rl.record.tracking import read_metrics
from adversarial_rl.selfplay import spiral

SMALL = ['--config', 'configs/spiral_self_play_starter.yaml', '--steps', '6', '--games-per-step', '16',
         '--eval-games', '8', '--eval-steps', '3', '--save-steps', '1', '--report-to', 'none']
MISTAKES = [
    (['--games', ''], '--games'), (['--opponents', 'none.pt'], 'no such checkpoint'),
    (['--opponents', 'http://x'], '#model'), (['--baseline', 'both'], 'role'), (['--resume'], 'no checkpoint'),
    (['--games-per-step', '1'], 'at least 2')]
WITHOUT_OPENSPIEL = """
import contextlib, importlib, importlib.abc, importlib.metadata as metadata, pkgutil, sys

class Missing(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition('.')[0] in ('pyspiel', 'open_spiel'): raise ModuleNotFoundError(name, name=name)

def from_name(name, found=metadata.Distribution.from_name):
    if name.replace('-', '_') == 'open_spiel': raise metadata.PackageNotFoundError(name)
    return found(name)

sys.meta_path.insert(0, Missing())
metadata.Distribution.from_name = from_name
import adversarial_rl.selfplay as chapter
for module in pkgutil.iter_modules(chapter.__path__): importlib.import_module(f'{chapter.__name__}.{module.name}')
from adversarial_rl.selfplay.spiral import main
with contextlib.suppress(SystemExit): main(['--help'])
print('exit code', main(sys.argv[1:]))
"""
needs_openspiel = pytest.mark.skipif(find_spec('pyspiel') is None, reason='needs open_spiel')


def flags(folder, *more):
    return [*SMALL, '--output-dir', str(folder / 'out'), '--checkpoint-dir', str(folder / 'ck'), *more]


def command(folder, *more): return ['spiral_self_play', *flags(folder, *more)]


def test_without_openspiel_everything_imports_and_one_line_says_what_to_install(tmp_path):
    done = subprocess.run([sys.executable, '-c', WITHOUT_OPENSPIEL, *flags(tmp_path)], cwd=ROOT, capture_output=True,
                          text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    assert '--games-per-step' in done.stdout and 'exit code 2' in done.stdout
    assert done.stderr.splitlines() == ['error: board games need OpenSpiel; pip install open_spiel']


@needs_openspiel
def test_resumed_after_a_kill_it_ends_the_same(tmp_path):
    """Two board games, earlier adapters as opponents (the first is kept at step 20), a reference that moves, smaller
    steps, MBPP: metrics, games and results are those of a run that was not killed."""
    (tmp_path / 'mbpp.json').write_text(json.dumps(mbpp_rows()))
    more = ['--games', 'tic_tac_toe kuhn_poker', '--pool-size', '3', '--steps', '23', '--reference-steps', '2',
            '--games-per-step', '4', '--eval-games', '2', '--learning-rate-decay', '0.5', '--mbpp-eval',
            '--mbpp-dataset-path', str(tmp_path / 'mbpp.json'), '--mbpp-eval-interval-steps', '10',
            '--mbpp-eval-num-questions', '2']
    one, two = tmp_path / 'one', tmp_path / 'two'
    done = processes.run(*command(one, *more), cwd=ROOT)
    assert done.returncode == 0, done.stderr[-2000:]
    killed = processes.run(*command(two, *more), cwd=ROOT, dies_at=('metrics.jsonl', 23))   # The first is of step 0
    assert killed.returncode == -signal.SIGKILL and (two / 'ck' / 'checkpoint_step_21.json').exists()
    assert not (two / 'out' / 'training_results.json').exists()
    again = processes.run(*command(two, *more, '--resume'), cwd=ROOT)
    assert again.returncode == 0 and 'going on from' in again.stdout, again.stderr[-2000:]
    assert untimed(metrics(one)) == untimed(metrics(two))
    histories = [read_metrics(folder / 'out' / 'game_history.jsonl') for folder in (one, two)]
    assert histories[0] == histories[1] and [g['step'] for g in histories[0]] == list(range(1, 24))
    a, b = results_of(one), results_of(two)
    assert a['after'] == b['after'] and a['before'] == b['before']
    assert [r['step'] for r in metrics(one) if 'mbpp_eval/pass_rate' in r] == [0, 10, 20, 23]


@needs_openspiel
def test_connect_four_is_too_large_to_solve(tmp_path):
    "A random opponent plays, minimax is left out, and there are no figures of the moves."
    more = ['--games', 'connect_four', '--steps', '1', '--eval-games', '3', '--opponents', 'random minimax']
    assert spiral.main(flags(tmp_path, *more)) == 0
    after = results_of(tmp_path)['after']
    assert set(after['against']['connect_four']) == {'random'} and after['moves'] == {}
    game = read_metrics(tmp_path / 'out' / 'game_history.jsonl')[0]
    assert game['game'] == 'connect_four'
    assert len(game['history']) >= len(game['turns']) - (game['broke'] is not None)


@needs_openspiel
@pytest.mark.parametrize('more, message', MISTAKES, ids=lambda x: ' '.join(x) if isinstance(x, list) else '')
def test_mistakes_are_one_line(tmp_path, capsys, more, message):
    assert spiral.main(flags(tmp_path, *more)) == 2
    errors = [line for line in capsys.readouterr().err.splitlines() if line.startswith('error: ')]
    assert len(errors) == 1 and message in errors[0]
