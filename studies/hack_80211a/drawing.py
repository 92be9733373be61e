"""Figures of this study."""

from collections.abc import Mapping

import plotly.graph_objects as go
import polars as pl
from plotly.subplots import make_subplots

from acklab.figures.error_bars import error_bars, half_widths
from acklab.figures.theme import COLOURS, MUTED, finish

LOSSES = {
    "hack": "HACK, 2 % of data and of link-layer ACKs lost",
    "data": "HACK, 2 % of data lost",
    "all": "stock, 12 % lost with collisions",
    "stock": "stock, 12 % lost besides collisions",
}
"""Bars of the cross-check, by the suffix of the claims' names."""

INKS = {
    "UDP": COLOURS[7],
    "stock": COLOURS[1],
    "HACK": COLOURS[0],
    LOSSES["hack"]: COLOURS[0],
    LOSSES["data"]: COLOURS[2],
    LOSSES["all"]: COLOURS[4],
    LOSSES["stock"]: COLOURS[1],
}


def late(throughput: pl.DataFrame, gain: pl.DataFrame, known: Mapping[float, str]) -> go.Figure:
    """Draws throughput by scheme, and the gain, by lateness of link-layer ACKs [µs]."""
    figure = make_subplots(rows=1, cols=2, horizontal_spacing=0.09, subplot_titles=("throughput [Mbps]", "HACK ÷ stock"))
    parts = [(name, throughput.filter(pl.col("scheme") == name), 1) for name in throughput["scheme"].unique(maintain_order=True)]
    for name, part, column in [*parts, ("HACK ÷ stock", gain, 2)]:
        ink = INKS.get(name, COLOURS[2])
        figure.add_scatter(
            x=part["late"], y=part["mean"], name=name, mode="lines+markers", showlegend=column == 1, line={"color": ink, "width": 2},
            error_y=error_bars(half_widths(part), ink),
            hovertemplate="%{x} µs<br>%{y:.4~g} ± %{error_y.array:.2~g}", row=1, col=column,
        )  # fmt: skip
    for place, name in known.items():
        figure.add_vline(
            place, line={"color": MUTED, "width": 1, "dash": "dot"}, annotation={"text": name, "textangle": -90, "font": {"size": 10, "color": MUTED}},
            annotation_position="bottom right", row=1, col=1,
        )  # fmt: skip
    figure.update_xaxes(title_text="later than SIFS [µs]", range=[-2, 40])
    figure.update_yaxes(range=[0, 32], row=1, col=1)
    finish(figure, 430)
    figure.update_layout(legend={"y": -0.2, "yanchor": "top"})
    return figure
