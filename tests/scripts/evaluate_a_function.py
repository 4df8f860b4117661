from adversarial_rl import create_eval_config_for_training, MBPPEvaluator


def answer(prompt):   # Here you would ask a model
    return '```python\ndef double_0(n):\n    return 2 * n\n```'


evaluator = MBPPEvaluator(create_eval_config_for_training(num_questions=5))
report = evaluator.evaluate(answer, 'mine', show=False)
print(report.problems, report.metrics['pass@1'])
