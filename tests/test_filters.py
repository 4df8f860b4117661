"The filters of system calls, run instruction by instruction as the kernel does, for both kinds of processor."
import errno
import os
import re
import struct
import sys
from pathlib import Path
from types import SimpleNamespace

import processes
import pytest

from adversarial_rl.grader import isolation
from adversarial_rl.grader.isolation import leaf_filter, ME, steward_filter, template_filter
from adversarial_rl.grader.pool import Job, Sandbox

pytestmark = pytest.mark.skipif(sys.platform != 'linux', reason='the walls are Linux')
HEADERS = {'x86_64': ('x86_64-linux-gnu/asm/unistd_64.h', 'asm/unistd_64.h'), 'aarch64': ('asm-generic/unistd.h',)}
ALLOWED, DENIED, ABSENT, PRETENDED = 'allowed', 'denied', 'absent', 'pretended'
MEANING = {0x7FFF0000: ALLOWED, 0x50000 | errno.EPERM: DENIED, 0x50000 | errno.ENOSYS: ABSENT, 0x50000: PRETENDED}
THREAD, SIGNAL, WRITE, NO_FILE = 0x3D0F00, 17, os.O_WRONLY, -100
CALLS = {   # Filter -> (call, arguments, what becomes of it)
    'template': [('read', [], ALLOWED), ('openat', [NO_FILE, 0, WRITE], ALLOWED), ('kill', [7, 9], ALLOWED),
                 ('clone', [SIGNAL], ALLOWED), ('clone3', [], ABSENT), ('openat2', [], ABSENT), ('socket', [1], DENIED),
                 ('execve', [], DENIED), ('execveat', [], DENIED), ('ptrace', [], DENIED), ('mount', [], DENIED),
                 ('umount2', [], DENIED), ('memfd_create', [], DENIED), (999, [], DENIED)],
    'scratch': [('read', [], ALLOWED), ('clone', [SIGNAL], DENIED), ('clone', [THREAD], ALLOWED), ('fork', [], DENIED),
                ('vfork', [], DENIED), ('kill', [ME, 9], ALLOWED), ('kill', [7, 9], DENIED), ('kill', [-1, 9], DENIED),
                ('tkill', [ME, 9], DENIED), ('tgkill', [7, 7, 9], DENIED), ('wait4', [-1], DENIED),
                ('openat', [NO_FILE, 0, WRITE], ALLOWED), ('mkdirat', [], ALLOWED), ('prctl', [22, 2], DENIED),
                ('seccomp', [], DENIED), ('setresuid', [0, 0, 0], DENIED), ('capset', [], DENIED),
                ('fcntl', [3, 6], PRETENDED), ('fcntl', [3, 3], ALLOWED), ('fcntl', [3, 1024], DENIED),
                ('ioctl', [0, 0x5401], ALLOWED), ('ioctl', [0, 0x5412], DENIED), ('flock', [3, 2], PRETENDED),
                ('madvise', [0, 0, 4], ALLOWED), ('madvise', [0, 0, 21], PRETENDED), ('mincore', [], DENIED),
                ('fadvise64', [], PRETENDED), ('getsockopt', [3, 1, 4], ALLOWED), ('getsockopt', [3, 1, 57], DENIED),
                ('clock_gettime', [1], ALLOWED), ('clock_gettime', [~7 << 3 | 2], DENIED), ('statx', [], ABSENT),
                ('sysinfo', [], ABSENT), ('prlimit64', [0, 3], ALLOWED), ('prlimit64', [7, 3], DENIED),
                ('socketpair', [1, 2], ALLOWED), ('chdir', [], ALLOWED), ('recvmsg', [], ALLOWED),
                ('sendto', [], ALLOWED), ('sendmsg', [], DENIED)],
    'read': [('openat', [NO_FILE, 0, os.O_CLOEXEC], ALLOWED), ('openat', [NO_FILE, 0, WRITE], DENIED),
             ('openat', [NO_FILE, 0, os.O_RDWR], DENIED), ('open', [0, WRITE], DENIED), ('open', [0, 0], ALLOWED),
             ('unlinkat', [], DENIED), ('renameat2', [], DENIED), ('ftruncate', [], DENIED),
             ('newfstatat', [], ALLOWED), ('socketpair', [1, 2], DENIED), ('socketpair', [1, 1], ALLOWED)],
    'none': [(name, [], DENIED) for name in ('open', 'openat', 'stat', 'lstat', 'newfstatat', 'readlink', 'readlinkat',
                                             'access', 'faccessat', 'faccessat2', 'statfs', 'chdir', 'mkdirat')] +
            [('socketpair', [1, 2], DENIED), ('socketpair', [1, 1 | os.O_CLOEXEC], ALLOWED), ('fstat', [1], ALLOWED)],
    'steward': [('mount', [], ALLOWED), ('umount2', [], ALLOWED), ('recvfrom', [], ALLOWED), ('pwrite64', [], ALLOWED),
                ('openat', [], DENIED), ('open', [], DENIED), ('clone', [THREAD], DENIED), ('fork', [], DENIED),
                ('socket', [], DENIED), ('kill', [], DENIED), ('execve', [], DENIED), ('ptrace', [], DENIED)],
}


def made(name):
    if name == 'template': return template_filter()
    return steward_filter() if name == 'steward' else leaf_filter(name)


@pytest.fixture(params=isolation.MACHINES)
def machine(request, monkeypatch):
    monkeypatch.setattr(isolation.os, 'uname', lambda: SimpleNamespace(machine=request.param))
    return request.param


def run(program, number, arguments=(), architecture=None):
    "What the kernel does with a call: classic BPF, of which these filters use five instructions."
    architecture = isolation.MACHINES[os.uname().machine] if architecture is None else architecture
    words = [n & (1 << 64) - 1 for n in (*arguments, *[0] * (6 - len(arguments)))]
    data = struct.pack('<IIQ6Q', number, architecture, 0, *words)
    code, at, held = list(struct.iter_unpack('HBBI', program)), 0, 0
    while True:
        kind, yes, no, value = code[at]
        at += 1
        if kind == 0x06: return MEANING[value]
        if kind == 0x20: held = struct.unpack_from('<I', data, value)[0]
        elif kind == 0x15: at += yes if held == value else no
        elif kind == 0x45: at += yes if held & value else no
        elif kind == 0x35: at += yes if held >= value else no
        else: raise AssertionError(kind)


@pytest.mark.parametrize('name', CALLS)
def test_what_becomes_of_a_call(machine, name):
    program, seen, wanted = made(name), [], []
    for call, arguments, meaning in CALLS[name]:
        if (number := call if isinstance(call, int) else isolation.number(call)) is None: continue
        seen.append((call, arguments, run(program, number, arguments)))
        wanted.append((call, arguments, meaning))
    assert seen == wanted


@pytest.mark.parametrize('name', CALLS)
def test_calls_of_another_processor_are_denied(machine, name):
    program = made(name)
    for other in (0x40000003, 0x40000028, *isolation.MACHINES.values()):   # 32 bits: i386, arm
        if other == isolation.MACHINES[machine]: continue
        assert {run(program, number, architecture=other) for number in range(500)} == {DENIED}
    if machine == 'x86_64': assert {run(program, 1 << 30 | n) for n in range(500)} == {DENIED}   # The x32 numbers


@pytest.mark.parametrize('processor', HEADERS)
def test_numbers_are_those_of_the_kernels_headers(processor):
    found = [path for name in HEADERS[processor] if (path := Path('/usr/include')/name).exists()]
    if not found: pytest.skip('no headers of Linux')
    rows = dict(re.findall(r'#define __NR(?:3264)?_(\w+)\s+(\d+)', found[0].read_text()))
    rows.setdefault('newfstatat', rows.get('fstatat'))   # As its macro is called there
    known = {name: numbers[processor] for name, numbers in isolation._CALLS.items() if processor in numbers}
    assert len(known) > 100 and known == {name: int(rows[name]) for name in known}


def test_no_process_of_a_sandbox_is_without_a_filter():
    "Neither the one that may mount, nor the one that waits outside of the namespaces."
    with Sandbox(1) as s:
        s.map([Job('', ('assert 1',))])
        top, = s.pids()
        found = {pid: Path(f'/proc/{pid}/status').read_text() for pid in (top, *processes.descendants(top))}
        if 'seccomp' not in s.feeders[0].template.layers: pytest.skip('needs filters')
    assert len(found) > 2 and not [text.split()[1] for text in found.values() if 'Seccomp:\t2' not in text]
