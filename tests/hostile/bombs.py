"""Programs that take all they can: memory, disk, processes, time.

Never run these without walls; loops that make processes are bounded.
"""
from .case import Case, ENDED, SHORT, TESTS, WRONG

FULL = ('memory_limit', 'runtime_error', 'crash', 'timeout')
DISK = (*WRONG, 'timeout', 'crash')
FORKED = (*WRONG, 'crash', 'timeout')
LATE = ('timeout',)

def bomb(name, text, kinds=FULL, **k): return Case(name, text, TESTS, kinds, **k)

CASES = [
    bomb('list-grows', 'x = []\nwhile True: x.append(bytearray(10**6))'),
    bomb('list-grows-in-call', 'def f(x):\n    y = []\n    while True: y.append(bytearray(10**6))'),
    bomb('list-doubles', 'def f(x):\n    y = [0]\n    while True: y += y'),
    bomb('dict-grows', 'def f(x):\n    y = {}\n    while True: y[len(y)] = str(len(y)) * 99'),
    bomb('set-grows', 'def f(x):\n    y = set()\n    while True: y.add((len(y), "x" * 500 + str(len(y))))'),
    bomb('bytes-at-once', 'def f(x): return len(bytes(10**11))'),
    bomb('str-multiplied', 'def f(x): return len("a" * 10**11)'),
    bomb('str-joined', 'def f(x):\n    y = "x"\n    while True: y = y + y'),
    bomb('list-comprehension', 'y = [[0] * 10**5 for _ in range(10**6)]'),
    bomb('bytearray-swallowing',
         'def f(x):\n'
         '    y = []\n'
         '    while True:\n'
         '        try: y.append(bytearray(10**6))\n'
         '        except MemoryError: pass',
         limits=SHORT),
    bomb('memoryerror-hidden',
         'def f(x):\n'
         '    y = []\n'
         '    try:\n'
         '        while True: y.append(bytearray(10**5))\n'
         '    except MemoryError: return y',
         (*FULL, 'assertion_failure')),
    bomb('memory-in-a-thread',
         'import threading\n'
         'def grow():\n'
         '    y = []\n'
         '    while True: y.append(bytearray(10**6))\n'
         't = threading.Thread(target=grow)\n'
         't.start(); t.join()\n'
         'def f(x): return None',
         (*FULL, 'assertion_failure')),
    bomb('mmap',
         'import mmap\n'
         'def f(x):\n'
         '    kept = []\n'
         '    while True:\n'
         '        kept.append(mmap.mmap(-1, 10**7))\n'
         '        for n in range(0, 10**7, 4096): kept[-1][n] = 1'),
    bomb('mmap-sparse', 'import mmap\ndef f(x): kept = [mmap.mmap(-1, 2**34) for _ in range(99)]'),
    bomb('libc-malloc',
         'import ctypes\n'
         'libc = ctypes.CDLL(None)\n'
         'libc.malloc.restype = ctypes.c_void_p\n'
         'def f(x):\n'
         '    while True:\n'
         '        p = libc.malloc(ctypes.c_size_t(10**7))\n'
         '        if not p: return None\n'
         '        ctypes.memset(p, 1, 10**7)',
         (*FULL, 'assertion_failure')),
    bomb('memfd',
         'import os\ndef f(x):\n    fd = os.memfd_create("m")\n    for _ in range(500): os.write(fd, bytes(10**6))',
         (*FULL, 'assertion_failure')),
    bomb('memfd-truncated', 'import os\ndef f(x): os.ftruncate(os.memfd_create("m"), 2**40)',
         (*FULL, 'assertion_failure')),
    bomb('shared-memory',
         'import ctypes\n'
         'libc = ctypes.CDLL(None)\n'
         'def f(x): return [libc.shmget(0, ctypes.c_size_t(2**20), 0o1600) >= 0 and print("ESCAPED") for _ in '
         'range(3)]',
         (*WRONG, 'crash'), note='System V segments outlive their makers.'),
    bomb('posix-shared-memory',
         'import ctypes\n'
         'def f(x):\n'
         '    if ctypes.CDLL(None).shm_open(b"/{marker}", 0o102, 0o600) >= 0: print("ESCAPED shm")',
         (*WRONG, 'crash')),
    bomb('posix-message-queue',
         'import ctypes\n'
         'def f(x):\n'
         '    if ctypes.CDLL(None).mq_open(b"/{marker}", 0o102, 0o600, None) >= 0: print("ESCAPED mq")',
         (*WRONG, 'crash')),
    bomb('pipes-full',
         'import os\n'
         'def f(x):\n'
         '    kept = []\n'
         '    while True:\n'
         '        r, w = os.pipe()\n'
         '        os.set_blocking(w, False)\n'
         '        kept.append(os.write(w, bytes(65536)))'),
    bomb('descriptors-used-up', 'import os\ndef f(x):\n    while True: os.dup(0)'),
    bomb('thread-stacks',
         'import threading\n'
         'threading.stack_size(2**26)\n'
         'def f(x):\n'
         '    for _ in range(500): threading.Thread(target=threading.Event().wait, daemon=True).start()',
         (*FULL, 'assertion_failure')),
    bomb('threads',
         'import threading\n'
         'def f(x):\n'
         '    for _ in range(3000): threading.Thread(target=threading.Event().wait, daemon=True).start()',
         (*FULL, 'assertion_failure')),
    bomb('threads-exponential',
         'import threading\n'
         'def split(n):\n'
         '    if n: [threading.Thread(target=split, args=(n - 1,), daemon=True).start() for _ in range(2)]\n'
         '    threading.Event().wait()\n'
         'def f(x): split(11)',
         (*FULL, 'assertion_failure', 'output_limit'), limits=SHORT),
    bomb('recursion', 'def f(x): return f(x) + 1'),
    bomb('recursion-without-limit', 'import sys\nsys.setrecursionlimit(10**9)\ndef f(x): return f(x) + 1',
         limits=SHORT),
    bomb('recursion-in-c',
         'import sys\n'
         'sys.setrecursionlimit(10**9)\n'
         'class R:\n'
         '    def __repr__(self): return repr([self])\n'
         'def f(x): return repr(R())'),
    bomb('recursion-in-getattr',
         'import sys\n'
         'sys.setrecursionlimit(10**9)\n'
         'class R:\n'
         '    def __getattr__(self, n): return getattr(self, n + "x")\n'
         'def f(x): return R().a'),
    bomb('recursion-in-eq',
         'import sys\n'
         'sys.setrecursionlimit(10**9)\n'
         'a, b = [], []\n'
         'a.append(b); b.append(a)\n'
         'def f(x): return None if a == b else None'),
    bomb('deep-list-freed', 'def f(x):\n    y = None\n    for _ in range(10**6): y = [y]\n    del y',
         (*FULL, 'assertion_failure')),
    bomb('deep-tuple-hashed',
         'import sys\n'
         'sys.setrecursionlimit(10**9)\n'
         'def f(x):\n'
         '    y = ()\n'
         '    for _ in range(10**6): y = (y,)\n'
         '    return hash(y) * 0 and None',
         (*FULL, 'assertion_failure')),
    bomb('compile-deep', 'def f(x): return eval("(" * 10**5 + ")" * 10**5)', (*FULL, 'syntax_error')),
    bomb('compile-minuses', 'import sys\nsys.setrecursionlimit(10**9)\ndef f(x): return eval("-" * 10**6 + "1.5")',
         (*FULL, 'assertion_failure', 'syntax_error')),
    bomb('program-nested-itself', 'x = ' + '[' * 50000 + ']' * 50000, ('syntax_error', *FULL),
         note='Broken on purpose for the parser.'),
    bomb('program-of-minuses', 'x = ' + '-' * 50000 + '1', ('syntax_error', *FULL)),
    bomb('program-of-attributes', 'x = a' + '.b' * 50000, ('syntax_error', *FULL)),
    bomb('program-of-sums', 'x = 1' + '+1' * 50000, ('syntax_error', *FULL)),
    bomb('program-of-ifs', ''.join(' ' * n + 'if 1:\n' for n in range(120)) + ' ' * 120 + 'pass',
         ('indentation_error', 'syntax_error', *FULL)),
    bomb('program-of-fstrings', 'x = ' + 'f"{' * 4 + '1' + '}"' * 4, ('syntax_error', *FULL)),
    bomb('program-of-nul-bytes', 'x = 1\0\0\0', ('syntax_error',)),
    bomb('program-of-constant-folding', 'x = (1 << 10**9) + ("a" * 10**9 == "b")', (*FULL, 'syntax_error')),
    bomb('program-of-folded-powers', 'x = ' + '**'.join(['9'] * 9), limits=SHORT),
    bomb('program-of-digits', 'x = ' + '9' * 50000, ('syntax_error', *FULL)),
    bomb('program-of-a-million-names', '\n'.join(f'n{i}=0' for i in range(50000)), (*FULL, 'syntax_error')),
    bomb('power', 'def f(x): return 10**10**8 % 7 + .5', limits=SHORT),
    bomb('shift', 'def f(x): return (1 << 10**12) % 7'),
    bomb('factorial', 'import math\ndef f(x): return math.factorial(10**7) % 7 + .5', limits=SHORT),
    bomb('int-from-text', 'import sys\nsys.set_int_max_str_digits(0)\ndef f(x): return int("9" * 10**7) % 7 + .5',
         limits=SHORT),
    bomb('int-to-text', 'import sys\nsys.set_int_max_str_digits(0)\ndef f(x): return str(1 << 10**7)',
         FULL + ('assertion_failure',), limits=SHORT),   # Python 3.12 is quick at it
    bomb('regex', 'import re\ndef f(x): return re.match("(a+)+b", "a" * 60)', LATE, limits=SHORT),
    bomb('regex-compile', 'import re\ndef f(x): return re.compile("(?:" * 90 + "a" + "){0,60000}" * 90)',
         FULL + ('assertion_failure',), limits=SHORT),
    bomb('format-width', 'def f(x): return len(f"{x:>99999999999}")'),
    bomb('percent-width', 'def f(x): return len("%99999999999d" % x)'),
    bomb('zip-bomb',
         'import zlib\n'
         'part = zlib.compress(bytes(10**7))\n'
         'def f(x): return len(b"".join(zlib.decompress(part) for _ in range(99)))'),
    bomb('lzma-bomb',
         'import lzma\n'
         'part = lzma.compress(bytes(10**6))\n'
         'def f(x): return len(b"".join(lzma.decompress(part) for _ in range(999)))',
         limits=SHORT),
    bomb('product', 'import itertools\ndef f(x): return len(list(itertools.product(range(99), repeat=9)))'),
    bomb('permutations', 'import itertools\ndef f(x): return max(itertools.permutations(range(14)))', limits=SHORT),
    bomb('sum-of-range', 'def f(x): return sum(range(10**12))', LATE, limits=SHORT),
    bomb('in-endless-count', 'import itertools\ndef f(x): return -1 in itertools.count()', LATE, limits=SHORT),
    bomb('loop-at-import', 'while True: pass', LATE, limits=SHORT),
    bomb('loop-in-call', 'def f(x):\n    while True: pass', LATE, limits=SHORT),
    bomb('loop-swallowing',
         'def f(x):\n    while True:\n        try:\n            while True: pass\n        except BaseException: pass',
         LATE, limits=SHORT),
    bomb('loop-ignoring-signals',
         'import signal\n'
         'for s in range(1, 65):\n'
         '    try: signal.signal(s, signal.SIG_IGN)\n'
         '    except (OSError, ValueError): pass\n'
         'def f(x):\n'
         '    while True: pass',
         LATE, limits=SHORT),
    bomb('loop-blocking-signals',
         'import signal\nsignal.pthread_sigmask(signal.SIG_BLOCK, range(1, 65))\ndef f(x):\n    while True: pass',
         ('timeout', 'runtime_error'), limits=SHORT),
    bomb('loop-handling-sigxcpu',
         'import signal\n'
         'for s in (signal.SIGXCPU, signal.SIGTERM, signal.SIGALRM, signal.SIGVTALRM, signal.SIGPROF): '
         'signal.signal(s, lambda *a: None)\n'
         'def f(x):\n'
         '    while True: pass',
         ('timeout', 'runtime_error'), limits=SHORT),
    bomb('loop-with-limits-raised',
         'import resource\n'
         'for r in range(16):\n'
         '    try: resource.setrlimit(r, (-1, -1)); print("ESCAPED limit", r) if r in (resource.RLIMIT_CPU, '
         'resource.RLIMIT_AS) else None\n'
         '    except (OSError, ValueError): pass\n'
         'def f(x):\n'
         '    while True: pass',
         ('timeout', 'runtime_error', 'crash'), limits=SHORT),
    bomb('loop-in-many-threads',
         'import threading\n'
         'def spin():\n'
         '    while True: pass\n'
         'for _ in range(16): threading.Thread(target=spin, daemon=True).start()\n'
         'def f(x): spin()',
         (*LATE, 'runtime_error', 'crash'), limits=SHORT),
    bomb('nice-raised',
         'import os\n'
         'def f(x):\n'
         '    for n in (-20, -5, -1):\n'
         '        try: os.nice(n); print("ESCAPED nice", n)\n'
         '        except OSError: pass',
         WRONG + ('crash',)),
    bomb('realtime',
         'import os\n'
         'def f(x):\n'
         '    try: os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1)); print("ESCAPED realtime")\n'
         '    except OSError: pass',
         WRONG + ('crash',)),
    bomb('memory-locked', 'import ctypes\ndef f(x): ctypes.CDLL(None).mlockall(3)\n',
         WRONG + ('crash', 'memory_limit')),
    bomb('disk-big-file',
         'def f(x):\n    with open("big", "wb") as file:\n        for _ in range(2000): file.write(bytes(10**6))',
         DISK),
    bomb('disk-many-files',
         'def f(x):\n    for n in range(10**5):\n        with open(f"n{n}", "wb") as file: file.write(bytes(4096))',
         DISK, limits=SHORT),
    bomb('disk-many-big-files',
         'def f(x):\n    for n in range(2000):\n        with open(f"n{n}", "wb", 0) as file: file.write(bytes(10**6))',
         DISK + ('memory_limit',), limits=SHORT),
    bomb('disk-sparse-file',
         'import os\n'
         'def f(x):\n'
         '    with open("big", "wb") as file: os.ftruncate(file.fileno(), 2**40)\n'
         '    print("ESCAPED terabyte")',
         DISK),
    bomb('disk-allocated-file',
         'import os\n'
         'def f(x):\n'
         '    with open("big", "wb") as file: os.posix_fallocate(file.fileno(), 0, 2**36)\n'
         '    print("ESCAPED allocation")',
         DISK),
    bomb('disk-deep-folders', 'import os\ndef f(x):\n    for _ in range(5000): os.mkdir("d"); os.chdir("d")', DISK),
    bomb('disk-wide-folders', 'import os\ndef f(x):\n    for n in range(10**5): os.mkdir(str(n))', DISK, limits=SHORT),
    bomb('disk-locked-folders',
         'import os\n'
         'def f(x):\n'
         '    os.makedirs("a/b/c")\n'
         '    open("a/b/c/d", "w").close()\n'
         '    for d in ("a/b/c", "a/b", "a", "."): os.chmod(d, 0)',
         DISK),
    bomb('disk-immutable-file',
         'import fcntl\n'
         'def f(x):\n'
         '    with open("i", "w") as file:\n'
         '        fcntl.ioctl(file, 0x40086602, b"\\x10\\0\\0\\0\\0\\0\\0\\0"); fcntl.ioctl(file, 0x40086602, '
         'bytes(8))\n'
         '        print("ESCAPED immutable")',
         DISK),
    bomb('disk-names-that-are-no-text',
         'import os\n'
         'def f(x):\n'
         '    for n in range(128, 256): open(bytes([n]) * 200, "w").close()\n'
         '    os.mkdir("\\n"); os.symlink("/", "\\x1b[2J"); os.mkfifo("-rf")',
         DISK),
    bomb('disk-file-deleted-but-open',
         'import os\n'
         'kept = []\n'
         'def f(x):\n'
         '    for n in range(40):\n'
         '        kept.append(open(str(n), "wb", 0)); os.unlink(str(n))\n'
         '        for _ in range(50): kept[-1].write(bytes(10**6))',
         DISK),
    bomb('fork', 'import os\ndef f(x):\n    for _ in range(9): os.fork()', FORKED, note='At most 512 processes.'),
    bomb('fork-swallowing',
         'import os\ndef f(x):\n    for _ in range(9):\n        try: os.fork()\n        except OSError: pass', FORKED),
    bomb('fork-through-libc', 'import ctypes\nlibc = ctypes.CDLL(None)\ndef f(x):\n    for _ in range(8): libc.fork()',
         FORKED),
    bomb('vfork-through-libc', 'import ctypes, os\ndef f(x):\n    if ctypes.CDLL(None).vfork() == 0: os._exit(0)',
         (*FORKED, 'early_exit')),
    bomb('clone-through-syscall',
         'import ctypes, os\n'
         'call = ctypes.CDLL(None).syscall\n'
         'def f(x):\n'
         '    if call(56, 17, 0, 0, 0, 0) == 0: os._exit(0)',
         (*FORKED, 'early_exit')),
    bomb('clone3-through-syscall',
         'import ctypes, os\n'
         'call = ctypes.CDLL(None).syscall\n'
         'def f(x):\n'
         '    a = (ctypes.c_uint64 * 11)(0, 0, 0, 0, 17)\n'
         '    if call(435, ctypes.byref(a), 88) == 0: os._exit(0)',
         (*FORKED, 'early_exit')),
    bomb('subprocess',
         'import subprocess\n'
         'def f(x):\n'
         '    for _ in range(50): subprocess.Popen(["/bin/sleep", "{marker}", "30"]); print("ESCAPED subprocess")',
         FORKED),
    bomb('multiprocessing',
         'import multiprocessing\ndef f(x):\n    with multiprocessing.Pool(8) as pool: return pool.map(abs, [1.5])',
         FORKED),
    bomb('posix-spawn',
         'import os\n'
         'def f(x):\n'
         '    for _ in range(20): os.posix_spawn("/bin/sleep", ["sleep", "30"], {}); print("ESCAPED spawn")',
         FORKED),
    bomb('process-executor',
         'from concurrent.futures import ProcessPoolExecutor\n'
         'def f(x):\n'
         '    with ProcessPoolExecutor(4) as pool: return list(pool.map(abs, [1.5]))',
         FORKED),
    bomb('execs-itself-over-and-over',
         'import os, sys\ndef f(x): os.execv(sys.executable, [sys.executable, "-c", "while True: pass"])',
         (*FORKED, *ENDED), limits=SHORT),
]
