"""Samples of the delivery rate, taken as in BBR, compared with a known rate."""

from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import polars as pl

import acklab
from acklab.strategies import SECOND, Ack, ControllerStart, Signal, Window
from acklab.studies import Bench
from acklab.sweeps import Variants

WINDOW = 2_000_000
"""Window in bytes. It exceeds the bytes in flight at any time, so only pacing limits the sender."""
RATE = round(0.9 * 20e6 * 1472 / 1500)
"""Sending rate in bits per second, which the samples should equal: nine tenths of the capacity.

Like congestion control, it counts the bytes of datagrams without IP and UDP headers.
"""
FROM = 2 * SECOND
QUANTILES = {"p5": 0.05, "median": 0.5, "p95": 0.95, "max": 1.0}
"""Quantiles of the errors, which are in per cent of the rate."""
AXES = {"return": "return_paths.toml", "request": "requests.toml", "timestamps": "timestamps.toml"}
SET = ('flow.0.transport.congestion={custom="sampling"}', "duration=6s")


def sampler(errors: list[float]) -> type[acklab.CongestionController]:
    """Returns a controller with a constant rate that appends the error of each sample."""

    class Sampling(acklab.CongestionController):
        governs_window = True
        wants_delivery_rate = True

        def __init__(self, start: ControllerStart) -> None:
            super().__init__(start)

        def on_established(self, now: int, window: Window, rtt: int | None) -> None:
            window.cwnd = WINDOW

        def on_ack(self, window: Window, ack: Ack) -> None:
            if ack.rate is not None and ack.now > FROM and not ack.rate.is_app_limited:
                errors.append(100 * (ack.rate.bits_per_second / RATE - 1))

        def pacing_rate(self) -> int:
            return RATE

        def ssthresh(self, now: int, window: Window, flight: int, signal: Signal) -> int:
            return WINDOW

    return Sampling


def samples(bench: Bench) -> pl.DataFrame:
    """Returns one row for each return path, request and seed, with and without timestamps.

    It has the number of samples, the 95th percentile of the absolute error, and quantiles of the
    errors.
    """
    return _samples(bench.study.folder, 1 if bench.quick else 3)


@cache
def _samples(folder: Path, seeds: int) -> pl.DataFrame:
    rows: list[dict[str, Any]] = []
    axes = [Variants.read(folder / name).chosen for name in AXES.values()]
    for names in product(*axes):
        sets = [change for variants, name in zip(axes, names, strict=True) for change in variants[name].set]
        for seed in range(1, seeds + 1):
            errors: list[float] = []
            acklab.run(folder / "path.toml", seed=seed, set=[*sets, *SET], strategies={"sampling": sampler(errors)})
            found = pl.Series(errors)
            quantiles = {name: found.quantile(part, "linear") for name, part in QUANTILES.items()}
            far = found.abs().quantile(0.95, "linear")
            rows.append({**dict(zip(AXES, names, strict=True)), "seed": seed, "samples": len(errors), "far": far, **quantiles})
    return pl.DataFrame(rows)
