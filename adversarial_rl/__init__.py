"""Two language models play a game over coding problems and learn from it with PPO, stage by stage.

What a script needs stands here and is loaded when it is first used, so `import adversarial_rl` loads no PyTorch.
Without the extra `train`, the grader and the problems work, and the other names raise `NotInstalled`, an `ImportError`.
"""

__version__ = "0.1.0"

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from adversarial_rl.core.machine import detect_platform_and_gpu as detect_platform_and_gpu
    from adversarial_rl.core.settings import PPOConfig as PPOConfig, TrainingConfig as TrainingConfig
    from adversarial_rl.game.inference import solve as solve
    from adversarial_rl.game.trainer import train as train
    from adversarial_rl.grader.answers import parse_tests as parse_tests, program_in as program_in
    from adversarial_rl.grader.execution import Limits as Limits
    from adversarial_rl.grader.grading import (
        agrade as agrade,
        agrade_many as agrade_many,
        grade as grade,
        grade_many as grade_many,
        Grader as Grader,
        Outcome as Outcome,
        run as run,
    )
    from adversarial_rl.grader.pool import isolated as isolated, sandbox_report as sandbox_report
    from adversarial_rl.mbpp.dataset import load_mbpp as load_mbpp
    from adversarial_rl.mbpp.evaluator import MBPPEvaluator as MBPPEvaluator
    from adversarial_rl.mbpp.training import (
        create_eval_config_for_training as create_eval_config_for_training,
        IntervalEvaluationCallback as IntervalEvaluationCallback,
    )
    from adversarial_rl.model.players import load_trained as load_trained
    from adversarial_rl.problems.curriculum import starter_problems as starter_problems
    from adversarial_rl.problems.problem import load_problems as load_problems, Problem as Problem

_MODULES = {
    'Grader': 'grader.grading', 'IntervalEvaluationCallback': 'mbpp.training', 'Limits': 'grader.execution',
    'MBPPEvaluator': 'mbpp.evaluator', 'Outcome': 'grader.grading',
    'PPOConfig': 'core.settings', 'Problem': 'problems.problem', 'TrainingConfig': 'core.settings',
    'agrade': 'grader.grading', 'agrade_many': 'grader.grading',
    'create_eval_config_for_training': 'mbpp.training', 'detect_platform_and_gpu': 'core.machine',
    'grade': 'grader.grading', 'grade_many': 'grader.grading', 'isolated': 'grader.pool',
    'load_mbpp': 'mbpp.dataset', 'load_problems': 'problems.problem', 'load_trained': 'model.players',
    'parse_tests': 'grader.answers', 'program_in': 'grader.answers', 'run': 'grader.grading',
    'sandbox_report': 'grader.pool', 'solve': 'game.inference', 'starter_problems': 'problems.curriculum',
    'train': 'game.trainer',
}  # Public name -> module that defines it
__all__ = list(_MODULES)


def __getattr__(name: str):
    "Load a public name when it is first used (PEP 562)."
    if name not in _MODULES: raise AttributeError(f"module 'adversarial_rl' has no attribute '{name}'")
    from .core.errors import load
    globals()[name] = getattr(load(_MODULES[name], name), name)
    return globals()[name]


def __dir__(): return sorted([*globals(), *_MODULES])
