"""Runs of the study: one or several clients over the cell of wifi_parity, with one varied limit."""

from collections.abc import Mapping

import polars as pl

from acklab.statistics import Interval, ratio_interval
from acklab.studies import Bench, per_seed
from acklab.sweeps import SweepResult

COMMAND = "acklab study hack_limits"
SCENARIO = "../wifi_parity/download.toml"
STOCK, HACK = "stock", "HACK"
LIMITS = ("windows", "rates", "clients", "batches")
"""Files of settings. Each is one sweep."""
RTT_CLOCKS = "rtt_clocks"
"""Settings of the clock for round-trip times of a sender with timestamps."""

BASE: Mapping[str, object] = {
    "wifi.0.ap.queue.limit": "126packets",
    "wifi.0.queue_counts": "unsent",
    "wifi.0.ap.queues": "shared",
}
"""126 packets of one client may wait in addition to packets on the air, so the queue of the access
point does not limit the gain.
"""


def run(bench: Bench) -> dict[str, SweepResult]:
    """Returns each setting with stock TCP and TCP/HACK, by the file of settings."""
    schemes = bench.variants("schemes.toml")
    return {
        name: bench.sweep(SCENARIO, name, {"setting": bench.variants(f"{name}.toml"), "scheme": schemes}, set=BASE)
        for name in (*LIMITS, RTT_CLOCKS)
    }


def summary(result: SweepResult) -> pl.DataFrame:
    """Returns one row for each run.

    Goodput of all clients, MPDUs per PPDU of the access point, unanswered PPDUs and ACKs sent as
    ordinary frames [%].
    """
    nodes = result.table("stations").group_by("point").agg(
        mpdus=pl.col("mean_mpdus_per_ppdu_l2").filter(pl.col("node") == "ap").first(),
        unanswered=100 * pl.col("total_unanswered_l2").sum() / pl.col("total_ppdus_l2").sum(),
    )  # fmt: skip
    plain, compressed = (pl.col(f"total_{kind}_acks_l2").sum() for kind in ("plain", "compressed"))
    # Without TCP/HACK, the table `hack` has no row, and all ACKs are sent as frames.
    acks = result.table("hack").group_by("point").agg(plain=100 * plain / (plain + compressed))
    runs = result.network.select("point", "setting", "scheme", "seed", goodput="agg_throughput_l4", timeouts="agg_rtos_l4")
    joined = runs.join(nodes, on="point", maintain_order="left").join(acks, on="point", how="left", maintain_order="left")
    return joined.with_columns(pl.col("plain").fill_null(100.0))


def round_trips(result: SweepResult) -> pl.DataFrame:
    """Returns one row for each run.

    The smoothed round-trip time, and its part in the access point's queue and on the air [ms].
    """
    data = result.table("stations").filter(pl.col("node") == "ap").select("point", data="mean_delay_l2")
    runs = result.flows.select("point", "setting", "scheme", "seed", srtt="mean_srtt_l4", goodput="mean_throughput_l4")
    return runs.join(data, on="point", maintain_order="left")


def values(runs: pl.DataFrame, setting: str, scheme: str, column: str) -> list[float]:
    """Returns a column of one setting, seed by seed."""
    return per_seed(runs, column, setting=setting, scheme=scheme)


def over_stock(runs: pl.DataFrame, setting: str) -> list[float]:
    """Returns the goodput of TCP/HACK relative to stock TCP, seed by seed."""
    pairs = zip(values(runs, setting, HACK, "goodput"), values(runs, setting, STOCK, "goodput"), strict=True)
    return [ours / theirs for ours, theirs in pairs]


def gain(runs: pl.DataFrame, setting: str) -> Interval:
    """Returns the gain of TCP/HACK over stock TCP [%]."""
    return ratio_interval(values(runs, setting, HACK, "goodput"), values(runs, setting, STOCK, "goodput")).gain
