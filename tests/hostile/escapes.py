"""Programs that reach for the machine around them. Each prints ESCAPED once it succeeded, and its result is wrong.

Where walls might be missing, nothing is harmed: signals have number 0, system calls carry arguments that the kernel
refuses after it has checked permissions, and numbers of system calls are used on x86-64 only.
"""
from .case import Case, ENDED, WRONG

LEFT = (*WRONG, 'crash')
HEAD = r'''
import ctypes, errno, os, signal, socket, struct, sys
def attempt(do):
    try: got = do()
    except (Exception, SystemExit) as e: return None
    print("ESCAPED", str(got)[:500])
def read(path, size=2000):
    with open(path, "rb") as file: return file.read(size)
def write(path):
    with open(path, "w") as file: return file.write("{marker}")
def libc(name, *a, reached=()):
    f = getattr(ctypes.CDLL(None, use_errno=True), name)
    ctypes.set_errno(0)
    if f(*a) >= 0 or ctypes.get_errno() in reached: return name
    raise OSError
def call(n, *a, reached=()): return libc("syscall", n, *a, reached=reached) if os.uname().machine == "x86_64" else 1 / 0
def parent():
    if os.getppid() < 2: raise OSError
    return os.getppid()
'''
KNOCK = 'def f(x): attempt(lambda: ({}))'

def reach(name, what, more='', kinds=LEFT, note=''):
    return Case(name, f'{HEAD}{more}\n' + KNOCK.replace('{}', what), kinds=kinds, note=note)
def silent(name, what, more='', kinds=LEFT):
    return Case(name, f'{HEAD}{more}\ndef f(x):\n    try: {what}\n    except Exception: pass', kinds=kinds)
def gone(name, text, kinds=(*LEFT, *ENDED, 'timeout')):
    return Case(name,
                HEAD + 'import time\ndef name(): libc("prctl", 15, b"{marker}", 0, 0, 0)\ndef f(x):\n'
                + ''.join(f'    {row}\n' for row in text.splitlines()),
                kinds=kinds)

CASES = [
    gone('double-fork',
         'if os.fork() == 0:\n'
         '    os.setsid()\n'
         '    if os.fork() == 0:\n'
         '        name(); time.sleep(60)\n'
         '    os._exit(0)'),
    gone('fork-holding-the-pipes', 'if os.fork() == 0:\n    name()\n    while True: time.sleep(60)\nos._exit(0)'),
    gone('fork-at-exit',
         'import atexit\ndef late():\n    if os.fork() == 0: name(); time.sleep(60)\natexit.register(late)'),
    gone('fork-ignoring-signals',
         'for s in (1, 2, 15): signal.signal(s, signal.SIG_IGN)\n'
         'if os.fork() == 0:\n'
         '    os.setsid(); name()\n'
         '    end = time.time() + 60\n'
         '    while time.time() < end: pass'),
    gone('fork-chain',
         'if os.fork() == 0:\n'
         '    name()\n'
         '    end = time.time() + 20\n'
         '    while time.time() < end:\n'
         '        if os.fork(): os._exit(0)\n'
         '        os.setsid(); time.sleep(0.02)'),
    gone('fork-in-a-thread',
         'import threading\n'
         'def t():\n'
         '    if os.fork() == 0: name(); time.sleep(60)\n'
         'threading.Thread(target=t, daemon=True).start()\n'
         'time.sleep(0.1)'),
    gone('nohup',
         'import subprocess\n'
         'subprocess.Popen(["nohup", "sleep", "61"], start_new_session=True)\n'
         'print("ESCAPED nohup")'),
    gone('shell', 'if os.system("sleep 0") == 0: print("ESCAPED shell")'),
    gone('shell-in-background',
         'if os.popen("echo here; (sleep 60; : {marker}) >/dev/null 2>&1 &").read(): print("ESCAPED popen")'),
    gone('exec-with-marker',
         'os.execv(sys.executable, [sys.executable, "-c", "import time; time.sleep(60)", "{marker}"])', LEFT),
    gone('exec-from-memory',
         'fd = os.memfd_create("x", 0)\nos.write(fd, read("/bin/sleep", 10**6))\nos.execve(fd, ["{marker}", "60"], {})',
         LEFT),
    gone('exec-through-the-loader', 'os.execv("/lib64/ld-linux-x86-64.so.2", ["ld", "/bin/sleep", "60", "{marker}"])',
         LEFT),
    gone('pdeathsig-cleared',
         'libc("prctl", 1, 0, 0, 0, 0)\nname()\nlibc("prctl", 36, 1, 0, 0, 0)\nif os.fork() == 0: time.sleep(60)'),
    gone('thread-outlives-main',
         'import threading\ndef t():\n    name(); time.sleep(60)\nthreading.Thread(target=t).start()\ncall(60, 0)'),

    reach('tcp-connect', 'socket.create_connection(("127.0.0.1", {port}), 1)'),
    reach('tcp-connect-nonblocking', 's.connect_ex(("127.0.0.1", {port})) in (0, errno.EINPROGRESS) or 1 / 0',
          's = None\ntry: s = socket.socket(); s.setblocking(False)\nexcept OSError: pass'),
    reach('tcp-connect-6', 'socket.create_connection(("::1", {port}), 1)'),
    reach('tcp-listen', 'socket.create_server(("127.0.0.1", 0)).getsockname()'),
    reach('tcp-through-syscall',
          'call(42, call_number(41, 2, 1, 0), bytes(16), 16, reached=(errno.ECONNREFUSED, errno.EINVAL, '
          'errno.EAFNOSUPPORT))',
          'def call_number(*a): return ctypes.CDLL(None).syscall(*a)'),
    reach('tcp-fast-open', 'socket.socket().sendto(b"x", 0x20000000, ("127.0.0.1", {port}))'),
    reach('udp-send', 'socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"x", ("127.0.0.1", {port}))'),
    reach('udp-bind', 's.bind(("127.0.0.1", 0))',
          's = None\ntry: s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\nexcept OSError: pass'),
    reach('unix-connect', 'socket.socket(socket.AF_UNIX).connect("{outside}/sock")'),
    reach('unix-datagram', 'socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM).sendto(b"x", "{outside}/sock")'),
    reach('unix-bind', 'socket.socket(socket.AF_UNIX).bind("{outside}/mine")'),
    reach('unix-abstract-connect', 'socket.socket(socket.AF_UNIX).connect("\\0{marker}")'),
    reach('unix-abstract-bind', 'socket.socket(socket.AF_UNIX).bind("\\0{marker}-mine")'),
    reach('well-known-sockets',
          '[socket.socket(socket.AF_UNIX).connect(p) for p in ("/var/run/docker.sock", "/run/dbus/system_bus_socket",'
          ' "/run/systemd/notify")]'),
    reach('netlink', 'socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0).bind((0, 0))'),
    reach('raw-socket', 'socket.socket(socket.AF_INET, socket.SOCK_RAW, 1)'),
    reach('packet-socket', 'socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 3)'),
    reach('crypto-socket', 'socket.socket(38, socket.SOCK_SEQPACKET).bind(("hash", "sha1"))'),
    reach('vsock', 'socket.socket(40, socket.SOCK_STREAM).connect((2, 9)) or 1', kinds=(*LEFT, 'timeout')),
    reach('dns', 'socket.getaddrinfo("example.com", 80)', kinds=(*LEFT, 'timeout')),
    reach('http', '__import__("urllib.request").request.urlopen("http://127.0.0.1:{port}", timeout=1)',
          kinds=(*LEFT, 'timeout')),
    reach('socketpair-sent-outside', 'socket.socketpair()[0].sendto(b"x", "{outside}/sock")'),

    *(reach(f'read-{name}', f'read({path})')
      for name, path in {
        'secret': '"{outside}/secret"',
        'passwd': '"/etc/passwd"',
        'shadow': '"/etc/shadow"',
        'hosts': '"/etc/hosts"',
        'hostname': '"/etc/hostname"',
        'proc-1-environ': '"/proc/1/environ"',
        'parent-environ': 'f"/proc/{parent()}/environ"',
        'parent-maps': 'f"/proc/{parent()}/maps"',
        'init-root': '"/proc/1/root/etc/passwd"',
        'own-root': '"/proc/self/root{outside}/secret"',
        'parent-root': 'f"/proc/{parent()}/root{outside}/secret"',
        'dot-dot': '"../" * 20 + "{outside}/secret"',
        'cwd-link': '"/proc/self/cwd/../../../../../../..{outside}/secret"',
        'ssh-key': 'os.path.expanduser("~/.ssh/id_rsa")',
        'bash-history': 'os.path.expanduser("~/.bash_history")',
        'kernel-log': '"/dev/kmsg"',
        'memory': '"/dev/mem"',
        'kcore': '"/proc/kcore"',
        'disk': '"/dev/vda"'}.items()),
    reach('read-through-descriptor', 'os.read(os.open("{outside}/secret", os.O_RDONLY), 99)'),
    reach('read-through-libc', 'libc("open", b"{outside}/secret", 0)'),
    reach('read-through-openat2', 'call(437, -100, b"{outside}/secret", bytes(24), 24)'),
    reach('read-through-mmap', '__import__("mmap").mmap(os.open("{outside}/secret", 0), 0, prot=1).read(99)'),
    reach('read-through-sendfile', 'os.sendfile(1, os.open("{outside}/secret", 0), 0, 99)'),
    reach('read-through-path-descriptor', 'read("/proc/self/fd/%d" % os.open("{outside}/secret", os.O_PATH))'),
    reach('read-through-symlink', 'os.symlink("{outside}/secret", "s") or read("s")'),
    reach('read-through-folder-symlink', 'os.symlink("{outside}", "d") or read("d/secret")'),
    reach('read-through-hard-link', 'os.link("{outside}/secret", "h") or read("h")'),
    reach('read-through-rename', 'os.rename("{outside}/secret", "r") or read("r")'),
    reach('read-through-copy', '__import__("shutil").copy("{outside}/secret", "c") and read("c")'),
    reach('read-through-handle', 'call(304, -100, ctypes.create_string_buffer(256), 0)'),
    reach('read-as-import', 'sys.path.insert(0, "{outside}") or exec(compile(read("{outside}/secret"), "s", "exec"))'),
    reach('read-through-linecache', '__import__("linecache").getline("{outside}/secret", 1) or 1 / 0'),
    reach('read-through-fd-walk',
          'next(read(f"/proc/self/fd/{n}/{outside}/secret") for n in range(3, 64) if '
          'os.path.isdir(f"/proc/self/fd/{n}"))'),
    reach('read-through-inherited-folder',
          'next(os.open("{outside}/secret".lstrip("/"), 0, dir_fd=n) for n in range(3, 64) if '
          'os.path.isdir(f"/proc/self/fd/{n}"))'),
    reach('list-outside', 'os.listdir("{outside}")'),
    reach('list-root', 'os.listdir("/root")'),
    reach('list-home',
          'os.listdir(os.path.expanduser("~")) if os.path.abspath(os.path.expanduser("~")) not in ("/", os.getcwd()) '
          'else 1 / 0'),
    reach('environment-of-the-grader',
          '[k for k in os.environ if "TOKEN" in k or "KEY" in k or k.startswith(("PYTEST", "SSH", "AWS", "HF_"))][0]'),
    *(reach(f'signal-by-{name}', f'{call} or 1', 'import fcntl, struct\nr, w = os.pipe()\na, b = socket.socketpair()')
      for name, call in {
        'owner': 'fcntl.fcntl(r, fcntl.F_SETOWN, parent())',
        'kind': 'fcntl.fcntl(r, 10, 9)',
        'owner-of-kind': 'fcntl.fcntl(r, 15, struct.pack("ii", 1, parent()))',
        'socket-owner': 'fcntl.ioctl(a, 0x8901, struct.pack("i", parent()))',
        'socket-group': 'fcntl.ioctl(a, 0x8902, struct.pack("i", parent()))'}.items()),
    reach('inotify', 'libc("inotify_add_watch", ctypes.CDLL(None).inotify_init(), b"{outside}", 0x100)'),
    reach('fanotify', 'libc("fanotify_init", 0, 0)'),

    *(silent(f'write-{name}', f'write({path})')
      for name, path in {
        'outside': '"{outside}/mine"',
        'secret': '"{outside}/secret"',
        'tmp': '"/tmp/{marker}"',
        'var-tmp': '"/var/tmp/{marker}"',
        'shm': '"/dev/shm/{marker}"',
        'home': 'os.path.expanduser("~/{marker}")',
        'root': '"/{marker}"',
        'next-door': '"../{marker}"',
        'through-root-link': '"/proc/self/root{outside}/mine"',
        'stdlib': 'os.path.dirname(os.__file__) + "/{marker}.py"',
        'pth': 'os.path.dirname(os.__file__) + "/site-packages/{marker}.pth"'}.items()),
    *(silent(f'outside-{name}', what)
      for name, what in {
        'mkdir': 'os.mkdir("{outside}/d")',
        'unlink': 'os.unlink("{outside}/secret")',
        'rename': 'os.rename("{outside}/secret", "{outside}/s")',
        'rename-into': 'open("a", "w").close(); os.rename("a", "{outside}/a")',
        'symlink': 'os.symlink("/", "{outside}/l")',
        'hard-link': 'open("a", "w").close(); os.link("a", "{outside}/a")',
        'hard-link-within': 'os.link("{outside}/secret", "{outside}/h")',
        'mkfifo': 'os.mkfifo("{outside}/p")',
        'mknod': 'os.mknod("{outside}/n", 0o100600)',
        'chmod': 'os.chmod("{outside}/secret", 0o777)',
        'chmod-folder': 'os.chmod("{outside}", 0o700)',
        'fchmod': 'os.fchmod(os.open("{outside}/secret", 0), 0o777)',
        'chown': 'os.chown("{outside}/secret", 1, 1)',
        'lchown': 'os.lchown("{outside}", 1, 1)',
        'utime': 'os.utime("{outside}/secret", (1, 1))',
        'utime-folder': 'os.utime("{outside}", (1, 1))',
        'truncate': 'os.truncate("{outside}/secret", 0)',
        'setxattr': 'os.setxattr("{outside}/secret", "user.x", b"y")',
        'removexattr': 'os.removexattr("{outside}/secret", "user.x")',
        'append': 'os.write(os.open("{outside}/secret", os.O_WRONLY | os.O_APPEND), b"x")',
        'tmpfile': 'os.open("{outside}", os.O_TMPFILE | os.O_RDWR)',
        'chmod-through-link': 'os.symlink("{outside}/secret", "s"); os.chmod("s", 0)',
        'write-through-link': 'os.symlink("{outside}", "d"); write("d/mine")',
        'lock': '__import__("fcntl").flock(os.open("{outside}/secret", 0), 2); print("ESCAPED lock")',
        'sqlite': '__import__("sqlite3").connect("{outside}/db").execute("create table t (a)")',
        'tempfile': 'write(__import__("tempfile").mkdtemp(dir="{outside}") + "/x")',
        'shutil-rmtree': '__import__("shutil").rmtree("{outside}")',
        'chmod-syscall': 'call(90, b"{outside}/secret", 0o777)',
        'fchmodat2-syscall': 'call(452, -100, b"{outside}/secret", 0o777, 0)',
        'utimensat-syscall': 'call(280, -100, b"{outside}/secret", 0, 0)'}.items()),
    silent('outside-race-by-symlink', 't.start(); [write("r/mine") for _ in range(200)]',
           'import threading\n'
           'os.makedirs("real", exist_ok=True)\n'
           'def swap():\n'
           '    for _ in range(500):\n'
           '        try: os.symlink("real", "n"); os.rename("n", "r"); os.symlink("{outside}", "n"); os.rename("n", '
           '"r")\n'
           '        except OSError: pass\n'
           't = threading.Thread(target=swap)',
           kinds=(*LEFT, 'timeout')),

    reach('signal-parent', 'os.kill(parent(), 0)'),
    reach('signal-group-of-parent',
          'os.killpg(os.getpgid(parent()), 0) if os.getpgid(parent()) != os.getpgrp() else 1 / 0'),
    reach('signal-everybody', 'os.kill(-1, 0)'),
    reach('signal-init', 'os.kill(1, 0) if os.getpid() != 1 else 1 / 0'),
    reach('signal-neighbours', '[os.kill(p, 0) for p in (os.getpid() - 1, os.getpid() + 1) if p > 0]'),
    reach('signal-through-libc', 'libc("kill", parent(), 0)'),
    reach('signal-through-tgkill', 'call(234, parent(), parent(), 0)'),
    reach('signal-through-queue', 'libc("sigqueue", parent(), 0, None)'),
    reach('signal-through-pidfd', 'signal.pidfd_send_signal(os.pidfd_open(parent()), 0)'),
    reach('signal-through-descriptor-owner',
          '__import__("fcntl").fcntl(0, 8, parent()) if __import__("fcntl").fcntl(0, 9) == parent() else 1 / 0'),
    Case('kill-parent', HEAD + 'def f(x):\n    try: os.kill(parent(), signal.SIGKILL)\n    except OSError: pass',
         kinds=LEFT),
    Case('kill-group', HEAD + 'def f(x): os.kill(0, signal.SIGKILL)', kinds=(*LEFT, 'timeout')),
    Case('terminate-group',
         HEAD + 'signal.signal(signal.SIGTERM, signal.SIG_IGN)\ndef f(x): os.killpg(0, signal.SIGTERM)', kinds=LEFT),
    reach('ptrace-seize-parent', 'libc("ptrace", 0x4206, parent(), 0, 0)'),
    reach('ptrace-traceme', 'libc("ptrace", 0, 0, 0, 0)'),
    reach('read-parent-memory', 'os.open(f"/proc/{parent()}/mem", 0)'),
    reach('vm-readv-parent',
          'libc("process_vm_readv", parent(), ctypes.byref((ctypes.c_size_t * '
          '2)(ctypes.addressof(ctypes.create_string_buffer(8)), 8)), 1, ctypes.byref((ctypes.c_size_t * 2)(id(None), '
          '8)), 1, 0)'),
    reach('pidfd-getfd-parent', 'call(438, os.pidfd_open(parent()), 0, 0)'),
    reach('kcmp-parent', 'call(312, os.getpid(), parent(), 0, 0, 0)'),
    reach('prlimit-parent', '__import__("resource").prlimit(parent(), 7)'),
    reach('priority-of-parent', 'os.setpriority(0, parent(), os.getpriority(0, parent()))'),
    reach('affinity-of-parent', 'os.sched_setaffinity(parent(), os.sched_getaffinity(parent()))'),
    reach('oom-score-of-parent', 'open(f"/proc/{parent()}/oom_score_adj", "r+").close()'),
    reach('oom-score-lowered', 'open("/proc/self/oom_score_adj", "w").write("-500")'),
    reach('session-of-its-own-terminal', 'os.ctermid() and os.open("/dev/tty", os.O_RDWR)'),
    reach('terminal-input-faked', '[__import__("fcntl").ioctl(n, 0x5412, b"#") for n in (0, 1, 2)]'),

    reach('mount', 'libc("mount", b"none", b".", b"no-such-kind", 0, None, reached=(errno.ENODEV,))'),
    reach('mount-new-interface', 'call(430, b"no-such-kind", 0, reached=(errno.ENODEV,))'),
    reach('umount', 'libc("umount2", b".", 0, reached=(errno.EINVAL,))'),
    *(reach(f'unshare-{name}', f'libc("unshare", {flag})')
      for name, flag in {
        'user': 0x10000000,
        'mount': 0x20000,
        'pid': 0x20000000,
        'net': 0x40000000,
        'user-and-mount': 0x10020000}.items()),
    reach('setns', 'libc("setns", os.open("/proc/1/ns/mnt", 0), 0, reached=(errno.EINVAL,))'),
    reach('chroot', 'os.chroot(".")'),
    reach('pivot-root', 'call(155, b".", b".", reached=(errno.EINVAL, errno.EBUSY))'),
    reach('setuid', 'os.setuid(0) if os.getuid() else 1 / 0'),
    reach('setgroups', 'os.setgroups([0]) if os.getuid() and not os.getgroups() == [0] else 1 / 0'),
    reach('io-uring', 'call(425, 1, ctypes.create_string_buffer(120))'),
    reach('bpf', 'call(321, 0, ctypes.create_string_buffer(struct.pack("IIIII", 2, 4, 4, 1, 0), 120), 120)'),
    reach('perf-event', 'call(298, ctypes.create_string_buffer(struct.pack("IIQ", 1, 120, 0), 120), 0, -1, -1, 0)'),
    reach('keyring', 'call(250, 0, -3, 1)'),
    reach('add-key', 'call(248, b"user", b"{marker}", b"x", 1, -2)'),
    reach('userfaultfd', 'call(323, 0o2000000)'),
    reach('load-module', 'call(175, b"", 0, b"", reached=(errno.ENOEXEC, errno.EFAULT, errno.EINVAL))'),
    reach('load-module-from-file',
          'call(313, 0, b"", 0, reached=(errno.ENOEXEC, errno.EFAULT, errno.EBADF, errno.EINVAL))'),
    reach('kexec', 'call(246, 0, 99, 0, 0, reached=(errno.EINVAL,))'),
    reach('reboot', 'call(169, 1, 2, 3, 0, reached=(errno.EINVAL,))'),
    reach('swap', 'libc("swapon", b"/no/such/file", 0, reached=(errno.ENOENT,))'),
    reach('accounting', 'libc("acct", b"/no/such/file", reached=(errno.ENOENT,))'),
    reach('kernel-log-read', 'libc("klogctl", 10, None, 0)'),
    reach('clock',
          'libc("clock_settime", 0, ctypes.byref((ctypes.c_long * 2)(*divmod(__import__("time").time_ns(), 10**9))))'),
    reach('hostname', 'socket.sethostname(socket.gethostname())'),
    reach('io-permission', 'libc("ioperm", 0x80, 1, 1)'),
    reach('name-to-handle',
          'call(303, -100, b"{outside}/secret", ctypes.create_string_buffer(struct.pack("I", 128), 200), '
          'ctypes.byref(ctypes.c_int()), 0)'),
    *(reach(f'sysctl-{name}', f'open("/proc/sys/{path}", "r+").close()')
      for name, path in {
        'hostname': 'kernel/hostname',
        'core-pattern': 'kernel/core_pattern',
        'overcommit': 'vm/overcommit_memory',
        'last-pid': 'kernel/ns_last_pid'}.items()),
    reach('sysrq', 'os.open("/proc/sysrq-trigger", os.O_WRONLY)'),
    reach('cgroup', 'os.open("/sys/fs/cgroup/cgroup.procs", os.O_WRONLY)'),
    reach('uid-map', 'open("/proc/self/uid_map", "w").write("0 0 1")'),
    reach('devices',
          'next(os.open("/dev/" + n, os.O_RDWR) for n in ("kvm", "fuse", "vda", "sda", "ptmx", "nvidia0", "nvidiactl",'
          ' "mem", "loop-control", "net/tun"))',
          kinds=LEFT),
    reach('foreign-library', 'ctypes.CDLL("{outside}/secret")'),
    Case('system-calls-of-32-bit',
         HEAD + 'import mmap\n'
                'def f(x):\n'
                '    if os.uname().machine != "x86_64": return None\n'
                '    m = mmap.mmap(-1, 4096, prot=7)\n'
                '    m.write(bytes.fromhex("53b814000000cd805bc3"))\n'
                '    pid = ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(m)))()\n'
                '    if pid > 0: print("ESCAPED 32-bit", pid)',
         kinds=LEFT,
         note='Number 20 there is getpid; a filter that looks at numbers only lets write, open and execve pass as '
              'others.'),
    Case('system-calls-of-x32',
         HEAD + 'def f(x):\n'
                '    if os.uname().machine == "x86_64" and ctypes.CDLL(None).syscall(0x40000000 + 39) > 0: '
                'print("ESCAPED x32")',
         kinds=LEFT),
    reach('subinterpreter',
          '__import__("_xxsubinterpreters").run_string(__import__("_xxsubinterpreters").create(), '
          '"open(\\"{outside}/secret\\").read()")',
          kinds=(*LEFT, 'timeout')),
    Case('wall-by-thread',
         HEAD + 'import threading\n'
                'def t(): attempt(lambda: read("{outside}/secret"))\n'
                'thread = threading.Thread(target=t)\n'
                'thread.start(); thread.join()\n'
                'def f(x): return None',
         kinds=LEFT),
    Case('wall-at-import',
         HEAD + 'attempt(lambda: read("{outside}/secret")); attempt(lambda: write("{outside}/mine"))\n'
                'def f(x): return None',
         kinds=LEFT),
    Case('wall-at-exit',
         HEAD + 'import atexit\natexit.register(lambda: write("{outside}/mine"))\ndef f(x): return None',
         kinds=(*LEFT, 'early_exit')),
    Case('wall-in-del',
         HEAD + 'class T:\n'
                '    def __del__(self): attempt(lambda: write("{outside}/mine"))\n'
                'kept = T()\n'
                'def f(x): return None',
         kinds=(*LEFT, 'early_exit')),
    Case('wall-after-a-failed-call',
         HEAD + 'def f(x):\n    try: raise MemoryError\n    finally: attempt(lambda: read("{outside}/secret"))',
         kinds=(*LEFT, 'memory_limit')),
]
