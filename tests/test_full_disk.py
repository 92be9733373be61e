"""A disk fills while a command writes to it.

The message states the reason, and no result is partly replaced. The disk is a small tmpfs in a
separate mount namespace, which requires root.
"""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [
    pytest.mark.skipif(os.geteuid() != 0 or shutil.which("unshare") is None, reason="needs root and unshare"),
]

PATH = """
duration = "2s"
seed = 1
[[link]]
name = "lan"
from = "a"
to = "b"
forward = { rate = "20Mbps", delay = "1ms", queue = { discipline = "fifo", limit = "50packets" } }
reverse = { rate = "20Mbps", delay = "1ms" }
[[flow]]
from = "a"
to = "b"
preset = "linux"
"""
CAPTURE = '[[capture]]\npoint = "a"\nfile = "a.pcapng"\n'
SERIES = '[measure]\nseries = ["packets"]\n'
TELLING = "find disk -type f | sort | xargs -r sha256sum"
"""Prints the names and digests of all files on the disk."""


def on_a_small_disk(folder, size, *steps):
    """Runs shell commands with `disk` on a tmpfs.

    Returns the output, the standard error and the status of each.
    """
    folder.joinpath("disk").mkdir()
    script = [f"mount -t tmpfs -o size={size} none disk || exit 9"]
    script += [f"{{ {step}; }} >{number}.out 2>{number}.err; echo $? >{number}.rc" for number, step in enumerate(steps)]
    done = subprocess.run(
        ["unshare", "--mount", "sh", "-c", "\n".join(script)], cwd=folder, capture_output=True, text=True, check=False
    )
    if done.returncode == 9:
        pytest.skip("cannot mount a tmpfs")
    text = {kind: [(folder / f"{number}.{kind}").read_text() for number in range(len(steps))] for kind in ("out", "err", "rc")}
    return [(out, err, int(rc)) for out, err, rc in zip(text["out"], text["err"], text["rc"], strict=True)]


def acklab(*words):
    return f"{sys.executable} -m acklab {' '.join(words)}"


@pytest.mark.parametrize(("more", "when"), [(CAPTURE, "while it runs"), (SERIES, "when its tables are written")])
@pytest.mark.parametrize("has_result", [True, False])
def test_a_run_that_fills_the_disk_leaves_what_was_there(tmp_path, more, when, has_result):
    (tmp_path / "small.toml").write_text(PATH)
    (tmp_path / "large.toml").write_text(PATH + more)
    first = acklab("run", "small.toml", "--out", "disk/kept") if has_result else "true"
    large = acklab("run", "large.toml", "--seed", "2", "--set", "duration=8s", "--out", "disk/kept")
    # A run takes 70 kB, the packets of the other one 300, and its capture megabytes.
    before, full, after, again = on_a_small_disk(
        tmp_path, "180k", f"{first} && {TELLING}", large, TELLING, acklab("run", "small.toml", "--out", "disk/kept")
    )
    assert before[2] == 0, before[1]
    assert full[2] == 1, when
    assert "disk/kept" in full[1]
    assert "No space left on device" in full[1]
    assert "Traceback" not in full[1]
    assert after[0].splitlines() == [line for line in before[0].splitlines() if line.endswith((".parquet", ".json"))]
    assert again[2] == 0, "there is room for the small one again"


def test_a_sweep_that_fills_the_disk_goes_on_where_there_is_room(tmp_path):
    (tmp_path / "path.toml").write_text(PATH)
    sweep = acklab("sweep", "path.toml", "--seeds", "60", "--jobs", "1", "--out", "disk/swept")
    full, move, more = on_a_small_disk(tmp_path, "100k", sweep, "cp -r disk/swept swept", sweep.replace("disk/swept", "swept"))
    assert full[2] == 1
    assert "No space left on device" in full[1]
    assert "Traceback" not in full[1]
    assert move[2] == 0
    assert more[2] == 0, more[1]
    rows = subprocess.run(
        [sys.executable, "-m", "acklab", "show", "swept", "--json"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert rows.returncode == 0, rows.stderr
    assert json.loads(rows.stdout)["summary"][0]["seeds"] == 60
    assert not [path for path in Path(tmp_path / "swept").rglob(".*") if path.suffix == ".tmp"]


SERVE = """
import signal, subprocess, sys
words = [sys.executable, "-m", "acklab", *sys.argv[1:], "--json", "--port", "0", "--bind", "127.0.0.1", "--state", "disk/state"]
server = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
line = server.stdout.readline()
server.send_signal(signal.SIGINT)
print(line)
sys.exit(server.wait() if not line else 0)
"""
"""Starts a server, and ends it once it serves."""


@pytest.mark.parametrize("words", [["serve"], ["proxy", "listen"]], ids=" ".join)
@pytest.mark.parametrize("pages", range(5))
def test_a_server_that_first_started_on_a_full_disk_starts_when_there_is_room(tmp_path, words, pages):
    # Each stored file takes a page, and so does the folder, depending on the kernel.
    (tmp_path / "serve.py").write_text(SERVE)
    fill = f"cat /dev/zero >disk/filler 2>/dev/null; truncate -s -{4096 * pages} disk/filler"
    start = f"{sys.executable} serve.py {' '.join(words)}"
    sizes = "find disk/state -type f -size -1c"
    _, first, empty, _, again, once_more, left = on_a_small_disk(
        tmp_path, "64k", fill, start, sizes, "rm disk/filler", start, start, "ls -A disk/state"
    )
    if first[2] != 0:
        assert "No space left on device" in first[1]
        assert "Traceback" not in first[1]
    assert empty[0] == "", "no file is empty"
    assert again[2] == 0, again[1]
    assert json.loads(once_more[0])["fingerprint"] == json.loads(again[0])["fingerprint"]
    assert not [name for name in left[0].split() if name.startswith(".")]
    if first[2] == 0:
        assert json.loads(first[0])["fingerprint"] == json.loads(again[0])["fingerprint"]
