"""A path between two interfaces under mixed flows for a long time.

`sudo .venv/bin/python validation/inline/soak.py [--minutes 10]`.

Three flows of CUBIC in one direction and one flow of BBR in the other, over a link with loss and an
ACK filter. After the first minute, memory and descriptors of the process are measured every ten
seconds. Exit status 1 if memory grows by more than 10 %, descriptors grow, packets are lost before
they enter the path, or the process stalls.
"""

import argparse
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests"))
from between import WEST, bridge, hosts, iperf3, standing

WORDS = (
    "east",
    "west",
    "--rate",
    "60Mbps/20Mbps",
    "--delay",
    "10ms",
    "--queue",
    "200packets",
    "--loss",
    "0.0005",
    "--ack-filter",
    "news",
)


def footprint(pid: int) -> tuple[int, int]:
    """Returns the resident memory in KiB, and the number of open descriptors."""
    status = Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
    resident = next(line for line in status.splitlines() if line.startswith("VmRSS"))
    return int(resident.split()[1]), len(list(Path(f"/proc/{pid}/fd").iterdir()))


def main() -> int:
    """Runs the soak; returns 1 if something grew."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--minutes", type=float, default=10)
    seconds = int(parser.parse_args().minutes * 60)
    with hosts():
        bridge()
        flows = iperf3(seconds, "-C", "cubic", "-P", "3"), iperf3(seconds, "-C", "bbr", sender=WEST)
        with standing(*WORDS, may_stall=True) as path, flows[0] as upward, flows[1] as downward:
            time.sleep(min(60, seconds / 4))
            before, prints = footprint(path.process.pid), []
            end = time.monotonic() + seconds * 0.7
            while time.monotonic() < end:
                time.sleep(10)
                prints.append(footprint(path.process.pid))
    east, west = path.result["interfaces"]
    inline, timing = path.result["inline"][0], path.result["timing"][0]
    print(f"{seconds} s: {east['entered']:,} and {west['entered']:,} packets entered, {west['left']:,} and {east['left']:,} left")
    for end_ in (upward["end"], downward["end"]):
        print(
            f"goodput {end_['sum_received']['bits_per_second'] / 1e6:.1f} Mbps, {end_['sum_sent']['retransmits']} segments retransmitted"
        )
    print(
        f"memory {before[0]} KiB after a minute, {max(memory for memory, _ in prints)} KiB at most; descriptors {before[1]}, {prints[-1][1]}"
    )
    print(
        f"stalls {inline['stalls']}, overloads {inline['overloads']}, overruns {east['overruns'] + west['overruns']}, p99 lateness {timing['p99_lateness']:.0f} us"
    )
    grew = max(memory for memory, _ in prints) > 1.1 * before[0] or prints[-1][1] > before[1]
    lost = east["overruns"] + west["overruns"] + inline["stalls"] > 0
    print("FAILED" if grew or lost else "passed")
    return int(grew or lost)


if __name__ == "__main__":
    sys.exit(main())
