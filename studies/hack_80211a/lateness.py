"""Gain due to late link-layer ACKs."""

import polars as pl

from acklab.report import Figure, Section, Table
from acklab.statistics import Interval, intervals, ratio_interval, ratios
from acklab.studies import Bench
from acklab.sweeps import load_sweep

from . import drawing
from .runs import COMMAND, HACK, LATE, STOCK, UDP, of_sweeps

IN_TIME, SORA = (float(late.removesuffix("us")) for late in (LATE[0], LATE[-1]))
CARDS = {10.4: "AR9300 and Intel 5300: 10.4", 13.4: "to 13.4", 37.0: "SoRa: 37"}


def benefit(bench: Bench) -> Interval:
    """Returns TCP/HACK's gain with late link-layer ACKs relative to the gain with timely ones.

    Link-layer ACKs are as late as SoRa's. There is one client.
    """
    swept = load_sweep(bench.folder / "late")
    late = swept.columns["wifi.0.late_answers"]
    goodput = {
        key: own["agg_throughput_l4"].to_list() for key, own in swept.network.group_by([late, "scheme"], maintain_order=True)
    }
    late_gains, gains = (
        [one / other - 1 for one, other in zip(goodput[place, HACK], goodput[place, STOCK], strict=True)]
        for place in (SORA, IN_TIME)
    )
    return ratio_interval(late_gains, gains)


def section(bench: Bench) -> Section:
    """Returns throughput and gain by lateness of link-layer ACKs."""
    swept, datagrams = load_sweep(bench.folder / "late"), load_sweep(bench.folder / "late_datagrams")
    late, alone = swept.columns["wifi.0.late_answers"], datagrams.columns["wifi.0.late_answers"]
    both = swept.network.select(late, "scheme", "seed", "agg_throughput_l4")
    udp = datagrams.network.select(pl.col(alone).alias(late), pl.lit(UDP).alias("scheme"), "seed", "agg_throughput_l4")
    means = intervals(pl.concat([udp, both.reverse()]), [late, "scheme"], "agg_throughput_l4")
    gains = ratios(both, [late, "scheme"], "agg_throughput_l4", {"scheme": STOCK}).filter(pl.col("scheme") == HACK)
    number = pl.col(late).cast(pl.Float64).alias("late")
    head = ["later than SIFS", *(f"{name} [Mbps]" for name in (UDP, HACK, STOCK)), "HACK ÷ stock"]
    rows = []
    for text in LATE:
        row, place = [text.replace("us", " µs")], float(text.removesuffix("us"))
        for name in (UDP, HACK, STOCK):
            cell = means.filter(pl.col(late) == place, pl.col("scheme") == name).row(0, named=True)
            row.append(Interval.of_row(cell).text())
        rows.append([*row, Interval.of_row(gains.filter(pl.col(late) == place).row(0, named=True)).text(3)])
    return Section(
        "Late link-layer ACKs",
        "Part of the gain is due to SoRa: its link-layer ACKs are sent 37 µs later than SIFS, those of two cards 10.4 to 13.4 µs, and those of the standard on time. Stock TCP waits for them "
        "three times per two segments, TCP/HACK twice.",
        items=[
            Figure(
                drawing.late(means.with_columns(number).sort("late"), gains.with_columns(number).sort("late"), CARDS),
                f"One client; {of_sweeps(bench)}; the gain is the geometric mean of the ratio",
                [COMMAND, swept.rerun],
            ),
            Table(head, rows, "The same"),
        ],
    )
