"""Aggregates over a grid that is too large to show each point."""

import plotly.graph_objects as go
import polars as pl

from acklab.figures.sweep import numbers_of, spans_decades
from acklab.figures.theme import FROM_ZERO, SEQUENTIAL, colour, faded, finish, legend_below, widen

_HEIGHT = 430
_WIDTH = 900
"""Width in pixels of the widest map."""


def spread(frame: pl.DataFrame, x: str, value: str, title: str) -> go.Figure:
    """Draws the median and the range from 10th to 90th percentile of a column along another.

    Both are computed over all rows with the same value of the horizontal axis.
    """
    known = frame.filter(pl.col(value).is_not_null())
    rows = known.group_by(x, maintain_order=True).agg(
        low=pl.col(value).quantile(0.1), mid=pl.col(value).median(), high=pl.col(value).quantile(0.9)
    )
    names = [str(place) for place in rows[x]]
    numbers = numbers_of(names)
    figure, ink = go.Figure(), colour(0)
    if numbers is None:
        error = {
            "type": "data", "symmetric": False, "array": rows["high"] - rows["mid"], "arrayminus": rows["mid"] - rows["low"],
        }  # fmt: skip
        figure.add_scatter(
            x=names, y=rows["mid"], error_y=error, mode="markers", marker={"color": ink}, name="median, 10 to 90 %"
        )
        figure.update_xaxes(title_text=x, type="category")
    else:
        rows = rows.with_columns(place=pl.Series([numbers[name] for name in names])).sort("place")
        band = {"mode": "lines", "line": {"width": 0}, "hoverinfo": "skip"}
        places = [*rows["place"], *reversed(rows["place"].to_list())]
        bounds = [*rows["high"], *reversed(rows["low"].to_list())]
        figure.add_scatter(x=places, y=bounds, fill="toself", fillcolor=faded(ink, 0.16), name="10 to 90 %", **band)
        figure.add_scatter(x=rows["place"], y=rows["mid"], mode="lines", line={"color": ink, "width": 2}, name="median")
        figure.update_xaxes(title_text=x, type="log" if spans_decades(numbers) else "linear")
    is_negative = (rows["low"] < 0).any()
    figure.update_yaxes(title_text=title, **({"rangemode": "tozero"} if is_negative else FROM_ZERO))
    return legend_below(finish(figure, _HEIGHT))


def median_map(frame: pl.DataFrame, x: str, y: str, value: str, title: str) -> go.Figure:
    """Draws a heat map.

    The colour of a cell is the median of `value` of all rows with this `x` and `y`.
    """
    columns, lines = (frame[name].unique(maintain_order=True).to_list() for name in (x, y))
    cells = {row[:2]: row[2] for row in frame.group_by(x, y).agg(pl.col(value).median()).iter_rows()}
    bar = {"title": {"text": title, "side": "right"}, "thickness": 12, "outlinewidth": 0}
    figure = go.Figure(
        go.Heatmap(
            z=[[cells.get((column, line)) for column in columns] for line in lines],
            x=[str(column) for column in columns], y=[str(line) for line in lines], colorscale=SEQUENTIAL, colorbar=bar,
            hovertemplate=f"{x} %{{x}} · {y} %{{y}}<br>%{{z:.4~g}}<extra></extra>",
        )
    )  # fmt: skip
    figure.update_xaxes(title_text=x, type="category", showgrid=False)
    figure.update_yaxes(title_text=y, type="category", showgrid=False)
    return widen(finish(figure, _HEIGHT + 4 * min(len(lines), 100)), min(_WIDTH, 230 + 12 * len(columns)))
