"""Figures of the study."""

from collections.abc import Mapping

import plotly.graph_objects as go
import polars as pl
from plotly.subplots import make_subplots

from acklab.figures.error_bars import error_bars, half_widths
from acklab.figures.theme import COLOURS, OPTIMUM, finish, legend_below
from acklab.statistics import intervals

from .runs import BBR, CUBIC, LINUX, RFC, TACK

PUBLISHED = {
    TACK: {"goodput": (20.21, 18.44, 190.22, 185.73), "acks": (24_356, 26_068, 2474, 22_407)},
    BBR: {"goodput": (17.16, 16.90, 159.50, 156.39), "acks": (104_298, 84_523, 882_545, 897_361)},
}
"""Figure 13, by case."""
_INKS = {TACK: COLOURS[1], BBR: COLOURS[0], RFC: COLOURS[3], LINUX: COLOURS[5], CUBIC: COLOURS[2]}
_COLUMNS = (("goodput", "goodput [Mbps]"), ("acks", "ACKs in 120 s"))


def cases(runs: pl.DataFrame, titles: Mapping[str, str]) -> go.Figure:
    """Draws goodput and ACKs of each transport in each case."""
    figure = make_subplots(rows=1, cols=2, horizontal_spacing=0.1, subplot_titles=[title for _, title in _COLUMNS])
    for column, (name, _) in enumerate(_COLUMNS, start=1):
        for sender, ink in _INKS.items():
            own = intervals(runs.filter(pl.col("sender") == sender), ["case"], name)
            figure.add_scatter(
                x=own["case"], y=own["mean"], mode="markers", name=sender, legendgroup=sender, showlegend=column == 1, offsetgroup=sender,
                marker={"color": ink, "size": 9}, error_y=error_bars(half_widths(own), ink),
                customdata=[titles[case] for case in own["case"]], hovertemplate="%{customdata}: %{y:.5g}", row=1, col=column,
            )  # fmt: skip
            if sender in PUBLISHED:
                figure.add_scatter(
                    x=list(titles), y=PUBLISHED[sender][name], mode="markers", name="published", legendgroup="published", legendrank=2000, offsetgroup=sender,
                    showlegend=column == 1 and sender == TACK, marker={"symbol": "star-open", "size": 13, "color": OPTIMUM},
                    hovertemplate=f"{sender}, published: %{{y:g}}<extra></extra>", row=1, col=column,
                )  # fmt: skip
    figure.update_layout(scattermode="group", scattergap=0.4)
    figure.update_yaxes(type="log", dtick=1, minor={"ticks": "outside"})
    figure.update_xaxes(categoryorder="array", categoryarray=list(titles))
    return legend_below(finish(figure, 440))
