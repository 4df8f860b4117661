"A run that a notebook starts, finds again, and stops."
import time

from adversarial_rl.record.tracking import read_metrics
from adversarial_rl.show import views

SMALL = ('--config configs/starter.yaml --report-to none --held-out 10 --problems-per-step 4 '
         '--n-discriminator-steps 1 --n-generator-steps 100 --k-alternating-steps 0 --together-steps 0')


def test_started_once_stopped_and_watched_to_its_end(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(views.__file__.rpartition('/adversarial_rl/')[0])
    flags, shown = f'{SMALL} --checkpoint-dir {tmp_path}/checkpoints', []
    process = views.start('run_training', flags, tmp_path/'out')
    assert views.start('run_training', flags, tmp_path/'out') == process == views.running(tmp_path/'out')
    metrics, end = tmp_path/'out'/'metrics.jsonl', time.time() + 400
    while not (metrics.exists() and read_metrics(metrics)) and time.time() < end: time.sleep(.05)
    views.stop(tmp_path/'out')
    def draw(folder):
        shown.append(folder)
        return views.metrics_of('reward/generator')(folder)
    views.watch(tmp_path/'out', draw)
    assert shown and views.running(tmp_path/'out') == 0
    assert 'is saved' in capsys.readouterr().out
    assert not list((tmp_path/'checkpoints').glob('checkpoint_stage_5*.json'))
    views.stop(tmp_path/'out')   # No run is left: nothing happens
