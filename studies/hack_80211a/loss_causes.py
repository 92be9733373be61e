"""Settings that could increase the frame loss of stock TCP to that of the paper."""

from collections.abc import Iterable

import polars as pl

from acklab.report import Section, Table
from acklab.statistics import Interval, intervals, ratios
from acklab.studies import Bench
from acklab.sweeps import load_sweep

from .runs import HACK, SCHEMES, STOCK


def section(bench: Bench) -> Section:
    """Returns loss and goodput under each setting, one at a time."""
    swept, titles = load_sweep(bench.folder / "settings"), bench.variants("settings.toml").chosen
    gains = ratios(swept.network, ["setting", "scheme"], "agg_throughput_l4", {"scheme": STOCK})
    means = intervals(swept.network, ["setting", "scheme"], "agg_throughput_l4")
    sender = swept.table("stations").filter(pl.col("node") == "ap").with_columns(once=100 * pl.col("share_first_try_l2"))
    once = intervals(sender, ["setting", "scheme"], "once")
    rows = []
    for name, variant in titles.items():

        def of(frame: pl.DataFrame, scheme: str, decimals: int, setting: str = name) -> str:
            return Interval.of_row(
                frame.filter(pl.col("setting") == setting, pl.col("scheme") == scheme).row(0, named=True)
            ).text(decimals)

        numbers: Iterable[str] = [
            of(frame, scheme, decimals) for frame, decimals in ((once, 1), (means, 2)) for scheme in SCHEMES
        ]
        rows.append([variant.title or name, *numbers, of(gains, HACK, 3)])
    published = ["published", "87.5", "97.5", "19.4", "25.0", "1.29"]
    head = ["setting", "sent once, stock [%]", "sent once, HACK [%]", "stock [Mbps]", "HACK [Mbps]", "gain"]
    return Section(
        "Settings with possible effect on the losses of stock TCP",
        "On SoRa 12 to 14 % of the sender's frames needed another transmission under stock TCP. One setting at a time, one client.",
        items=[Table(head, [*rows, published], f"Mean and interval over {bench.seeds} seeds of 30 s", commands=[swept.rerun])],
    )  # fmt: skip
