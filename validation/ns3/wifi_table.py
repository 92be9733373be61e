#!/usr/bin/env python3
"""Runs the Wi-Fi scenarios and prints each number with the published number.

Published numbers are medians of three seeds of an earlier run of ns-3 3.37. The new numbers are
medians of three seeds too. `--seeds 1` takes a third of the time. A word as argument selects the
scenarios whose names contain it.
"""

import argparse
import json
import statistics
import subprocess
from pathlib import Path
from typing import Any

PROGRAM = Path(__file__).with_name("wifi")
Line = tuple[str, list[str], tuple[float | None, ...]]
"""A row of the table: name, arguments, and published values."""

# Goodput in Mbps, unanswered data PPDUs in percent, MPDUs per PPDU at the AP, ACKs, Jain, timeouts,
# AP queue.
KEYS = ("goodput_mbps", "unanswered", "mpdus_down", "acks", "jain", "rtos", "ap_queue")
HEADS = ("goodput", "unanswered %", "MPDUs", "ACKs", "Jain", "RTOs", "queue")

DOWN = ["--connect=1s", "--data=1s", "--from=4s", "--to=14s"]
# Windows of 65,535 bytes: the send buffer must have the same size. Otherwise, NextSeg() of 3.37
# requests an empty segment once the window is full after a timeout.
UPLOAD = [
    "--standard=b", "--direction=up", "--transport=newreno", "--ackEvery=1",
    "--receiveBuffer=65535", "--sendBuffer=65535",
    "--connect=1s", "--stagger=10ms", "--data=3s", "--dataStagger=100ms", "--from=10s", "--to=40s",
]  # fmt: skip
RTT10 = ["--wiredDelay=5ms", "--wiredRate=10Gbps", "--apQueue=1000", "--connect=1s", "--data=1s", "--from=4s"]
N300 = ["--standard=n", "--mcs=15", "--streams=2"]
AC = ["--standard=ac", "--mcs=9", "--streams=2", "--width=80"]


def line(name: str, arguments: list[str], *published: float | None) -> Line:
    """Returns a row with its published values, in the order of KEYS.

    The last values may be missing.
    """
    return name, arguments, published + (None,) * (len(KEYS) - len(published))


def download(stations: int, transport: str, *published: float) -> Line:
    """Returns a row with downloads to this number of 802.11n stations."""
    arguments = [*DOWN, "--standard=n", f"--stations={stations}", f"--transport={transport}"]
    return line(f"n {transport} {stations}", arguments, *published)


def upload(queue: int, stations: int, goodput: float, unanswered: float, jain: float, rtos: int, mean_queue: float) -> Line:
    """Returns a row with uploads of this number of 802.11b stations."""
    arguments = [*UPLOAD, f"--apQueue={queue}", f"--stations={stations}"]
    return line(f"b upload {stations}, queue {queue}", arguments, goodput, unanswered, 1, None, jain, rtos, mean_queue)


LINES = [
    line("a cubic", [*DOWN, "--standard=a"], 24.99, 4.7),
    line("a udp", [*DOWN, "--standard=a", "--transport=udp", "--udpRate=60Mbps"], 29.88),
    download(1, "cubic", 112.7, 7.6, 32.8, 48417),
    download(1, "newreno", 109.8, 5.9, 28.4, 47457),
    download(1, "udp", 135.1, 0, 42),
    download(2, "cubic", 116.6, 10.5, 39.1, 50207),
    download(10, "cubic", 114.4, 13.8, 39.2, 50801),
    download(10, "newreno", 113.8, 12.9, 36.8, 50267),
    download(10, "udp", 135.0, 0, 42),
    upload(50, 1, 4.44, 5.7, 1, 0, 11),
    upload(50, 5, 5.60, 16.2, 1, 0, 49.7),
    upload(50, 10, 5.67, 20.8, 0.77, 7, 49.8),
    upload(50, 30, 5.66, 24.6, 0.37, 74, 49.8),
    upload(250, 5, 4.54, 3.5, 1, 0, 218),
    upload(250, 10, 5.14, 8.4, 1, 0, 249),
    upload(250, 30, 5.24, 9.4, 0.41, 200, 250),
    line("rtt b udp", [*RTT10, "--standard=b", "--transport=udp", "--udpRate=12Mbps"], 6.07),
    line("rtt b cubic", [*RTT10, "--standard=b"], 5.17),
    line("rtt g udp", [*RTT10, "--standard=g", "--transport=udp", "--udpRate=40Mbps"], 29.7),
    line("rtt g cubic", [*RTT10, "--standard=g"], 24.9),
    line("rtt n udp", [*RTT10, *N300, "--transport=udp", "--udpRate=320Mbps", "--to=8s"], 255.8),
    line("rtt n cubic", [*RTT10, *N300], 222.6),
    line("rtt ac udp", [*RTT10, *AC, "--transport=udp", "--udpRate=800Mbps", "--to=6s"], 616.7),
    line("rtt ac cubic", [*RTT10, *AC], 502.5),
]


def run(arguments: list[str], seed: int) -> dict[str, Any]:
    """Runs one scenario and returns the printed numbers."""
    command = [str(PROGRAM), f"--seed={seed}", *arguments]
    result: dict[str, Any] = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    result["unanswered"] *= 100
    return result


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("only", nargs="?", default="")
    options = parser.parse_args()
    print("measured (published)")
    print(f"{'line':24}" + "".join(f"{head:>18}" for head in HEADS))
    for name, arguments, published in LINES:
        if options.only in name:
            results = [run(arguments, seed) for seed in range(1, options.seeds + 1)]
            cells = []
            for key, want in zip(KEYS, published, strict=True):
                got = statistics.median(result[key] for result in results)
                cells.append(f"{got:.2f} ({'-' if want is None else want})")
            print(f"{name:24}" + "".join(f"{cell:>18}" for cell in cells), flush=True)


if __name__ == "__main__":
    main()
