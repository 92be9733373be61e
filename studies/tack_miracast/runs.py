"""Runs of the study: each transport in competition with each number of neighbours."""

import polars as pl

from acklab.studies import Bench, per_seed
from acklab.sweeps import SweepResult, load_sweep

COMMAND = "acklab study tack_miracast"
SCENARIO = "cell.toml"
SWEEP, ROOM, CAUSES = "loads", "room", "causes"
LOADS = "loads.toml"
QUICK_LOADS = "loads.toml:2,4"
CLAIMED = "loads.toml:4"
"""The number of neighbours in the claims."""
CLAIM_SEEDS = 8
PERIOD = 1800.0
"""Time of the counts in Figure 11: half an hour [s]."""


def run(bench: Bench) -> dict[str, SweepResult]:
    """Returns all transports with all loads, and more seeds for the load of the claims."""
    loads, transports = QUICK_LOADS if bench.quick else LOADS, bench.variants("transports.toml")
    wanted = {SWEEP: (loads, bench.seeds), ROOM: (CLAIMED, bench.at_least(CLAIM_SEEDS))}
    return {
        name: bench.sweep(SCENARIO, name, {"neighbours": bench.variants(load), "transport": transports}, seeds=seeds)
        for name, (load, seeds) in wanted.items()
    }


def run_causes(bench: Bench) -> SweepResult:
    """Returns TCP with a larger BBR window, and with a shorter queue, at the load of the claims."""
    (room,) = bench.variants(CLAIMED).chosen.values()
    causes = bench.variants("alternatives.toml")
    return bench.sweep(SCENARIO, CAUSES, {"transport": causes}, set=room.set, seeds=bench.at_least(CLAIM_SEEDS))


def again(bench: Bench, name: str) -> SweepResult:
    """Returns a stored sweep."""
    return load_sweep(bench.folder / name)


def summary(result: SweepResult) -> pl.DataFrame:
    """Returns one row per run, with stalls and artefacts."""
    shown = result.flows.filter(pl.col("flow") == "screen")
    neighbours = {"neighbours": pl.col(result.columns["neighbours"])} if "neighbours" in result.columns else {}
    return shown.select(
        "point", "seed", **neighbours, transport=pl.col(result.columns["transport"]),
        rebuffering=100 * pl.col("rebuffering_ratio_l7"),
        stalls=pl.col("total_stalls_l7").cast(pl.Float64),
        macroblocking=pl.col("total_macroblocking_l7") * PERIOD / (pl.col("total_frames_l7") / 60),
        damaged=100 * pl.col("share_macroblocking_l7"),
        goodput=pl.col("mean_throughput_l7"),
        delay=pl.col("mean_one_way_delay_l7"),
        retransmissions=pl.col("total_retransmissions_l4").cast(pl.Float64),
    )  # fmt: skip


def values(runs: pl.DataFrame, transport: str, column: str) -> list[float]:
    """Returns a column of one transport, seed by seed."""
    return per_seed(runs, column, transport=transport)
