"""Runs of the study: three sweeps, one per kind of receiver report."""

import polars as pl

from acklab.studies import Bench
from acklab.sweeps import SweepResult, load_sweep
from acklab.sweeps.grid import Axes

COMMAND = "acklab study tack_estimators"
SCENARIO = "path.toml"
IACKS, SAMPLES, LISTS = "iacks", "samples", "lists"

DATA_LOSSES = (0.001, 0.01, 0.05)
ACK_LOSSES = (0.0, 0.02, 0.05, 0.1, 0.2, 0.3)
TOLD: dict[str, dict[str, object]] = {
    "IACKs": {},
    "TACKs alone": {"flow.0.transport.loss_iacks": False, "flow.0.transport.lists": "poor"},
}
"""Source of loss reports.

Figure 5 precedes the rich lists of section 5.1, so its TACKs without IACKs report one gap.
"""
JITTERS = {"none": "0us", "3 ms": "3ms", "10 ms": "10ms"}
SAMPLE_SEEDS = 12
"""Number of seeds.

More seeds are required because the minimum sample of a run varies much between seeds.
"""
DATA_LOSS = 0.05
"""Data loss ρ for the lists."""
BDP = {"40 ms": 50e6 * 0.04 / 8 / 1500, "200 ms": 50e6 * 0.2 / 8 / 1500}
"""Bandwidth-delay products by round trip [packets]."""


def _loss(direction: str, share: float) -> dict[str, object]:
    return {f"link.btl.{direction}.loss": {"model": "independent", "probability": share}} if share else {}


def _jitter(spread: str) -> dict[str, object]:
    return {} if spread == "0us" else {"link.btl.forward.jitter": {"model": "uniform", "spread": spread}}


def run(bench: Bench) -> dict[str, SweepResult]:
    """Returns all three sweeps."""
    rtts = bench.variants("rtts.toml:40 ms" if bench.quick else "rtts.toml")
    data = DATA_LOSSES[1:2] if bench.quick else DATA_LOSSES
    acks = (0.0, 0.3) if bench.quick else ACK_LOSSES
    axes: dict[str, Axes] = {
        IACKS: {
            "rtt": rtts,
            "loss": {f"{100 * share:g} %": _loss("forward", share) for share in data},
            "told": TOLD,
        },
        SAMPLES: {
            "jitter": {name: _jitter(spread) for name, spread in JITTERS.items()},
            "samples": bench.variants("rtt_samples.toml"),
        },
        LISTS: {
            "rtt": rtts,
            "ack_loss": {f"{100 * share:g}": _loss("reverse", share) for share in acks},
            "lists": bench.variants("loss_lists.toml"),
        },
    }
    # A standing queue would increase all samples. The queue limit is two bandwidth-delay products.
    # Vegas drains the queue of slow start by a packet per round trip, within ten seconds.
    short: dict[str, object] = {"link.btl.forward.queue.limit": "333packets", "duration": "30s", "measure.from": "14s"}
    sets = {IACKS: {}, SAMPLES: short, LISTS: _loss("forward", DATA_LOSS)}
    seeds = {IACKS: bench.seeds, SAMPLES: bench.at_least(SAMPLE_SEEDS), LISTS: bench.seeds}
    return {name: bench.sweep(SCENARIO, name, grid, set=sets[name], seeds=seeds[name]) for name, grid in axes.items()}


def kept(bench: Bench) -> dict[str, SweepResult]:
    """Returns the stored results of `run`."""
    return {name: load_sweep(bench.folder / name) for name in (IACKS, SAMPLES, LISTS)}


def rows(result: SweepResult) -> pl.DataFrame:
    """Returns one row for each run, with a column per axis."""
    named = result.flows.rename({column: axis.rpartition(".")[2] for axis, column in result.columns.items()}, strict=False)
    return named.with_columns(blocked=pl.col("mean_blocked_l4"), goodput=pl.col("mean_throughput_l7"))
