"""What fixed seeds give: `python tests/behaviour.py FILE` writes it down, and compares with FILE where that exists.

A change that moves code, or says it better, must leave all of it alone: the metrics of every trainer step by step, and
what the grader says of every hostile program. Another machine rounds differently: record and compare on the same one.
"""
import json
import os
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

TIMES = ('seconds', 'per_second', 'runtime', 'time')  # Columns that differ from run to run
BIN = Path(sysconfig.get_path('scripts'))
ENVIRONMENT = os.environ | dict(OMP_NUM_THREADS='1', HF_HUB_OFFLINE='1', WANDB_MODE='disabled')
TRL = ['--training_args.max_steps', '4', '--training_args.per_device_train_batch_size', '32', '--device', 'cpu',
       '--evaluation.eval_interval_steps', '2', '--evaluation.enabled', 'false']
SHORT = ['--held-out', '60', '--report-to', 'none']
OPTIONS = ['--opponents', '4', '--pool-size', '3', '--discriminator-writes', 'asserts_filled',
           '--discriminator-reward', 'cure', '--kl-coef', '0.02']
JOBS = {
    'train': ['run_training', '--config', 'configs/starter.yaml', '--n-discriminator-steps', '2',
              '--n-generator-steps', '2', '--k-alternating-steps', '1', '--together-steps', '5', *SHORT],
    'options': ['run_training', '--config', 'configs/starter.yaml', '--n-discriminator-steps', '1',
                '--n-generator-steps', '1', '--k-alternating-steps', '0', '--together-steps', '1', *OPTIONS, *SHORT],
    'grpo': ['grpo_code_execution', '--config', 'configs/grpo_code_execution_starter.yaml', *TRL],
    'output_game': ['grpo_code_game', '--config', 'configs/grpo_code_game_starter.yaml',
                    '--predictor_steps', '4', *TRL],
    'tic_tac_toe': ['spiral_self_play', '--config', 'configs/spiral_self_play_starter.yaml', '--steps', '4',
                    '--eval-steps', '2', '--eval-games', '40', '--games-per-step', '64', '--report-to', 'none'],
    'kuhn_poker': ['spiral_self_play', '--config', 'configs/spiral_self_play_kuhn_starter.yaml', '--steps', '4',
                   '--eval-steps', '2', '--eval-games', '40', '--games-per-step', '64', '--report-to', 'none'],
}


def timeless(value):
    "The value without what differs from run to run."
    if isinstance(value, dict):
        return {k: timeless(v) for k, v in value.items() if not any(t in k.lower() for t in TIMES)}
    return [timeless(v) for v in value] if isinstance(value, list) else value


def trained(argv):
    "Every row of metrics of one command, and its figures before and after."
    with tempfile.TemporaryDirectory() as folder:
        flag = '--output_dir' if argv[0].startswith('grpo') else '--output-dir'
        checkpoints = [] if argv[0].startswith('grpo') else ['--checkpoint-dir', f'{folder}/checkpoints']
        done = subprocess.run([BIN / argv[0], *argv[1:], flag, folder, *checkpoints], env=ENVIRONMENT,
                              capture_output=True, text=True)
        if done.returncode: sys.exit(f'{" ".join(argv)}\n{done.stderr}')
        rows = {str(p.relative_to(folder)): [timeless(json.loads(line)) for line in p.read_text().splitlines()]
                for p in sorted(Path(folder).rglob('metrics.jsonl'))}
        results = json.loads((Path(folder) / 'training_results.json').read_text())
        return dict(rows=rows, before=timeless(results.get('before')), after=timeless(results.get('after')))


def graded():
    "For every hostile program whether it passes."
    sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[1])]
    from hostile import TABLE

    from adversarial_rl.grader.grading import grade
    filled = {'{port}': '9', '{marker}': 'marker', '{outside}': '/nonexistent'}
    def code(case):
        text = case.code
        for name, value in filled.items(): text = text.replace(name, value)
        return text
    return {case.name: grade(code(case), list(case.tests), case.limits).passed for case in TABLE}


def differences(a, b, path=''):
    "Paths at which two nested values differ."
    if isinstance(a, dict) and isinstance(b, dict):
        return [d for k in [*a, *(k for k in b if k not in a)] for d in differences(a.get(k), b.get(k), f'{path}/{k}')]
    if isinstance(a, list) and isinstance(b, list) and len(a) == len(b):
        return [d for i, (x, y) in enumerate(zip(a, b)) for d in differences(x, y, f'{path}/{i}')]
    return [] if a == b or (a != a and b != b) else [f'{path}: {a} -> {b}']


def main():
    path, wanted = Path(sys.argv[1]), sys.argv[2:] or [*JOBS, 'grader']
    before = json.loads(path.read_text()) if path.exists() else {}
    found, different = {}, []
    for name in wanted:
        found[name] = graded() if name == 'grader' else trained(JOBS[name])
        found[name] = json.loads(json.dumps(found[name]))
        news = differences(before[name], found[name], name) if name in before else ['recorded']
        print(f'{name}: {"the same" if not news else "recorded" if name not in before else f"{len(news)} differences"}',
              *(news[:20] if name in before else ()), sep='\n  ', flush=True)
        if name in before: different += news
    path.write_text(json.dumps(found | before, indent=1))
    sys.exit(bool(different))


if __name__ == '__main__': main()
