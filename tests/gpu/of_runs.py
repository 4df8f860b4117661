"Checks of whole runs: learning, resuming, GRPO and self-play."
import json
import math
import multiprocessing
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import torch
from of_memory import with_random_rewards
from registry import check, Skip
from spread_models import folder_of, free

from adversarial_rl.core.config import parse_config
from adversarial_rl.core.settings import EvaluationConfig, PPOConfig, TrainingConfig
from adversarial_rl.game.trainer import AdversarialTrainer
from adversarial_rl.record.checkpoints import checkpoints
from adversarial_rl.record.run_loop import check_start, resume_or_begin
from adversarial_rl.record.tracking import read_metrics

ROOT = Path(__file__).resolve().parents[2]
TOGETHER = '--n-discriminator-steps 0 --n-generator-steps 0 --k-alternating-steps 0 --together-steps'
TINY = '--problems-per-step 2 --group-size 2 --held-out 4 --max-new-tokens 8'


def in_background(place, device, flags):
    "A run of the starter in a process of its own, and the file of its results."
    out = place.folder/f'main_{device}'
    words = ['-m', 'adversarial_rl.game.trainer', '--config', 'configs/starter.yaml', *flags.split(), '--device',
             device, '--output-dir', str(out), '--checkpoint-dir', str(out/'checkpoints'), '--report-to', 'none']
    env = os.environ | dict(PYTHONPATH=os.pathsep.join(filter(None, (str(ROOT), os.environ.get('PYTHONPATH')))))
    return subprocess.Popen([sys.executable, *words], cwd=ROOT, env=env), out/'training_results.json'


@check(4, "the main job's starter learns here as on a CPU", 200)
def main_job(place, found):
    flags = f'{TOGETHER} {1 if place.tiny else 40} --save-steps 100 --dtype float32'
    if place.tiny: flags += f' {TINY}'
    devices = dict.fromkeys([place.device, 'cpu'])
    runs = {device: in_background(place, device, flags) for device in devices}
    rates = {}
    for device, (process, results) in runs.items():
        if code := process.wait(): return found.require(False, f'the run on {device} ended with exit code {code}')
        held_out = json.loads(results.read_text())['held_out']
        rates[device] = dict(gain=held_out['pass_rate_after'] - held_out['pass_rate_before'],
                             interval=held_out['pass_rate_after_interval'])
    found.note(pass_rate=rates)
    (low, high), (least, most) = (rates[device]['interval'] for device in (place.device, 'cpu'))
    found.require(low <= most and least <= high, "the interval does not overlap the CPU's")
    gain = rates[place.device]['gain']
    found.require(place.tiny or gain >= .08, f'the pass rate gained {gain:.3f}')


STEPS, KILLED = 6, 3

def resumable(place, folder, resume=False):
    "A trainer of six steps, and the ids of the tokens that each round samples."
    flags = ['--config', 'configs/starter.yaml', *f'{TINY} {TOGETHER} {STEPS // 2} --critic-warmup 0'.split()]
    config, ppo, _ = parse_config([TrainingConfig, PPOConfig, EvaluationConfig], flags, '')
    where = dict(checkpoint_dir=str(folder/'checkpoints'), output_dir=str(folder))
    trainer = AdversarialTrainer(replace(config, device=place.device, resume=resume, **where), ppo)
    play, ids = with_random_rewards(trainer.pair.play), {}
    def recorded(done, *rest):
        r, *more = play(done, *rest)
        ids[done] = [t.ids.cpu() for t in r.transcripts]
        return (r, *more)
    trainer.pair.play = recorded
    resume_or_begin(trainer, check_start(trainer.config, trainer.players))
    return trainer, ids


def until_killed(place, folder):
    "Steps with a checkpoint after each."
    trainer, _ = resumable(place, folder)
    while trainer.step < STEPS:
        trainer.train_step()
        trainer.save()
        if trainer.step == KILLED: time.sleep(600)   # Killed here


def distance(x, y):
    "Largest difference of two rows of metrics, relative where they exceed 1."
    names = [k for k, v in x.items() if isinstance(v, float) and 'second' not in k and not math.isnan(v)]
    return max(abs(x[k] - y[k]) / max(1., abs(x[k])) for k in names)


@check(5, 'killed after three of six steps and resumed: the same tokens and metrics', 30)
def resuming(place, found):
    cut = place.folder/'cut'
    saved = cut/'checkpoints'
    process = multiprocessing.get_context('fork').Process(target=until_killed, args=(place, cut))
    process.start()   # Before this process uses the GPU
    def reached(): return any(f'"step": {KILLED}' in p.with_suffix('.json').read_text() for p in checkpoints(saved))
    while process.is_alive() and not reached(): time.sleep(.1)
    os.kill(process.pid, signal.SIGKILL)
    process.join()
    whole, ids = resumable(place, place.folder/'whole')
    rows = [whole.train_step() for _ in range(STEPS)]
    resumed, ids_again = resumable(place, cut, resume=True)
    found.note(resumed_at=resumed.step)
    found.require(resumed.step == KILLED, f'resumed at step {resumed.step}')
    again = [resumed.train_step() for _ in range(STEPS - resumed.step)]
    same = all(map(torch.equal, ids[KILLED], ids_again[KILLED]))
    apart, learned = distance(rows[KILLED], again[0]), [any('grad_norm' in k for k in row) for row in rows]
    found.note(learned=learned, next_ids_equal=same, next_row=apart, last_row=distance(rows[-1], again[-1]))
    found.require(all(learned), 'a step without an update')
    found.require(same, "the next round's tokens are others")
    found.require(apart <= 1e-3, f'the next metrics differ by {apart:.2g}')


def of_length(prompts, completions, **_):
    "A reward that differs between random texts, as that for how they end does not."
    return [len(text) % 7 / 7 for text in completions]


def grpo_run(place, found, name, model, dtype, steps, **args):
    "A run of GRPO; its losses, whether the adapter moved, and the peak of memory."
    from safetensors.torch import load_file

    from adversarial_rl.grpo.code_execution import execution_rewards, prompt_rows, train_with_trl
    from adversarial_rl.grpo.settings import GRPOSettings, ModelSettings, WandBSettings
    out = place.folder/f'grpo_{name}'
    free(place)
    settings = GRPOSettings(
        model=ModelSettings(id=model), evaluation=EvaluationConfig(mbpp_eval=False), device=place.device,
        output_dir=str(out), dtype=dtype, wandb=WandBSettings(enabled=False),
        training_args=dict(max_steps=steps, learning_rate=1e-3, save_steps=1000) | args)
    train_with_trl(settings, prompt_rows('starter'), [execution_rewards, of_length])
    rows = [row for row in read_metrics(out/'metrics.jsonl') if 'loss' in row]
    weights = load_file(next((out/'model').rglob('adapter_model.safetensors')))
    moved = max(w.abs().max().item() for k, w in weights.items() if 'lora_B' in k)
    gigabytes = 0. if place.tiny else torch.cuda.max_memory_allocated() / 1e9
    found.note(**{name: dict(steps=len(rows), last_loss=rows[-1]['loss'], moved=moved, peak_gb=gigabytes)})
    finite = all(math.isfinite(row[k]) for row in rows for k in ('loss', 'grad_norm'))
    found.require(finite and len(rows) == steps, f'{name}: a step is missing or not finite')
    found.require(0 < moved < math.inf, f'{name}: the adapter did not move')
    return gigabytes


@check(9, 'GRPO: the starter, and 1.5B under 15 GB', 60)
def grpo(place, found):
    missing = [name for name in ('trl', 'datasets') if not find_spec(name)]
    if missing: raise Skip(f'not installed: {", ".join(missing)}')
    size = dict(per_device_train_batch_size=8, num_generations=4, max_completion_length=16 if place.tiny else 64)
    types = ['float32'] if place.tiny else ['float16', 'bfloat16']
    if not place.tiny and torch.cuda.get_device_capability(place.device) < (8, 0): types.remove('bfloat16')
    for dtype in types: grpo_run(place, found, dtype, 'starter_printing', dtype, 2 if place.tiny else 10, **size)
    if place.tiny: return
    place.cap(15)
    grpo_run(place, found, '1.5B', folder_of(place, '1.5B'), 'float16', 2, **size | dict(gradient_checkpointing=True))


def self_play(place, found, name, **changes):
    "Steps of self-play, the first of which measures the variance of the gradient."
    from adversarial_rl.selfplay.config import SpiralConfig
    from adversarial_rl.selfplay.trainer import SelfPlay
    config, ppo, _ = parse_config([SpiralConfig, PPOConfig, EvaluationConfig],
                                  ['--config', 'configs/spiral_self_play_starter.yaml'], '')
    places = dict(output_dir=str(place.folder/name), checkpoint_dir=str(place.folder/name/'checkpoints'))
    (place.folder/name).mkdir()
    free(place)
    settings = dict(games_per_step=16, eval_games=0, device=place.device) | places | changes
    trainer = SelfPlay(replace(config, **settings), replace(ppo, micro_batch=8))
    trainer.measure = dict   # The figures of the moves are no matter of the device
    rows = [trainer.train_step() for _ in range(trainer.steps)]
    noise = [x for k, x in rows[0].items() if k.startswith('gradient_variance/')]
    gigabytes = 0. if place.tiny else torch.cuda.max_memory_allocated() / 1e9
    found.note(**{name: dict(steps=len(rows), gradient_variance=noise, peak_gb=gigabytes,
                             finite_steps=[row['finite_steps'] for row in rows])})
    found.require(noise and all(map(math.isfinite, noise)), f'{name}: the variance of the gradient is not finite')
    found.require(all(row['finite_steps'] == 1 for row in rows), f'{name}: a step is not finite')


@check(10, "self-play: the starter, and the gradient's variance at 1.5B under 15 GB", 30)
def spiral(place, found):
    if not find_spec('pyspiel'): raise Skip('not installed: open_spiel')
    self_play(place, found, 'starter', steps=2 if place.tiny else 5)
    place.cap(15)
    self_play(place, found, '1.5B', steps=1, model=folder_of(place, '1.5B'), dtype='float16',
              games_per_step=2 if place.tiny else 16)
