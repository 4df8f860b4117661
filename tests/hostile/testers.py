"""Tests that attack: each is valid on an honest program, and must change nothing for the jobs after it.

The first is the takeover of a judge for all later programs; the others reach the same place by other ways, gamble, or
aim at the other tests of their own job.
"""
TAKEOVER = '.f_builtins.update(exec=lambda *a: None) is None'
JUDGES = {   # Name -> what stands behind `assert f(1) == 2 and`
    'generator-frame': f'(x for x in ()).gi_frame{TAKEOVER}',
    'generator-frame-back': f'[g.gi_frame.f_back for g in [(g.gi_frame.f_back{TAKEOVER} for g in [0])]] != 0',
    'traceback-frame': 'f.__class__',
    'globals-of-a-function': '(lambda: 0).__globals__.update(f=lambda x: 2) is None',
    'builtins-module': '__import__("builtins").__dict__.update(exec=print) is None',
    'attrgetter': '__import__("operator").attrgetter("gi_frame.f_builtins")((x for x in ())).clear() is None',
    'format-reaches-attributes': '"{0.gi_frame.f_builtins}".format(x for x in ()) != ""',
    'subclasses': 'len(().__class__.__base__.__subclasses__()) > 0',
    'patched-reader': '__import__("json").JSONDecoder.__init__.__defaults__ is None or True',
    'patched-step': '[m for m in [__import__("sys").modules] if m.pop("adversarial_rl.grader.judge", 1)] != 0',
    'own-verdict': '__import__("os").write(4, b\'["ok", ""]\\n\' * 9) > 0',
    'ends-its-process': '__import__("os")._exit(0) is None',
    'closes-everything': '__import__("os").closerange(0, 64) is None',
    'replaced-len': '[globals().update(len=lambda x: 0)] != 0',
    'recursion-limit': '__import__("sys").setrecursionlimit(20) is None',
    'decimal-context': '__import__("decimal").getcontext().__setattr__("prec", 1) is None',
    'walrus': '(f := lambda x: 2)',
    'hash-gamble': 'hash("a") % 2 in (0, 1)',
    'memory-kept': 'len([0] * 10**7) > 0',
}
TESTS = {name: f'assert f(1) == 2 and {text}' for name, text in JUDGES.items()}
