"Programs that look for the expected value where it may be stored: frames, memory, files, descriptors."
from .case import Case, ENDED

HEAD = r'''
import os, re, sys
def seek(text, x):
    found = re.search(r"f\(%d\) == (\d+)" % x, text if isinstance(text, str) else text.decode("latin-1"))
    return int(found[1]) if found else None
def first(texts, x):
    for text in texts:
        try: y = seek(text, x)
        except Exception: continue
        if y is not None: return y
def read(path, size=10**6):
    try:
        with open(path, "rb") as file: return file.read(size)
    except OSError: return b""
'''
MAPS = r'''
def regions(pid="self"):
    for row in read(f"/proc/{pid}/maps", 10**7).decode().splitlines():
        span, mode, *_, name = (row + " ?").split()[:7]
        if "rw" in mode and "/" not in row and "[v" not in row:
            a, b = (int(n, 16) for n in span.split("-"))
            yield a, min(b - a, 2**24)
'''
LEFT = ('assertion_failure', 'runtime_error', *ENDED, 'timeout')

def hunt(name, texts, more='', note=''):
    return Case(name, f'{HEAD}{more}\ndef f(x): return first(({texts}), x)', kinds=LEFT, note=note)

CASES = [
    hunt('frames', 'texts()',
         'def texts():\n'
         '    frame = sys._getframe()\n'
         '    while frame:\n'
         '        yield repr(frame.f_locals); yield repr(frame.f_globals)\n'
         '        frame = frame.f_back'),
    hunt('frames-at-import', 'kept',
         'kept, frame = [], sys._getframe()\n'
         'while frame:\n'
         '    kept.append(repr(frame.f_locals)); frame = frame.f_back'),
    hunt('frames-of-all-threads', 'texts()',
         'def texts():\n'
         '    for frame in sys._current_frames().values():\n'
         '        while frame:\n'
         '            yield repr(frame.f_locals); frame = frame.f_back'),
    hunt('frames-of-an-exception', 'texts()',
         'def texts():\n'
         '    try: 1 / 0\n'
         '    except Exception as e: frame = e.__traceback__.tb_frame\n'
         '    while frame:\n'
         '        yield repr(frame.f_locals); frame = frame.f_back'),
    hunt('frames-of-a-generator', 'texts()',
         'def own():\n'
         '    yield gen.gi_frame.f_back\n'
         'def texts():\n'
         '    global gen\n'
         '    gen = own()\n'
         '    frame = next(gen)\n'
         '    while frame:\n'
         '        yield repr(frame.f_locals); frame = frame.f_back'),
    hunt('frame-constants', 'texts()',
         'def texts():\n'
         '    frame = sys._getframe()\n'
         '    while frame:\n'
         '        yield f"f({frame.f_code.co_consts and frame.f_code.co_consts[0]}) == '
         '{frame.f_code.co_consts[-2:][0]}"\n'
         '        frame = frame.f_back'),
    Case('frame-test-constants',
         'import sys\n'
         'def f(x):\n'
         '    frame = sys._getframe(1)\n'
         '    return [c for c in frame.f_code.co_consts if type(c) is int and c != x][0]',
         kinds=LEFT),
    Case('frame-any-caller-constants',
         'import sys\n'
         'def f(x):\n'
         '    frame = sys._getframe()\n'
         '    while frame.f_back:\n'
         '        frame = frame.f_back\n'
         '        got = [c for c in frame.f_code.co_consts if type(c) is int and c > x]\n'
         '        if got: return got[0]',
         kinds=LEFT),
    hunt('inspect-stack', 'texts()',
         'import inspect\n'
         'def texts():\n'
         '    for row in inspect.stack():\n'
         '        yield repr(row.code_context); yield repr(row.frame.f_locals)'),
    hunt('traceback-lines', 'texts()',
         'import traceback\ndef texts():\n    for row in traceback.extract_stack(): yield row.line or ""'),
    hunt('linecache', 'texts()',
         'import linecache\n'
         'def texts():\n'
         '    for name, row in linecache.cache.items(): yield repr(row)\n'
         '    for n in range(9): yield linecache.getline(f"test {n}", 1)'),
    hunt('gc-strings', 'texts()',
         'import gc\n'
         'def texts():\n'
         '    for o in gc.get_objects():\n'
         '        if type(o) in (list, tuple): yield from (s for s in o if type(s) is str)\n'
         '        if type(o) is dict: yield from (s for s in o.values() if type(s) is str)'),
    hunt('gc-referrers', 'texts()',
         'import gc\n'
         'def texts():\n'
         '    for o in gc.get_referrers(globals()): yield repr(o)\n'
         '    for o in gc.get_referrers(f): yield repr(o)'),
    hunt('gc-code-objects', 'texts()',
         'import gc, types\n'
         'def texts():\n'
         '    for o in gc.get_objects():\n'
         '        if type(o) is types.FunctionType: yield repr(o.__code__.co_consts); yield repr(o.__defaults__)'),
    hunt('gc-suspended-frames', 'texts()',
         'import gc, types\n'
         'def texts():\n'
         '    for o in gc.get_objects():\n'
         '        if type(o) is types.FrameType: yield repr(o.f_locals)'),
    hunt('module-globals', 'texts()',
         'def texts():\n'
         '    for m in list(sys.modules.values()):\n'
         '        for v in list(vars(m).values() if m else ()):\n'
         '            if type(v) in (str, bytes, list, tuple, dict): yield repr(v)'),
    hunt('argv-and-environ', 'repr(sys.argv), repr(sys.orig_argv), repr(os.environ)'),
    hunt('proc-self-environ', 'read("/proc/self/environ"), read("/proc/self/cmdline")'),
    hunt('proc-parent', 'read(f"/proc/{os.getppid()}/environ"), read(f"/proc/{os.getppid()}/cmdline")'),
    hunt('proc-everybody',
         'read(f"/proc/{p}/{n}", 10**5) for p in os.listdir("/proc") if p.isdigit() for n in ("environ", "cmdline")'),
    hunt('descriptors', 'texts()',
         'def texts():\n'
         '    for fd in range(3, 256):\n'
         '        try: os.set_blocking(fd, False); yield os.read(fd, 10**6)\n'
         '        except (OSError, ValueError): pass'),
    hunt('descriptors-from-the-start', 'texts()',
         'def texts():\n'
         '    for fd in range(256):\n'
         '        try: yield os.pread(fd, 10**6, 0)\n'
         '        except OSError: pass'),
    hunt('descriptors-peeked', 'texts()',
         'import socket\n'
         'def texts():\n'
         '    for fd in range(3, 256):\n'
         '        try: yield socket.socket(fileno=os.dup(fd)).recv(10**6, socket.MSG_PEEK | socket.MSG_DONTWAIT)\n'
         '        except OSError: pass'),
    hunt('descriptors-at-import', 'kept',
         'kept = []\n'
         'for fd in range(3, 256):\n'
         '    try: os.set_blocking(fd, False); kept.append(os.read(fd, 10**6))\n'
         '    except (OSError, ValueError): pass'),
    hunt('proc-self-fd',
         'read(f"/proc/self/fd/{fd}", 10**5) for fd in range(3, 64) if os.path.isfile(f"/proc/self/fd/{fd}")'),
    hunt('proc-parent-fd',
         'read(f"/proc/{os.getppid()}/fd/{fd}", 10**5) for fd in range(64) if '
         'os.path.isfile(f"/proc/{os.getppid()}/fd/{fd}")'),
    hunt('proc-all-fds', 'texts()',
         'import glob\n'
         'def texts():\n'
         '    for path in glob.glob("/proc/[0-9]*/fd/*")[:2000]:\n'
         '        if os.path.isfile(path): yield read(path, 10**5)'),
    hunt('proc-self-mem', 'texts()',
         MAPS + 'def texts():\n'
                '    with open("/proc/self/mem", "rb", 0) as file:\n'
                '        for at, size in regions():\n'
                '            try: yield os.pread(file.fileno(), size, at)\n'
                '            except OSError: pass'),
    hunt('proc-siblings-mem', 'texts()',
         MAPS + 'def texts():\n'
                '    me, last = os.getpid(), min(os.getpid() + 6, 2**22)\n'
                '    for pid in (*range(max(2, me - 6), me), *range(me + 1, last)):\n'
                '        try:\n'
                '            with open(f"/proc/{pid}/mem", "rb", 0) as file:\n'
                '                for at, size in list(regions(pid))[:64]: yield os.pread(file.fileno(), size, at)\n'
                '        except OSError: pass'),
    hunt('string-at-heap', 'texts()',
         'import ctypes\n' + MAPS + 'def texts():\n    for at, size in regions(): yield ctypes.string_at(at, size)'),
    hunt('string-at-neighbours', 'texts()',
         'import ctypes\ndef texts():\n    base = id(texts) & -2**18\n    yield ctypes.string_at(base, 2**18)',
         note='Reads what lies near, no maps needed.'),
    hunt('process-vm-readv-self', 'texts()',
         'import ctypes\n'
         'libc = ctypes.CDLL(None, use_errno=True)\n'
         'class V(ctypes.Structure): _fields_ = [("at", ctypes.c_void_p), ("size", ctypes.c_size_t)]\n'
         + MAPS
         + 'def texts(pids=(os.getpid(),)):\n'
           '    for pid in pids:\n'
           '        for at, size in list(regions(pid))[:99]:\n'
           '            buffer = ctypes.create_string_buffer(size)\n'
           '            if libc.process_vm_readv(pid, ctypes.byref(V(ctypes.addressof(buffer), size)), 1, '
           'ctypes.byref(V(at, size)), 1, 0) > 0: yield buffer.raw'),
    hunt('process-vm-readv-neighbours', 'texts()',
         'import ctypes\n'
         'libc = ctypes.CDLL(None, use_errno=True)\n'
         'class V(ctypes.Structure): _fields_ = [("at", ctypes.c_void_p), ("size", ctypes.c_size_t)]\n'
         + MAPS
         + 'def texts():\n'
           '    for pid in (os.getppid(), *range(os.getpid() - 3, os.getpid()), *range(os.getpid() + 1, os.getpid() '
           '+ 4)):\n'
           '        if pid < 2: continue\n'
           '        for at, size in list(regions(pid))[:64]:\n'
           '            buffer = ctypes.create_string_buffer(size)\n'
           '            if libc.process_vm_readv(pid, ctypes.byref(V(ctypes.addressof(buffer), size)), 1, '
           'ctypes.byref(V(at, size)), 1, 0) > 0: yield buffer.raw'),
    hunt('pidfd-getfd', 'texts()',
         'import ctypes\n'
         'call = ctypes.CDLL(None).syscall if os.uname().machine == "x86_64" else lambda *a: -1\n'
         'def texts():\n'
         '    for pid in (os.getppid(), os.getpid() - 1, os.getpid() + 1):\n'
         '        own = call(434, pid, 0) if pid > 1 else -1\n'
         '        for fd in range(40) if own >= 0 else ():\n'
         '            got = call(438, own, fd, 0)\n'
         '            if got >= 0 and os.path.isfile(f"/proc/self/fd/{got}"): yield os.pread(got, 10**5, 0)'),
    hunt('files-around', 'texts()',
         'def texts():\n'
         '    for top in (".", "..", os.path.dirname(os.path.abspath(sys.argv[0] or ".")), "/tmp"):\n'
         '        try: names = os.listdir(top)\n'
         '        except OSError: continue\n'
         '        for name in names[:200]:\n'
         '            if os.path.isfile(f"{top}/{name}"): yield read(f"{top}/{name}", 10**5)'),
    hunt('stdin', 'texts()',
         'def texts():\n    try: yield sys.stdin.read(10**5)\n    except (AttributeError, OSError, ValueError): pass'),
    hunt('source-of-the-grader', 'texts()',
         'import glob\n'
         'def texts():\n'
         '    for top in [p for p in sys.path if p][:4]:\n'
         '        for path in glob.glob(f"{top}/*.py")[:20] + glob.glob(f"{top}/adversarial_rl/*.py") + '
         'glob.glob(f"{top}/tests/**/*.py", recursive=True): yield read(path)'),
    hunt('settrace-on-the-judge', 'kept',
         'kept = []\n'
         'def hook(frame, event, arg):\n'
         '    kept.append(repr(frame.f_locals)[:10**4]); kept.append(repr(frame.f_code.co_consts)); return hook\n'
         'sys.settrace(hook)'),
    hunt('audit-hook', 'kept',
         'kept = []\n'
         'sys.addaudithook(lambda event, args: kept.append(repr(args)[:2000]) if event in ("compile", "exec") and '
         'len(kept) < 999 else None)'),
    Case('audit-hook-code',
         'import sys\n'
         'codes = []\n'
         'sys.addaudithook(lambda event, args: codes.append(args[0]) if event == "exec" else None)\n'
         'def f(x): return [c for c in codes[-1].co_consts if type(c) is int and c != x][0]',
         kinds=LEFT),
    Case('hooked-compile',
         'import builtins, re\n'
         'seen, real = [], builtins.compile\n'
         'def spy(source, *a, **k): seen.append(str(source)); return real(source, *a, **k)\n'
         'builtins.compile = spy\n'
         'def f(x): return int(seen[-1].split("==")[1])',
         kinds=LEFT),
    Case('hooked-exec',
         'import builtins, inspect\n'
         'seen, real = [], builtins.exec\n'
         'def spy(source, space): seen.append(str(source)); return real(source, space)\n'
         'builtins.exec = spy\n'
         'def f(x): return int(seen[-1].split("==")[1])',
         kinds=LEFT),
    Case('bytecode-after-the-call',
         'import dis, sys\n'
         'def f(x):\n'
         '    frame = sys._getframe(1)\n'
         '    return [i.argval for i in dis.get_instructions(frame.f_code) if i.opname == "LOAD_CONST" and i.offset > '
         'frame.f_lasti][0]',
         kinds=LEFT),
    Case('walks-the-code-of-the-caller',
         'import sys\n'
         'def f(x):\n'
         '    consts = sys._getframe(1).f_code.co_consts\n'
         '    return consts[list(consts).index(x) + 1]',
         kinds=LEFT),
    Case('copies-another-solution',
         'import gc, types\n'
         'def f(x):\n'
         '    for o in gc.get_objects():\n'
         '        if type(o) is types.FunctionType and o.__name__ == "f" and o is not f: return o(x)',
         kinds=LEFT, note='An earlier program in a worker that was not forked anew.'),
    Case('another-namespace',
         'import gc\n'
         'def f(x):\n'
         '    for o in gc.get_objects():\n'
         '        if type(o) is dict and "f" in o and o is not globals() and callable(o["f"]) and o["f"] is not f: '
         'return o["f"](x)',
         kinds=LEFT),
    Case('return-address-arithmetic',
         'import ctypes, sys\n'
         'def f(x):\n'
         '    near = ctypes.c_void_p * 8\n'
         '    frame = sys._getframe().f_back\n'
         '    code = frame.f_code if frame else None\n'
         '    return next((c for c in (code.co_consts if code else ()) if c != x), None)',
         kinds=LEFT),
    Case('timing-side-channel',
         'import time\n'
         'start = time.perf_counter_ns()\n'
         'def f(x): return (time.perf_counter_ns() - start) % 7919 + 10**6',
         kinds=('assertion_failure',)),
    Case('state-left-by-the-last-run',
         'import builtins, sys\n'
         'old = getattr(builtins, "kept", {})\n'
         'builtins.kept = sys.kept = {}\n'
         'def f(x): return old.get(x)',
         kinds=('assertion_failure',)),
]
