"""The table of grader pools: `python tests/engines/pool.py --results nbs/experiments/22_other_measurements.ipynb`.

It takes about a minute.

The same programs are graded by a call of the grader, and by requests over HTTP to the server of OpenEnv, which is
another process of this machine: in one round one request after another, in another one from 16 threads.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent), str(HERE.parent.parent)]

from prepare import build, folder_of, PINS  # noqa: E402

from adversarial_rl import grade_many, starter_problems  # noqa: E402
from adversarial_rl.record.tables import check_document, markdown_table, write_table  # noqa: E402

N, ROUNDS, CLIENTS = 400, 5, 16
PROBLEMS = starter_problems('held_out', N)
PROGRAMS = [p.reference_solution if i % 2 else f'{p.function_signature}\n    return 0' for i, p in enumerate(PROBLEMS)]


def jobs(n): return [(f'{code}\n# {n}', p.baseline_tests, p.function_name) for p, code in zip(PROBLEMS, PROGRAMS)]


def asked(url, job):
    "Share of tests passed, from the server."
    from check_openenv import post
    code, tests, name = job
    told = post(f'{url}/step', dict(action=dict(code=code, tests=list(tests), function=name)))['observation']
    return told['passed'] / told['total']


def ways(url):
    def threads(work):
        with ThreadPoolExecutor(CLIENTS) as pool: return list(pool.map(lambda job: asked(url, job), work))
    return {'the grader, in one call': lambda work: [o.pass_rate for o in grade_many(work)],
            'the grader, a call for each': lambda work: [grade_many([job])[0].pass_rate for job in work],
            f'HTTP, {CLIENTS} threads': threads,
            'HTTP, one after another': lambda work: [asked(url, job) for job in work]}


def measured():
    "Programs a second of each way, in turns; all ways agree on each program."
    from check_openenv import server
    seconds, n = {}, 0
    with tempfile.TemporaryDirectory() as folder, server(Path(folder)) as (_, url):
        for _ in range(ROUNDS + 1):   # The first warms up
            rates = []
            for name, grade in ways(url).items():
                n += 1
                start = time.perf_counter()
                rates.append(grade(jobs(n)))
                seconds.setdefault(name, []).append(time.perf_counter() - start)
            assert all(r == rates[0] for r in rates)
    return {name: [N / s for s in times[1:]] for name, times in seconds.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--results', help='document whose table is written')
    parser.add_argument('--inside', action='store_true', help=argparse.SUPPRESS)   # In OpenEnv's environment
    args = parser.parse_args()
    if args.inside:
        print(json.dumps(measured()))
        return
    if args.results: check_document(args.results, 'pool')
    python = build('openenv', PINS['openenv'].split(), folder_of('openenv'))
    done = subprocess.run([python, __file__, '--inside'], check=True, stdout=subprocess.PIPE, text=True)
    rates = json.loads(done.stdout.splitlines()[-1])
    rows = [[name, *(f'{f(x):.0f}' for f in (statistics.median, min, max))] for name, x in rates.items()]
    table = markdown_table(('way', 'programs/s', 'min', 'max'), rows)
    table += f'\n\n{ROUNDS} rounds of {N} programs with ten tests each, {os.cpu_count()} cores for clients and graders.'
    if args.results: write_table(args.results, 'pool', table)
    print(table)


if __name__ == '__main__': main()
