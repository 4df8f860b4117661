"""The whole pipeline in under a minute: grade, train, resume, infer, evaluate. Run by `make quick`.

It needs no test packages, no network and no GPU. Everything else is tested by `make test-all`.
"""
import os
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
os.environ |= dict(HF_HUB_OFFLINE='1', OMP_NUM_THREADS='1', TOKENIZERS_PARALLELISM='false')

from adversarial_rl import create_eval_config_for_training, grade, MBPPEvaluator, starter_problems  # noqa: E402
from adversarial_rl.core import commands  # noqa: E402

TRAIN = """--generator-model starter --discriminator-model starter --device cpu --sampling-threads 1 --stages-together
--n-discriminator-steps 1 --n-generator-steps 1 --k-alternating-steps 0 --problems-per-step 2 --group-size 2
--max-tests 1 --max-new-tokens 32 --held-out 2 --no-mbpp-eval --report-to none"""


def test_the_pipeline(tmp_path):
    assert grade('def f(x): return x + 1', ['assert f(1) == 2']).passed
    folder = Path(tmp_path)
    train = [*TRAIN.split(), '--output-dir', str(folder/'output'), '--checkpoint-dir', str(folder/'run')]
    assert commands.run_training(train) == 0
    assert commands.run_training([*train, '--resume']) == 0
    best = str(folder/'run'/'checkpoint_best.pt')
    ask = ['--checkpoint', best, '--device', 'cpu', '--max-tokens', '32', '--output', str(folder/'results.json')]
    assert commands.run_inference([*ask, '--problem', 'Write f(xs), which returns the sum of xs.']) == 0
    assert (folder/'results.json').exists()

    from adversarial_rl.mbpp.writers import Control
    evaluator = MBPPEvaluator(create_eval_config_for_training(num_questions=2), starter_problems('held_out', 4))
    assert evaluator.evaluate(Control('references'), show=False).metrics['pass@1'].mean == 1


if __name__ == '__main__':
    with tempfile.TemporaryDirectory() as folder: test_the_pipeline(folder)
    print('everything works')
