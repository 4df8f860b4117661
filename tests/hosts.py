"""Runs the grader's tests as on other hosts, in Docker containers that see this machine's files, and makes a table.

    python tests/hosts.py --python python3.11 python3.12 --results \
        nbs/experiments/22_other_measurements.ipynb
    python tests/hosts.py --only docker docker-user --install venv

It needs a Docker daemon and no image. Each version of Python gets a virtual environment with the grader alone, and a
copy of the whole interpreter with the grader in its own site-packages (`base`); both are kept in `output/hosts`. What
fails beside other tests runs once more, alone. Each row is kept in `output/hosts`, with a digest of the code of the
grader and its tests. A row without failures whose digest is still the same is not made again, so the command can be
stopped and goes on. The exit code is 0 if no test failed.
"""
import argparse
import ast
import hashlib
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

from adversarial_rl.record.tables import markdown_table, write_table

ROOT = Path(__file__).resolve().parent.parent
TESTS = [f'tests/test_{name}.py' for name in (
    'hostile', 'attackers', 'benign', 'exceptions', 'stateless', 'grader_modules', 'grader_robustness')]
CACHE = '/tmp/cache'
NOBODY = ['--user', '65534:65534']
OPEN = [f'--security-opt={what}=unconfined' for what in ('seccomp', 'apparmor', 'systempaths')]
ROOT_USER = [*OPEN, '--cap-add=SYS_ADMIN', '--cap-add=SYS_PTRACE']
# Host -> options of `docker run`, layers left out
HOSTS = {
    'root': (ROOT_USER, ''),
    'user': ([*OPEN, *NOBODY], ''),
    'no-namespaces': (ROOT_USER, 'namespaces'),
    'docker': ([], ''),
    'docker-user': (NOBODY, ''),
    'docker-old': ([], 'landlock'),
    'docker-old-user': (NOBODY, 'landlock'),
    'nothing': (NOBODY, 'namespaces,landlock,seccomp,user'),
}
MEANING = {
    'root': 'root, all system calls', 'user': 'ordinary user, all system calls',
    'no-namespaces': 'root, namespaces left out', 'docker': "Docker's profile, root",
    'docker-user': "Docker's profile, ordinary user", 'docker-old': "Docker's profile, Landlock left out, root",
    'docker-old-user': "Docker's profile, Landlock left out, ordinary user",
    'nothing': 'ordinary user, every wall left out'}
FACTS = """
from adversarial_rl.grader.pool import Sandbox
with Sandbox(1, off={off!r}) as s:
    s.pids()
    print(*s.feeders[0].template.layers[4:])"""


def said(*command)->str: return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout.strip()


def version_of(python)->str: return said(python, '-c', 'import sys; print(sys.version.split()[0])')


def build(python, folder)->dict:
    "Install the grader in both ways: 'venv' or 'base' -> (interpreter in a container, mounts)."
    prefix, version = said(python, '-c', 'import sys; print(sys.base_prefix)'), version_of(python)
    name = 'python' + version.rpartition('.')[0]
    venv, base = folder/f'venv-{version}', folder/f'base-{version}'
    if not (base/'built').exists():
        for old in venv, base: shutil.rmtree(old, ignore_errors=True)
        subprocess.run([python, '-m', 'venv', venv], check=True)
        shutil.copytree(prefix, base, symlinks=True)
    for inside in venv/'bin'/'python', base/'bin'/name:
        # pytest-xdist 3.8 makes no groups with pytest 9.2, so each process would run all hostile programs
        packages = ['setuptools', 'wheel', 'hypothesis', 'numpy', 'pytest<9.2', 'pytest-xdist']
        pip = [inside, '-m', 'pip', 'install', '-q', '--disable-pip-version-check', '--progress-bar', 'off']
        if not (base/'built').exists(): subprocess.run([*pip, *packages], check=True)
        subprocess.run([*pip, '--force-reinstall', '--no-deps', '--no-build-isolation', copy(folder)], check=True)
    (base/'built').touch()
    return dict(venv=(f'{venv}/bin/python', [(prefix, prefix)]), base=(f'{prefix}/bin/{name}', [(base, prefix)]))


def copy(folder)->Path:
    "A copy of the project's files, as building leaves some."
    place = folder/'clone'
    shutil.rmtree(place, ignore_errors=True)
    shutil.copytree(ROOT, place, ignore=shutil.ignore_patterns('.*', 'output', 'run', 'build', '*.egg-info'))
    return place


def image()->str:
    "An image of empty folders, whose system is this machine's."
    empty = subprocess.run(['tar', 'c', '-T', '/dev/null'], check=True, capture_output=True).stdout
    done = subprocess.run(['docker', 'import', '-'], input=empty, check=True, capture_output=True)
    return done.stdout.decode().strip()


def contained(image, options, mounts)->list:
    "The beginning of a command in a container."
    system = ['/usr', '/etc', *(p for p in ('/bin', '/lib', '/lib64') if os.path.exists(p))]
    volumes = [(p, p) for p in (*system, ROOT/'tests', ROOT/'setup.cfg') if os.path.exists(p)] + mounts
    flags = [f'--volume={source}:{target}:ro' for source, target in volumes]
    env = ['--env=PYTHONDONTWRITEBYTECODE=1', '--env=HOME=/tmp', '--env=PATH=/usr/bin:/bin']
    return ['docker', 'run', '--rm', '--network=none', '--tmpfs=/tmp:exec,mode=1777', '--tmpfs=/home', *env, *flags,
            f'--workdir={ROOT}', *options, image]


def visit(host, python, begin, tests)->list:
    "Run the tests on one host; layers, and how many passed, failed and were skipped."
    off = HOSTS[host][1]
    layers = said(*begin, python, '-P', '-c', FACTS.format(off=tuple(filter(None, off.split(',')))))
    run = [python, '-P', '-m', 'pytest', '-q', '-o', f'cache_dir={CACHE}', '--off', off, *tests]
    # A third process uses the time in which the others wait for programs that hang. Beside them a right program may
    # meet its limit of real time, so what fails runs once more, alone.
    # xdist notes names that end with the group, which pytest alone does not know.
    alone = f"sed -i 's/@hostile//' {CACHE}/v/cache/lastfailed; {shlex.join([*run, '--last-failed'])}"
    script = f'{shlex.join([*run, "-n", "3", "--dist", "loadgroup"])} || {{ {alone}; }}'
    text = subprocess.run([*begin, 'sh', '-c', script], capture_output=True, text=True).stdout
    first, *again = [dict((word, int(n)) for n, word in re.findall(r'(\d+) (\w+)', line))
                     for line in re.findall(r'^\d+ \w+.* in [\d.]+s', text, re.M)] or [{}]
    if again: print(text[-9000:], flush=True)
    if not first.get('passed'): sys.exit(f'no test passed, so there is no row:\n{text[-6000:]}')
    last = again[0] if again else first
    wrong = last.get('failed', 0) + last.get('error', 0) + last.get('errors', 0)
    return [layers, first['passed'] + (last.get('passed', 0) if again else 0), wrong, first.get('skipped', 0)]


def code_of(path)->bytes:
    "What a file does: its text without comments and docstrings."
    tree = ast.parse(path.read_text())
    documented = ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef
    for node in ast.walk(tree):
        if isinstance(node, documented) and ast.get_docstring(node, clean=False) is not None:
            node.body[0] = ast.Pass()
    return ast.unparse(tree).encode()


def state(tests)->str:
    "A digest of the code of the grader and of its tests."
    folders = ROOT/'adversarial_rl'/'grader', ROOT/'tests'/'hostile'
    files = [ROOT/'adversarial_rl'/'core'/'source.py', *(ROOT/name for name in tests)]
    files += [path for folder in folders for path in sorted(folder.rglob('*.py'))]
    return hashlib.sha256(b''.join(map(code_of, files))).hexdigest()[:8]


def table_of(rows)->str:
    "A row for each host and outcome, with the versions that had it."
    hosts, versions = list(MEANING.values()), {}
    for host, version, install, *outcome, digest in sorted(rows, key=lambda row: hosts.index(row[0])):
        found = versions.setdefault((host, *outcome), [])
        if version not in found: found.append(version)
    head = ['host', 'Python', 'layers that held', 'passed', 'failed', 'skipped']
    return markdown_table(head, [[host, ', '.join(found), *outcome] for (host, *outcome), found in versions.items()])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--python', nargs='+', default=[sys.executable], help='interpreters')
    parser.add_argument('--only', nargs='+', choices=HOSTS, default=list(HOSTS), help='hosts')
    parser.add_argument('--install', nargs='+', choices=['venv', 'base'], default=['venv', 'base'])
    parser.add_argument('--tests', nargs='+', default=TESTS)
    parser.add_argument('--results', help='document whose table is written')
    args = parser.parse_args()
    folder, now = ROOT/'output'/'hosts', state(args.tests)
    folder.mkdir(parents=True, exist_ok=True)
    kept = folder/'rows.json'   # Of earlier runs; a row of the present code is not made again
    rows = {tuple(row[:3]): row[3:] for row in json.loads(kept.read_text())} if kept.exists() else {}
    for interpreter in args.python:
        ways, version = build(interpreter, folder), version_of(interpreter)
        for host in args.only:
            for way in args.install:
                key = MEANING[host], version, way
                if key in rows and rows[key][-1] == now and not int(rows[key][2]): continue
                python, mounts = ways[way]
                begin = contained(image(), HOSTS[host][0], [*mounts, (folder, folder)])
                rows[key] = [*visit(host, python, begin, args.tests), now]
                print(*key, *rows[key], flush=True)
                every = [[*names, *row] for names, row in rows.items()]
                kept.write_text(json.dumps(every))
                if args.results: write_table(args.results, 'hosts', table_of(every))
    print(table_of([[*names, *row] for names, row in rows.items()]))
    sys.exit(any(int(row[2]) for row in rows.values()))


if __name__ == '__main__': main()
