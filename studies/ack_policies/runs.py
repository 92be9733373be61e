"""Cells of the heat maps.

A cell has a ratio to the baseline policy and further measurements.
"""

from collections.abc import Mapping, Sequence
from statistics import geometric_mean
from typing import Any

import polars as pl

from acklab.figures.ratio import is_decided
from acklab.metrics import written
from acklab.report import Table
from acklab.statistics import ratios
from acklab.sweeps import SweepResult

BASELINE = {"policy": "delayed"}
BASELINE_OF_QUIC = {"policy": "every 2"}

EVIDENCE = (
    "mean_throughput_l7",
    "acks_per_packet",
    "mean_srtt_l4",
    "mean_cwnd_l4",
    "mean_ack_burst_l4",
    "mean_return_utilization_l1",
    "total_ack_drops_l2",
    "retransmitted",
    "total_rtos_l4",
    "waited",
)
"""Measurements of a cell: means over seeds, compared with the baseline."""


def without_baseline(cells: pl.DataFrame, baseline: Mapping[str, str] = BASELINE) -> pl.DataFrame:
    """Returns the cells without the cells of the baseline, whose ratio is 1."""
    return cells.filter(*(pl.col(name) != held for name, held in baseline.items()))


def cells_of(result: SweepResult, by: list[str], value: str, baseline: Mapping[str, str] = BASELINE) -> pl.DataFrame:
    """Returns the ratio of each cell to its baseline, with its interval.

    Includes other measurements and the command that repeats the cell.
    """
    timer = result.table("acks").filter(pl.col("reason") == "timer").select("point", "flow", timer="count")
    flows = result.flows.join(timer, on=["point", "flow"], how="left", maintain_order="left").with_columns(
        waited=100 * pl.col("timer").fill_null(0) / pl.col("total_acks_sent_l4"),
        acks_per_packet=pl.col("total_acks_sent_l4") / pl.col("total_data_packets_l4"),
        retransmitted=100 * pl.col("total_retransmissions_l4") / pl.col("total_data_packets_l4"),
        # A transfer that did not complete before the end of the run has no completion time.
        flow_completion_time_l4=pl.when(
            ~pl.col("traffic_model").str.starts_with("Fixed")
            | (pl.col("total_delivered_bytes_l7") >= pl.col("traffic_model").str.extract(r"bytes=(\d+)").cast(pl.Int64))
        ).then(pl.col("flow_completion_time_l4")),
    )
    means = flows.group_by(by, maintain_order=True).agg(
        pl.col("point").first(), pl.col(*EVIDENCE, "flow_completion_time_l4").cast(pl.Float64).mean()
    )
    below = means.filter(*(pl.col(name) == held for name, held in baseline.items()))
    others = [name for name in by if name not in baseline]
    measured = [*EVIDENCE, "flow_completion_time_l4"]
    below = below.select(*others, *(pl.col(name).alias(f"{name}_below") for name in measured))
    cells = (
        ratios(flows, by, value, baseline).join(means, on=by, maintain_order="left").join(below, on=others, maintain_order="left")
    )
    notes = [_note(cell) for cell in cells.to_dicts()]
    commands = [result.commands[point] for point in cells["point"]]
    return cells.with_columns(note=pl.Series(notes, dtype=pl.String), command=pl.Series(commands, dtype=pl.String))


def _note(cell: dict[str, Any]) -> str:
    """Returns the hover text of a cell, with the baseline in brackets."""

    def pair(name: str, unit: str = "", scale: float = 1) -> str:
        own, below = cell[name], cell[f"{name}_below"]
        shown = (written(None if value is None else round(scale * value, 4)) for value in (own, below))
        return "{} ({}){}".format(*shown, unit)

    lines = [
        f"goodput {pair('mean_throughput_l7', ' Mbps')} · {pair('acks_per_packet')} ACKs per packet",
        f"sRTT {pair('mean_srtt_l4', ' ms')} · window {pair('mean_cwnd_l4', ' segments')}",
        f"retransmitted {pair('retransmitted', ' %')} · timeouts {pair('total_rtos_l4')}",
        f"ACKs sent by the timer {pair('waited', ' %')}",
        f"return link busy {pair('mean_return_utilization_l1', ' %', 100)} · ACKs dropped {pair('total_ack_drops_l2')}",
    ]
    if cell["flow_completion_time_l4"] is not None:
        lines.insert(0, f"completed after {pair('flow_completion_time_l4', ' s')}")
    return "<br>".join(lines)


def tally(
    cells: pl.DataFrame, by: Sequence[str], caption: str, *, less_is_better: bool = False, baseline: Mapping[str, str] = BASELINE
) -> Table:
    """Returns a row per value of the columns `by`, over all other columns.

    A row has the geometric mean of the ratios, the numbers of decided cells, and the worst cell.
    """
    rows = []
    for key, group in without_baseline(cells, baseline).group_by(by, maintain_order=True):
        known = [cell for cell in group.to_dicts() if cell["mean"] is not None]
        if not known:
            continue
        mean = geometric_mean(cell["mean"] for cell in known)
        above = sum(is_decided(cell) and cell["mean"] > 1 for cell in known)
        below = sum(is_decided(cell) and cell["mean"] < 1 for cell in known)
        worst = (max if less_is_better else min)(known, key=lambda cell: float(cell["mean"]))
        better, worse = (below, above) if less_is_better else (above, below)
        place = ", ".join(
            str(worst[name]) for name in ("congestion", "sender", "path", "policy") if name in worst and name not in by
        )
        rows.append([*map(str, key), f"{mean:.3f}", str(better), str(worse), str(len(known)), f"{worst['mean']:.2f}: {place}"])
    head = [*by, "mean ratio", "better", "worse", "of", "worst"]
    return Table(head, rows, caption, numeric_from=len(by), text=frozenset({head.index("worst")}))


def across(cells: pl.DataFrame, column: str, caption: str) -> Table:
    """Returns the geometric mean of the ratios per policy over all other settings.

    There is a column for each value of `column`.
    """
    shown = without_baseline(cells)
    names = shown[column].unique(maintain_order=True).to_list()
    rows = []
    for (policy,), group in shown.group_by(["policy"], maintain_order=True):
        known = (group.filter(pl.col(column) == name)["mean"].drop_nulls().to_list() for name in names)
        rows.append([str(policy), *(f"{geometric_mean(means):.3f}" if means else "–" for means in known)])
    return Table(["policy", *names], rows, caption)
