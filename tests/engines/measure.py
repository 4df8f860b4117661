"""The table of engines: `python tests/engines/measure.py --results nbs/experiments/22_other_measurements.ipynb`.

It takes about five minutes.

Each engine runs its checks, then 40 rollouts whose answers are given, one after another, beside the same 40 calls of
the grader. A model that answers at once stands behind a local server, so the difference is what the engine costs.
"""
import argparse
import asyncio
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from importlib.metadata import version
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent), str(HERE.parent.parent)]

from prepare import build, check, folder_of, PINS, ROOT  # noqa: E402

from adversarial_rl import grade_many, starter_problems  # noqa: E402
from adversarial_rl.grader.pool import Job  # noqa: E402
from adversarial_rl.record.tables import check_document, markdown_table, write_table  # noqa: E402

N, ROUNDS = 40, 3
PROBLEMS = starter_problems('held_out', N)
# Right, wrong, and those that end early
CODES = [(p.reference_solution, f'{p.function_signature}\n    return 0', f'{p.function_signature}\n    return 1 / 0',
          'def f(x') [i % 4] for i, p in enumerate(PROBLEMS)]


def by_hand():
    "What all others are compared with: one call of the grader for each program."
    return [grade_many([Job.of(p, code)])[0].pass_rate for p, code in zip(PROBLEMS, CODES)]


def by_trl():
    from adversarial_rl.grpo.rewards import test_rewards
    return [test_rewards([''], [code], [list(p.baseline_tests)], [[p.function_name]])[0]
            for p, code in zip(PROBLEMS, CODES)]


def by_verifiers():
    from check_verifiers import play, Script
    texts = {('generator', p.description): [code] for p, code in zip(PROBLEMS, CODES)}
    return [e.traces[0].rewards['tests_passed'].score for e in play('', Script(texts), N, at_once=1)]


def by_lm_eval():
    import evaluate
    os.chdir(ROOT/'environments')
    metric = evaluate.load('code_eval')
    pairs = [('\n'.join(p.baseline_tests), [code]) for p, code in zip(PROBLEMS, CODES)]
    return [metric.compute(references=[test], predictions=[programs], k=[1])[0]['pass@1'] for test, programs in pairs]


def by_inspect():
    from bundled_server import serving
    from check_inspect import get_model, inspect_eval, MemoryDataset, passes_tests, Sample, sample_fields, Task
    class Script:
        codes = {p.description: code for p, code in zip(PROBLEMS, CODES)}
        def reply(self, request): return self.codes[request['messages'][-1]['content'].splitlines()[0]]
    samples = [Sample(**sample_fields(p) | dict(id=i)) for i, p in enumerate(PROBLEMS)]
    with tempfile.TemporaryDirectory() as folder, serving(Script()) as url:
        model = get_model('openai/scripted', base_url=url, api_key='none', responses_api=False)
        log, = inspect_eval(Task(dataset=MemoryDataset(samples), scorer=passes_tests()), model=model, display='none',
                            log_dir=folder, max_samples=1)
        return [s.scores['passes_tests'].value for s in sorted(log.samples, key=lambda s: s.id)]


def by_openenv():
    from check_openenv import ProgramClient, server, Submission
    async def play(url):
        async with ProgramClient(base_url=url) as env:
            rewards = []
            for n, code in enumerate(CODES):
                await env.reset(split='held_out', index=n)
                rewards.append((await env.step(Submission(code=code))).reward)
            return rewards
    with tempfile.TemporaryDirectory() as folder, server(Path(folder)) as (_, url):
        asyncio.run(play(url))   # Its grader starts with the first program
        start = time.perf_counter()
        rewards = asyncio.run(play(url))
        return rewards, time.perf_counter() - start


WAYS = {'trl': by_trl, 'verifiers': by_verifiers, 'lm-eval': by_lm_eval, 'inspect': by_inspect, 'openenv': by_openenv}
PACKAGES = {'inspect': 'inspect-ai'}   # Where the name is another


def inside(name):
    "Measure in the engine's own environment; prints one line of JSON."
    expected = by_hand()
    if name == 'lm-eval': expected = [float(x == 1) for x in expected]   # Its metric counts whole programs
    mine, theirs, equal = [], [], 0
    for _ in range(ROUNDS):
        start = time.perf_counter()
        by_hand()
        mine.append(time.perf_counter() - start)
        start = time.perf_counter()
        found = WAYS[name]()
        found, seconds = found if isinstance(found, tuple) else (found, time.perf_counter() - start)
        theirs.append(seconds)
        equal = sum(a == b for a, b in zip(expected, found, strict=True))
    hand, way = (statistics.median(x) / N * 1000 for x in (mine, theirs))
    print(json.dumps(dict(version=version(PACKAGES.get(name, name)), equal=equal, hand=hand, way=way)))


ROWS = {   # What ran here, and its command
    'trl': ('stock `GRPOTrainer` with our rewards and environment', 'tests/test_trl.py'),
    'verifiers': ('its evaluation command, one seat and two; 200 transcripts of our own round',
                  'vf-eval adversarial-code --env.id adversarial-game'),
    'lm-eval': ('its command with the scoring of MBPP and of HumanEval', 'lm-eval run --model hf --tasks mbpp'),
    'inspect': ('its command', 'inspect eval environments/inspect_tasks.py@curriculum'),
    'openenv': ('episodes over WebSocket and HTTP, 50 clients, seccomp alone', 'uvicorn server.app:app')}


def row(name):
    "A line of the table; raises `SystemExit` where a check fails."
    if name in PINS:
        python = build(name, PINS[name].split(), folder_of(name))
        done = check(name, python)
    else:
        python = sys.executable
        words = ['-m', 'pytest', '-q', '-p', 'no:cacheprovider', 'tests/test_trl.py']
        done = subprocess.run([python, *words], cwd=ROOT, capture_output=True, text=True)
    if done.returncode: sys.exit(f'{name}: {done.stdout[-3000:]}')
    passed = re.search(r'(\d+) passed', done.stdout)[1]
    told = subprocess.run([python, __file__, '--inside', name], check=True, stdout=subprocess.PIPE, text=True).stdout
    found = json.loads(told.splitlines()[-1])
    what, command = ROWS[name]
    return [name, found['version'], f'`{command}`', what, passed, f"{found['equal']} of {N}", f"{found['hand']:.1f}",
            f"{found['way'] - found['hand']:.1f}"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('names', nargs='*', help='engines; all by default')
    parser.add_argument('--results', help='document that gets the table')
    parser.add_argument('--inside', choices=WAYS, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.inside: return inside(args.inside)
    if args.results: check_document(args.results, 'engines')
    head = ['engine', 'version', 'command', 'what ran here', 'checks passed', 'rewards equal', 'grader, ms a program',
            'engine on top, ms a rollout']
    table = markdown_table(head, map(row, args.names or WAYS))
    print(table)
    if args.results: write_table(args.results, 'engines', table)


if __name__ == '__main__': main()
