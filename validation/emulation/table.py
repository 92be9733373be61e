"""Measures the limits of emulations on this machine, as a table.

`sudo .venv/bin/python validation/emulation/table.py [--quick] [--json]`.

Takes four minutes on an idle machine (one minute with --quick). Compares the kernel's TCP with
simulations of the same runs. Measures the RTT of ping, the capacity of one link, and iperf3 through
a cell. For comparison, measures the kernel's `tbf` between two namespaces.
"""

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

import acklab
from acklab import _core
from acklab.scenario import Source

HERE = Path(__file__).resolve().parent
PARITY = HERE.parents[1] / "studies" / "parity"
DOWNLOAD = HERE.parents[1] / "studies" / "wifi_parity" / "download.toml"
LINUX = 'flow.0.transport={protocol = "tcp", preset = "linux", congestion = "cubic", mss = "1448B"}'
CCAS = ("reno", "cubic", "bbr")

PING = """
duration = "60s"
seed = 1
flow = []
[[link]]
name = "btl"
from = "client"
to = "server"
forward = { rate = "16Mbps", delay = "7.5ms" }
reverse = { rate = "16Mbps", delay = "7.5ms" }
"""


ECHOES = """
import socket, statistics, struct, sys, time

SO_TIMESTAMPNS = 35  # asm-generic/socket.h
echoes = socket.socket(socket.AF_INET, socket.SOCK_DGRAM, socket.IPPROTO_ICMP)
echoes.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
echoes.connect((sys.argv[1], 0))
times = []
for number in range(100):
    sent = time.time_ns()
    echoes.send(struct.pack("!BBHHH", 8, 0, 0, 0, number) + bytes(56))
    _, stamps, *_ = echoes.recvmsg(100, 64)
    seconds, nanos = struct.unpack("qq", stamps[0][2][:16])
    times.append(seconds * 10**9 + nanos - sent)
    time.sleep(0.02)
print(statistics.median(times[1:]) / 1e6)
"""
"""What `ping -c 100 -i 0.02` does, which prints no more than tenths of a millisecond above ten: the
median of the round trips in milliseconds, each from before the request is sent to the kernel's
timestamp of the reply. The first may have to wait for the start.
"""


@dataclass(frozen=True)
class Row:
    """A measured quantity."""

    what: str
    found: str
    wanted: str
    holds: bool | None
    """`True` if the expectation is met; None without an expectation, or for an unreliable run."""


def both_ways(what: str, file: Path, sets: list[str], throughput: str, room: float, seconds: int) -> list[Row]:
    """Goodput within `room` of a simulation, and counts of ACKs within 5 %."""
    source = Source.of(file)
    set_ = [*sets, f"duration={seconds}s"]
    simulated, emulated = acklab.run(source, set=set_), acklab.emulate(source, set=set_)
    late = "" if emulated.is_trusted else " (late: unreliable)"

    def of(result: acklab.Result, column: str) -> float:
        table, name = column.split(".")
        return float(result.table(table)[name].sum())

    rows = []
    for metric, column, most in (("goodput", throughput, room), ("ACKs", "flows.total_acks_sent_l4", 0.05)):
        found = of(emulated, column) / of(simulated, column) - 1
        holds = abs(found) <= most if emulated.is_trusted else None
        rows.append(Row(f"{what}: {metric} over simulation", f"{found:+.1%}{late}", f"±{most:.0%}", holds))
    return rows


def dumbbells(seconds: int) -> list[Row]:
    """Measures the kernel's TCP over a dumbbell, without and with a gate.

    A gate releases packets in bursts.
    """
    rows = []
    for path, name in (("", "plain"), ("gate5ms10_", "behind a gate")):
        for cca in CCAS:
            file = PARITY / f"linux_dumbbell_{path}{cca}.toml"
            rows += both_ways(f"{cca}, {name}", file, [], "flows.mean_throughput_l7", 0.02, seconds)
    return rows


def cell(seconds: int) -> list[Row]:
    """Measures the kernel's TCP over a cell of 802.11n."""
    return both_ways("CUBIC over 802.11n", DOWNLOAD, [LINUX], "flows.mean_throughput_l7", 0.03, seconds)


def run(*words: str, seconds: int = 60) -> str:
    """Returns the output of a command, whatever its exit status."""
    return subprocess.run(words, capture_output=True, text=True, check=False, timeout=seconds).stdout


def median_of_ping(output: str) -> float:
    """Returns the median RTT in ms without the first RTT, which may include the start."""
    times = sorted(float(line.split("time=")[1].split()[0]) for line in output.splitlines()[2:] if "time=" in line)
    return times[len(times) // 2]


def ping() -> list[Row]:
    """Measures the RTT of pings over a path of 7.5 ms in each direction."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "ping.toml"
        file.write_text(PING, encoding="utf-8")
        words = [sys.executable, "-c", ECHOES, "{server}"]
        found = float(run(sys.executable, "-m", "acklab", "emulate", str(file), "--at", "client", "--", *words))
    # 84 bytes take 42 us at 16 Mbps in each direction.
    exact = 15 + 2 * 84 * 8 / 16e3
    return [
        Row(
            "echoes over 7.5 ms each way: median above what the path takes",
            f"{found - exact:.3f} ms",
            "at most 0.1 ms",
            found - exact <= 0.1,
        )
    ]


def calibration() -> list[Row]:
    """Measures the capacity of one link."""
    found = json.loads(_core.calibrate())
    late, packets, cost = found["lateness_us"], found["packets_per_second"], found["cpu_us_per_packet"]
    still = found["standstill_us"]
    return [
        Row("packets of 1500 B per second through one link", f"{packets:,.0f}", "at least 325,000", packets >= 325_000),
        Row("processor time for each", f"{cost:.2f} us", "at most 2.6 us", cost <= 2.6),
        Row(
            "lateness at 5,000 packets/s",
            f"p50 {late['p50']:.0f}, p99 {late['p99']:.0f} us",
            "p99 at most 100 us",
            late["p99"] <= 100,
        ),
        Row(
            "beside it, what the processor stood still without load",
            f"{still['total']:,.0f} us of 900 ms, {still['longest']:,.0f} at most",
            "",
            None,
        ),
    ]


def iperf3_over_wifi(delay: str) -> list[Row]:
    """Runs 300 Mbps of iperf3 through a cell from a server behind a wire with this delay.

    The delay determines the limits of lateness.
    """
    set_ = [f"link.0.forward.delay={delay}", f"link.0.reverse.delay={delay}"]
    with tempfile.TemporaryDirectory() as folder:
        done = acklab.emulate(HERE / "cell_802.11n.toml", outputs=folder, set=set_)
        report = json.loads((Path(folder) / "source.out").read_text(encoding="utf-8"))
    mbps = report["end"]["sum_received"]["bits_per_second"] / 1e6
    late = "in time" if done.is_trusted else "late: unreliable"
    return [
        Row(
            f"iperf3 -b 300M through a cell of 802.11n, server {delay} away",
            f"{mbps:.0f} Mbps, {late}",
            "300 Mbps in time",
            mbps >= 297 and done.is_trusted,
        )
    ]


def tbf() -> list[Row]:
    """Measures the kernel's token bucket between two namespaces with a pair of virtual devices.

    There is no delay, because the kernel may lack netem.
    """
    one, other = "acklab-tbf-1", "acklab-tbf-2"
    try:
        for name in (one, other):
            subprocess.run(["ip", "netns", "add", name], check=True)
        subprocess.run(
            ["ip", "link", "add", "v1", "netns", one, "type", "veth", "peer", "name", "v2", "netns", other], check=True
        )
        for name, device, address in ((one, "v1", "10.77.0.1/24"), (other, "v2", "10.77.0.2/24")):
            subprocess.run(["ip", "-n", name, "addr", "add", address, "dev", device], check=True)
            subprocess.run(["ip", "-n", name, "link", "set", device, "up"], check=True)
        limit = ["tbf", "rate", "16mbit", "burst", "1600", "limit", "30000"]
        subprocess.run(["ip", "netns", "exec", one, "tc", "qdisc", "add", "dev", "v1", "root", *limit], check=True)
        found = median_of_ping(run("ip", "netns", "exec", one, "ping", "-c", "100", "-i", "0.02", "10.77.0.2"))
        server = subprocess.Popen(["ip", "netns", "exec", other, "iperf3", "-s", "-1"], stdout=subprocess.DEVNULL)
        time.sleep(0.5)
        try:
            report = json.loads(run("ip", "netns", "exec", one, "iperf3", "-c", "10.77.0.2", "-t", "5", "-J"))
        finally:
            server.terminate()
            server.wait()
        mbps = report["end"]["sum_received"]["bits_per_second"] / 1e6
    finally:
        for name in (one, other):
            subprocess.run(["ip", "netns", "del", name], check=False)
    return [
        Row("beside it, tbf of 16 Mbps: median of ping above zero delay", f"{found:.3f} ms", "", None),
        Row("beside it, tbf of 16 Mbps: goodput of iperf3", f"{mbps:.2f} Mbps", "", None),
    ]


def main() -> int:
    """Prints the table. Exit status 1 if an expectation fails."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="runs of 5 s")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    given = parser.parse_args()
    seconds = 5 if given.quick else 15
    parts: list[Callable[[], list[Row]]] = [calibration, ping, lambda: dumbbells(seconds), lambda: cell(max(seconds, 9))]
    parts += [lambda: iperf3_over_wifi("1ms"), lambda: iperf3_over_wifi("10ms")] if shutil.which("iperf3") else []
    parts += [tbf] if shutil.which("iperf3") and shutil.which("tc") else []
    rows: list[Row] = []
    for part in parts:
        for row in part():
            rows.append(row)
            if not given.json:
                mark = {True: "yes", False: "NO", None: "–"}[row.holds]
                print(f"{row.what:70} {row.found:>30}   {row.wanted:20} {mark}", flush=True)
    if given.json:
        print(json.dumps({"rows": [asdict(row) for row in rows]}))
    return int(any(row.holds is False for row in rows))


if __name__ == "__main__":
    sys.exit(main())
