"""Record what the page shows of trainings and of graders, into site/recorded.

`python site/record.py training --game CHECKPOINTS --tic-tac-toe CHECKPOINTS --kuhn-poker CHECKPOINTS` takes the
folders of checkpoints of run_training and spiral_self_play; `python site/record.py cheats` runs the programs of
nbs/train/03 through its three graders; `python site/record.py rounds --model FOLDER` plays rounds with a real model;
`python site/record.py trained --model FOLDER --checkpoint FILE` plays one before and after a training in the game;
`python site/record.py picture` draws the opening round for sites that show a link as a picture.
"""
import argparse
import ast
import contextlib
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
RECORDED = ROOT/'site'/'recorded'
sys.path.insert(0, str(ROOT))

ROUNDS = 24  # Played, of which three are shown
LIMIT = 256   # Tokens of each stage of a real model
RANK = 8    # Of the adapters in the page; those of a training have 16
SHOWN = dict(game=5, tic_tac_toe=5, kuhn_poker=3)   # Steps on a slider, the untrained model included


def low_rank(policy, player):
    "An adapter's change of each layer, as two factors of a small rank in 16 bits: name -> tensor."
    import torch
    tensors = {}
    for name, layer in policy.model.named_modules():
        if not hasattr(layer, 'get_delta_weight'): continue
        u, s, v = torch.linalg.svd(layer.get_delta_weight(player).detach().float(), full_matrices=False)
        short = name.removeprefix('base_model.model.')
        root = s[:RANK].sqrt()
        tensors[f'{short}.lora_B'] = (u[:, :RANK] * root).half().contiguous()
        tensors[f'{short}.lora_A'] = (root[:, None] * v[:RANK]).half().contiguous()
    return tensors


def apply_low_rank(policy, player, tensors):
    "Put such factors in place of the adapter, as the page does, so that what is measured is what the page shows."
    import torch
    adapter = policy.adapter(player)
    with torch.no_grad():
        for name, p in adapter.items():
            factor = tensors[re.sub(r'^base_model\.model\.|\.weight$', '', name)]
            p.zero_()
            p[:, :RANK].copy_(factor) if 'lora_B' in name else p[:RANK].copy_(factor)


def save_adapter(policy, player, file):
    "Write one adapter and use it from now on."
    from safetensors.torch import save_file
    tensors = low_rank(policy, player)
    apply_low_rank(policy, player, tensors)
    save_file(tensors, RECORDED/file)
    return file


def checkpoints_of(folder, n):
    "(step, path) of `n` checkpoints of a run, evenly spread."
    from adversarial_rl.record.checkpoints import load_checkpoint
    found = sorted((load_checkpoint(path)[1]['step'], path) for path in Path(folder).glob('checkpoint_*.pt')
                   if not path.stem.endswith('best'))
    found = [x for x in found if x[0]]
    wanted = [found[-1][0] * (i + 1) / n for i in range(n)]
    return sorted({min(found, key=lambda x: abs(x[0] - w)) for w in wanted})


def game_figures(players, problems):
    "Share of held-out problems that greedy programs solve."
    from adversarial_rl.grader.grading import grade_many
    from adversarial_rl.grader.pool import Job
    generator = players['generator']
    programs = generator.programs(generator.write(problems, 1, 0), problems)
    outcomes = grade_many([Job.of(p, code) for p, code in zip(problems, programs)])
    return dict(solved=round(sum(o.passed for o in outcomes) / len(problems), 4))


def record_game(folder):
    "Steps of the adversarial run: files of both adapters, and how many held-out problems are solved."
    from adversarial_rl.model.players import load_trained
    from adversarial_rl.problems.curriculum import starter_problems
    problems = starter_problems('held_out', 400)
    rows = [dict(step=0) | game_figures(load_trained(ROOT/'checkpoints'/'starter', 'cpu', 64), problems)]
    for step, path in checkpoints_of(folder, SHOWN['game'] - 1):
        players = load_trained(path, 'cpu', 64)
        files = {name: save_adapter(p.policy, name, f'game_{step:03}_{name}.safetensors')
                 for name, p in players.items()}
        rows.append(dict(step=step) | files | game_figures(players, problems))
    return rows


def record_board_game(folder, name):
    "Steps of a self-play run: the adapter's file, and how good its moves are."
    from adversarial_rl.core.machine import platform
    from adversarial_rl.selfplay.spiral import load_learner
    from adversarial_rl.selfplay.strength import exploitability, keeps_value
    from adversarial_rl.selfplay.trainer import make_learner
    def figures(policy):
        if name == 'kuhn_poker': return dict(exploitability=round(exploitability(policy), 4))
        return dict(keeps=round(keeps_value(policy)['keeps_value_greedy'], 4))
    rows = [dict(step=0) | figures(make_learner('starter_games', 16, platform('cpu')))]
    for step, path in checkpoints_of(folder, SHOWN[name] - 1):
        policy = load_learner(path, 'cpu')
        file = save_adapter(policy, 'learner', f'{name}_{step:03}.safetensors')
        rows.append(dict(step=step, learner=file) | figures(policy))
    return rows


def record_training(options):
    "Write training.json and the adapters of the runs that are named; the others stay as they were."
    RECORDED.mkdir(exist_ok=True)
    path = RECORDED/'training.json'
    found = json.loads(path.read_text()) if path.exists() else {}
    if options.game: found['game'] = record_game(options.game)
    for name in ('tic_tac_toe', 'kuhn_poker'):
        if folder := getattr(options, name): found[name] = record_board_game(folder, name)
    path.write_text(json.dumps(found, indent=1) + '\n')
    named = {file for rows in found.values() for row in rows for file in row.values() if isinstance(file, str)}
    for old in RECORDED.glob('*.safetensors'):
        if old.name not in named: old.unlink()


def notebook_03():
    "What the cells of nbs/train/03 define: TESTS, GRADERS and CHEATS."
    from IPython.core.inputtransformer2 import TransformerManager
    cells = json.loads((ROOT/'nbs'/'train'/'03_fool_the_grader.ipynb').read_text())['cells']
    space = {}
    with contextlib.chdir(ROOT):
        for cell in cells:
            source = ''.join(cell['source'])
            if 'verdicts = ' in source: break
            if cell['cell_type'] == 'code': exec(TransformerManager().transform_cell(source), space)   # Knows %pip
    return space


def record_cheats(options):
    "Write cheats.json: each program, and whether each grader accepts it."
    from adversarial_rl.grader.grading import grade
    space = notebook_03()
    programs = []
    for name, code in space['CHEATS'].items():
        verdicts = {grader: bool(f(code, space['TESTS'])) for grader, f in space['GRADERS'].items()}
        outcome = grade(code, list(space['TESTS']))
        said = ': '.join(x for x in (outcome.kind.replace('_', ' '), outcome.message) if x)
        programs.append(dict(name=name, code=code, verdicts=verdicts, why=f'Our grader says: {said[:160]}'))
    (RECORDED/'cheats.json').write_text(json.dumps(dict(tests=space['TESTS'], programs=programs), indent=1) + '\n')


def did(program, test):
    "What one program does on one test, in the words of in_page.run; the project's grader runs it."
    from adversarial_rl.grader.grading import grade
    asserted = ast.parse(test).body[0].test
    call = ast.unparse(asserted.left if isinstance(asserted, ast.Compare) else asserted)
    outcome, answer = grade(program, [test]), grade(program, [call])
    state = dict(success='passed', assertion_failure='failed', timeout='timeout').get(outcome.kind, 'error')
    said = (answer.messages or (answer.message,))[0] if state in ('passed', 'failed') else outcome.message
    return dict(state=state, answer='stopped after ten seconds' if state == 'timeout' else said[:90])


def as_shown(played, texts, titles):
    "One problem's round as the page shows it: its stages, and what play/round.js says of programs that it grades."
    (program,), (suite,), problem = played.programs, played.suites, played.problem
    reference = problem.reference_solution
    texts = [text.removeprefix('```python\n').rstrip('`\n') for text in texts]
    stages = [dict(title=title, text=text) for title, text in zip(titles, texts)]
    tests = [(t, v) for t, v, accepted in zip(suite.tests, suite.valid, suite.accepted) if accepted or not v]
    suite_rows = [dict(test=t, valid=v, program=did(program, t), reference=did(reference, t)) for t, v in tests]
    return dict(problem=dict(description=problem.description, reference=reference), stages=stages, graded=dict(
        program=program, baseline=[dict(test=t, program=did(program, t)) for t in problem.baseline_tests],
        suite=suite_rows, unreadable=0, copies=len(suite.tests) - len(tests)))


def real_rounds(players, seed):
    "(kind, round) of held-out problems: whether it is solved and whether a test breaks it, and what the page shows."
    import torch

    from adversarial_rl.game.round import play_round, RoundPlan
    from adversarial_rl.problems.curriculum import starter_problems
    generator, discriminator = players.values()
    rng = torch.Generator().manual_seed(seed)
    played = play_round(generator, discriminator, starter_problems('held_out', ROUNDS), RoundPlan(1, 1), rng=rng)
    for i, x in enumerate(played.problems):
        verdict = x.verdicts[0]
        texts = [generator.answers(played.generator_transcripts, k)[i] for k in range(len(generator.stages))]
        print(f'baseline {verdict.baseline}, tests {list(verdict.suites.values())}', flush=True)
        yield ((all(verdict.baseline), not all(verdict.suites.values())),
               as_shown(x, texts, [stage.title for stage in generator.stages]))


def untrained(model, **settings):
    "Both players before any training."
    from adversarial_rl.core.settings import TrainingConfig
    from adversarial_rl.model.players import make_players
    config = TrainingConfig(generator_model=model, discriminator_model=model, max_new_tokens=LIMIT, **settings)
    return dict(zip(('generator', 'discriminator'), make_players(config, 'cpu', 'bfloat16')))


def write_rounds(file, shown): (RECORDED/file).write_text(json.dumps(shown, indent=1) + '\n')


def record_rounds(options):
    "Write rounds.json: the first rounds of each kind, by whether the baseline and the discriminator's tests hold."
    kinds = {}
    for kind, shown in real_rounds(untrained(options.model), options.seed): kinds.setdefault(kind, shown)
    order = (True, True), (False, True), (True, False), (False, False)
    write_rounds('rounds.json', [kinds[k] for k in order if k in kinds][:3])


def record_trained(options):
    "Write trained.json: the first problem that only the trained generator solves, before and after."
    from adversarial_rl.model.players import load_trained
    models = dict.fromkeys(('generator', 'discriminator'), options.model)
    after = load_trained(options.checkpoint, 'cpu', LIMIT, dtype='bfloat16', models=models)
    stages = [stage.name for stage in after['generator'].stages]
    before = untrained(options.model, stages=stages, max_tests=after['discriminator'].max_tests)
    rounds = [real_rounds(players, options.seed) for players in (before, after)]
    for (first, old), (last, new) in zip(*rounds):
        if last[0] and not first[0]: return write_rounds('trained.json', [old, new])
    raise SystemExit('the trained generator solves nothing that the untrained one does not; try another --seed')


def opening(node):
    "The round that the page opens with, played by the page's own code: the program, and both kinds of tests."
    sys.path[:0] = [str(ROOT/'site'), str(ROOT/'site'/'python')]
    import build
    import in_page
    with tempfile.TemporaryDirectory() as folder:
        build.write_curriculum(tables := Path(folder)/'curriculum.json')
        asked = dict(model=str(ROOT/'checkpoints'/'starter'), curriculum=json.loads(tables.read_text()))
        Path(folder, 'asked.json').write_text(json.dumps(asked))
        subprocess.run([node, ROOT/'tests'/'page'/'opening.mjs', folder], check=True)
        played = json.loads(Path(folder, 'answered.json').read_text())
    problem, found = in_page.problem(played['problem']), in_page.read(played['code'], played['testers'], 'f')
    valid = [t for t in found['tests'] if t and in_page.run(problem['reference'], t)['state'] == 'passed']
    rows = {name: [dict(test=t) | in_page.run(found['program'], t) for t in tests]
            for name, tests in (('baseline', problem['tests']), ('valid', valid))}
    return played | found | rows


def record_picture(options):
    "Draw opening.png, which the page's head names: the program, and the test that breaks it."
    from matplotlib.figure import Figure
    shown = opening('node')
    broke = next(row for row in shown['valid'] if row['state'] != 'passed')
    fig = Figure(figsize=(12, 6.3), facecolor='#fbfaf8')
    def write(y, text, size, color='#1c2126', **kw): fig.text(.07, y, text, size=size, color=color, va='top', **kw)
    write(.9, 'One model writes a program, another breaks it.', 27, weight='bold')
    write(.77, shown['problem'], 21, '#5a646f')
    write(.66, shown['program'].strip(), 20, family='monospace', linespacing=1.5)
    write(.37, f'\N{CHECK MARK} passes all {len(shown["baseline"])} baseline tests', 22, '#00629b')
    write(.27, f'\N{BALLOT X} {broke["test"].removeprefix("assert ")}: it returns {broke["answer"]}', 22, '#c04f00')
    write(.13, 'adversarial_rl: play a round in your browser', 19, '#5a646f')
    fig.savefig(RECORDED/'opening.png', dpi=100)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    commands = parser.add_subparsers(required=True)
    training = commands.add_parser('training')
    for name in ('game', 'tic-tac-toe', 'kuhn-poker'):
        training.add_argument(f'--{name}', help='a folder of checkpoints')
    training.set_defaults(run=record_training)
    commands.add_parser('cheats').set_defaults(run=record_cheats)
    commands.add_parser('picture').set_defaults(run=record_picture)
    rounds = commands.add_parser('rounds')
    rounds.set_defaults(run=record_rounds)
    trained = commands.add_parser('trained')
    trained.add_argument('--checkpoint', required=True, help='of run_training')
    for command in (rounds, trained):
        command.add_argument('--model', required=True, help='a folder, such as one with Qwen2.5-Coder-0.5B-Instruct')
        command.add_argument('--seed', type=int, default=0, help='of what is sampled')
    trained.set_defaults(run=record_trained)
    options = parser.parse_args()
    options.run(options)


if __name__ == '__main__': main()
