"Games of toy size between adapters of the bundled model, and the metrics of a run without what differs each time."
import hashlib
import json
import time

import torch

from adversarial_rl.core.settings import PPOConfig, TrainingConfig
from adversarial_rl.game.trainer import AdversarialTrainer
from adversarial_rl.record.tracking import read_metrics

STARTER = dict(generator_model='starter', discriminator_model='starter', device='cpu')


def tiny(folder, **changed):
    "A trainer of the game that writes into this folder."
    config = STARTER | dict(held_out=2, checkpoint_dir=str(folder/'ck'), output_dir=str(folder/'out')) | changed
    return AdversarialTrainer(TrainingConfig(**config), PPOConfig())


def small(folder, **changed):
    "The settings of a game whose stages have two steps."
    config = STARTER | dict(problems_per_step=3, group_size=3, held_out=6, max_new_tokens=40, max_tests=1,
                            n_discriminator_steps=1, n_generator_steps=1, k_alternating_steps=0, sampling_threads=1,
                            output_dir=str(folder/'out'), checkpoint_dir=str(folder/'ck')) | changed
    return TrainingConfig(**config), PPOConfig(learning_rate=1e-3, critic_warmup=0)


def arguments(folder, *flags):
    "Flags of run_training for such a game; a later flag overrides an earlier one."
    few = ('--config configs/starter.yaml --problems-per-step 3 --group-size 3 --held-out 4 --max-new-tokens 40 '
           '--n-discriminator-steps 1 --n-generator-steps 1 --k-alternating-steps 0 --together-steps 0 '
           '--critic-warmup 0')
    return [*few.split(), '--output-dir', str(folder/'out'), '--checkpoint-dir', str(folder/'ck'), *flags]


def metrics(folder):
    "The rows of a run's metrics so far."
    path = folder/'out'/'metrics.jsonl'
    return read_metrics(path) if path.exists() else []


def results(folder): return json.loads((folder/'out'/'training_results.json').read_text())


def untimed(rows): return [{k: v for k, v in row.items() if 'second' not in k} for row in rows]


def rewritten(path, target, change):
    "A copy of a checkpoint, changed, with the right checksum."
    whole = torch.load(path, weights_only=False)
    change(whole)
    torch.save(whole, target)
    info = json.loads(path.with_suffix('.json').read_text())
    info['sha256'] = hashlib.sha256(target.read_bytes()).hexdigest()
    target.with_suffix('.json').write_text(json.dumps(info))
    return target


def wait_for_lines(path, n, process):
    "Until a file has so many lines, or the process has ended."
    while process.poll() is None and not (path.exists() and path.read_bytes().count(b'\n') >= n): time.sleep(.02)
