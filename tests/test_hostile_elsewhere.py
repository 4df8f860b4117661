"The hostile table again, as on a machine that lacks a wall, and as an ordinary user."
import os
import subprocess
import sys
import tempfile

import pytest
from structure import ROOT

from adversarial_rl.grader.pool import Job, Sandbox

pytestmark = pytest.mark.skipif(sys.platform != 'linux', reason='the walls are Linux')

def table(off, **user):
    "Exit status and output of the tests in a process of their own."
    with tempfile.TemporaryDirectory() as home:
        os.chmod(home, 0o777)
        env = dict(os.environ, HOME=home, PYTHONDONTWRITEBYTECODE='1')
        argv = ['pytest', '-q', '-p', 'no:cacheprovider', 'tests/test_hostile.py', '--off', off,
                '-k', 'not naive and not the_table']   # They know no walls
        done = subprocess.run([sys.executable, '-m', *argv], cwd=ROOT, env=env, capture_output=True, text=True, **user)
    return done.returncode, done.stdout[-3000:]

def test_without_namespaces_and_landlock():
    code, text = table('namespaces,landlock')
    assert code == 0, text

LOOK = """import os, ctypes, struct
head, data = ctypes.create_string_buffer(struct.pack('Ii', 0x20080522, 0)), ctypes.create_string_buffer(24)
ctypes.CDLL(None).capget(head, data)
print(any(data.raw), os.getuid() == 0)"""

@pytest.mark.parametrize('off', ['seccomp', 'namespaces,landlock,seccomp', 'seccomp,user'])
def test_no_program_has_capabilities_or_is_root(off):
    "Also where no filter of system calls holds; only looks, as such a program may signal everybody."
    with Sandbox(workers=1, off=off.split(',')) as s: words = s.map([Job(LOOK)])[0].stdout.split()
    assert words[0] == 'False'
    if 'user' not in off: assert words[1] == 'False'


def test_as_an_ordinary_user():
    if os.getuid(): pytest.skip('the other tests run as one already')
    nobody = dict(user=65534, group=65534, extra_groups=[])
    imports = [sys.executable, '-c', 'import pytest, torch, adversarial_rl.grader.pool']
    try: status = subprocess.run(imports, cwd=ROOT, capture_output=True, **nobody).returncode
    except PermissionError: status = 1
    if status: pytest.skip('this Python lies in a folder of root alone')
    code, text = table('', **nobody)
    assert code == 0, text
