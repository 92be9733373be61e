"""What the study runs: each transport beside each number of neighbours."""

import polars as pl

from acklab.studies import Bench
from acklab.sweeps import SweepResult, load_sweep

COMMAND = "acklab study tack_miracast"
SCENARIO = "room.toml"
SWEEP = "loads"
LOADS = "loads.toml"
QUICK_LOADS = "loads.toml:2,4"
CLAIMED = "4"
"""The number of neighbours in the claims."""
PERIOD = 1800.0
"""Figure 11 counts in half an hour [s]."""


def run(bench: Bench) -> SweepResult:
    """All transports beside all loads."""
    loads = bench.variants(QUICK_LOADS if bench.quick else LOADS)
    return bench.sweep(SCENARIO, SWEEP, {"neighbours": loads, "transport": bench.variants("transports.toml")})


def kept(bench: Bench) -> SweepResult:
    """What `run` has run."""
    return load_sweep(bench.folder / SWEEP)


def summary(result: SweepResult) -> pl.DataFrame:
    """One row for each run: what the viewer saw."""
    shown = result.flows.filter(pl.col("flow") == "screen")
    return shown.select(
        "point", "seed", neighbours=pl.col(result.columns["neighbours"]), transport=pl.col(result.columns["transport"]),
        rebuffering=100 * pl.col("rebuffering_ratio_l7"),
        stalls=pl.col("total_stalls_l7").cast(pl.Float64),
        macroblocking=pl.col("total_macroblocking_l7") * PERIOD / (pl.col("total_frames_l7") / 60),
        damaged=100 * pl.col("share_macroblocking_l7"),
        goodput=pl.col("mean_throughput_l7"),
        delay=pl.col("mean_one_way_delay_l7"),
        retransmissions=pl.col("total_retransmissions_l4").cast(pl.Float64),
    )  # fmt: skip


def values(runs: pl.DataFrame, transport: str, column: str, neighbours: str = CLAIMED) -> list[float]:
    """A column of one transport beside so many neighbours, seed by seed."""
    own = runs.filter(pl.col("transport") == transport, pl.col("neighbours") == neighbours).sort("seed")
    return own[column].cast(pl.Float64).to_list()
