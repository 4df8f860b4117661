"Each engine plays our game or uses our grader in an environment of its own, with the versions that are pinned."
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent/'engines'))
from prepare import build, check, folder_of, PINS


@pytest.mark.parametrize('name', PINS)
def test_an_engine_runs(name):
    try: python = build(name, PINS[name].split(), folder_of(name))
    except subprocess.CalledProcessError as e:
        offline = ('NewConnectionError', 'NameResolutionError', 'ConnectTimeout', 'ProxyError', 'Connection refused')
        if any(x in e.stderr for x in offline): pytest.skip('the package index cannot be reached')
        raise AssertionError(e.stderr) from None
    done = check(name, python)
    assert done.returncode == 0, done.stdout[-5000:]
