"""Runs of the study, and their ACK frequencies."""

import polars as pl

from acklab.studies import Bench
from acklab.sweeps import SweepResult, load_sweep

COMMAND = "acklab study tack_frequency"
SCENARIO = "path.toml"
LINKS = {"802.11b": 7.0, "802.11g": 26.0, "802.11n": 210.0, "802.11ac": 590.0}
"""UDP baselines of Figure 7 [Mbps]."""
RTTS = {"10 ms": 0.01, "80 ms": 0.08, "200 ms": 0.2}
TACK, TCP = "TACK", "TCP (L = 2)"
MSS = {TACK: 1427, TCP: 1448}
"""Bytes of a stream in a packet of 1500: TACK's headers, and TCP's with timestamps."""
SECONDS = 20
"""Measured time of path.toml."""
_AXES = ("link", "rtt", "receiver")


def run(bench: Bench) -> SweepResult:
    """Returns all links, round trips and receivers."""
    files = {axis: bench.variants(f"{axis}s.toml") for axis in _AXES}
    return bench.sweep(SCENARIO, "frequency", dict(files))


def again(bench: Bench) -> SweepResult:
    """Returns the stored sweep of `run`."""
    return load_sweep(bench.folder / "frequency")


def summary(result: SweepResult) -> pl.DataFrame:
    """Returns one row per run.

    A row has `link`, `rtt`, `receiver`, `seed`, ACKs per second `hz`, and goodput [Mbps].
    """
    names = {result.columns[axis]: axis for axis in _AXES}
    return result.flows.select(
        *(pl.col(column).alias(name) for column, name in names.items()),
        "seed",
        hz=pl.col("total_acks_sent_l4") / SECONDS,
        goodput="mean_throughput_l7",
    )
