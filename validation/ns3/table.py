#!/usr/bin/env python3
"""Runs the scenarios with wired links and prints each number with the published number.

Published numbers are from an earlier run of ns-3 3.37; CCperf's are from its experiment #55 (ACK
compression, TcpNewReno, interval 5 ms, quota 10). With --all: CUBIC, Vegas and CCperf's metrics
too.
"""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

PROGRAM = Path(__file__).with_name("dumbbell")

# gate, controller, ACK every: goodput, sRTT, cwnd, drops, RTOs, queue
LINES = [
    (0, "TcpNewReno", 1, (15.35, 24.21, 32.79, 68, 0, 10.28)),
    (0, "TcpNewReno", 2, (15.32, 24.52, 32.57, 34, 0, 9.70)),
    (10, "TcpNewReno", 1, (13.92, 25.49, 32.93, 74, 1, 7.47)),
    (10, "TcpNewReno", 2, (14.79, 25.44, 32.95, 37, 0, 7.61)),
]
OTHERS = [
    (0, "TcpCubic", 1, (15.39, 27.30, 36.37, 9, 0, 14.38)),
    (0, "TcpVegas", 1, (15.39, 17.33, 23.05, 0, 0, 1.10)),
    (10, "TcpCubic", 1, (15.07, 27.17, 37.18, 39, 1, 10.36)),
]
KEYS = ("goodput_mbps", "srtt_ms_time", "cwnd_time", "drops", "rtos", "queue_time")
HEADS = ("goodput", "sRTT ms", "cwnd", "drops", "RTOs", "queue")

CCPERF = {
    "cov_in_flight": 0.23,
    "cov_throughput": 0.25,
    "mean_cwnd": 32.90,
    "mean_delivery_rate": 13.91,
    "mean_est_qdelay": 10.48,
    "mean_in_flight": 32.49,
    "mean_network_power": 565.16,
    "mean_one_way_delay_l7": 1984.92,
    "mean_qdisc_delay": 5.39,
    "mean_qdisc_length": 7.44,
    "mean_recovery_time": 94.09,
    "mean_sending_rate_l1": 14.45,
    "mean_sending_rate_l4": 13.99,
    "mean_sending_rate_l7": 16.05,
    "mean_srtt": 25.48,
    "mean_throughput": 13.92,
    "mean_utility_mpdf": -0.10,
    "mean_utility_pf": 2.56,
}


def run(controller: str, ack_every: int, quota: int, *more: str) -> dict[str, Any]:
    """Runs one scenario and returns the printed numbers."""
    command = [str(PROGRAM), f"--controller={controller}", f"--ackEvery={ack_every}", f"--quota={quota}", *more]
    result: dict[str, Any] = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    return result


def text(value: float) -> str:
    """Returns a count as an integer, and other numbers with two decimals."""
    return str(value) if isinstance(value, int) else f"{value:.2f}"


def main() -> None:
    """Prints the table."""
    everything = "--all" in sys.argv[1:]
    print("measured (published)")
    print(f"{'gate':8} {'controller':11} {'ACK':>3} " + " ".join(f"{head:>15}" for head in HEADS))
    for quota, controller, ack_every, published in LINES + (OTHERS if everything else []):
        got = run(controller, ack_every, quota)
        cells = [f"{text(got[key])} ({text(want)})" for key, want in zip(KEYS, published, strict=True)]
        gate = f"5 ms/{quota}" if quota else "none"
        print(f"{gate:8} {controller[3:]:11} {ack_every:3} " + " ".join(f"{cell:>15}" for cell in cells))
    if everything:
        # CCperf states neither the buffers nor the access links. Its application rate and delay
        # require a buffer of 4 MB, and its sampled queue requires short access links.
        got = run("TcpNewReno", 1, 10, "--buffer=4000000", "--edge=1ms")
        print("\nCCperf experiment #55, buffer 4 MB, access links 1 ms: measured (CCperf)")
        for name, want in CCPERF.items():
            print(f"  {name:24} {got['ccperf_' + name]:10.3f} ({want:.2f})")


if __name__ == "__main__":
    main()
