"""The gain of an explicit timer by hold time."""

from collections.abc import Mapping

import polars as pl

from acklab.report import Figure, Section, Table
from acklab.statistics import Interval, intervals
from acklab.studies import Bench, Runs
from acklab.studies.runs import goodput
from acklab.sweeps import load_sweep

from . import drawing
from .runs import COMMAND, ENDS, LIMITS, MORE_DATA, OF, OPPORTUNISTIC, STOCK, gain, over


def section(bench: Bench, drawn: Mapping[tuple[str, str], Runs]) -> Section:
    """Returns goodput relative to stock TCP, of explicit timers and of the other variants."""
    parts, commands = [], [COMMAND]
    for count in ENDS:
        swept = load_sweep(bench.folder / f"timer_{count}")
        limit = swept.columns["wifi.0.hack.hold_limit"]
        part = swept.network.select(pl.col(limit).alias("limit"), "seed", "agg_throughput_l4", "agg_rtos_l4")
        theirs = pl.DataFrame(
            {"seed": list(swept.seeds), "stock": drawn[count, STOCK].values(goodput)},
            schema_overrides={"seed": part.schema["seed"]},
        )
        parts.append(
            part.join(theirs, on="seed").with_columns(
                gain=pl.col("agg_throughput_l4") / pl.col("stock"), clients=pl.lit(OF[count])
            )
        )
        commands.append(swept.rerun)
    frame = pl.concat(parts)
    means = intervals(frame, ["limit", "clients"], "gain")
    waited = frame.group_by("limit", "clients", maintain_order=True).agg(pl.col("agg_rtos_l4").sum())
    rows = []
    for text in LIMITS:
        row, held = [text.replace("ms", " ms")], int(text.removesuffix("ms"))
        for count in ENDS:
            (cell,) = means.filter(pl.col("limit") == held, pl.col("clients") == OF[count]).to_dicts()
            (late,) = waited.filter(pl.col("limit") == held, pl.col("clients") == OF[count]).to_dicts()
            row += [Interval.of_row(cell).text(3), str(late["agg_rtos_l4"])]
        rows.append(row)
    head = ["hold time", *(text for count in ENDS for text in (OF[count], "timeouts, all seeds"))]
    lines = {OF[count]: {scheme: gain(drawn, count, scheme).mean for scheme in (OPPORTUNISTIC, MORE_DATA)} for count in ENDS}
    return Section(
        "An explicit timer",
        "The naive design of section 3.2 holds an ACK for the next data, and sends it as a frame when the timer expires. The paper states that no delay is good, without a "
        "number.",
        items=[
            Figure(drawing.timer(means, lines), f"Goodput ÷ that of stock TCP by hold time: {over(bench)}; dashed: MORE DATA, dotted: opportunistic", commands),
            Table(head, rows, "The same, and timeouts of TCP"),
        ],
    )  # fmt: skip
