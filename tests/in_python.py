"What plain Python says of a test, and what a host lets programs do."
import sys
import types


def passes(code, test):
    "Whether a test passes with the program, whose names it has, and which it may import as `candidate`."
    candidate = types.ModuleType('candidate')
    exec(code, candidate.__dict__)
    before = sys.modules.get('candidate')
    sys.modules['candidate'] = candidate
    space = dict(candidate.__dict__) | {'__name__': '__tests__'}
    try:
        exec(test, space)
        return _cases_pass(space)
    except BaseException: return False
    finally:
        sys.modules.pop('candidate')
        if before: sys.modules['candidate'] = before


def _cases_pass(space):
    "Whether classes of unittest among the variables of a test pass, and none is skipped."
    import unittest
    kinds = [x for x in space.values() if isinstance(x, type) and issubclass(x, unittest.TestCase)]
    result = unittest.TestResult()
    for kind in kinds: unittest.defaultTestLoader.loadTestsFromTestCase(kind).run(result)
    return result.wasSuccessful() and not result.skipped


def opens_files(outcome):
    "Whether programs open files on this host; the filter of system calls alone cannot tell which they may."
    return bool({'namespaces', 'landlock'} & {*outcome.layers}) or 'seccomp' not in outcome.layers
