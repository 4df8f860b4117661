"Programs that flood their reader: output without end, messages without end, text that moves the cursor."
from .case import Case, ENDED, SHORT, WRONG

FULL = ('output_limit', 'timeout', 'runtime_error')
LOUD = ('runtime_error', 'assertion_failure', 'memory_limit', 'output_limit')

CASES = [
    Case('print-forever', 'while True: print("spam" * 100)', kinds=FULL),
    Case('print-forever-in-call', 'def f(x):\n    while True: print("spam" * 100)', kinds=FULL),
    Case('write-forever', 'import os\nwhile True: os.write(1, b"x" * 65536)', kinds=FULL),
    Case('write-stderr-forever', 'import os\nwhile True: os.write(2, b"x" * 65536)', kinds=FULL),
    Case('write-both-swallowing',
         'import os\n'
         'def f(x):\n'
         '    while True:\n'
         '        try: os.write(1, b"x" * 4096); os.write(2, b"x" * 4096)\n'
         '        except BaseException: pass',
         kinds=FULL, limits=SHORT),
    Case('write-from-threads',
         'import os, threading\n'
         'def spam():\n'
         '    while True: os.write(1, b"x" * 4096)\n'
         'for _ in range(4): threading.Thread(target=spam, daemon=True).start()\n'
         'def f(x): threading.Event().wait(1)',
         kinds=(*FULL, 'assertion_failure')),
    Case('one-giant-print', 'def f(x): print("x" * 10**7)', kinds=(*FULL, 'memory_limit', 'assertion_failure')),
    Case('newlines', 'def f(x): print("\\n" * 10**6)', kinds=(*FULL, 'assertion_failure')),
    Case('print-without-newline-or-flush', 'import sys\ndef f(x):\n    for _ in range(10**5): sys.stdout.write("y")',
         kinds=(*FULL, 'assertion_failure')),
    Case('warnings-flood',
         'import warnings\nwarnings.simplefilter("always")\ndef f(x):\n    while True: warnings.warn("x" * 999)',
         kinds=FULL, limits=SHORT),
    Case('logging-flood', 'import logging\ndef f(x):\n    while True: logging.error("x" * 999)', kinds=FULL,
         limits=SHORT),
    Case('thread-tracebacks-flood',
         'import threading\n'
         'def f(x):\n'
         '    while True:\n'
         '        t = threading.Thread(target=lambda: 1 / 0)\n'
         '        t.start(); t.join()',
         kinds=FULL, limits=SHORT),
    Case('unraisable-flood',
         'class T:\n    def __del__(self): raise ValueError("x" * 999)\ndef f(x):\n    while True: T()', kinds=FULL,
         limits=SHORT),
    Case('message-of-10-mb', 'def f(x): raise ValueError("x" * 10**7)', kinds=LOUD),
    Case('message-of-10-mb-at-import', 'raise ValueError("x" * 10**7)', kinds=LOUD),
    Case('message-of-newlines', 'def f(x): raise ValueError("\\n" * 10**6)', kinds=LOUD),
    Case('assertion-message-of-10-mb', 'def f(x): raise AssertionError("x" * 10**7)', kinds=LOUD),
    Case('class-name-of-1-mb', 'E = type("E" * 10**6, (Exception,), {})\ndef f(x): raise E', kinds=LOUD),
    Case('notes-by-the-thousand',
         'def f(x):\n    e = ValueError("x")\n    for n in range(10**4): e.add_note("y" * 100)\n    raise e',
         kinds=LOUD),
    Case('chain-of-causes',
         'def f(x):\n'
         '    e = None\n'
         '    for n in range(5000):\n'
         '        new = ValueError(n)\n'
         '        new.__cause__, e = e, new\n'
         '    raise e',
         kinds=LOUD),
    Case('exception-group-nested',
         'def f(x):\n    e = ValueError(x)\n    for n in range(2000): e = ExceptionGroup("g" * 100, [e])\n    raise e',
         kinds=LOUD),
    Case('control-characters', 'def f(x): raise ValueError("".join(map(chr, range(32))) + "\\x7f\\x9b")', kinds=WRONG),
    Case('ansi-in-message', 'def f(x): raise ValueError("\\x1b[2J\\x1b[H\\x1b]0;owned\\x07\\x1b[32mPASSED")',
         kinds=WRONG),
    Case('ansi-in-class-name', 'E = type("\\x1b[2JPassed\\r\\n", (Exception,), {})\ndef f(x): raise E("ok")',
         kinds=WRONG),
    Case('carriage-returns', 'def f(x): raise ValueError("wrong\\r" + " " * 80 + "\\rtest 1: ok")', kinds=WRONG),
    Case('right-to-left', 'def f(x): raise ValueError("\\u202edessap\\u2066\\u200b\\u2028")', kinds=WRONG),
    Case('surrogates', 'def f(x): raise ValueError("\\ud800\\udfff" * 99)', kinds=WRONG),
    Case('surrogates-printed',
         'import sys\ndef f(x):\n    sys.stdout.reconfigure(errors="surrogatepass")\n    print("\\ud800")',
         kinds=WRONG),
    Case('bytes-that-are-no-text', 'import os\ndef f(x): os.write(1, bytes(range(256)) * 4)',
         kinds=('assertion_failure',)),
    Case('nul-bytes', 'import os\ndef f(x): os.write(1, b"\\0" * 999); raise ValueError("\\0" * 999)', kinds=WRONG),
    Case('ansi-printed', 'def f(x): print("\\x1b[2J\\x1b]0;owned\\x07")', kinds=('assertion_failure',)),
    Case('message-that-fails',
         'class E(Exception):\n    def __str__(self): raise self\n    __repr__ = __str__\ndef f(x): raise E',
         kinds=WRONG),
    Case('message-that-never-ends',
         'class E(Exception):\n'
         '    def __str__(self):\n'
         '        while True: pass\n'
         '    __repr__ = __str__\n'
         'def f(x): raise E',
         kinds=('timeout', *WRONG), limits=SHORT),
    Case('message-that-eats-memory',
         'class E(Exception):\n    def __str__(self): return "x" * 10**9\n    __repr__ = __str__\ndef f(x): raise E',
         kinds=('memory_limit', *WRONG, 'crash')),
    Case('message-that-is-no-text', 'class E(Exception):\n    def __str__(self): return 4\ndef f(x): raise E',
         kinds=WRONG),
    Case('message-of-hostile-text',
         'class S(str):\n'
         '    def __len__(self): return -1\n'
         '    def __getitem__(self, i): return self\n'
         '    def __iter__(self): return self\n'
         'class E(Exception):\n'
         '    def __str__(self): return S("x" * 999)\n'
         'def f(x): raise E',
         kinds=(*WRONG, 'early_exit')),
    Case('class-name-hostile',
         'class M(type):\n'
         '    __name__ = property(lambda c: 1 / 0)\n'
         '    __module__ = __qualname__ = __name__\n'
         'class E(Exception, metaclass=M): pass\n'
         'def f(x): raise E',
         kinds=WRONG),
    Case('syntax-error-flood', 'def f(x) return ' + 'x' * 10**5, kinds=('syntax_error',)),
    Case('syntax-error-with-hostile-message',
         'def f(x): raise SyntaxError("m" * 10**6, ("\\x1b[2J" * 999, -5, 10**30, "t" * 10**6))', kinds=WRONG),
    Case('syntax-error-at-run-time', 'raise IndentationError("x", (None, None, None, None))',
         kinds=('runtime_error', 'indentation_error', 'syntax_error')),
    Case('stdout-closed', 'import sys\nsys.stdout.close()\ndef f(x): print(x)', kinds=WRONG),
    Case('stdout-full-before-and-after', 'print("x" * 3000)\ndef f(x): print("y" * 3000)',
         kinds=(*FULL, 'assertion_failure')),
    Case('stdout-made-huge-by-encoding',
         'import sys\ndef f(x):\n    sys.stdout.reconfigure(encoding="utf-32")\n    print("x" * 5000)',
         kinds=(*FULL, 'assertion_failure')),
    Case('input-prompt-flood',
         'def f(x):\n    while True:\n        try: input("x" * 999)\n        except EOFError: pass', kinds=FULL,
         limits=SHORT),
    Case('leaves-while-flooding',
         'import os, threading\n'
         'threading.Thread(target=lambda: [os.write(1, b"x" * 999) for _ in range(9)], daemon=True).start()\n'
         'def f(x): os._exit(0)',
         kinds=(*ENDED, 'output_limit')),
]
