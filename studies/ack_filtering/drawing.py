"""Figures over numbers of stations.

Dots have intervals. Stars and lines are published values.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import plotly.graph_objects as go
import polars as pl
from plotly.subplots import make_subplots

from acklab.figures.error_bars import error_bars, half_widths
from acklab.figures.theme import COLOURS, MUTED, OPTIMUM, finish
from acklab.statistics import intervals

PLAIN, FILTER, PLAIN_DELAYED, FILTER_DELAYED = COLOURS[1], COLOURS[0], COLOURS[4], COLOURS[5]


@dataclass(frozen=True)
class Series:
    """One line of a panel."""

    name: str
    arm: str
    ink: str
    dash: str = "solid"


def over_stations(
    frame: pl.DataFrame, panels: Mapping[str, Sequence[Series]], metric: str, title: str, *, from_zero: bool = False
) -> go.Figure:
    """Returns a metric against the number of stations, one panel for each set of series.

    Mean and 95 % confidence interval over seeds.
    """
    figure = make_subplots(rows=1, cols=len(panels), shared_yaxes=True, horizontal_spacing=0.03, subplot_titles=list(panels))
    named: set[str] = set()
    for column, series in enumerate(panels.values(), start=1):
        for one in series:
            _add_means(figure, frame, "arm", one, metric, column, one.name not in named)
            named.add(one.name)
    figure.update_yaxes(title_text=title, row=1, col=1)
    return _finished(figure, from_zero, has_titles=any(panels))


def metrics_over_stations(frame: pl.DataFrame, axis: str, series: Sequence[Series], metrics: Mapping[str, str]) -> go.Figure:
    """Returns several metrics against the number of stations, one panel for each.

    The column `axis` distinguishes series.
    """
    figure = make_subplots(rows=1, cols=len(metrics), horizontal_spacing=0.07, subplot_titles=list(metrics.values()))
    for column, metric in enumerate(metrics, start=1):
        for one in series:
            _add_means(figure, frame, axis, one, metric, column, column == 1)
    return _finished(figure, False, has_titles=True)


def _add_means(
    figure: go.Figure, frame: pl.DataFrame, axis: str, series: Series, metric: str, column: int, is_named: bool
) -> None:
    points = intervals(frame.filter(pl.col(axis) == series.arm), ["stations"], metric)
    add_points(figure, points, series, is_named=is_named, row=1, col=column)


def _finished(figure: go.Figure, from_zero: bool, has_titles: bool) -> go.Figure:
    figure.update_xaxes(title_text="stations")
    if from_zero:
        figure.update_yaxes(rangemode="tozero")
    finish(figure, 420)
    # The titles of the panels are where the legend would be.
    return figure.update_layout(legend={"y": -0.2, "yanchor": "top"}) if has_titles else figure


def add_points(figure: go.Figure, points: pl.DataFrame, series: Series, *, is_named: bool = True, **place: int) -> None:
    """Adds dots with intervals, joined by a thin line. `place` is row and column."""
    half = half_widths(points)
    figure.add_scatter(
        x=points["stations"], y=points["mean"], mode="lines+markers", name=series.name, legendgroup=series.name, showlegend=is_named,
        line={"color": series.ink, "width": 1.4, "dash": series.dash}, marker={"size": 6},
        error_y=error_bars(half, series.ink),
        customdata=half, hovertemplate="%{x} stations<br>%{y:.3f} ± %{customdata:.3f}", **place,
    )  # fmt: skip


def published_line(figure: go.Figure, y: float, label: str) -> None:
    """Adds a published bound."""
    ink = {"color": OPTIMUM, "size": 11}
    figure.add_hline(y, line={"color": OPTIMUM, "width": 1.4, "dash": "dash"}, annotation={"text": label, "font": ink})


def star(figure: go.Figure, x: float, y: float, label: str, **place: int) -> None:
    """Adds a published point, which the legend names. `place` is row and column."""
    figure.add_scatter(
        x=[x], y=[y], mode="markers", name=label, legendrank=2000,
        marker={"symbol": "star", "size": 13, "color": OPTIMUM},
        hovertemplate=f"{label}<extra>published</extra>", **place,
    )  # fmt: skip


def leads(lines: Mapping[str, tuple[pl.DataFrame, str]], height: int = 400) -> go.Figure:
    """Draws goodput gains [%] by number of stations, with a line at zero.

    Each gain is a frame of `intervals` with its colour.
    """
    figure = go.Figure()
    for name, (points, ink) in lines.items():
        add_points(figure, points, Series(name, "", ink))
    figure.add_hline(0, line={"color": MUTED, "width": 1})
    figure.update_xaxes(title_text="stations")
    figure.update_yaxes(title_text="gain of the filter", ticksuffix=" %")
    return finish(figure, height)
