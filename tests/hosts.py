"""Runs the grader's tests as on other hosts, in Docker containers that see this machine's files.

    python tests/hosts.py --python python3.11 python3.12
    python tests/hosts.py --only docker docker-user --install venv

It needs a Docker daemon and no image. Each version of Python gets a virtual environment with the grader alone, and a
copy of the whole interpreter with the grader in its own site-packages (`base`); both are kept in `output/hosts`. The
exit code is 0 if no test failed.
"""
import argparse
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TESTS = [f'tests/test_{name}.py' for name in (
    'hostile', 'attackers', 'benign', 'exceptions', 'stateless', 'grader_modules', 'grader_robustness')]
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


def said(*command)->str: return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout.strip()


def build(python, folder)->dict:
    "Install the grader in both ways: 'venv' or 'base' -> (interpreter in a container, mounts)."
    prefix = said(python, '-c', 'import sys; print(sys.base_prefix)')
    version = said(python, '-c', 'import sys; print(sys.version.split()[0])')
    name = 'python' + version.rpartition('.')[0]
    venv, base, clone = (folder/f'{x}-{version}' for x in ('venv', 'base', 'clone'))
    if is_new := not (base/'built').exists():
        for old in venv, base: shutil.rmtree(old, ignore_errors=True)
        subprocess.run([python, '-m', 'venv', venv], check=True)
        shutil.copytree(prefix, base, symlinks=True)
    shutil.rmtree(clone, ignore_errors=True)   # A copy, as building leaves files
    shutil.copytree(ROOT, clone, ignore=shutil.ignore_patterns('.*', 'output', 'run', 'build', '*.egg-info'))
    for inside in venv/'bin'/'python', base/'bin'/name:
        # pytest-xdist 3.8 makes no groups with pytest 9.2, so each process would run all hostile programs
        packages = ['setuptools', 'wheel', 'hypothesis', 'numpy', 'pytest<9.2', 'pytest-xdist']
        pip = [inside, '-m', 'pip', 'install', '-q', '--disable-pip-version-check', '--progress-bar', 'off']
        if is_new: subprocess.run([*pip, *packages], check=True)
        subprocess.run([*pip, '--force-reinstall', '--no-deps', '--no-build-isolation', clone], check=True)
    (base/'built').touch()
    return dict(venv=(f'{venv}/bin/python', [(prefix, prefix)]), base=(f'{prefix}/bin/{name}', [(base, prefix)]))


def image()->str:
    "An image of empty folders, whose system is this machine's."
    empty = subprocess.run(['tar', 'c', '-T', '/dev/null'], check=True, capture_output=True).stdout
    done = subprocess.run(['docker', 'import', '-'], input=empty, check=True, capture_output=True)
    return done.stdout.decode().strip()


def contained(options, mounts)->list:
    "The beginning of a command in a container."
    system = ['/usr', '/etc', *(p for p in ('/bin', '/lib', '/lib64') if os.path.exists(p))]
    volumes = [(p, p) for p in (*system, ROOT/'tests', ROOT/'setup.cfg') if os.path.exists(p)] + mounts
    flags = [f'--volume={source}:{target}:ro' for source, target in volumes]
    env = ['--env=PYTHONDONTWRITEBYTECODE=1', '--env=HOME=/tmp', '--env=PATH=/usr/bin:/bin']
    return ['docker', 'run', '--rm', '--network=none', '--tmpfs=/tmp:exec,mode=1777', '--tmpfs=/home', *env, *flags,
            f'--workdir={ROOT}', *options, image()]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--python', nargs='+', default=[sys.executable], help='interpreters')
    parser.add_argument('--only', nargs='+', choices=HOSTS, default=list(HOSTS), help='hosts')
    parser.add_argument('--install', nargs='+', choices=['venv', 'base'], default=['venv', 'base'])
    parser.add_argument('--tests', nargs='+', default=TESTS)
    args = parser.parse_args()
    folder, failed = ROOT/'output'/'hosts', []
    folder.mkdir(parents=True, exist_ok=True)
    for interpreter in args.python:
        ways = build(interpreter, folder)
        for host in args.only:
            options, off = HOSTS[host]
            for way in args.install:
                python, mounts = ways[way]
                print(f'{host}, {interpreter}, {way}', flush=True)
                # A third process uses the time in which the others wait for programs that hang
                pytest = ['-P', '-m', 'pytest', '-q', '-p', 'no:cacheprovider', '-n', '3', '--dist', 'loadgroup']
                done = subprocess.run([*contained(options, mounts), python, *pytest, '--off', off, *args.tests])
                if done.returncode: failed.append(f'{host}, {interpreter}, {way}')
    sys.exit('failed: ' + '; '.join(failed) if failed else 0)


if __name__ == '__main__': main()
