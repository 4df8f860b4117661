"Every view on small data: each control moves through all of its values, the picture changes, and it can be read."
import json
import random

import pytest

from adversarial_rl.game.round import Verdicts
from adversarial_rl.grader.suites import Suite
from adversarial_rl.mbpp.evaluator import make_report, ProblemRecord, ProgramRecord
from adversarial_rl.problems.problem import Problem
from adversarial_rl.problems.stages import REASONING_STAGES
from adversarial_rl.record.plots import HELD_OUT
from adversarial_rl.show import attempts, replay, views


def run_folder(folder, seed):
    "A run's files, made up."
    rng = random.Random(seed)
    def row(i):
        return {'step': i, 'stage': ['informal', 'structured', 'code'][i // 30],
                'learner': ['generator', 'discriminator'][i % 2], 'reward/generator': i / 200 + rng.random() / 5,
                'reward/discriminator': rng.random() / 4, 'validity': .4 + i / 300 + rng.random() / 9,
                'solved': .2 + i / 200, 'hack_rate': .1, 'distinct': .9 - i / 200, 'discriminator/kl': i / 900,
                'generator/kl': None if i % 2 else i / 1000}
    folder.mkdir(parents=True)
    (folder/'metrics.jsonl').write_text(''.join(json.dumps(row(i)) + '\n' for i in range(90)))
    figures = {f'{k}_before': .4 + .05 * seed for k in HELD_OUT}
    figures |= {f'{k}_after': .6 + .05 * seed for k in HELD_OUT}
    figures |= {f'{k}_after_interval': [.5, .8] for k in HELD_OUT}
    (folder/'training_results.json').write_text(json.dumps(dict(held_out=figures)))
    return folder


def mbpp_report(flags):
    "A report of `evaluate_mbpp`, made up: one greedy program for each problem."
    programs = [ProgramRecord('greedy', '', f'def f(x):\n    return x + {i}', ok,
                              'success' if ok else 'assertion_failure', message='', cut_off=False)
                for i, ok in enumerate(flags)]
    records = [ProblemRecord(f'mbpp/{i}', [], '', [program]) for i, program in enumerate(programs)]
    return make_report(records, dict(greedy=True, samples=0, max_new_tokens=8))


def a_record(k):
    "A problem with two attempts, made up; dollars and line ends must not confuse the figure."
    problem = Problem(f'p{k}', f'Return x plus {k}.', 'def f(x):', ('assert f(0) == 0', 'assert f(1) == 1'),
                      'def f(x): return x')
    def attempt(i):
        stages = {s.title: [(f'{s.title} of {k} costs $5 ', .9), ('and\n', .3 + .3 * i), ('x' * 40, .99)]
                  for s in REASONING_STAGES}
        return attempts.Attempt(stages, Verdicts((True, False), {'assert f(2) == 2': True}), i / 2)
    suite = Suite(['assert f(2) == 2', 'assert f(3) == 9'], [True, False], [True, False], ['assert f(2) == 2'])
    return attempts.Record(problem, [attempt(0), attempt(1)], [suite])


def a_game(step, history, moves):
    "A line of `game_history.jsonl` that the first player wins."
    turns = [dict(role=i % 2, text=move, move=move) for i, move in enumerate(moves)]
    return dict(step=step, game='tic_tac_toe', opening=0, history=history, broke=None, returns=[1., -1.], turns=turns)


def all_views(folder):
    "Name -> widget."
    one, two = run_folder(folder/'one', 0), run_folder(folder/'two', 1)
    games = [a_game(1, [0, 3, 1, 4, 2], ['x(0,0)', 'o(1,0)', 'x(0,1)', 'o(1,1)', 'x(0,2)']),
             a_game(2, [8, 3, 7, 4, 6], ['x(2,2)', 'o(1,0)', 'x(2,1)', 'o(1,1)', 'x(2,0)'])]
    before, after = mbpp_report([i % 3 == 0 for i in range(40)]), mbpp_report([i % 4 < 2 for i in range(40)])
    return dict(metrics=views.explore_metrics(one), runs=views.compare_runs(dict(one=one, two=two)),
                attempts=attempts.browse([a_record(k) for k in range(3)]),
                replay=replay.step_through(games), mbpp=attempts.explore_mbpp(before, after))


def values_of(control):
    "All values of a control, or the ends and the middle of a slider."
    import ipywidgets as w
    if isinstance(control, w.SelectMultiple):
        every = tuple(x for _, x in control.options)
        return [(x,) for x in every] + [(), every]
    if isinstance(control, w.IntSlider): return sorted({control.min, (control.min + control.max) // 2, control.max})
    return [x[1] if isinstance(x, tuple) else x for x in control.options]


@pytest.fixture(scope='module')
def shown(tmp_path_factory):
    pytest.importorskip('pyspiel')
    return all_views(tmp_path_factory.mktemp('views'))


@pytest.mark.parametrize('name', ['metrics', 'runs', 'attempts', 'replay', 'mbpp'])
def test_every_control_moves_the_picture(shown, name):
    controls, picture, caption = shown[name].children
    assert bytes(picture.value).startswith(b'\x89PNG') and caption.value.endswith('.')
    for c in controls.children:
        pictures, before = set(), c.value
        for value in values_of(c):
            c.value = value
            assert bytes(picture.value).startswith(b'\x89PNG')
            pictures.add(bytes(picture.value))
        assert len(pictures) > 1 or len(values_of(c)) == 1, f'{c.description} changes nothing'
        c.value = before
