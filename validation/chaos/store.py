"""Randomly damaged stores, and sweeps that are killed at each of their steps."""

import hashlib
import random
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import acklab
from validation.chaos.rows import Row

ROOT = Path(__file__).resolve().parents[2]
SCENARIO = """
duration = "30ms"
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


def contents(folder: Path) -> dict[str, str]:
    """Returns the digests of all files in a folder."""
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() for path in paths}


def _answers(folder: Path, point: int) -> dict[str, Callable[[], Any]]:
    """Returns queries of a sweep, by name."""
    sweep = acklab.load_sweep
    return {
        "query": lambda: sweep(folder).query("select sum(mean_srtt_l4), count(*) from flows join points using (point)").rows(),
        "table": lambda: sweep(folder).table("links").sum().rows(),
        "summary": lambda: sweep(folder).summary().rows(),
        "commands": lambda: hash(sweep(folder).commands),
        "point": lambda: [*sweep(folder).result(point).flows.rows()],
        "units": lambda: sorted(sweep(folder).units("flows").items()),
        "points": lambda: (sweep(folder).count, sweep(folder).seeds[:9], sweep(folder).failures),
    }


def _flipped(octets: bytearray, chance: random.Random) -> None:
    octets[chance.randrange(len(octets))] ^= 1 << chance.randrange(8)


def _zeroed(octets: bytearray, chance: random.Random) -> None:
    start = chance.randrange(len(octets))
    octets[start : start + 512] = bytes(len(octets[start : start + 512]))


def _cut(octets: bytearray, chance: random.Random) -> None:
    del octets[chance.randrange(len(octets)) :]


def _exchanged(octets: bytearray, chance: random.Random) -> None:
    middle = chance.randrange(len(octets))
    octets[:] = octets[middle:] + octets[:middle]


DAMAGES = (_flipped, _flipped, _zeroed, _cut, _exchanged)


def _damage(path: Path, chance: random.Random) -> None:
    octets = bytearray(path.read_bytes())
    if chance.random() < 0.1 or not octets:
        path.unlink()
        return
    chance.choice(DAMAGES)(octets, chance)
    path.write_bytes(octets)


def damaged(row: Row, folder: Path, seconds: float, points: int) -> None:
    """Damages one file at a time and compares all answers.

    Then repeats the sweep, which repairs several damaged files.
    """
    folder.mkdir(exist_ok=True)
    (folder / "path.toml").write_text(SCENARIO, encoding="utf-8")
    command = [sys.executable, "-m", "acklab", "sweep", "path.toml", "--seeds", str(points), "--out", "swept"]
    subprocess.run(command, cwd=folder, capture_output=True, check=True)
    swept, chance = folder / "swept", random.Random(6)
    whole = contents(swept)
    files = [path for path in sorted(swept.rglob("*")) if path.is_file()]
    point = points // 3
    right = {name: ask() for name, ask in _answers(swept, point).items()}
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        path = chance.choice(files)
        before = path.read_bytes()
        _damage(path, chance)
        row.inputs += 1
        for name, ask in _answers(swept, point).items():
            try:
                found = ask()
            except acklab.StoreError:
                continue
            except Exception as error:
                row.broken.append(f"{path.name}, {name}: {type(error).__name__}: {error}"[:200])
                continue
            if found != right[name]:
                row.lost += len(before)
                row.broken.append(f"{path.name}, {name}: another answer")
        path.write_bytes(before)
    row.faults = row.inputs
    for path in chance.sample(files, 12):
        _damage(path, chance)
        row.inputs += 1
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    row.expect(done.returncode == 0, f"the sweep does not mend its store: {done.stderr[-200:]}")
    mended = contents(swept)
    row.expect(mended == whole, f"mended, {sum(mended.get(name) != digest for name, digest in whole.items())} files differ")
    row.load = f"{points:,} points in {len(files)} files, {sum(path.stat().st_size for path in files) / 1e6:.0f} MB"
    shutil.rmtree(folder)


def killed(row: Row, folder: Path, stride: int) -> None:
    """Kills runs and sweeps at more steps than `tests/test_kills.py` does."""
    folder.mkdir(exist_ok=True)
    for what, every in (("file", 1), ("run", 2), ("sweep", stride), ("extended", stride)):
        base = folder / what
        base.mkdir()
        words = [sys.executable, ROOT / "tests" / "killed_work.py", what, base, 1, every]
        done = subprocess.run([str(word) for word in words], capture_output=True, text=True, check=False)
        row.expect(done.returncode == 0, f"{what}: {done.stderr.strip().splitlines()[-1:]}")
        if done.returncode == 0:
            row.faults += (int(done.stdout.split()[-1]) - 1) // every + 1
    row.load = "a run, a sweep, a sweep that is extended, a report"
    shutil.rmtree(folder)
