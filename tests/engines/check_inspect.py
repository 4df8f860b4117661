"Inspect's own command and its log, with our scorer, on the bundled model."
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from inspect_ai import eval as inspect_eval, Task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.log import list_eval_logs, read_eval_log
from inspect_ai.model import get_model

from adversarial_rl import grade_many, Problem, starter_problems
from adversarial_rl.engines.inspect import passes_tests, sample_fields
from adversarial_rl.grader import pool
from adversarial_rl.grader.answers import program_in

TESTS = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(TESTS))

from bundled_server import Bundled, serving  # noqa: E402


def test_its_command_scores_the_bundled_model(tmp_path):
    "Scores are those of our grader for the answers in the log, and the metric is their mean."
    with serving(Bundled()) as url:
        words = ['eval', TESTS.parent/'environments'/'inspect_tasks.py@curriculum', '--model', 'openai/generator',
                 '--model-base-url', url, '--limit', '10', '--temperature', '0', '--log-dir', tmp_path,
                 '--display', 'none', '-M', 'responses_api=false']
        env = dict(os.environ, OPENAI_API_KEY='none')
        command = [Path(sys.executable).parent/'inspect', *words]
        done = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    log = read_eval_log(list_eval_logs(str(tmp_path))[0])
    assert log.status == 'success', log.error
    problems = {p.id: p for p in starter_problems('held_out', 10)}
    programs = [program_in(s.output.completion, 'f') for s in log.samples]
    expected = [o.pass_rate for o in grade_many(pool.Job.of(problems[s.id], x) for s, x in zip(log.samples, programs))]
    assert [s.scores['passes_tests'].value for s in log.samples] == expected and len(expected) == 10
    mean = log.results.scores[0].metrics['mean'].value
    assert mean == pytest.approx(sum(expected) / 10) and mean > 0


DOUBLE = Problem('double', 'Return twice n.', 'def double(n):', ('assert double(2) == 4', 'assert double(3) == 6'), '')


class Script:
    "A model whose answers are given."
    def __init__(self, answers): self.answers = list(answers)
    def reply(self, request): return self.answers.pop(0)


def scored(folder, *answers):
    "The log of a model that gives these answers."
    samples = [Sample(**sample_fields(DOUBLE) | dict(id=i)) for i, _ in enumerate(answers)]
    with serving(Script(answers)) as url:
        model = get_model('openai/scripted', base_url=url, api_key='none', responses_api=False)
        log, = inspect_eval(Task(dataset=MemoryDataset(samples), scorer=passes_tests()), model=model, display='none',
                            log_dir=str(folder), max_samples=1)
    assert log.status == 'success', log.error
    return log


def test_each_answer_earns_what_it_should(tmp_path):
    log = scored(tmp_path, 'def double(n): return 2 * n', 'def double(n): return n + 2', 'I do not know.',
                 'class A:\n    def __eq__(self, other): return True\ndef double(n): return A()')
    assert [s.scores['passes_tests'].value for s in log.samples] == [1, .5, 0, 0]
    assert log.samples[1].scores['passes_tests'].explanation == 'test 2: AssertionError: assert double(3) == 6'
    assert json.loads(json.dumps(log.samples[2].scores['passes_tests'].metadata)) == {'kind': 'syntax_error'}


def test_what_the_grader_could_not_judge_is_unscored(tmp_path, monkeypatch):
    right = pool.Sandbox.map
    def failed(self, jobs, progress=None):
        jobs = list(jobs)
        if jobs and 'lost' in jobs[0].code: return [pool.Report(error='no more processes')] * len(jobs)
        return right(self, jobs, progress)
    monkeypatch.setattr(pool.Sandbox, 'map', failed)
    log = scored(tmp_path, 'def double(n): return 2 * n', 'def double(n): return "lost"')
    assert log.samples[1].scores['passes_tests'].reason == 'scoring_failed'
    assert log.results.scores[0].metrics['mean'].value == 1
