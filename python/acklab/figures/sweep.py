"""A value over the keys of a grid."""

import math
import re
from collections.abc import Mapping, Sequence

import plotly.graph_objects as go
import polars as pl
from plotly.subplots import make_subplots

from acklab.figures.error_bars import error_bars, half_widths
from acklab.figures.theme import FROM_ZERO, SEQUENTIAL, colour, faded, finish, legend_below, widen
from acklab.samples import Within
from acklab.statistics import intervals

_CELL = 44
_MARGINS = 230
"""Width in pixels of the narrowest cell with two numbers, and of the space beside the panels."""
_NUMBER = re.compile(r"(-?\d+(?:\.\d+)?)\s*([A-Za-zµ]*)")


def heat_map(
    frame: pl.DataFrame,
    x: str,
    y: str,
    value: str,
    title: str,
    panel: str | None = None,
    log: bool = False,
    within: Within | None = None,
    wrap: int | None = None,
) -> go.Figure:
    """Draws the mean of a column over two others, with its 95 % interval over seeds in every cell.

    There is a panel for each value of the column `panel`, `wrap` of them in a row (default: all),
    with a common colour scale, which is logarithmic with `log`. Axes keep the order of first
    appearance. `within` combines the flows of a run as in `acklab.statistics.intervals`. Raises
    UsageError for the same reasons as that function.
    """
    panels = frame[panel].unique(maintain_order=True).to_list() if panel else [None]
    columns, lines = (frame[name].unique(maintain_order=True).to_list() for name in (x, y))
    across = min(wrap or len(panels), len(panels))
    rows = math.ceil(len(panels) / across)
    height = rows * (90 + 62 * max(len(lines), 4))
    figure = make_subplots(
        rows=rows, cols=across, shared_yaxes=True, horizontal_spacing=0.03, vertical_spacing=100 / height if rows > 1 else 0,
        subplot_titles=[str(name or "") for name in panels],
    )  # fmt: skip
    for index, name in enumerate(panels):
        where = {"row": index // across + 1, "col": index % across + 1}
        part = frame if panel is None else frame.filter(pl.col(panel) == name)
        cells = {(row[x], row[y]): row for row in intervals(part, [x, y], value, within=within).to_dicts()}
        means, colours, texts = [], [], []
        for line in lines:
            found = [cells.get((column, line)) for column in columns]
            means.append([None if cell is None else cell["mean"] for cell in found])
            colours.append([_level(cell, log) for cell in found])
            texts.append([_cell(cell) for cell in found])
        figure.add_heatmap(
            z=colours, customdata=means, x=[str(column) for column in columns], y=[str(line) for line in lines], text=texts,
            texttemplate="%{text}", textfont={"size": 11}, coloraxis="coloraxis", xgap=2, ygap=2,
            hovertemplate=f"{x} %{{x}} · {y} %{{y}}<br>%{{customdata:.4~g}}<extra>{name or ''}</extra>", **where,
        )  # fmt: skip
        figure.update_xaxes(title_text=x, type="category", showgrid=False, **where)
        figure.update_yaxes(type="category", showgrid=False, **where)
    figure.update_yaxes(title_text=y, col=1)
    bar = {"title": {"text": title, "side": "right"}, "thickness": 12, "outlinewidth": 0}
    if log:
        ticks = [1, 2, 5]
        values = [step * 10**power for power in range(-3, 7) for step in ticks]
        bar |= {"tickvals": [math.log10(value) for value in values], "ticktext": [f"{value:g}" for value in values]}
    figure.update_layout(coloraxis={"colorscale": SEQUENTIAL, "colorbar": bar})
    return widen(finish(figure, height), _CELL * len(columns) * across + _MARGINS)


def profiles(
    frame: pl.DataFrame,
    x: str,
    colour_by: str,
    value: str,
    title: str,
    x_title: str,
    panel: str | None = None,
    within: Within | None = None,
) -> go.Figure:
    """Draws the mean of a column over a second column, a line per value of a third column.

    Bands are 95 % intervals over seeds.

    Numbers with one unit, such as 1ms and 5ms, are on a numeric axis, which is logarithmic if they
    span a factor of 20. Other values are categories, whose means are not connected.

    `within` combines the flows of a run as in `acklab.statistics.intervals`. Raises UsageError for
    the same reasons as that function.
    """
    panels = frame[panel].unique(maintain_order=True).to_list() if panel else [None]
    figure = make_subplots(
        rows=1, cols=len(panels), shared_yaxes=True, horizontal_spacing=0.03, subplot_titles=[str(name or "") for name in panels]
    )
    numbers = numbers_of([str(place) for place in frame[x].unique(maintain_order=True)])
    for index, name in enumerate(panels, start=1):
        part = frame if panel is None else frame.filter(pl.col(panel) == name)
        for order, group in enumerate(part[colour_by].unique(maintain_order=True).to_list()):
            points = intervals(part.filter(pl.col(colour_by) == group), [x], value, within=within)
            label, ink = f"{colour_by} {group}", colour(order)
            common = {"name": label, "legendgroup": label, "showlegend": index == 1, "row": 1, "col": index}
            if numbers is None:
                # Categories are not connected, because there are no values between them.
                figure.add_scatter(
                    x=[str(place) for place in points[x]], y=points["mean"], mode="markers", marker={"color": ink, "size": 9},
                    error_y=error_bars(half_widths(points), ink), hovertemplate="%{x} · %{y:.3f}", **common,
                )  # fmt: skip
                continue
            along = sorted(
                zip((numbers[str(place)] for place in points[x]), points.iter_rows(named=True), strict=True),
                key=lambda one: one[0],
            )
            places = [place for place, _ in along]
            if points["low"].null_count() == 0 and len(along) > 1:
                bounds = [row["high"] for _, row in along] + [row["low"] for _, row in reversed(along)]
                figure.add_scatter(
                    x=[*places, *reversed(places)], y=bounds, fill="toself", mode="lines",
                    fillcolor=faded(ink, 0.16), line={"width": 0}, hoverinfo="skip", showlegend=False, legendgroup=label,
                    row=1, col=index,
                )  # fmt: skip
            figure.add_scatter(
                x=places, y=[row["mean"] for _, row in along], mode="lines+markers",
                error_y=error_bars(half_widths(points), ink) if len(along) == 1 else None,
                line={"color": ink, "width": 2}, hovertemplate="%{x} · %{y:.3f}", **common,
            )  # fmt: skip
        if numbers is None:
            figure.update_xaxes(title_text=x_title, type="category", row=1, col=index)
        else:
            ticks = {"tickvals": list(numbers.values()), "ticktext": [name.removesuffix(".0") for name in numbers]}
            figure.update_xaxes(title_text=x_title, type="log" if spans_decades(numbers) else "linear", **ticks, row=1, col=index)
    is_negative = (frame[value] < 0).any()
    figure.update_yaxes(**({"rangemode": "tozero"} if is_negative else FROM_ZERO))
    figure.update_yaxes(title_text=title, row=1, col=1)
    return legend_below(finish(figure, 430))


def numbers_of(names: Sequence[str]) -> dict[str, float] | None:
    """Returns the number of each value of an axis in their common unit; None for categories."""
    found = [_NUMBER.fullmatch(name) for name in names]
    if len({match[2] for match in found if match}) != 1 or not all(found):
        return None
    return {name: float(match[1]) for name, match in zip(names, found, strict=True) if match}


def spans_decades(numbers: Mapping[str, float]) -> bool:
    """Returns whether an axis of these numbers is logarithmic."""
    return min(numbers.values()) > 0 and max(numbers.values()) > 20 * min(numbers.values())


def _level(cell: dict[str, float] | None, log: bool) -> float | None:
    """Returns the value of a cell's colour."""
    if cell is None or cell["mean"] is None or (log and cell["mean"] <= 0):
        return None
    return math.log10(cell["mean"]) if log else cell["mean"]


def _cell(cell: dict[str, float] | None) -> str:
    if cell is None or cell["mean"] is None:
        return ""
    text = short(cell["mean"])
    if cell["low"] is None:
        return text
    half = (cell["high"] - cell["low"]) / 2
    return f"{text}<br>±{short(half, cell['mean'])}"


def short(value: float, beside: float | None = None) -> str:
    """Returns a value with three significant digits, or with the decimals of `beside`."""
    if value == 0:
        return "0"
    scale = abs(value if beside is None else beside)
    decimals = 2 if scale == 0 else max(0, 2 - math.floor(math.log10(scale)))
    return f"{value:.{min(decimals, 6)}f}"
