"""Measures and report sections of the study."""

from collections.abc import Mapping

import polars as pl

from acklab import figures
from acklab.report import Figure, Section, Table
from acklab.studies import Bench, Measure

from .runs import BETAS, BUFFERS, BY_COUNT, BY_TIME, COMMAND, CONTROLLERS, WINDOWS, kept, least_window, run, table, value


def measures(bench: Bench) -> Mapping[str, Measure]:
    """Returns the minimum window by β and clock of ACKs.

    Also returns the minimum queue with which TACK's controller fills the link.
    """
    swept = run(bench)
    windows, buffers = table(swept[WINDOWS]), table(swept[BUFFERS])
    found: dict[str, float] = {}
    for beta in BETAS:
        found[f"count_{beta}"] = least_window(windows, BY_COUNT, beta)
        found[f"time_{beta}"] = least_window(windows, BY_TIME, beta)
    found["buffer_4"] = least_window(windows, BY_TIME, 4) - 1
    found["buffer_4_count"] = least_window(windows, BY_COUNT, 4) - 1
    found["utilisation_4"] = value(buffers, "bbr-tack", 4, 0.33, "utilisation")
    measured = {name: Measure([number], [swept[WINDOWS].rerun]) for name, number in found.items()}
    return measured | {"utilisation_4": Measure([found["utilisation_4"]], [swept[BUFFERS].rerun])}


def sections(bench: Bench) -> list[Section]:
    """Returns the sections of the report."""
    swept = kept(bench)
    windows, buffers = table(swept[WINDOWS]), table(swept[BUFFERS])
    head = ["β", "β/(β − 1)", "by count", "(β + 1)/β", "by time"]
    rows = [
        [
            str(beta),
            f"{beta / (beta - 1):.3f}",
            f"{least_window(windows, BY_COUNT, beta):.3f}",
            f"{(beta + 1) / beta:.3f}",
            f"{least_window(windows, BY_TIME, beta):.3f}",
        ]
        for beta in BETAS
    ]
    commands = [COMMAND, swept[WINDOWS].rerun]
    return [
        Section(
            "Minimum window",
            "ACKs release a window. If each of β ACKs per window covers a share 1/β of it, the sender waits until this number of bytes "
            "has arrived. With β ACKs per round trip by time, it waits for a share 1/β of the round trip.",
            items=[
                Figure(
                    figures.profiles(_named(windows), "size", "β", "utilisation", "utilisation [%]", "window [bandwidth-delay products]", "kind"),
                    "Utilisation by window and β, with ACKs by time and by count",
                    commands,
                ),
                Table(head, rows, "Minimum window that fills the link [bandwidth-delay products]: formula and simulation", commands=commands),
                Figure(
                    figures.profiles(_named(windows), "size", "β", "longest", "maximum queue [bandwidth-delay products]", "window [bandwidth-delay products]", "kind"),
                    "Maximum queue at the bottleneck by window and β",
                    commands,
                ),
            ],
        ),
        _practice(buffers, [COMMAND, swept[BUFFERS].rerun]),
    ]  # fmt: skip


def _named(runs: pl.DataFrame) -> pl.DataFrame:
    return runs.with_columns(pl.col("beta").cast(pl.String).alias("β"))


def _practice(buffers: pl.DataFrame, commands: list[str]) -> Section:
    lengths = buffers["size"].unique(maintain_order=True).to_list()
    rows = [
        [kind, str(beta), *(f"{value(buffers, kind, beta, length, 'utilisation'):.1f}" for length in lengths)]
        for kind in CONTROLLERS
        for beta in BETAS
    ]
    head = ["controller", "β", *(f"{length:g} bdp" for length in lengths)]
    return Section(
        "Buffers in practice",
        "With a congestion controller and pacing. The window is not sent in bursts, so the queue need not hold one.",
        items=[
            Figure(
                figures.profiles(_named(buffers), "size", "β", "utilisation", "utilisation [%]", "queue [bandwidth-delay products]", "kind"),
                "Utilisation by length of the queue",
                commands,
            ),
            Table(head, rows, "Utilisation [%] by length of the queue", commands=commands, numeric_from=2),
        ],
    )  # fmt: skip
