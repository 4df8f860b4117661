"The metric `code_eval`, whose programs run in adversarial_rl's grader."
import datasets
import evaluate

from adversarial_rl.engines.code_eval import compute


class CodeEval(evaluate.Metric):
    "As `evaluate.load('code_eval')` of the hub."
    def _info(self):
        features = datasets.Features({'predictions': datasets.Sequence(datasets.Value('string')),
                                      'references': datasets.Value('string')})
        return evaluate.MetricInfo(description=__doc__, citation='', features=features)

    def _compute(self, predictions, references, **settings): return compute(predictions, references, **settings)
