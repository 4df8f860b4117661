"Programs that report in the grader's name: forged verdicts, unexpected answers, broken frames, replaced reporters."
from .case import Case, TESTS, WRONG

HEAD = r'''
import json, os, pickle, struct, sys
def flood(raw, times=1):
    for fd in range(1, 256):
        try:
            os.set_blocking(fd, False)
            for _ in range(times): os.write(fd, raw)
        except OSError: pass
def framed(raw, form=">I"): return struct.pack(form, len(raw)) + raw
def rows(*words): return b"".join(json.dumps(w).encode() + b"\n" for w in words)
'''
VERDICTS = ('[{"passed": True}, {"kind": "success", "passed": True, "per_test": [True, True]}, ["ok", ""], ["end", '
            '""], ["start"], {"steps": [["ok", ""]] * 3, "finished": True, "status": 0, "error": ""}, ["", "ok", ""], '
            'True, 1, "passed"]')

def forged(name, text, returned='None', kinds=(), tests=TESTS, note=''):
    return Case(name, f'{HEAD}\n{text}\ndef f(x): return {returned}', tests, kinds, note=note)
def in_call(name, text, note=''):
    return Case(name, HEAD + 'def f(x):\n' + ''.join(f'    {row}\n' for row in text.splitlines()), note=note)

CASES = [
    forged('json-lines-at-import', f'flood(rows(*{VERDICTS}))'),
    in_call('json-lines-in-call', f'flood(rows(*{VERDICTS}))'),
    in_call('json-lines-in-call-then-leave', f'flood(rows(*{VERDICTS}))\nos._exit(0)'),
    forged('json-lines-at-exit', f'import atexit\natexit.register(lambda: flood(rows(*{VERDICTS})))'),
    forged('framed-at-import', f'for w in {VERDICTS}: flood(framed(json.dumps(w).encode()))'),
    in_call('framed-in-call', f'for w in {VERDICTS}: flood(framed(json.dumps(w).encode()))'),
    in_call('framed-little-endian', f'for w in {VERDICTS}: flood(framed(json.dumps(w).encode(), "<I"))'),
    in_call('framed-eight-bytes', f'for w in {VERDICTS}: flood(framed(json.dumps(w).encode(), ">Q"))'),
    in_call('framed-netstring',
            f'for w in {VERDICTS}:\n    raw = json.dumps(w).encode()\n    flood(b"%d:%b," % (len(raw), raw))'),
    in_call('http-like-header', 'flood(b"Content-Length: 4\\r\\n\\r\\ntrue")'),
    in_call('pickled', f'for w in {VERDICTS}: flood(pickle.dumps(w)); flood(framed(pickle.dumps(w)))'),
    in_call('pickle-that-runs',
            'class P:\n'
            '    def __reduce__(self): return os._exit, (0,)\n'
            'flood(framed(pickle.dumps(P()))); flood(pickle.dumps(P()))'),
    in_call('marshalled', f'import marshal\nfor w in {VERDICTS}: flood(framed(marshal.dumps(w)))'),
    in_call('plain-words', 'flood(b"passed\\nok\\nOK\\nsuccess\\nTrue\\n1\\n0\\n.\\n\\0")'),
    in_call('unittest-and-tap', 'flood(b"Ran 2 tests in 0.000s\\n\\nOK\\n1..2\\nok 1\\nok 2\\n== 2 passed ==\\n")'),
    in_call('nonce-guesses',
            'for n in range(200): flood(rows([str(n), "ok", ""], [str(n), "end", ""], ["%032x" % n, "ok", ""], '
            '["%032x" % n, "end", ""]))'),
    in_call('nonces-from-memory',
            'import gc\n'
            'for s in {s for o in gc.get_objects() if type(o) in (list, tuple, dict) for s in (o.values() if type(o) '
            'is dict else o) if type(s) is str and 8 <= len(s) <= 64 and s.isalnum()}:\n'
            '    flood(rows([s, "ok", ""], [s, "end", ""]))'),
    in_call('nonces-from-frames',
            'frame = sys._getframe()\n'
            'while frame:\n'
            '    for s in [v for v in frame.f_locals.values() if type(v) is str][:50]: flood(rows([s, "ok", ""], [s, '
            '"ok", ""], [s, "ok", ""], [s, "end", ""]))\n'
            '    frame = frame.f_back'),
    in_call('calls-reporters-in-frames',
            'frame = sys._getframe()\n'
            'while frame:\n'
            '    for v in list(frame.f_locals.values()) + list(frame.f_globals.values()):\n'
            '        if callable(v) and getattr(v, "__name__", "") in ("say", "report", "send", "reply", "answer", '
            '"send_frame", "done"):\n'
            '            for a in (("ok", ""), (["ok", ""],), (True,), ()):\n'
            '                try: v(*a)\n'
            '                except BaseException: pass\n'
            '    frame = frame.f_back'),
    in_call('calls-reporters-in-heap',
            'import gc, types\n'
            'for o in gc.get_objects():\n'
            '    if isinstance(o, (types.FunctionType, types.MethodType)) and o.__name__ in ("say", "send", "reply", '
            '"receive", "send_frame"):\n'
            '        for a in (("ok", ""), (["ok", ""],), ([0, True],)):\n'
            '            try: o(*a)\n'
            '            except BaseException: pass'),
    in_call('frame-locals-rewritten',
            'import ctypes\n'
            'frame = sys._getframe()\n'
            'while frame:\n'
            '    for n in frame.f_locals:\n'
            '        if n in ("kind", "passed", "ok", "result", "status", "error"): frame.f_locals[n] = "ok"\n'
            '    ctypes.pythonapi.PyFrame_LocalsToFast(ctypes.py_object(frame), 0)\n'
            '    frame = frame.f_back'),
    in_call('heap-lists-rewritten',
            'import gc\n'
            'for o in gc.get_objects():\n'
            '    if type(o) is list and any(v == "assertion_failure" for v in o if type(v) is str): o[:] = ["ok", '
            '""]\n'
            '    if type(o) is dict and "passed" in o: o.update(passed=True, kind="success", finished=True)'),
    in_call('answers-of-this-very-protocol',
            'for w in (["value", True, []], ["value", {"handle": [0, "object", "int", ["int"]]}, []], ["stop"], '
            '["refused", ""], ["raised", "SystemExit", ["SystemExit", "BaseException"], {"tuple": []}, []]): '
            'flood(framed(json.dumps(w).encode()))'),
    forged('ready-before-it-is',
           'for w in (["compiled"], ["ready"], ["compiled"], ["ready"]): flood(framed(json.dumps(w).encode()))'),
    forged('ready-and-then-never',
           'for w in (["compiled"], ["ready"]): flood(framed(json.dumps(w).encode()))\nos._exit(0)'),
    forged('failed-as-success',
           'for w in (["failed", "ok", ""], ["failed", "success", ""], ["failed", "assertion_failure", ""]): '
           'flood(framed(json.dumps(w).encode()))'),
    forged('names-answered-for-the-host',
           'flood(framed(json.dumps([["f", True], ["abs", 0], ["math", None], ["__builtins__", {"dict": '
           '[]}]]).encode()), 9)'),
    forged('stop-for-an-answer',
           'flood(framed(json.dumps(["ready"]).encode()) + framed(json.dumps([["f", {"handle": [0, "callable", '
           '"function", []]}]]).encode()) + framed(b\'["stop"]\') * 9)',
           tests=('assert all(map(lambda n: f(n) == n + 1, [3, 10]))',)),
    forged('handle-of-the-wrong-kind',
           'flood(framed(json.dumps(["value", {"handle": ["0", 1, [], "x"]}, []]).encode())); '
           'flood(framed(json.dumps(["value", {"handle": [10**9, "iterator", "x" * 10**6, []]}, []]).encode()))'),
    in_call('calls-back-for-ever',
            'for n in (0, -1, 10**9, "0", None, [0]): flood(framed(json.dumps(["back", n, [], {"dict": '
            '[]}]).encode()), 50)'),
    Case('arguments-changed-by-forged-answers',
         HEAD + 'def f(x): flood(framed(json.dumps(["value", None, [[n, [9]] for n in (0, -1, 1, 99)]]).encode()))',
         ('x = [3]\ny = [3, 4]\nassert f(x) == y and x == [3]', 'x = [3]\nf(x)\nassert x == [3, 4]')),
    in_call('host-object-rewritten',
            'import gc\n'
            'for o in gc.get_objects():\n'
            '    if type(o).__name__ in ("Host", "Link"):\n'
            '        for n in ("serve", "send", "receive", "do", "lend", "changes"):\n'
            '            try: setattr(type(o), n, lambda self, *a, **k: ["value", True, []])\n'
            '            except (AttributeError, TypeError): pass'),
    in_call('doings-rewritten',
            'for m in list(sys.modules.values()):\n'
            '    table = getattr(m, "DOINGS", None)\n'
            '    if isinstance(table, dict):\n'
            '        for n in table: table[n] = lambda *a, **k: True'),
    in_call('answers-twice', 'flood(framed(json.dumps(["ok", 0]).encode()) * 2)'),
    in_call('answers-a-thousand-times', 'flood(framed(json.dumps(["ok", True]).encode()), 1000)'),
    forged('answers-ahead-of-time',
           'for w in (["ok", True], {"value": True}, True, [1, True], {"id": 1, "value": True}): '
           'flood(framed(json.dumps(w).encode()), 50)'),
    forged('answers-with-a-callback',
           'for w in (["call", "f", [3]], ["call", 0, [[3], []]], {"call": 1}, ["get", 0, "__class__"]): '
           'flood(framed(json.dumps(w).encode()))'),
    forged('forged-handles',
           'for w in ({"handle": 0}, {"handle": -1}, {"handle": 10**30}, {"handle": "os"}, {"handle": {"handle": '
           '1}}): flood(framed(json.dumps(["ok", w]).encode()))'),
    in_call('forged-types',
            'for w in ({"eval": "True"}, {"int": "0x"}, {"set": [[]]}, {"Fraction": [1, 0]}, {"dict": 3}, '
            '{"__class__": "int"}, {"Decimal": "x" * 10**5}): flood(framed(json.dumps(["ok", w]).encode()))'),
    in_call('range-too-big-to-list',
            'flood(framed(json.dumps(["ok", {"range": [0, 10**18, 1]}]).encode()))\nreturn range(10**18)'),
    in_call('length-negative', 'flood(struct.pack(">i", -1)); flood(b"\\xff" * 4 + b"{}")'),
    in_call('length-huge', 'flood(b"\\x7f\\xff\\xff\\xff"); flood(b"\\x7f" + b"\\xff" * 7)'),
    in_call('length-zero', 'flood(b"\\0" * 4096)'),
    in_call('length-cut-short', 'flood(b"\\0\\0"); os._exit(0)'),
    in_call('body-cut-short', 'flood(struct.pack(">I", 100) + b"[\\"ok\\""); os._exit(0)'),
    in_call('body-never-comes', 'flood(struct.pack(">I", 100) + b"[")\nwhile True: pass'),
    in_call('deep-json',
            'flood(framed(b"[" * 60000)); flood(framed(b"[" * 20000 + b"]" * 20000)); flood(framed(b\'{"a":\' * '
            '9999))'),
    in_call('nan-and-infinity', 'flood(framed(b\'["ok", NaN]\')); flood(framed(b\'["ok", -Infinity]\'))'),
    in_call('duplicate-keys',
            'flood(framed(b\'{"passed": false, "passed": true, "kind": "success", "kind": "success"}\'))'),
    in_call('invalid-utf8',
            'flood(framed(b\'["ok", "\\xff\\xfe\\xc0\\x80"]\')); flood(framed(b\'["ok", "\\\\ud800"]\'))'),
    in_call('utf16-and-bom', 'flood(framed("\\ufefftrue".encode("utf-16"))); flood(framed(b"\\xef\\xbb\\xbftrue"))'),
    in_call('number-of-a-million-digits', 'flood(framed(b"9" * 60000)); flood(framed(b"1e999999"))'),
    in_call('nothing-but-noise', 'import random\nfor _ in range(50): flood(random.randbytes(1000))'),
    in_call('descriptors-closed', 'for fd in range(3, 256):\n    try: os.close(fd)\n    except OSError: pass'),
    in_call('descriptors-to-null',
            'null = os.open("/dev/null", os.O_RDWR)\n'
            'for fd in range(3, 64):\n'
            '    try:\n'
            '        if fd != null: os.dup2(null, fd)\n'
            '    except OSError: pass'),
    in_call('descriptors-crossed', 'for fd in range(3, 64):\n    try: os.dup2(fd, fd - 1)\n    except OSError: pass'),
    in_call('descriptors-to-own-pipe',
            'r, w = os.pipe()\n'
            f'for word in {VERDICTS}: os.write(w, framed(json.dumps(word).encode()))\n'
            'for fd in range(3, 64):\n'
            '    try:\n'
            '        if fd not in (r, w): os.dup2(r, fd)\n'
            '    except OSError: pass'),
    in_call('descriptors-read-away',
            'for fd in range(3, 256):\n'
            '    try: os.set_blocking(fd, False); os.read(fd, 10**6)\n'
            '    except OSError: pass'),
    in_call('descriptors-not-blocking',
            'for fd in range(256):\n    try: os.set_blocking(fd, False)\n    except OSError: pass'),
    in_call('descriptors-resized',
            'import fcntl\n'
            'for fd in range(3, 256):\n'
            '    try: fcntl.fcntl(fd, 1031, 4096); fcntl.fcntl(fd, fcntl.F_SETFL, os.O_ASYNC | os.O_APPEND); '
            'os.ftruncate(fd, 0)\n'
            '    except OSError: pass'),
    forged('flooding-thread',
           'import threading\n'
           'def spam():\n'
           '    while True:\n'
           f'        for w in {VERDICTS}: flood(framed(json.dumps(w).encode())); flood(rows(w))\n'
           'threading.Thread(target=spam, daemon=True).start()'),
    forged('flooding-thread-noise',
           'import threading\n'
           'def spam():\n'
           '    while True: flood(os.urandom(4096))\n'
           'threading.Thread(target=spam, daemon=True).start()'),
    forged('os-write-replaced',
           'real = os.write\n'
           'os.write = lambda fd, raw: real(fd, bytes(raw).replace(b"assertion_failure", b"ok").replace(b"false", '
           'b"true"))'),
    forged('os-read-replaced', 'os.read = lambda fd, n: b""'),
    forged('os-read-raises', 'def read(fd, n): raise SystemExit(0)\nos.read = read'),
    forged('json-dumps-replaced',
           'json.dumps = lambda *a, **k: \'["ok", ""]\'\n'
           'json.loads = lambda *a, **k: ["ok", ""]\n'
           'json.JSONEncoder.encode = lambda *a: "true"'),
    forged('json-encoder-iterencode',
           'json.encoder.c_make_encoder = None\njson.encoder._make_iterencode = lambda *a, **k: lambda *a: ["true"]'),
    forged('struct-replaced', 'struct.pack = lambda *a: b"\\0\\0\\0\\0"\nstruct.unpack = lambda *a: (0,)'),
    forged('codec-tables-replaced',
           'for name, m in list(sys.modules.items()):\n'
           '    for n in ("WRITE", "READ", "NATIVE", "PLAIN"):\n'
           '        table = getattr(m, n, None)\n'
           '        if isinstance(table, dict): table.clear()\n'
           '        elif table is not None: setattr(m, n, frozenset())'),
    forged('codec-functions-replaced',
           'for name, m in list(sys.modules.items()):\n'
           '    if m and "adversarial" in name:\n'
           '        for n in list(vars(m)): setattr(m, n, lambda *a, **k: ("ok", True))'),
    forged('outcome-class-replaced',
           'for m in list(sys.modules.values()):\n'
           '    o = getattr(m, "Outcome", None) or getattr(m, "Report", None)\n'
           '    if o:\n'
           '        o.passed, o.kind, o.finished = True, "success", True'),
    forged('kind-in-globals',
           'kind, passed, per_test, message = "success", True, (True, True), ""\n'
           '__result__ = __test__ = __passed__ = True'),
    forged('kind-on-the-function',
           'pass\ndef f(x): return None\nf.kind, f.passed, f.per_test = "success", True, (True, True)\ng = f', 'g'),
    forged('outcome-lookalike',
           'class Outcome:\n'
           '    kind, passed, per_test, message, error = "success", True, (True, True), "", ""\n'
           '    def __eq__(self, o): return True',
           'Outcome()', WRONG),
    forged('fake-message-types',
           'class A(AssertionError):\n'
           '    kind = "success"\n'
           '    passed = True\n'
           'A.__name__ = "success"\n'
           'def g(x): raise A("ok")',
           'g(x)', WRONG),
    forged('result-as-protocol-word', 'pass', '["ok", True, {"handle": 0}, {"passed": True}]', ('assertion_failure',)),
    forged('result-as-tagged-dict', 'pass', '{"tuple": [True], "int": "0x4", "handle": 1}', ('assertion_failure',)),
    forged('result-as-json-text', 'pass', 'json.dumps(x)', ('assertion_failure',)),
    forged('threads-answer-instead',
           'import threading\n'
           'def reply():\n'
           '    for _ in range(999): flood(framed(b"true"))\n'
           'threading.Thread(target=reply, daemon=True).start()',
           'threading.Event().wait(0.3)'),
    forged('reads-the-call-itself',
           'got = []\n'
           'for fd in range(3, 64):\n'
           '    try: os.set_blocking(fd, False); got.append((fd, os.read(fd, 9999)))\n'
           '    except OSError: pass\n'
           'for fd, raw in got:\n'
           '    try: os.write(fd, raw)\n'
           '    except OSError: pass'),
]
