"""Acknowledgements by reason."""

import plotly.graph_objects as go
import polars as pl

from acklab.figures.theme import COLOURS, finish, legend_below, style_of
from acklab.result import Result

_BINS = 120
"""Number of time bins in a figure: about one per eight pixels of a wide page."""


def acks_by_reason(result: Result) -> go.Figure | None:
    """Draws the number of ACKs of each flow by the reason of its receiver.

    Returns None if no receiver reports reasons.

    Source: the table `acks`. A kernel reports no reasons.
    """
    rows = result.table("acks") if "acks" in result.tables else pl.DataFrame()
    if rows.is_empty() or rows["reason"].null_count() == rows.height:
        return None
    flows = rows["flow"].unique(maintain_order=True).to_list()[::-1]
    figure = go.Figure()
    for order, reason in enumerate(rows["reason"].drop_nulls().unique(maintain_order=True)):
        counts = dict(rows.filter(pl.col("reason") == reason).select("flow", "count").iter_rows())
        figure.add_bar(
            y=flows, x=[counts.get(flow, 0) for flow in flows], name=reason, orientation="h",
            marker={"color": COLOURS[order % len(COLOURS)], "pattern": {"shape": "/" if order >= len(COLOURS) else ""}},
            hovertemplate="%{x:,} ACKs",
        )  # fmt: skip
    figure.update_layout(barmode="stack", bargap=0.35, legend={"traceorder": "normal"}, margin={"r": 32})
    figure.update_xaxes(title_text="ACKs sent")
    figure.update_yaxes(showgrid=False, type="category")
    return legend_below(finish(figure, 170 + 34 * len(flows)))


def decisions(result: Result, flow: str | None = None) -> go.Figure | None:
    """Draws the ACKs per second that the ACK policy of a flow decided to send, stacked by reason.

    Returns None without the series `decisions`.

    A delayed ACK is drawn at the time of the decision to send it. A decision to send no ACK has no
    reason. `flow` is the name of a flow (default: the first with decisions).
    """
    if "decisions" not in result.tables:
        return None
    rows = result.decisions.filter(pl.col("reason").is_not_null())
    if rows.is_empty():
        return None
    name = flow or rows["flow"][0]
    rows = rows.filter(pl.col("flow") == name)
    first, last = float(rows["time"].min()), float(rows["time"].max())  # type: ignore[arg-type] # not empty
    width = (last - first) / _BINS or 1.0
    binned = rows.with_columns(bin=((pl.col("time") - first) / width).floor().clip(0, _BINS - 1))
    figure = go.Figure()
    for order, (reason,) in enumerate(rows.select("reason").unique(maintain_order=True).iter_rows()):
        counts = dict(binned.filter(pl.col("reason") == reason).group_by("bin").len().iter_rows())
        bins = range(_BINS)
        figure.add_scatter(
            x=[first + (place + 0.5) * width for place in bins], y=[counts.get(float(place), 0) / width for place in bins],
            name=reason, mode="lines", stackgroup="reasons", line={"width": 0.5, **style_of(order)}, hovertemplate="%{y:.4~g} /s",
        )  # fmt: skip
    figure.update_layout(hovermode="x unified")
    figure.update_xaxes(title_text="time [s]")
    figure.update_yaxes(title_text=f"Decisions of {name} [1/s]")
    return legend_below(finish(figure, 400))
