"Programs that exit before the verdict, in every way."
from .case import Case, ENDED, SHORT

LEFT = (*ENDED, 'runtime_error')
NEVER = LEFT + ('assertion_failure',)

CASES = [
    Case('sys-exit-at-import', 'import sys\nsys.exit(0)', kinds=('early_exit',)),
    Case('sys-exit-in-call', 'import sys\ndef f(x): sys.exit(0)', kinds=('early_exit',)),
    Case('sys-exit-none', 'import sys\ndef f(x): sys.exit()', kinds=('early_exit',)),
    Case('raise-systemexit-at-import', 'raise SystemExit', kinds=('early_exit',)),
    Case('raise-systemexit-in-call', 'def f(x): raise SystemExit(0)', kinds=('early_exit',)),
    Case('site-exit', 'def f(x): exit(0)', kinds=('early_exit', 'runtime_error')),
    Case('site-quit', 'def f(x): quit()', kinds=('early_exit', 'runtime_error')),
    Case('systemexit-subclass', 'class Done(SystemExit): code = 0\ndef f(x): raise Done',
         kinds=('early_exit', 'runtime_error')),
    Case('systemexit-renamed',
         'class AssertionPassed(SystemExit): pass\nAssertionPassed.__name__ = "ok"\ndef f(x): raise AssertionPassed(0)',
         kinds=('early_exit', 'runtime_error')),
    Case('os-exit-at-import', 'import os\nos._exit(0)', kinds=('early_exit',)),
    Case('os-exit-in-call', 'import os\ndef f(x): os._exit(0)', kinds=('early_exit',)),
    Case('os-exit-second-call',
         'import os\nseen = []\ndef f(x):\n    seen.append(x)\n    return os._exit(0) if len(seen) > 1 else None',
         kinds=('early_exit', 'assertion_failure')),
    Case('os-exit-in-thread',
         'import os, threading\nthreading.Thread(target=os._exit, args=(0,)).start()\ndef f(x):\n    while True: pass',
         kinds=('early_exit',)),
    Case('os-exit-in-timer',
         'import os, threading\nthreading.Timer(0.02, os._exit, (0,)).start()\ndef f(x): threading.Event().wait(1)',
         kinds=('early_exit',)),
    Case('sys-exit-in-thread',
         'import sys, threading\nt = threading.Thread(target=sys.exit)\nt.start(); t.join()\ndef f(x): return None',
         kinds=('assertion_failure',)),
    Case('kill-self', 'import os\ndef f(x): os.kill(os.getpid(), 9)', kinds=('crash', 'runtime_error')),
    Case('kill-self-term', 'import os, signal\ndef f(x): os.kill(os.getpid(), signal.SIGTERM)',
         kinds=(*LEFT, 'assertion_failure')),
    Case('raise-signal', 'import signal\ndef f(x): signal.raise_signal(signal.SIGKILL)',
         kinds=('crash', 'runtime_error')),
    Case('stop-self', 'import os, signal\ndef f(x): os.kill(os.getpid(), signal.SIGSTOP)',
         kinds=('timeout', 'crash', 'runtime_error', 'assertion_failure'), limits=SHORT),
    Case('abort', 'import os\ndef f(x): os.abort()', kinds=('crash',)),
    Case('abort-at-import', 'import os\nos.abort()', kinds=('crash',)),
    Case('libc-exit', 'import ctypes\ndef f(x): ctypes.CDLL(None)._exit(0)', kinds=LEFT),
    Case('libc-exit-with-cleanup', 'import ctypes\ndef f(x): ctypes.CDLL(None).exit(0)', kinds=LEFT),
    Case('syscall-exit-thread-only', 'import ctypes\ndef f(x): ctypes.CDLL(None).syscall(60, 0)',
         kinds=(*LEFT, 'timeout')),
    Case('null-pointer', 'import ctypes\ndef f(x): ctypes.string_at(0)', kinds=('crash', 'runtime_error')),
    Case('faulthandler-segfault', 'import faulthandler\ndef f(x): faulthandler._sigsegv()',
         kinds=('crash', 'runtime_error')),
    Case('py-finalize', 'import ctypes\ndef f(x): ctypes.pythonapi.Py_Exit(0)', kinds=LEFT),
    Case('atexit-overrides-status', 'import atexit, os\natexit.register(os._exit, 0)\ndef f(x): return None',
         kinds=('assertion_failure', 'early_exit')),
    Case('excepthook-overrides-status',
         'import os, sys\nsys.excepthook = lambda *a: os._exit(0)\ndef f(x): return None',
         kinds=('assertion_failure',)),
    Case('excepthook-raises-exit',
         'import sys\ndef hook(*a): raise SystemExit(0)\nsys.excepthook = hook\ndef f(x): return 1 / 0',
         kinds=('runtime_error',)),
    Case('unraisablehook-exits',
         'import os, sys\n'
         'sys.unraisablehook = lambda *a: os._exit(0)\n'
         'class T:\n'
         '    def __del__(self): 1 / 0\n'
         'def f(x): T()',
         kinds=(*ENDED, 'assertion_failure')),
    Case('threading-excepthook-exits',
         'import os, threading\n'
         'threading.excepthook = lambda *a: os._exit(0)\n'
         'def f(x):\n'
         '    t = threading.Thread(target=lambda: 1 / 0)\n'
         '    t.start(); t.join()',
         kinds=('early_exit',)),
    Case('exit-in-del', 'import os\nclass T:\n    def __del__(self): os._exit(0)\ndef f(x): T()',
         kinds=('early_exit',)),
    Case('exit-in-del-of-result', 'import os\nclass T:\n    def __del__(self): os._exit(0)\ndef f(x): return T()',
         kinds=('early_exit', 'assertion_failure')),
    Case('systemexit-in-del', 'class T:\n    def __del__(self): raise SystemExit(0)\ndef f(x): T()',
         kinds=('assertion_failure', 'early_exit')),
    Case('exit-in-generator', 'import sys\ndef f(x):\n    yield sys.exit(0)', ('assert list(f(3)) == [4]',),
         ('early_exit',)),
    Case('generatorexit', 'def f(x): raise GeneratorExit', kinds=('runtime_error',)),
    Case('stopiteration', 'def f(x): raise StopIteration(x)', kinds=('runtime_error',)),
    Case('stopiteration-ends-the-map', 'def f(x): raise StopIteration',
         ('assert all(map(lambda n: f(n) == n + 1, [3, 10]))',), ('runtime_error', 'assertion_failure')),
    Case('stopiteration-ends-the-loop', 'def f(x): raise StopIteration',
         ('for y in map(f, [3, 10]): assert y in (4, 11)', 'assert not list(filter(lambda n: f(n) != n + 1, [3, 10]))'),
         ('runtime_error', 'assertion_failure')),
    Case('stopiteration-ends-the-sentinel', 'class S(StopIteration): pass\ndef f(x): raise S',
         ('assert not [y for y in iter(lambda: f(3), 4)]',), ('runtime_error', 'assertion_failure')),
    Case('keyboardinterrupt', 'def f(x): raise KeyboardInterrupt', kinds=('runtime_error', 'early_exit')),
    Case('exit-in-context-manager',
         'import sys\n'
         'class C:\n'
         '    def __enter__(self): return self\n'
         '    def __exit__(self, *a): sys.exit(0)\n'
         'def f(x):\n'
         '    with C(): raise ValueError',
         kinds=('early_exit',)),
    Case('exit-in-default-argument', 'import sys\ndef f(x, y=sys.exit(0)): return y', kinds=('early_exit',)),
    Case('exit-in-decorator', 'import sys\n@sys.exit\ndef f(x): return x', kinds=('early_exit',)),
    Case('exit-in-class-body', 'class A:\n    raise SystemExit(0)\ndef f(x): return A', kinds=('early_exit',)),
    Case('exit-in-metaclass',
         'import os\n'
         'class M(type):\n'
         '    def __init__(cls, *a): os._exit(0)\n'
         'class A(metaclass=M): pass\n'
         'def f(x): return A',
         kinds=('early_exit',)),
    Case('exit-in-annotation', 'import os\ndef f(x: os._exit(0)) -> None: return x', kinds=('early_exit',)),
    Case('exit-in-repr',
         'import os\n'
         'class R:\n'
         '    def __repr__(self): os._exit(0)\n'
         '    __str__ = __repr__\n'
         'def f(x): raise ValueError(R())',
         kinds=('early_exit', 'runtime_error')),
    Case('exit-in-hash',
         'import os\n'
         'class R:\n'
         '    def __hash__(self): os._exit(0)\n'
         '    def __eq__(self, o): os._exit(0)\n'
         'def f(x): return R()',
         ('assert f(3) in {4, 5}',), NEVER),
    Case('exit-in-signal-handler',
         'import os, signal\n'
         'signal.signal(signal.SIGALRM, lambda *a: os._exit(0))\n'
         'signal.setitimer(signal.ITIMER_REAL, 0.05)\n'
         'def f(x):\n'
         '    while True: pass',
         kinds=(*ENDED, 'timeout', 'runtime_error')),
    Case('alarm-default-action',
         'import signal\n'
         'signal.signal(signal.SIGALRM, signal.SIG_DFL)\n'
         'signal.setitimer(signal.ITIMER_REAL, 0.05)\n'
         'def f(x):\n'
         '    while True: pass',
         kinds=(*ENDED, 'timeout', 'runtime_error')),
    Case('exit-in-trace', 'import os, sys\ndef f(x):\n    sys.settrace(lambda *a: os._exit(0))\n    (lambda: 0)()',
         kinds=('early_exit',)),
    Case('exit-in-profile',
         'import os, sys\nsys.setprofile(lambda frame, event, arg: os._exit(0))\ndef f(x): return None',
         kinds=('early_exit',)),
    Case('exit-in-gc-callback', 'import gc, os\ngc.callbacks.append(lambda *a: os._exit(0))\ndef f(x): gc.collect()',
         kinds=('early_exit',)),
    Case('exit-in-audit-hook',
         'import os, sys\ndef f(x):\n    sys.addaudithook(lambda *a: os._exit(0))\n    compile("1", "", "eval")',
         kinds=('early_exit',)),
    Case('exit-in-weakref-callback',
         'import os, weakref\n'
         'class T: pass\n'
         'def f(x):\n'
         '    t = T()\n'
         '    r = weakref.ref(t, lambda r: os._exit(0))\n'
         '    del t',
         kinds=('early_exit',)),
    Case('close-everything-then-exit', 'import os\ndef f(x):\n    os.closerange(0, 1024)\n    os._exit(0)',
         kinds=ENDED),
    Case('close-everything-then-return', 'import os\ndef f(x): os.closerange(0, 1024)',
         kinds=(*ENDED, 'runtime_error', 'assertion_failure')),
    Case('close-everything-at-import', 'import os\nos.closerange(0, 1024)\ndef f(x): return None',
         kinds=(*ENDED, 'runtime_error', 'assertion_failure')),
    Case('exec-true', 'import os\ndef f(x): os.execv("/bin/true", ["true"])', kinds=LEFT),
    Case('exec-python', 'import os, sys\ndef f(x): os.execv(sys.executable, [sys.executable, "-c", ""])', kinds=LEFT),
    Case('fork-and-leave', 'import os\ndef f(x):\n    if os.fork(): os._exit(0)\n    return None', kinds=NEVER),
    Case('deleting-f', 'import os\ndef f(x):\n    del globals()["f"]\n    os._exit(0)', kinds=('early_exit',)),
    Case('no-f-but-getattr', 'import os\ndef __getattr__(name): os._exit(0)', kinds=(*ENDED, 'runtime_error')),
    Case('exit-object-as-f', 'import sys\nf = sys.exit', ('assert f() == 4', 'assert f(0) == 11'), ('early_exit',)),
    Case('os-exit-as-f', 'import os\nf = os._exit', ('assert f(0) == 4',), ('early_exit',)),
    Case('nothing-at-all', '', kinds=('runtime_error',)),
    Case('async-f-exits', 'import os\nasync def f(x): os._exit(0)\nimport asyncio\nasyncio.run(f(3))',
         kinds=(*ENDED, 'runtime_error')),
]
