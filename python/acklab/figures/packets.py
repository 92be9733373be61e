"""Packet numbers over time."""

import plotly.graph_objects as go
import polars as pl

from acklab.figures.theme import COLOURS, finish
from acklab.result import Result

_KINDS = {
    "sent": ("sent", {"color": COLOURS[0], "size": 4, "symbol": "circle"}),
    "received": ("received", {"color": COLOURS[2], "size": 4, "symbol": "circle-open"}),
    "acked": ("acknowledged", {"color": COLOURS[4], "size": 4, "symbol": "line-ew-open", "line": {"width": 1.5}}),
    "retransmitted": ("retransmitted", {"color": COLOURS[1], "size": 8, "symbol": "x"}),
}


def packet_numbers(
    result: Result, flow: str | None = None, window: tuple[float, float] | None = None, at_most: int = 6000
) -> go.Figure:
    """Draws each packet's number over the time [s] of its transmission, retransmission and ACK.

    Requires the series `packets`. `flow` is the name of a flow (default: the first) and `window` a
    span of time in seconds. In longer spans only every n-th number is drawn, at most `at_most` in
    total. All retransmissions are drawn.
    """
    name = flow or result.flows["flow"][0]
    frame = result.packets.filter(pl.col("flow") == name)
    if window is not None:
        frame = frame.filter(pl.col("time").is_between(*window))
    figure = go.Figure()
    for kind in ("sent", "acked", "retransmitted"):
        label, marker = _KINDS[kind]
        rows = frame.filter(pl.col("kind") == kind)
        if kind != "retransmitted" and rows.height > at_most // 2:
            rows = rows.gather_every(rows.height * 2 // at_most + 1)
        figure.add_scatter(
            x=rows["time"], y=rows["number"], name=label, mode="markers", marker=marker,
            hovertemplate="%{x:.4f} s · packet %{y}",
        )  # fmt: skip
    figure.update_xaxes(title_text="time [s]")
    figure.update_yaxes(title_text=f"Packet number of {name}")
    return finish(figure, 460)


def around_first_retransmission(result: Result, seconds: float = 0.4) -> tuple[float, float] | None:
    """Returns a span of time around the first retransmission, or None if there is none."""
    first = result.packets.filter(pl.col("kind") == "retransmitted")["time"].min()
    if not isinstance(first, float):
        return None
    start = max(first - seconds / 3, 0.0)
    return start, start + seconds
