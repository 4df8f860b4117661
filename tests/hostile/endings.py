"Programs that do not end when they should, after a result that is wrong anyway."
from .case import Case, ENDED, SHORT, WRONG

LAST = (*WRONG, 'timeout', 'early_exit')

def last(name, text, returned='None', kinds=LAST):
    return Case(name, f'{text}\ndef f(x): return {returned}', kinds=kinds, limits=SHORT)

def tampers(name, text): # With whatever lies on a descriptor that may be a report
    return Case(name, f'import os\ntry: {text}\nexcept OSError: pass\nos._exit(0)', kinds=('early_exit',))

CASES = [
    last('thread-that-sleeps', 'import threading, time\nthreading.Thread(target=time.sleep, args=(60,)).start()'),
    last('thread-that-spins',
         'import threading\ndef spin():\n    while True: pass\nthreading.Thread(target=spin).start()'),
    last('threads-that-start-threads',
         'import threading, time\n'
         'def again():\n'
         '    time.sleep(0.05)\n'
         '    threading.Thread(target=again).start()\n'
         'again()'),
    last('thread-in-call', 'import threading, time\ndef g(): threading.Thread(target=time.sleep, args=(60,)).start()',
         'g()'),
    last('atexit-sleeps', 'import atexit, time\natexit.register(time.sleep, 60)'),
    last('atexit-spins', 'import atexit\n@atexit.register\ndef spin():\n    while True: pass'),
    last('atexit-registers-itself', 'import atexit\n@atexit.register\ndef again(): atexit.register(again)'),
    last('atexit-starts-a-thread',
         'import atexit, threading, time\n'
         'atexit.register(lambda: threading.Thread(target=time.sleep, args=(60,)).start())'),
    last('del-sleeps', 'import time\nclass T:\n    def __del__(self): time.sleep(60)\nkept = T()'),
    last('del-of-result-sleeps', 'import time\nclass T:\n    def __del__(self): time.sleep(60)', 'T()'),
    last('del-revives', 'class T:\n    def __del__(self): kept.append(T()); kept.pop()\nkept = []', '[T()]'),
    last('finalizer-sleeps', 'import time, weakref\nclass T: pass\nkept = T()\nweakref.finalize(kept, time.sleep, 60)'),
    last('generator-finally-sleeps',
         'import time\ndef gen():\n    try: yield\n    finally: time.sleep(60)\nkept = gen()\nnext(kept)'),
    last('generator-that-ignores-close',
         'def gen():\n'
         '    while True:\n'
         '        try: yield 0\n'
         '        except GeneratorExit: pass\n'
         'kept = gen()\n'
         'next(kept)',
         'kept'),
    last('context-left-open',
         'import contextlib, time\n'
         '@contextlib.contextmanager\n'
         'def c():\n'
         '    try: yield\n'
         '    finally: time.sleep(60)\n'
         'kept = c()\n'
         'kept.__enter__()'),
    last('sigterm-handler-loops',
         'import signal\n'
         'def loop(*a):\n'
         '    while True: pass\n'
         'for s in (signal.SIGTERM, signal.SIGINT, signal.SIGALRM, signal.SIGHUP, signal.SIGXCPU): signal.signal(s, '
         'loop)\n'
         'signal.raise_signal(signal.SIGTERM)'),
    last('alarm-handler-raises-for-ever',
         'import signal\n'
         'def again(*a): raise SystemExit(0)\n'
         'signal.signal(signal.SIGALRM, again)\n'
         'signal.setitimer(signal.ITIMER_REAL, 0.2, 0.001)\n'
         'def g(x):\n'
         '    while True:\n'
         '        try:\n'
         '            while True: pass\n'
         '        except BaseException: pass',
         'g(x)', (*LAST, *ENDED)),
    tampers('erases-its-report', 'os.ftruncate(3, 0)'),
    tampers('overwrites-its-report', 'os.pwrite(3, bytes(4096), 0)'),
    tampers('rewinds-its-report', 'os.lseek(3, 0, 0); os.write(3, bytes(4096))'),
    tampers('closes-its-report', 'os.close(3)'),
    tampers('closes-everything', 'os.closerange(1, 64)'),
    tampers('leaves-like-a-broken-sandbox', 'os.ftruncate(3, 0); os._exit(70)'),
    last('sleeps-at-import', 'import time\ntime.sleep(60)', kinds=('timeout',)),
    last('sleeps-in-call', 'import time', 'time.sleep(60)', ('timeout',)),
    last('sleeps-through-libc', 'import ctypes', 'ctypes.CDLL(None).pause()', ('timeout', 'runtime_error', 'crash')),
    last('waits-on-stdin', 'import sys', 'sys.stdin.read() and None', LAST),
    last('waits-on-a-lock', 'import threading\nlock = threading.Lock()\nlock.acquire()', 'lock.acquire()',
         ('timeout',)),
    last('waits-on-itself', 'import threading', 'threading.Event().wait()', ('timeout',)),
    last('waits-on-a-pipe', 'import os\nr, w = os.pipe()', 'os.read(r, 1)', ('timeout',)),
    last('waits-on-every-descriptor',
         'import os\n'
         'def g():\n'
         '    for fd in range(3, 64):\n'
         '        try: os.set_blocking(fd, True); os.read(fd, 1)\n'
         '        except OSError: pass',
         'g()', (*LAST, *ENDED)),
    last('waits-in-select', 'import select', 'select.select([], [], [])', ('timeout', 'runtime_error')),
    last('waits-on-a-fifo', 'import os\nos.mkfifo("p")', 'open("p")', ('timeout', 'runtime_error')),
    last('sleeps-and-swallows',
         'import time\ndef g():\n    while True:\n        try: time.sleep(60)\n        except BaseException: pass',
         'g()', ('timeout',)),
    last('executor-that-waits',
         'import concurrent.futures, time\n'
         'pool = concurrent.futures.ThreadPoolExecutor(2)\n'
         'pool.submit(time.sleep, 60)'),
    last('asyncio-that-waits',
         'import asyncio\ndef g():\n    async def main(): await asyncio.sleep(60)\n    asyncio.run(main())', 'g()',
         ('timeout', 'runtime_error')),
    last('import-lock-held',
         'import _imp, threading\n'
         'threading.Thread(target=lambda: [_imp.acquire_lock(), threading.Event().wait()], daemon=True).start()'),
    last('gil-kept', 'import ctypes', 'ctypes.PyDLL(None).sleep(60)', ('timeout', 'runtime_error')),
    last('interpreter-lock-through-regex', 'import re', 're.match("(a|a)*b", "a" * 40)', ('timeout',)),
    last('leaves-but-a-thread-stays',
         'import os, threading, time\n'
         'threading.Thread(target=time.sleep, args=(60,)).start()\n'
         'def g(): raise SystemExit(0)',
         'g()', ('early_exit', 'timeout')),
]
