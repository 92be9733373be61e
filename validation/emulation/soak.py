"""Mixed flows with loss and reordering for a long time.

`sudo .venv/bin/python validation/emulation/soak.py [--minutes 10]`.

Half of the time is one long run. In the other half, runs of ten seconds follow each other in the
same process, and one more run is killed with SIGKILL. Memory, descriptors, network namespaces,
devices and processes are measured before and after each run. Exit status 1 if any of them grows.
"""

import argparse
import gc
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import acklab

SCENARIO = """
duration = "{duration}"
seed = {seed}

[[link]]
name = "btl"
from = "client"
to = "r"
[link.forward]
rate = "40Mbps"
delay = "10ms"
queue = {{ discipline = "fifo", limit = "100packets" }}
loss = {{ model = "independent", probability = 0.005 }}
reorder = {{ probability = 0.01, by = "3ms" }}
[link.reverse]
rate = "10Mbps"
delay = "10ms"
loss = {{ model = "independent", probability = 0.005 }}

[[link]]
name = "exit"
from = "r"
to = "server"
forward = {{ rate = "1Gbps", delay = "1ms" }}
reverse = {{ rate = "1Gbps", delay = "1ms" }}

[[flow]]
name = "cubic"
from = "client"
to = "server"
preset = "linux"
congestion = "cubic"
count = 3

[[flow]]
name = "bbr"
from = "server"
to = "client"
preset = "linux"
congestion = "bbr"

[[flow]]
name = "calls"
from = "client"
to = "server"
transport = "udp"
traffic = {{ model = "constant", rate = "2Mbps", write = "1000B" }}

[[flow]]
name = "film"
from = "server"
to = "client"
transport = "udp"
traffic = {{ model = "video", rate = "3Mbps" }}
reading = {{ model = "playback", buffer = "200ms" }}

[[application]]
name = "ping"
node = "client"
command = "exec ping -q -i 0.2 {{server}}"
"""

RUN = 10.0
GROWTH_OF_MEMORY = 16 << 20
"""Maximum growth of the process's memory in bytes after the first run.

In the first run, Python and the allocator acquire memory that they keep.
"""


@dataclass(frozen=True)
class State:
    """Resources that could leak."""

    memory: int
    descriptors: int
    namespaces: int
    processes: int
    devices: int

    @classmethod
    def now(cls) -> "State":
        """Returns the present state of this process and of the system."""
        gc.collect()
        pages = int(Path("/proc/self/statm").read_text().split()[1])
        names = set()
        processes = 0
        for process in Path("/proc").glob("[0-9]*"):
            try:
                names.add(os.readlink(process / "ns" / "net"))
                stat = (process / "stat").read_text().rpartition(")")[2].split()
                processes += int(stat[1]) == os.getpid()
            except OSError:
                continue
        devices = len(Path("/proc/net/dev").read_text().splitlines())
        return cls(pages * os.sysconf("SC_PAGESIZE"), len(os.listdir("/proc/self/fd")), len(names), processes, devices)

    def leaks(self, before: "State") -> list[str]:
        """Returns the growth since `before`."""
        found = []
        if self.memory > before.memory + GROWTH_OF_MEMORY:
            found.append(f"memory grew from {before.memory >> 20} to {self.memory >> 20} MiB")
        for name in ("descriptors", "namespaces", "processes", "devices"):
            if getattr(self, name) > getattr(before, name):
                found.append(f"{name} grew from {getattr(before, name)} to {getattr(self, name)}")
        return found


def emulate(folder: Path, seconds: float, seed: int) -> acklab.Emulated:
    """Returns one run of the mixed flows."""
    file = folder / "soak.toml"
    file.write_text(SCENARIO.format(duration=f"{seconds:g}s", seed=seed), encoding="utf-8")
    return acklab.emulate(file)


def killed(folder: Path) -> None:
    """Kills a run with SIGKILL in the middle."""
    file = folder / "killed.toml"
    file.write_text(SCENARIO.format(duration="60s", seed=1), encoding="utf-8")
    process = subprocess.Popen(
        [sys.executable, "-m", "acklab", "emulate", str(file)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    time.sleep(4)
    process.send_signal(signal.SIGKILL)
    process.wait()
    # The kernel removes namespaces and devices a little later.
    time.sleep(1)


def said(what: str, result: acklab.Emulated, state: State) -> None:
    """Prints one line about a run."""
    flows = result.flows
    delivered = flows["mean_throughput_l4"].sum()
    verdict = "trusted" if result.is_trusted else "late"
    print(
        f"{what:12} {delivered:6.2f} Mbps, {flows['total_retransmissions_l4'].sum()} retransmitted, {verdict}; "
        f"{state.memory / 2**20:.1f} MiB, {state.descriptors} descriptors, {state.namespaces} namespaces, {state.processes} children",
        flush=True,
    )


def main() -> int:
    """Runs for the requested time.

    Exit status 1 if a resource leaks, or if a run carries no data.
    """
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=10)
    seconds = parser.parse_args().minutes * 60
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        # Runs twice, so that all modules are loaded and the allocator has acquired the memory that
        # it keeps.
        for _ in range(2):
            said("warm-up", emulate(folder, RUN, 0), before := State.now())
        killed(folder)
        faults = [f"after kill -9: {leak}" for leak in State.now().leaks(before)]
        whole = emulate(folder, max(RUN, (seconds - 3 * RUN) / 2), 1)
        said("one run", whole, State.now())
        faults += [f"after the long run: {leak}" for leak in State.now().leaks(before)]
        runs = max(1, round((seconds - 3 * RUN) / 2 / RUN))
        for number in range(runs):
            last = emulate(folder, RUN, 2 + number)
            said(f"run {number + 1} of {runs}", last, state := State.now())
            faults += [f"after run {number + 1}: {leak}" for leak in state.leaks(before)]
        for result in (whole, last):
            faults += [
                f"flow {flow}: delivered nothing"
                for flow, rate in result.flows.select("flow", "mean_throughput_l4").iter_rows()
                if not rate
            ]
    print(json.dumps({"faults": faults}))
    return int(bool(faults))


if __name__ == "__main__":
    sys.exit(main())
