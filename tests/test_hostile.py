"Every hostile program against the grader: none passes, none gets out, and the next correct program still passes."
import ast
import concurrent.futures
import json
import os
import secrets
import select
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest
from hostile import GROUPS, NAIVE, TABLE
from hostile.case import SHORT

from adversarial_rl.grader import pool
from adversarial_rl.grader.grading import grade, grade_many, KINDS
from adversarial_rl.grader.pool import default_sandbox, Job

pytestmark = pytest.mark.skipif(sys.platform != 'linux', reason='needs /proc')
GOOD = 'def f(x): return x + 1', ('assert f(3) == 4', 'assert f(10) == 11')
GROUP = {case: name for name, cases in GROUPS.items() for case in cases}

def snapshot(folder):
    def look(path):
        s = os.lstat(path)
        return s.st_mode, s.st_uid, s.st_gid, s.st_size, s.st_nlink, s.st_mtime_ns, s.st_ctime_ns
    return {str(p): look(p) for p in (folder, *sorted(folder.rglob('*')))}

def text_of(path):
    try: return Path(path).read_bytes()
    except OSError: return b''

def processes(): return [p for p in os.listdir('/proc') if p.isdigit()]
def scratch(): return Path(getattr(default_sandbox(), 'root', tempfile.gettempdir()))
def names_of(p):
    threads = Path(f'/proc/{p}/task').glob('*')
    return text_of(f'/proc/{p}/cmdline') + b''.join(text_of(f'{t}/comm') for t in threads)
def marked(word): return [p for p in processes() if word in names_of(p)]
def parent_of(pid): return int((text_of(f'/proc/{pid}/stat').rpartition(b')')[2].split() or [0, -1])[1])

def strays(): # Below the templates, and orphans that look like one
    templates = default_sandbox().pids()
    lines = {text_of(f'/proc/{p}/cmdline') for p in templates}
    def is_orphan(p): return parent_of(p) == 1 and text_of(f'/proc/{p}/cmdline') in lines and int(p) not in templates
    return {p for p in processes() if parent_of(p) in templates or is_orphan(p)}

class World:
    "What the programs must not touch: a folder for each that names one, listeners, a secret, and a mark."
    def __init__(self):
        self.secret, self.marker = secrets.token_hex(8), 'h' + secrets.token_hex(5)
        self.root, self.folders, self.listeners = Path(tempfile.mkdtemp()), {}, []
        self.root.chmod(0o755)
        tcp, udp = socket.create_server(('127.0.0.1', 0)), socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.port = tcp.getsockname()[1]
        udp.bind(('127.0.0.1', self.port))
        self.listeners += [tcp, udp]
        self.listen('\0' + self.marker)

    def listen(self, address):
        s = socket.socket(socket.AF_UNIX)
        s.bind(address)
        s.listen(8)
        self.listeners.append(s)

    def folder(self, case):
        path = self.root / case.name
        path.mkdir()
        (path / 'secret').write_text(self.secret)
        try: os.setxattr(path / 'secret', 'user.x', b'x')
        except OSError: pass
        if '{outside}/sock' in case.code: self.listen(str(path / 'sock'))
        for p in (path, *path.iterdir()): p.chmod(0o777 if p == path else 0o666)
        self.folders[case] = path, snapshot(path)
        return path

    def fill(self, case):
        code = case.code.replace('{port}', str(self.port)).replace('{marker}', self.marker)
        return code.replace('{outside}', str(self.folder(case))) if '{outside}' in code else code

    def close(self):
        for s in self.listeners: s.close()
        shutil.rmtree(self.root)

WAITING = 6   # Programs that never end side by side, as they mostly wait

def played(w, case):
    "Outcome of a case, and of a correct program beside it."
    good = Job(f'# after {case.name}\n{GOOD[0]}', tuple(GOOD[1]))
    return grade_many([Job(w.fill(case), tuple(case.tests), case.limits), good])

@pytest.fixture(scope='module')
def world(request):
    off = tuple(filter(None, request.config.getoption('--off').split(',')))
    before, pool._shared[()] = pool._shared.get(()), pool.Sandbox(WAITING, off)
    try: yield from worlds(request)
    finally:
        pool._shared.pop(()).close()
        if before: pool._shared[()] = before

def worlds(request):
    "The world, with all cases played."
    wanted = {item.callspec.params.get('case') for item in request.session.items if hasattr(item, 'callspec')}
    w = World()
    w.walled = any(word in layer for word in ('seccomp', 'filter') for layer in grade(*GOOD).layers)
    grade_many([(f'# {n}\n{GOOD[0]}', GOOD[1]) for n in range(50)])   # Every template has its judge
    w.before, w.outcomes = strays(), {}
    cases = [c for c in TABLE if c in wanted and (w.walled or GROUP[c] not in ('bombs', 'escapes'))]
    for short, together in ((True, WAITING), (False, 2)):
        batch = [c for c in cases if (c.limits == SHORT) == short]
        with concurrent.futures.ThreadPoolExecutor(together) as threads:
            w.outcomes.update(zip(batch, threads.map(lambda c: played(w, c), batch)))
    yield w
    w.close()

@pytest.mark.parametrize('case', TABLE, ids=lambda c: f'{GROUP[c]}-{c.name}')
def test_hostile(world, case):
    if case not in world.outcomes: pytest.skip('no walls around it here')
    o, good = world.outcomes[case]
    assert not o.passed and not all(o.per_test) and len(o.per_test) == len(case.tests), o
    assert o.kind in (case.kinds or KINDS) and o.kind not in ('success', 'success_output', 'infra_error'), o
    assert 0 < len(o.message) <= 500 and all(c.isprintable() or c == '\n' for c in o.message), o
    assert 'ESCAPED' not in o.stdout and world.secret not in o.stdout + o.message, o
    assert o.seconds < case.limits.wall_seconds + 20   # It was stopped, also on a machine that does much else
    assert len(o.stdout.encode(errors='replace')) <= 4 * case.limits.output_bytes
    if case in world.folders:
        path, before = world.folders[case]
        assert snapshot(path) == before
    assert good.passed and good.kind == 'success', good

def test_nothing_outlives_its_run(world):
    end = time.monotonic() + 60
    marker = world.marker.encode()
    while (marked(marker) or len(strays()) > len(world.before)) and time.monotonic() < end: time.sleep(0.1)
    assert not marked(marker)
    assert len(strays()) <= len(world.before)

def test_nobody_connected(world): assert not select.select(world.listeners, [], [], 0)[0]

def test_nothing_was_left_behind(world):
    tops = ['/', '/tmp', '/var/tmp', '/dev/shm', '/dev/mqueue', Path.home(), Path(os.__file__).parent, scratch()]
    assert not [p for top in tops if os.path.isdir(top) for p in os.listdir(top) if world.marker in p]
    assert not list(scratch().rglob(f'*{world.marker}*'))

def test_the_table():
    assert len(TABLE) >= 140 and len({c.name for c in TABLE}) == len(TABLE) == len(GROUP)
    for c in TABLE:
        assert set(c.kinds) <= set(KINDS) - {'success', 'success_output', 'infra_error'} and c.tests, c.name
        parses = not {'syntax_error', 'indentation_error'} & set(c.kinds)
        for source in (*c.tests, *([c.code] if parses else [])): ast.parse(source)

def passes_naively(case):
    argv = [sys.executable, '-I', '-S', '-W', 'ignore', '-c', NAIVE]
    with tempfile.TemporaryDirectory() as folder:
        try: done = subprocess.run(argv, input=json.dumps([case.code, case.tests]), cwd=folder, capture_output=True,
                                   text=True, errors='replace', timeout=6, start_new_session=True)
        except subprocess.TimeoutExpired: return False
    return done.returncode == 0

def test_the_naive_grader_falls():
    "The cheats are real: a grader that runs tests beside the program believes them."
    cases = [c for name in ('exits', 'equality', 'tampering', 'oracle') for c in GROUPS[name]]
    with concurrent.futures.ThreadPoolExecutor(2) as pool: passed = list(pool.map(passes_naively, cases))
    fooled = [c.name for c, ok in zip(cases, passed) if ok]
    assert len(fooled) >= 40, fooled
