"""The gain over stock TCP in each setting that the paper omits."""

from dataclasses import replace

import polars as pl

from acklab.report import Figure, Section, Table
from acklab.statistics import Interval, intervals, ratios
from acklab.studies import Bench, closed_form
from acklab.sweeps import load_sweep

from . import drawing
from .runs import COMMAND, ENDS, MORE_DATA, OF, SCENARIO, STOCK, over, published


def section(bench: Bench) -> Section:
    """Returns goodput and gain by setting, and the closed form without collisions."""
    titles, known = bench.variants("settings.toml").chosen, published(bench)
    found: dict[str, pl.DataFrame] = {}
    rows: list[list[str]] = [[variant.title] for variant in titles.values()]
    commands = [COMMAND]
    for count in ENDS:
        swept = load_sweep(bench.folder / f"settings_{count}")
        commands.append(swept.rerun)
        means = intervals(swept.network, ["setting", "scheme"], "agg_throughput_l4")
        gains = ratios(swept.network, ["setting", "scheme"], "agg_throughput_l4", {"scheme": STOCK}).filter(
            pl.col("scheme") == MORE_DATA
        )
        found[count] = gains
        for row, name in zip(rows, titles, strict=True):
            own = {cell["scheme"]: cell for cell in means.filter(pl.col("setting") == name).to_dicts()}
            (gain,) = gains.filter(pl.col("setting") == name).to_dicts()
            row += [Interval.of_row(own[STOCK]).text(1), Interval.of_row(own[MORE_DATA]).text(1), Interval.of_row(gain).text(3)]
            if count == "10":
                row.append(
                    " / ".join(str(_of(swept.network, name, scheme)["agg_rtos_l4"].sum()) for scheme in (STOCK, MORE_DATA))
                )
    head = [
        "setting",
        *(text for count in ENDS for text in (f"{OF[count]}: stock", "HACK", f"gain ({known[count]:g})")),
        "timeouts",
    ]
    return Section(
        "Gain by setting of stock TCP",
        "Settings of TCP and the MAC that the paper omits, one at a time, with stock TCP and with MORE DATA. Timeouts are those of ten flows with both, in all "
        "seeds. One flow has none.",
        items=[
            Figure(drawing.settings(found, titles, known, OF), f"Goodput of MORE DATA ÷ stock: geometric {over(bench)}; stars and lines are published", commands),
            Table(head, rows, f"In Mbps: {over(bench)}, of 8 s with one client and 5 s with ten"),
            _closed_form(bench),
        ],
    )  # fmt: skip


def _of(frame: pl.DataFrame, setting: str, scheme: str) -> pl.DataFrame:
    return frame.filter(pl.col("setting") == setting, pl.col("scheme") == scheme)


def _closed_form(bench: Bench) -> Table:
    """Returns results of the closed form, without collisions.

    They are for stock TCP, for stock TCP with unaggregated ACKs, and for compressed ACKs.
    """
    cell = closed_form.of_scenario(bench.source(SCENARIO).load())
    own = closed_form.stock(cell)
    alone = closed_form.cycle(replace(cell, payload=0, aggregate=0))
    data = sum(one.total for one in own.data) + sum(one.frames for one in own.data) // 2 * alone.total
    one_by_one = sum(one.octets for one in own.data) * 8 * 1000 / data
    best = closed_form.hack(cell, compressed=3).goodput
    rows = [
        ("stock", own.goodput),
        ("stock, each ACK in a separate frame", one_by_one),
        ("compressed ACKs of 3 bytes on Block ACKs", best),
    ]
    return Table(
        ["closed form", "Mbps", "TCP/HACK ÷ closed form"],
        [[name, f"{mbps:.1f}", f"{best / mbps:.3f}"] for name, mbps in rows],
        "Closed form of the same cell without collisions, with 42 segments per PPDU",
    )
