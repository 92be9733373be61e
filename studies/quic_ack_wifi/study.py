"""Figures and tables of the study.

ACK policies of receivers in a cell, over QUIC and over TCP.
"""

import polars as pl
from polars import selectors

from acklab import figures
from acklab.report import Figure, Section, Table
from acklab.statistics import Interval, intervals, ratios
from acklab.studies import Bench
from acklab.sweeps import SweepResult

from .runs import AXES, BASELINE, summary

SCENARIO = "cell.toml"
COMMAND = "acklab study quic_ack_wifi"
QUICK = {"generation": "cells.toml:802.11n", "stations": "stations.toml:1,5", "policy": "policies.toml:every 2,every 10"}
FULL = {"generation": "cells.toml", "stations": "stations.toml", "stack": "stacks.toml", "policy": "policies.toml"}
PANEL = "over"


def sections(bench: Bench) -> list[Section]:
    """Returns the sections of the report."""
    files = {**FULL, **(QUICK if bench.quick else {})}
    result = bench.sweep(SCENARIO, "cells", {axis: bench.variants(files[axis]) for axis in AXES})
    found = summary(result)
    listed = [
        Table(
            ["", "", "source"],
            [[name, of.title, of.source] for name, of in bench.variants(files[axis]).chosen.items()],
            axis,
            numeric_from=3,
        )
        for axis in ("generation", "stack", "policy")
    ]
    of = f"geometric mean and 95 % confidence interval over {len(result.seeds)} seeds; grey where the interval includes 1"
    maps = []
    for value, title, is_cost, most in (
        ("goodput", "goodput of all stations ÷ that with an ACK per 2", False, 1.25),
        ("per_packet", "ACKs per packet ÷ those with an ACK per 2", True, 10.0),
        ("air", "air of ACKs ÷ that with an ACK per 2", True, 4.0),
    ):
        cells = _cells(found, value, result)
        figure = figures.ratio_map(
            cells, "stations", "policy", title, PANEL, x_title="stations", less_is_better=is_cost, most=most, commands="command"
        )
        maps.append(Figure(figure, f"{title[0].upper()}{title[1:]}, by number of stations: {of}", [COMMAND, result.rerun]))
    return [
        Section("Cells, stacks and policies", items=listed),
        Section("Ratios to an ACK per two packets", "Ratios are seed by seed, over all downloads of a run.", items=maps),
        Section(
            "Measured values",
            "Goodput of all stations in Mbps; ACKs per data packet; PPDUs of the stations, which hold only ACKs, their share of the air, and that of collisions; "
            "packets per burst after consecutive ACKs; smoothed RTT in ms; retransmitted packets; Jain's index.",
            items=[_numbers(part, str(cell), str(stack)) for (cell, stack), part in found.group_by(["generation", "stack"], maintain_order=True)],
        ),
    ]  # fmt: skip


def _cells(found: pl.DataFrame, value: str, result: SweepResult) -> pl.DataFrame:
    by = list(AXES)
    cells = ratios(found, by, value, BASELINE).filter(pl.col("policy") != BASELINE["policy"])
    cells = cells.with_columns(pl.concat_str("generation", "stack", separator=", ").alias(PANEL))
    return result.with_commands(cells, found, by)


def _numbers(part: pl.DataFrame, cell: str, stack: str) -> Table:
    by = ["stations", "policy"]
    means = part.group_by(by, maintain_order=True).agg(selectors.numeric().mean())
    goodputs = {(row["stations"], row["policy"]): row for row in intervals(part, by, "goodput").to_dicts()}
    rows = [
        [
            str(mean["stations"]),
            mean["policy"],
            Interval.of_row(goodputs[mean["stations"], mean["policy"]]).text(1),
            f"{mean['per_packet']:.3f}",
            f"{mean['ppdus']:.0f}",
            f"{mean['air']:.2f}",
            f"{mean['collisions']:.2f}",
            f"{mean['burst']:.1f}",
            f"{mean['srtt']:.1f}",
            f"{mean['again']:.0f}",
            f"{mean['jain']:.3f}",
        ]
        for mean in means.to_dicts()
    ]
    head = [
        "stations",
        "policy",
        "goodput",
        "ACKs",
        "PPDUs",
        "air [%]",
        "collisions [%]",
        "burst",
        "sRTT",
        "retransmitted",
        "Jain",
    ]
    return Table(head, rows, f"{cell}, {stack}", commands=[COMMAND], numeric_from=2)
