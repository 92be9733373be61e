"""Packet numbers at both ends, as on the slides."""

from collections.abc import Mapping

import plotly.graph_objects as go
import polars as pl
from plotly.subplots import make_subplots

from acklab.figures.theme import COLOURS, finish, legend_below
from acklab.result import Result

ENDS = {"at the sender": ("sent", "acked", "retransmitted"), "at the receiver": ("received",)}
NAMES = {"sent": "sent", "acked": "acknowledged", "retransmitted": "retransmitted", "received": "received"}
AT_MOST = 1500
"""Maximum number of points of one kind in a panel. Of more points, every n-th is drawn. All
retransmissions are drawn.
"""


def packet_numbers(results: Mapping[str, Result]) -> go.Figure:
    """Draws the number of each packet over time [s], at the sender and at the receiver.

    Each result is a row.
    """
    figure = make_subplots(
        rows=len(results), cols=2, shared_xaxes=True, shared_yaxes=True, vertical_spacing=0.08, horizontal_spacing=0.03,
        subplot_titles=[f"{name}, {end}" for name in results for end in ENDS],
    )  # fmt: skip
    named: set[str] = set()
    for row, result in enumerate(results.values(), 1):
        for column, kinds in enumerate(ENDS.values(), 1):
            for kind in kinds:
                is_new = kind not in named and (result.packets["kind"] == kind).any()
                named |= {kind} if is_new else set()
                _points(figure, result, kind, row, column, is_new)
    figure.update_xaxes(title_text="time [s]", row=len(results))
    figure.update_yaxes(title_text="packet number", col=1)
    legend_below(finish(figure, 120 + 300 * len(results)))
    return figure.update_layout(legend={"itemsizing": "constant"})


def _points(figure: go.Figure, result: Result, kind: str, row: int, column: int, is_named: bool) -> None:
    rows = result.packets.filter(pl.col("kind") == kind)
    if kind != "retransmitted" and rows.height > AT_MOST:
        rows = rows.gather_every(rows.height // AT_MOST + 1)
    colour = COLOURS[list(NAMES).index(kind)]
    marker = {
        "color": colour,
        "size": 7 if kind == "retransmitted" else 3,
        "symbol": "x" if kind == "retransmitted" else "circle",
    }
    figure.add_scatter(
        x=rows["time"], y=rows["number"], name=NAMES[kind], legendgroup=kind, showlegend=is_named, mode="markers", marker=marker,
        hovertemplate="%{x:.3f} s · packet %{y}", row=row, col=column,
    )  # fmt: skip
