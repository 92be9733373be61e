#!/usr/bin/env python3
"""Compares acklab's curves of frame error rate with those of ns-3 3.37.

Reads the output of `error_rates` (see `make error-rates`) and of
`cargo run -p acklab-wifi --example error_curves`, and prints, for each mode and length, acklab's
SNR at which one frame in ten is lost, and the difference of each model of ns-3 from it in dB.
"""

import csv
import math
import sys
from collections import defaultdict

TARGET = 0.1
Curves = dict[tuple[str, ...], list[tuple[float, float]]]


def crossing(points: list[tuple[float, float]], target: float) -> float | None:
    """Returns the SNR at which the rate falls below the target, by logarithmic interpolation."""
    before = None
    for snr, rate in points:
        if rate <= target:
            if before is None or rate <= 0:
                return snr
            (last_snr, last_rate) = before
            share = math.log(last_rate / target) / math.log(last_rate / rate)
            return last_snr + share * (snr - last_snr)
        before = (snr, rate)
    return None


def read(path: str, model: str | None = None) -> Curves:
    """Reads curves by model, mode and bytes: points of SNR and rate."""
    curves: Curves = defaultdict(list)
    with open(path, newline="") as file:
        for row in csv.reader(file):
            key = (model, *row[:2]) if model else tuple(row[:3])
            curves[key].append((float(row[-2]), float(row[-1])))
    return curves


def main() -> None:
    """Prints the table."""
    if len(sys.argv) != 3:
        sys.exit(f"usage: {sys.argv[0]} NS3.csv OURS.csv")
    theirs, ours = read(sys.argv[1]), read(sys.argv[2], "ours")
    models = ("table", "nist", "yans", "dsss")
    print("SNR in dB at a frame error rate of 10 %; of ns-3 the difference to ours")
    print(f"{'mode':7} {'octets':>6} {'ours':>7} " + " ".join(f"{model:>7}" for model in models))
    for (_, mode, octets), points in ours.items():
        here = crossing(points, TARGET)
        cells = []
        for model in models:
            there = crossing(theirs.get((model, mode, octets), []), TARGET)
            cells.append(f"{there - here:+7.2f}" if there is not None and here is not None else f"{'':7}")
        print(f"{mode:7} {octets:>6} {math.nan if here is None else here:7.2f} " + " ".join(cells))


if __name__ == "__main__":
    main()
