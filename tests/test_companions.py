"The companion notebooks have one setup cell, a claim and a control; each runs from top to bottom, silent on stderr."
import json
import os
import re
import shutil
from pathlib import Path

import pytest

from adversarial_rl.core.machine import decide, Platform
from adversarial_rl.core.settings import PPOConfig, TrainingConfig
from adversarial_rl.model.footprint import GB, memory_estimate, peak, shaped_config

ROOT = Path(__file__).resolve().parent.parent
TRAIN = ROOT/'nbs'/'train'
BOOKS = sorted(TRAIN.glob('*.ipynb'))
NAMES = ['01_play_one_round', '02_train_adversarial', '03_fool_the_grader', '04_grpo_code_execution', '05_code_game',
         '06_spiral', '07_evaluate_mbpp', '08_compare', '09_scale_up', '10_watch_it_cheat']
WORDS = ('**Control', 'signature figure', 'Healthy', 'Sick', 'Try it yourself', '**Limits.**',
         'kaggle.com/kernels/welcome')
COLAB = 'colab.research.google.com/github/adversarial-rl/adversarial_rl/blob/main/nbs/train'


def cells(nb, kind='code'):
    book = json.loads(nb.read_text())
    return [(''.join(c['source']), c) for c in book['cells'] if c['cell_type'] == kind]


def test_all_are_there(): assert [nb.stem for nb in BOOKS] == NAMES


def shown(nb, call):
    "What the cell with this call shows as text."
    (_, cell), = [(s, c) for s, c in cells(nb) if call in s]
    return ''.join(''.join(o.get('text', o.get('data', {}).get('text/plain', ''))) for o in cell['outputs'])


def test_memory_minutes_and_decisions_are_shown_as_they_are_now():
    "Not as they were when the notebook was last run."
    nb = TRAIN/'09_scale_up.ipynb'
    cpu = Platform('cpu', 'processor', 'float32', 2, 8., 'local')
    names = {d.name for d in decide(cpu, {}, lambda url: False)} | {'host', 'device', 'torch'}
    assert {line.split('  ')[0] for line in shown(nb, 'detect_platform_and_gpu()').splitlines()} == names
    game, ppo = TrainingConfig(problems_per_step=1, group_size=8), PPOConfig(micro_batch=1, gradient_checkpointing=True)
    now = [peak(memory_estimate(game, ppo, shaped_config(size))) / GB for size in ('0.5B', '1.5B', '3B', '7B')]
    line, = [line for line in shown(nb, "table.loc['peak']").splitlines() if line.startswith('peak')]
    assert [float(x) for x in line.split()[1:]] == pytest.approx(now, abs=.01)
    rows = {line.split()[0]: line for line in shown(nb, 'plan_run(').splitlines()}
    for path in sorted((ROOT/'configs').glob('*.yaml')):
        if not (minutes := re.search(r'(?m)^#   minutes: about (\d+)', path.read_text())): continue
        assert int(rows[path.stem].split()[-1]) == pytest.approx(int(minutes[1]), rel=.2), path.stem


def test_one_setup_cell_for_all():
    assert len({cells(nb)[0][0] for nb in BOOKS}) == 1
    assert len((TRAIN/'.notest').read_text()) == 0


@pytest.mark.parametrize('nb', BOOKS, ids=lambda p: p.stem)
def test_it_has_what_a_companion_has(nb):
    code, prose = cells(nb), '\n'.join(s for s, _ in cells(nb, 'markdown'))
    assert [i for i, (_, c) in enumerate(code) if c['metadata'].get('tags') == ['parameters']] == [1]
    assert '**Claim.**' in prose or '**Question.**' in prose
    for word in (*WORDS, f'{COLAB}/{nb.name}'): assert word in prose, word
    assert 'assert' in code[-1][0]
    outputs = [o for _, c in code for o in c['outputs']]
    assert any('image/png' in o.get('data', {}) for o in outputs), 'no picture in it'
    assert re.search(r'\d+ cores?\b', json.dumps(code[0][1]['outputs'])), 'does not say which machine made it'
    assert not [o for o in outputs if o.get('name') == 'stderr']


def test_the_first_begins_with_a_broken_program_that_its_code_plays_again():
    nb = TRAIN/'01_play_one_round.ipynb'
    story = cells(nb, 'markdown')[0][0].partition('**Claim.**')[0]
    program, test = re.findall(r'```python\n(.*?)\n```', story, re.S)
    printed = ''.join(''.join(o.get('text', '')) for _, c in cells(nb) for o in c['outputs'])
    assert f'# attempt 1\n{program}\n' in printed and f'accepted  {test}\n' in printed
    assert 'the program passes: False, the reference passes: True' in printed
    defined = {}
    exec(program, defined)
    with pytest.raises(AssertionError): exec(test, defined)


TWINS = dict(browse='attempt_figure', compare_runs='runs_figure', explore_metrics='watch', step_through='game_figure',
             explore_mbpp='mbpp_figure')   # Widget -> what draws the same without one


@pytest.mark.parametrize('nb', BOOKS, ids=lambda p: p.stem)
def test_every_widget_has_a_picture_that_is_stored(nb):
    code = cells(nb)
    calls = [call for source, _ in code for call in re.findall(r'^(\w+)\(', source, re.M)]
    explored = re.findall(r'^explore\((\w+)', '\n'.join(source for source, _ in code), re.M)
    for figure in [TWINS[call] for call in calls if call in TWINS] + explored:
        drawn = [c for source, c in code if re.search(rf'^(Image\(png\()?{figure}\(', source, re.M)]
        assert drawn, f'{figure} is in no cell of its own'
        for c in drawn: assert not c['outputs'] or 'image/png' in json.dumps(c['outputs']), figure


def test_no_choice_needs_a_key():
    assert not [nb.name for nb in BOOKS if 'SelectMultiple' in nb.read_text()]


@pytest.mark.parametrize('nb', BOOKS, ids=lambda p: p.stem)
def test_it_runs_quick(nb, monkeypatch):
    import nbformat
    from nbclient import NotebookClient
    for folder in (ROOT/'output').glob('quick_*'): shutil.rmtree(folder)
    monkeypatch.setenv('ARL_QUICK', '1')
    monkeypatch.setenv('PYTHONPATH', os.pathsep.join(filter(None, (str(ROOT), os.environ.get('PYTHONPATH')))))
    book = nbformat.read(nb, 4)
    resources = dict(metadata=dict(path=str(TRAIN)))
    NotebookClient(book, timeout=600, kernel_name='python3', resources=resources).execute()
    outputs = [o for c in book.cells if c.cell_type == 'code' for o in c.outputs]
    assert not [o.text for o in outputs if o.get('name') == 'stderr']
