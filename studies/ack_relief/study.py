"""The figures and tables of the study."""

import polars as pl
from polars import selectors

from acklab.report import Figure, Section, Table
from acklab.statistics import Interval, intervals, ratios
from acklab.studies import Bench

from . import drawing
from .air import Direction
from .runs import AXES, BASELINE, summary

SCENARIO = "cell.toml"
COMMAND = "acklab study ack_relief"
QUICK_SCHEMES = "schemes.toml:every segment,every second,TACK,ACK filter,HACK"


def sections(bench: Bench) -> list[Section]:
    """Returns the sections of the report."""
    cells, schemes = bench.variants("cells.toml"), bench.variants(QUICK_SCHEMES if bench.quick else "schemes.toml")
    result = bench.sweep(SCENARIO, "cells", dict(zip(AXES, (cells, schemes), strict=True)))
    source = bench.source(SCENARIO)
    found = summary(result, {name: Direction.of(source.load(list(cell.set))) for name, cell in cells.chosen.items()})
    titles = {name: cell.title for name, cell in cells.chosen.items()}
    again = [COMMAND, result.rerun]
    caption = f"Means with 95 % confidence intervals over {bench.seeds} seeds"
    listed = [[name, scheme.title, scheme.source] for name, scheme in schemes.chosen.items()]
    return [
        Section("Schemes", items=[Table(["", "ACKs", "source"], listed, numeric_from=3)]),
        Section(
            "Airtime and goodput",
            "Airtime of TCP ACKs, including access, responses and collisions, and goodput relative to an ACK per two segments, seed by seed.",
            items=[Figure(drawing.relief(found, titles, drawing.RETURNS), caption, again)],
        ),
        Section(
            "Bursts, delay and fairness",
            "Segments that a sender sends at once after consecutive ACKs; delay; fairness between several flows.",
            items=[Figure(drawing.relief(found, titles, drawing.COSTS), caption, again)],
        ),
        Section(
            "Measured values",
            "Total goodput in Mbps, and its gain over the baseline; airtime of ACKs; ACKs sent per segment; PPDUs with "
            "data, of both sides, without a response frame; segments per burst; smoothed RTT and one-way delay of the data in ms; the access point's "
            "queue in packets; segments that TCP retransmitted, and timeouts.",
            items=[_numbers(found, name, title) for name, title in titles.items()],
        ),
    ]  # fmt: skip


def _numbers(found: pl.DataFrame, cell: str, title: str) -> Table:
    own = found.filter(pl.col("cell") == cell)
    gained = ratios(own, AXES, "goodput", BASELINE)
    means = own.group_by("scheme", maintain_order=True).agg(selectors.numeric().mean())
    rows = []
    for mean, goodput, ratio in zip(means.to_dicts(), intervals(own, AXES, "goodput").to_dicts(), gained.to_dicts(), strict=True):
        rows.append(
            [
                mean["scheme"].replace(" ", "\N{NO-BREAK SPACE}"),
                Interval.of_row(goodput).text(),
                f"{100 * (ratio['mean'] - 1):+.1f}",
                f"{mean['air']:.2f}",
                f"{mean['acks'] / mean['segments']:.3f}",
                f"{mean['unanswered']:.1f}",
                f"{mean['burst']:.1f}",
                f"{mean['srtt']:.1f}",
                f"{mean['one_way']:.1f}",
                f"{mean['queue']:.0f}",
                f"{mean['jain']:.3f}",
                f"{mean['retransmissions']:.0f}",
                f"{mean['timeouts']:.1f}",
            ]
        )
    head = [
        "",
        "goodput",
        "gain [%]",
        "air [%]",
        "ACKs",
        "unanswered [%]",
        "burst",
        "sRTT",
        "one-way delay",
        "queue",
        "Jain",
        "resent",
        "timeouts",
    ]
    return Table(head, rows, title, commands=[COMMAND])
