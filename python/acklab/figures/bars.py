"""Bars with intervals and published numbers."""

from collections.abc import Mapping

import plotly.graph_objects as go
import polars as pl

from acklab.figures.error_bars import error_bars, half_widths
from acklab.figures.theme import COLOURS, FROM_ZERO, OPTIMUM, finish


def bars(
    cells: pl.DataFrame,
    x: str,
    series: str,
    title: str,
    *,
    published: Mapping[tuple[str, str], float] | None = None,
    inks: Mapping[str, str] | None = None,
    x_title: str = "",
    from_zero: bool = False,
) -> go.Figure:
    """Draws means in groups along the column `x`, with a bar for each value of `series`.

    `cells` is a result of `acklab.statistics.intervals`.

    `published` gives numbers by group and series, drawn as stars. `inks` gives colours by series.
    `from_zero` marks a quantity that is never negative, so the axis does not extend to an interval
    below zero.
    """
    figure = go.Figure()
    stars = published or {}
    shown = [
        name
        for group in cells[x].unique(maintain_order=True)
        for name in cells[series].unique(maintain_order=True)
        if (group, name) in stars
    ]
    for order, name in enumerate(cells[series].unique(maintain_order=True)):
        part = cells.filter(pl.col(series) == name)
        figure.add_bar(
            x=part[x], y=part["mean"], name=name, offsetgroup=name, marker={"color": (inks or {}).get(name, COLOURS[order % len(COLOURS)])},
            error_y=error_bars(half_widths(part), "#5B6577"),
            hovertemplate="%{x}<br>%{y:.4~g} ± %{error_y.array:.2~g}",
        )  # fmt: skip
        own = [(group, stars[group, name]) for group in part[x] if (group, name) in stars]
        if own:
            figure.add_scatter(
                x=[group for group, _ in own], y=[value for _, value in own], mode="markers", offsetgroup=name, name="published",
                legendgroup="published", legendrank=2000, showlegend=name == shown[0], marker={"symbol": "star", "size": 13, "color": OPTIMUM, "line": {"width": 1, "color": "white"}},
                hovertemplate=f"{name}, published: %{{y:.4~g}}<extra></extra>",
            )  # fmt: skip
    figure.update_layout(barmode="group", scattermode="group", bargap=0.25, bargroupgap=0.08)
    figure.update_xaxes(title_text=x_title, type="category", showgrid=False)
    figure.update_yaxes(title_text=title, **(FROM_ZERO if from_zero else {}))
    return finish(figure, 400)
