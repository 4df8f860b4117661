"""Prove on a GPU what the other tests cannot show on a CPU: `python tests/gpu/check.py --out FOLDER`.

Ten checks, each in a process of its own with a time limit, so that a crash or a hang ends that check alone. Each
writes one line of JSON as it ends, to stdout and to FOLDER/checks.jsonl; the exit code is 1 if one failed. Nothing is
installed or downloaded: what is missing is skipped with a reason. With `--device cpu` all run on tiny models, as far
as they go there; with `--real MODEL` the checks of one model take that one in place of random weights.
"""
import argparse
import json
import multiprocessing
import os
import signal
import sys
import tempfile
import time
import traceback
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[1])]
os.environ['PYTHONPATH'] = os.pathsep.join(filter(None, (*sys.path[:2], os.environ.get('PYTHONPATH'))))
os.environ.setdefault('OMP_NUM_THREADS', '1')   # Toy sizes are slower on more, and a GPU needs none
os.environ.setdefault('TOKENIZERS_PARALLELISM', 'false')
os.environ.setdefault('WANDB_MODE', 'disabled')

from registry import Check, CHECKS, Findings, Place, Skip  # noqa: E402

MODULES = ('of_numbers', 'of_memory', 'of_runs')   # They register the checks
LOADED = [*MODULES, 'adversarial_rl.game.trainer', 'adversarial_rl.grpo.code_execution']


def machine(device):
    "What the figures were measured on."
    import torch

    from adversarial_rl.core.machine import library_versions, platform
    p = platform(device)
    return dict(machine=p.name, device=device, gib=p.memory_gb, cores=p.cores,
                libraries=library_versions() | dict(cuda=torch.version.cuda or 'none'))


def in_this_process(number, place, answer):
    "Run one check and send its line; `number` 0 describes the machine."
    os.setsid()
    os.dup2(os.open(place.folder/f'{number}.log', os.O_WRONLY | os.O_CREAT), 1)
    os.dup2(1, 2)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    if not number: return answer.send(machine(place.device))
    from adversarial_rl.core.errors import quiet_libraries
    quiet_libraries()
    found, state, reason = Findings(), 'passed', ''
    try: CHECKS[number].run(place, found)
    except Skip as e: state, reason = 'skipped', str(e)
    except BaseException as e:
        traceback.print_exc()
        found.failures.append(f'{type(e).__name__}: {" ".join(str(e).split())[:300]}')
    if found.failures: state = 'failed'
    more = dict(reason=reason) if reason else dict(failures=found.failures) if found.failures else {}
    answer.send(dict(state=state) | more | found.figures)


def in_own_process(number, place, limit):
    "What a check sends within its limit of seconds, or how it ended without."
    context = multiprocessing.get_context('forkserver')
    context.set_forkserver_preload(LOADED)
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=in_this_process, args=(number, place, sender))
    process.start()
    sender.close()
    try:
        if not receiver.poll(limit): return dict(state='failed', failures=[f'did not end within {limit} seconds'])
        answer = receiver.recv()
        process.join(30)
        return answer
    except EOFError:
        process.join(30)
        return dict(state='failed', failures=[f'its process ended with exit code {process.exitcode}'])
    finally:
        try: os.killpg(process.pid, signal.SIGKILL)   # With all that it started
        except (ProcessLookupError, PermissionError): process.kill()
        process.join()


def log_of(place, number, n=15):
    "The last lines that a check printed."
    path = place.folder/f'{number}.log'
    return path.read_text(errors='replace').splitlines()[-n:] if path.exists() else []


def run_checks(numbers, place, write):
    "All checks in order; the number of those that failed."
    failed = 0
    for number in numbers:
        check: Check = CHECKS[number]
        start = time.perf_counter()
        line = dict(check=number, name=check.name) | in_own_process(number, place, check.limit)
        if line['state'] == 'failed': line['log'] = log_of(place, number)
        failed += line['state'] == 'failed'
        write(line | dict(seconds=round(time.perf_counter() - start, 1)))
    return failed


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('--out', type=Path, default=Path('output/gpu_check'), help='folder for checks.jsonl')
    parser.add_argument('--only', type=int, nargs='+', default=[], metavar='N', help='these checks alone')
    parser.add_argument('--device', default='cuda', help='cuda, cuda:N, or cpu for tiny sizes')
    parser.add_argument('--real', default='', metavar='MODEL', help='a folder or a name on the hub')
    args = parser.parse_args(argv)
    import torch
    for module in MODULES: __import__(module)
    if unknown := set(args.only) - set(CHECKS): parser.error(f'--only {min(unknown)}: the checks are 1 to 10')
    if args.device != 'cpu' and not torch.cuda.is_available():
        parser.error(f'--device {args.device}: PyTorch sees no GPU here; --device cpu tries all at tiny sizes')
    args.out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, open(args.out/'checks.jsonl', 'w') as file:
        def write(line):
            text = json.dumps(line)
            print(text, flush=True)
            print(text, file=file, flush=True)
        place = Place(args.device, args.real, Path(folder))
        write(in_own_process(0, place, 120) | dict(real=args.real))
        return 1 if run_checks(args.only or sorted(CHECKS), place, write) else 0


if __name__ == '__main__': sys.exit(main())
