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
    """What the report shows after the claims."""
    cells, schemes = bench.variants("cells.toml"), bench.variants(QUICK_SCHEMES if bench.quick else "schemes.toml")
    result = bench.sweep(SCENARIO, "cells", dict(zip(AXES, (cells, schemes), strict=True)))
    source = bench.source(SCENARIO)
    found = summary(result, {name: Direction.of(source.load(list(cell.set))) for name, cell in cells.chosen.items()})
    titles = {name: cell.title for name, cell in cells.chosen.items()}
    again = [COMMAND, result.rerun]
    caption = f"Means with 95 % confidence intervals over {bench.seeds} seeds"
    listed = [[name, scheme.title, scheme.source] for name, scheme in schemes.chosen.items()]
    return [
        Section("Ways to acknowledge", items=[Table(["", "an ACK", "source"], listed, numeric_from=3)]),
        Section(
            "What each returns",
            "The share of the air that goes into ACKs of TCP, with all that they bring about, and goodput against an ACK for every second segment, seed by seed.",
            items=[Figure(drawing.relief(found, titles, drawing.RETURNS), caption, again)],
        ),
        Section(
            "What it costs",
            "How many segments a run of ACKs lets a sender send at once; delay; fairness, where there are several flows.",
            items=[Figure(drawing.relief(found, titles, drawing.COSTS), caption, again)],
        ),
        Section(
            "In numbers",
            "Goodput in Mbps, of all flows together, and what is gained over the baseline; the air that ACKs take; ACKs sent for a segment; PPDUs with "
            "data, of both sides, that no response frame followed; segments let go at once; smoothed RTT and one-way delay of the data in ms; the access point's "
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
        "missed [%]",
        "burst",
        "sRTT",
        "one way",
        "queue",
        "Jain",
        "resent",
        "timeouts",
    ]
    return Table(head, rows, title, commands=[COMMAND])
