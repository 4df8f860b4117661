from datasets import Dataset
from trl import GRPOConfig, GRPOTrainer

from adversarial_rl import grade_many, program_in, starter_problems
from adversarial_rl.core.files import resource


def reward(completions, tests, **columns):
    return [o.pass_rate if o.judged else None for o in grade_many(zip(map(program_in, completions), tests))]


rows = [dict(prompt=p.description, tests=list(p.baseline_tests)) for p in starter_problems('training', 4)]
args = GRPOConfig('output/reward_of_trl', max_steps=1, per_device_train_batch_size=4, num_generations=4,
                  max_completion_length=16, bf16=False)
model = str(resource('checkpoints/starter'))
trainer = GRPOTrainer(model, reward_funcs=[reward], args=args, train_dataset=Dataset.from_list(rows))
print(trainer.train().global_step, 'step')
