"""Record what the page shows of trainings and of graders, into site/recorded.

`python site/record.py training --game CHECKPOINTS --tic-tac-toe CHECKPOINTS --kuhn-poker CHECKPOINTS` takes the
folders of checkpoints of run_training and spiral_self_play; `python site/record.py cheats` runs the programs of
nbs/train/03 through its three graders.
"""
import argparse
import contextlib
import json
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
RECORDED = ROOT/'site'/'recorded'
sys.path.insert(0, str(ROOT))

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


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    commands = parser.add_subparsers(required=True)
    training = commands.add_parser('training')
    for name in ('game', 'tic-tac-toe', 'kuhn-poker'):
        training.add_argument(f'--{name}', help='a folder of checkpoints')
    training.set_defaults(run=record_training)
    commands.add_parser('cheats').set_defaults(run=record_cheats)
    options = parser.parse_args()
    options.run(options)


if __name__ == '__main__': main()
