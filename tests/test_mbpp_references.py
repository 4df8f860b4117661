"The real MBPP through the grader: every reference passes, no program that returns a constant does. Needs MBPP_DATASET_PATH, a folder with the published files."
import json
import os
import re
from pathlib import Path

import pytest

from adversarial_rl.grader.execution import Limits
from adversarial_rl.grader.grading import grade_many
from adversarial_rl.grader.judge import study

FOLDER = Path(os.environ.get('MBPP_DATASET_PATH', ''))
FILES = {'full': ('mbpp.jsonl', 974, 'code', 'test_setup_code'), 'sanitized': ('sanitized-mbpp.json', 427, 'code', 'test_imports')}
pytestmark = pytest.mark.skipif(not os.environ.get('MBPP_DATASET_PATH') or not FOLDER.is_dir(), reason='MBPP_DATASET_PATH names no folder')

def jobs(name):
    file, n, code, setup = FILES[name]
    text = (FOLDER/file).read_text()
    rows = [json.loads(line) for line in text.splitlines()] if file.endswith('l') else json.loads(text)
    assert len(rows) == n
    before = lambda row: '\n'.join(row[setup]) if isinstance(row[setup], list) else row[setup]
    return [(row['task_id'], row[code].replace('\r', ''), [f'{before(row)}\n{t}'.strip() for t in row['test_list']]) for row in rows]

@pytest.mark.parametrize('name', FILES)
def test_references_pass(name):
    outcomes = {i: o for (i, *_), o in zip(jobs(name), grade_many([(code, tests) for _, code, tests in jobs(name)], Limits(wall_seconds=60, cpu_seconds=60)))}
    failed = {i: (o.kind, o.message) for i, o in outcomes.items() if not o.passed}
    shared = [i for i, o in outcomes.items() if o.shared_process]
    print(f'{name}: {len(outcomes) - len(failed)} of {len(outcomes)} pass, shared process: {shared}')
    assert not failed and len(shared) <= 5

@pytest.mark.parametrize('name', FILES)
@pytest.mark.parametrize('constant', ['None', '-987654321.25', '"wrong"', '[]', 'True'])
def test_constants_fail(name, constant):
    wrong = [(i, '\n'.join(f'def {f}(*a, **k): return {constant}' for f in study(tests)[0]), tests) for i, _, tests in jobs(name)]
    passed = [i for (i, *_), o in zip(wrong, grade_many([(code, tests) for _, code, tests in wrong])) if o.passed]
    honest = {i for i, code, tests in jobs(name) if all(re.search(rf'==\s*\(?{re.escape(constant)}\)?\s*$', t) for t in tests)}
    assert set(passed) <= honest, 'a constant passes tests that ask for something else'
