"TRL's own trainer with our reward functions and our environment, on models of toy size."
import copy
import json

import pytest
from datasets import Dataset
from trl import GRPOConfig, GRPOTrainer
from trl.chat_template_utils import qwen3_chat_template

from adversarial_rl.core.errors import UsageError
from adversarial_rl.engines.trl import ProgramEnvironment
from adversarial_rl.grader import pool
from adversarial_rl.grpo import rewards
from adversarial_rl.grpo.rewards import execution_rewards

TESTS = ['assert double(2) == 4', 'assert double(3) == 6']
ROW = dict(prompt='Double x.', tests=TESTS, function='double', entry_points=['double'],
           reference='def double(x): return 2 * x')
FUNCTIONS = [rewards.test_rewards, execution_rewards]


@pytest.fixture
def config(tmp_path):
    def make(**more):
        return GRPOConfig(output_dir=str(tmp_path), max_steps=1, per_device_train_batch_size=2, num_generations=2,
                          max_completion_length=400, use_cpu=True, bf16=False, report_to='none', logging_steps=1,
                          disable_tqdm=True, **more)
    return make


def columns(completions):
    return dict(prompts=[''] * len(completions), completions=completions,
                **{k: [v] * len(completions) for k, v in ROW.items() if k != 'prompt'})


def test_the_trainer_logs_what_the_functions_give(qwen, tokenizer, config):
    trainer = GRPOTrainer(qwen(), reward_funcs=FUNCTIONS, args=config(), train_dataset=Dataset.from_list([ROW] * 4),
                          processing_class=tokenizer)
    trainer.train()
    log = trainer.state.log_history[0]
    assert [f'rewards/{f.__name__}/mean' in log for f in FUNCTIONS] == [True] * 2


def test_each_kind_of_completion_earns_what_it_should():
    given = columns(['```python\ndef double(x): return x + 2\n```', 'assert double(3) == 6', 'nothing'])
    assert rewards.test_rewards(**given) == [.5, 0, 0] and execution_rewards(**given) == [.5, -1, -1]


def test_a_chat_that_ends_without_words_is_wrong():
    "A last turn that only calls a tool has no text; it earns what a wrong program earns, and ends no training."
    turns = [[dict(role='assistant', content=None)], [dict(role='assistant', tool_calls=[])]]
    assert rewards.test_rewards(**columns(turns)) == [0, 0]


def no_processes(monkeypatch):
    "From here on, the grader can run nothing."
    def failed(self, jobs, progress=None): return [pool.Report(error='no more processes')] * len(jobs)
    monkeypatch.setattr(pool.Sandbox, 'map', failed)


@pytest.mark.parametrize('reward', FUNCTIONS, ids=lambda f: f.__name__)
def test_a_failure_of_the_grader_is_none(reward, monkeypatch):
    "None for the sample, never a 0, from which the trainer would learn something false."
    no_processes(monkeypatch)
    assert reward(**columns(['assert double(3) == 6'])) == [None]


class Scripted(GRPOTrainer):
    "All of TRL's trainer but the words of the model, which are given: a list for each rollout, a text for each turn."
    def _generate_single_turn(self, prompt_ids, *args, **more):
        texts = [answers.pop(0) for answers in self.script if answers]
        return [self.processing_class(text, add_special_tokens=False)['input_ids']
                + [self.processing_class.eos_token_id] for text in texts], None


@pytest.fixture
def play(qwen, tokenizer, config, monkeypatch):
    "Train for a step on rollouts that submit these programs; the reward of each, and what the model was answered."
    monkeypatch.setenv('TRL_EXPERIMENTAL_SILENCE', '1')
    def played(*programs):
        chat = copy.deepcopy(tokenizer)
        chat.add_special_tokens(dict(additional_special_tokens=['<|im_start|>'], eos_token='<|im_end|>'))
        chat.chat_template = qwen3_chat_template
        model = qwen()
        model.resize_token_embeddings(len(chat), mean_resizing=False)
        model.config.max_position_embeddings = 2048
        rows = [dict(ROW, prompt=[dict(role='user', content='Double x.')])] * 4
        trainer = Scripted(model, args=config(), environment_factory=ProgramEnvironment, processing_class=chat,
                           train_dataset=Dataset.from_list(rows))
        trainer.script = [[call(code) for code in row] + ['Done.'] for row in programs]
        trainer.train()
        return trainer.state.log_history[0], trainer.environments
    return played


def call(code):
    return '<tool_call>\n' + json.dumps(dict(name='submit', arguments=dict(code=code))) + '\n</tool_call>'


def test_the_trainer_plays_in_the_environment(play):
    "One rollout mends its program, the other stops at a wrong one: rewards 1 and .5."
    right, wrong = 'def double(x): return 2 * x', 'def double(x): return x + 2'
    log, environments = play([wrong, right], [wrong])
    assert [e.get_reward() for e in environments] == [1, .5]
    assert log['rewards/ProgramEnvironment/mean'] == .75 and log['tools/call_frequency'] == 1.5
    assert log['tools/failure_frequency'] == 0


def test_the_environment_has_no_reward_for_what_could_not_be_graded(monkeypatch):
    environment = ProgramEnvironment()
    environment.reset(**ROW)
    no_processes(monkeypatch)
    assert 'grader failed' in environment.submit('def double(x): return 4')
    assert environment.get_reward() is None


@pytest.mark.parametrize('row', [{}, dict(test=TESTS), dict(tests=[])])
def test_a_row_without_tests_is_refused(row):
    "Any program would pass; a misnamed column must not reward them all."
    with pytest.raises(UsageError, match='the column is `tests`'): ProgramEnvironment().reset(**row)
