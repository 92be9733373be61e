"""A process that is killed at any step leaves results that are whole, or a message that shows how
to go on.
"""

import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.parametrize(
    ("what", "first", "stride", "steps"),
    [
        # Each of two files is opened, forced to the disk and renamed, and its folder too.
        ("file", 1, 1, 8),
        ("run", 1, 5, 40),
        # `validation/chaos` tests more steps of sweeps. Each step takes half a second.
        ("sweep", 3, 29, 250),
        # In the last steps, the new tables replace the old ones.
        ("extended", 5, 29, 200),
    ],
)
def test_a_kill_at_any_step_leaves_what_is_whole(tmp_path, what, first, stride, steps):
    program = Path(__file__).with_name("killed_work.py")
    words = [sys.executable, program, what, tmp_path, first, stride]
    done = subprocess.run(list(map(str, words)), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout.split()[-1]) > steps
