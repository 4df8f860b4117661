"The real MBPP through the grader: every reference passes, no constant does. Needs MBPP_DATASET_PATH, a folder."
import json
import os
import re
from pathlib import Path

import pytest

from adversarial_rl.grader.execution import Limits
from adversarial_rl.grader.grading import grade_many
from adversarial_rl.grader.test_cases import names_under_test

FOLDER = Path(os.environ.get('MBPP_DATASET_PATH', ''))
FILES = {'full': ('mbpp.jsonl', 974, 'test_setup_code'), 'sanitized': ('sanitized-mbpp.json', 427, 'test_imports')}
NAMED = bool(os.environ.get('MBPP_DATASET_PATH')) and FOLDER.is_dir()
pytestmark = pytest.mark.skipif(not NAMED, reason='MBPP_DATASET_PATH names no folder')


def jobs(edition):
    "(task number, reference, tests) of every row of the published file, read without the project's own loader."
    file, n, setup = FILES[edition]
    text = (FOLDER/file).read_text()
    rows = [json.loads(line) for line in text.splitlines()] if file.endswith('l') else json.loads(text)
    assert len(rows) == n
    def before(row): return '\n'.join(row[setup]) if isinstance(row[setup], list) else row[setup]
    return [(row['task_id'], row['code'].replace('\r', ''), [f'{before(row)}\n{t}'.strip() for t in row['test_list']])
            for row in rows]


@pytest.mark.parametrize('edition', FILES)
def test_references_pass(edition):
    rows = jobs(edition)
    outcomes = grade_many([(code, tests) for _, code, tests in rows], Limits(wall_seconds=60, cpu_seconds=60))
    failed = {i: (o.kind, o.message) for (i, *_), o in zip(rows, outcomes) if not o.passed}
    print(f'{edition}: {len(rows) - len(failed)} of {len(rows)} pass')
    assert not failed


@pytest.mark.parametrize('edition', FILES)
@pytest.mark.parametrize('constant', ['None', '"wrong"', '[]', 'True'])
def test_constants_fail(edition, constant):
    rows, value = jobs(edition), re.compile(rf'==\s*\(?{re.escape(constant)}\)?\s*$')
    def program(tests):
        names = names_under_test(tests[0])
        return '\n'.join(f'def {f}(*a, **k): return {constant}' for f in names)
    outcomes = grade_many([(program(tests), tests) for _, _, tests in rows])
    passed = {i for (i, *_), o in zip(rows, outcomes) if o.passed}
    rightly = {i for i, _, tests in rows if all(value.search(t) for t in tests)}
    assert passed <= rightly, 'a constant passes tests that expect something else'
