"""What the study runs, and how it ranks."""

import polars as pl

from acklab.studies import Bench
from acklab.sweeps import SweepResult, load_sweep

from .ensemble import PATHS, paths

COMMAND = "acklab study tack_ranking"
SCENARIO = "path.toml"
PRESETS, DRAWN = "presets", "drawn"
CCPERF = "../ack_policies/paths.toml:default,india,korea,california,winds,nepal,mexico,colombia"
QUICK_CCPERF = "../ack_policies/paths.toml:default,nepal"
QUICK_PATHS = 4

PUBLISHED = {"Vegas": 2.0, "TACK": 3.0, "CUBIC": 3.0, "PCC Vivace": 4.5, "Copa": 5.0, "BBR": 6.0, "PCC Allegro": 8.0}
"""Median ranks of Figure 14, among eleven schemes, of those that we have."""


def run(bench: Bench) -> dict[str, SweepResult]:
    """Every scheme over every path."""
    schemes = bench.variants("schemes.toml")
    presets = bench.variants(QUICK_CCPERF if bench.quick else CCPERF)
    drawn = paths(QUICK_PATHS if bench.quick else PATHS)
    return {
        PRESETS: bench.sweep(SCENARIO, PRESETS, {"path": presets, "scheme": schemes}),
        DRAWN: bench.sweep(SCENARIO, DRAWN, {"path": drawn, "scheme": schemes}),
    }


def kept(bench: Bench) -> dict[str, SweepResult]:
    """What `run` has run."""
    return {name: load_sweep(bench.folder / name) for name in (PRESETS, DRAWN)}


def ranked(result: SweepResult) -> pl.DataFrame:
    """One row for each run: throughput, delay, utility, and the rank of the scheme among all on the same path with the same seed.

    The utility is ln(mean throughput [Mbps] / 95th percentile of the one-way delay [ms]), after Kleinrock's power. The best has rank 1.
    """
    flows = result.flows.filter(pl.col("flow") == "ranked")
    throughput, delay = pl.col("mean_throughput_l7"), pl.col("p95_one_way_delay_l4")
    runs = flows.select(
        "seed", path=pl.col(result.columns["path"]), scheme=pl.col(result.columns["scheme"]), throughput=throughput, delay=delay,
        utility=(throughput / delay).log(),
    )  # fmt: skip
    return runs.with_columns(rank=pl.col("utility").rank(descending=True).over("path", "seed"))


def ahead(runs: pl.DataFrame, scheme: str) -> list[float]:
    """By how many ranks TACK is ahead of a scheme, path by path: the mean over seeds."""
    means = runs.group_by("path", "scheme").agg(pl.col("rank").mean()).pivot(on="scheme", index="path", values="rank")
    return means.sort("path").select(pl.col(scheme) - pl.col("TACK")).to_series().to_list()
