"""A folder with invalid inputs, and with results that must survive them."""

import os
import shutil
from pathlib import Path

import acklab

SCENARIO = """
duration = "100ms"
seed = 1
[[link]]
name = "btl"
from = "src"
to = "dst"
forward = { rate = "16Mbps", delay = "5ms", queue = { discipline = "fifo", limit = "20packets" } }
reverse = { delay = "5ms" }
[[flow]]
from = "src"
to = "dst"
preset = "linux"
"""
LATIN = os.fsdecode(b"caf\xe9")
"""A word that a shell passes on in Latin-1."""
POLICY = "import acklab\nclass A(acklab.AckPolicy):\n  def decide(self, now, arrival, ledger): "
FILES = {
    "empty.toml": b"",
    "nul.toml": b"seed = 1\0\n",
    "latin.toml": b'seed = 1\ntitle = "caf\xe9"\n',
    "utf16.toml": SCENARIO.encode("utf-16"),
    "syntax.toml": b"seed = \n",
    "twice.toml": b"seed = 1\nseed = 2\n",
    "deep.toml": b"a = " + b"[" * 10_000,
    "deep.json": b'{"a":' * 10_000,
    "cut.json": b'{"seed": 1',
    "nan.json": b'{"seed": NaN}',
    "list.json": b"[1, 2]",
    "words.json": b"duration = 1",
    "empty.json": b"",
    "variants.toml": b'[near]\nset = ["seed=1"]\n',
    "unknown.toml": b"[near]\nsets = []\n",
    "number.toml": b"[near]\nset = 1\n",
    "text.toml": b'[near]\nset = "seed=1"\n',
    "comma.toml": b'["a,b"]\n',
    "negative.trace": b"-5\n",
    "falling.trace": b"5\n3\n",
    "zero.trace": b"0\n",
    "huge.trace": b"9" * 40,
    "fraction.trace": b"1.5\n",
    "octets.trace": b"1\n\xff\n",
    "empty.trace": b"",
    "plain.py": b"class A: pass\n",
    "broken.py": b"x = 1\nraise ValueError('why')\n",
    "syntax.py": b"x = 1\nclass\n",
    "leaves.py": b"import sys\nsys.exit(7)\n",
    "nul.py": b"x = 1\0\n",
    "raises.py": POLICY.encode() + b"raise LookupError('gone')\n",
    "past.py": POLICY.encode() + b"return acklab.At(-5, 'x')\n",
    "answers.py": POLICY.encode() + b"return 42\n",
    "abstract.py": b"import acklab\nclass A(acklab.AckPolicy): pass\n",
    "file": b"in the way",
}


def lay_out(folder: Path) -> None:
    """Writes the inputs, a run in `kept`, a sweep in `swept`, and folders in which results are
    damaged.
    """
    for name, octets in FILES.items():
        (folder / name).write_bytes(octets)
    (folder / "good.toml").write_text(SCENARIO)
    for name in ("folder.toml", "folder.py", "nothing"):
        (folder / name).mkdir()
    (folder / "loop.toml").symlink_to("loop.toml")
    (folder / "endless.toml").symlink_to("/dev/zero")
    (folder / "endless.json").symlink_to("/dev/zero")
    (folder / "endless.py").symlink_to("/dev/zero")
    kept = folder / "kept"
    acklab.run(folder / "good.toml").save(kept)
    acklab.sweep(folder / "good.toml", grid={"flow.0.congestion": ["cubic"]}, out=folder / "swept", quiet=True)
    tables = (kept / "flows.parquet").read_bytes()
    for name, octets in {
        "emptied": b"",
        "foreign": b"x" * 100,
        "cut": tables[:-30],
        "overwritten": tables[:50] + bytes(50) + tables[100:],
    }.items():
        shutil.copytree(kept, folder / name)
        (folder / name / "flows.parquet").write_bytes(octets)
    shutil.copytree(kept, folder / "partial")
    (folder / "partial" / "flows.parquet").unlink()
    for name, octets in {
        "no-json": b"",
        "no-keys": b"{}",
        "no-table": b"[]",
        "latin-json": b"\xff",
        "numbers": b'{"grid": 1}',
    }.items():
        shutil.copytree(folder / "swept", folder / name)
        (folder / name / "sweep.json").write_bytes(octets)
