"""Runs the workload whose execution counts optimise the wheels.

Usage: python scripts/pgo_runs.py, with a core that counts executions (`scripts/pgo.sh`). The
workload has three parts: all mechanisms of the simulation (the list of `make digests`); inspection
of captures and logs; and the deployed transports between processes of this machine. The compiler
treats code that does not run here as rare, and optimises it for size.
"""

import os
import signal
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

import acklab
from acklab import inspection
from acklab.errors import AcklabError

ROOT = Path(__file__).parents[1]
LIST = ROOT / "crates" / "lab" / "examples" / "digests.tsv"
CAPTURED = ROOT / "crates" / "lab" / "benches" / "cost" / "gated_dumbbell.toml"
PORT = 18_225
CONTENDERS = "tack:packet=1500B,quic,tcp"


def simulate() -> None:
    """Runs the list, whose lines have a scenario and its overrides."""
    for line in LIST.read_text(encoding="utf-8").splitlines():
        path, *sets = line.split("\t")
        try:
            acklab.run(ROOT / path, set=sets)
        except AcklabError:
            # Some scenarios of the list are expected to be refused.
            continue


def inspect(folder: Path) -> None:
    """Captures transfers at both ends, with logs, and inspects the captures."""
    scenario = tomllib.loads(CAPTURED.read_text(encoding="utf-8"))
    ends = ("src_0", "dst_0")
    scenario |= {"duration": "20s", "capture": [{"point": end, "file": f"{end}.pcapng"} for end in ends]}
    for stack in ({"preset": "linux"}, {"transport": "tack"}, {"transport": "quic"}):
        flow = {"name": "flow_1", "from": ends[0], "to": ends[1], **stack}
        acklab.run(scenario | {"flow": [flow]}, captures=folder, qlog=folder)
        for end in ends:
            inspection.inspect(folder / f"{end}.pcapng")


def deploy(folder: Path) -> None:
    """Measures TACK, QUIC and the kernel's TCP between two processes, in each direction."""
    program = [sys.executable, "-m", "acklab"]
    serve = [*program, "serve", "--bind", "127.0.0.1", "--port", str(PORT), "--state", str(folder), "--json"]
    perf = [*program, "perf", "127.0.0.1", "--port", str(PORT), "--bytes", "500M", "--accept-new", "--with", CONTENDERS, "--json"]
    environment = os.environ | {"XDG_STATE_HOME": str(folder)}
    with subprocess.Popen(serve, stdout=subprocess.PIPE) as server:
        try:
            assert server.stdout is not None
            server.stdout.readline()
            for way in ([], ["--reverse"]):
                subprocess.run([*perf, *way], check=True, stdout=subprocess.DEVNULL, env=environment)
        finally:
            server.send_signal(signal.SIGINT)


if __name__ == "__main__":
    simulate()
    with tempfile.TemporaryDirectory(prefix="acklab-") as folder:
        inspect(Path(folder))
        deploy(Path(folder))
