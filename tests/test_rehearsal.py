"The dress rehearsal at toy size: a chat model made on the spot plays, learns and is measured on MBPP."
import json

import pytest
from rehearsal import qwen_folder, qwen_tokenizer, rehearse, SPECIAL, SYSTEM


def rows(numbers, words):
    "MBPP in the published form, with these task numbers."
    return [dict(task_id=n, code=f'def add_{n}(x):\n    return x + {n}',
                 test_list=[f'assert add_{n}({x}) == {x + n}' for x in (1, 2, 3)])
            | {words: f'Write a function to add {n}.'} for n in numbers]


@pytest.fixture
def mbpp(tmp_path, monkeypatch):
    "A copy with three problems of the train split and one each of validation and test."
    monkeypatch.setenv('MBPP_DATASET_PATH', str(tmp_path))
    full = rows((11, 511, 601, 602, 603), 'text')
    (tmp_path/'mbpp.jsonl').write_text('\n'.join(map(json.dumps, full)))
    (tmp_path/'sanitized-mbpp.json').write_text(json.dumps(rows((11,), 'prompt')))


def test_the_template_writes_what_qwens_does():
    def written(*turns, **more):
        turns = [dict(role=role, content=text) for role, text in turns]
        return qwen_tokenizer(800).apply_chat_template(turns, tokenize=False, **more)
    system = f'<|im_start|>system\n{SYSTEM}<|im_end|>\n'
    assert written(('user', 'a'), add_generation_prompt=True) == (
        f'{system}<|im_start|>user\na<|im_end|>\n<|im_start|>assistant\n')
    assert written(('system', 's'), ('user', 'a'), ('assistant', 'b')) == (
        '<|im_start|>system\ns<|im_end|>\n<|im_start|>user\na<|im_end|>\n<|im_start|>assistant\nb<|im_end|>\n')
    tokenizer = qwen_tokenizer(800)
    assert len(tokenizer) == 800 and [len(tokenizer(x)['input_ids']) for x in SPECIAL] == [1] * 3


def test_both_players_learn_from_what_a_chat_model_writes(mbpp, tmp_path):
    flags = ['--max-new-tokens', 'plan=99,code=500,tests=500', '--lora-rank', '4']
    steps = rehearse(qwen_folder(tmp_path/'model', 'tiny'), tmp_path, flags)
    assert [row['learner'] for row in steps] == ['discriminator', 'generator'] * 2
    for row in steps:
        name = row['learner']
        assert row[f'{name}/dead_groups'] == 0 and row[f'{name}/grad_norm'] > 0 and row[f'{name}/finite_steps'] == 1
        assert row[f'{name}/logp_gap'] < .001 and row['cut_off'] == 0 and row['solved'] == .5
    assert steps[-1]['mbpp_eval/problems'] == 1
