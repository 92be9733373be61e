"""Ratios to a baseline over the axes of a grid: gains, losses and undecided cells."""

import math
import textwrap
from collections.abc import Sequence
from typing import Any

import plotly.graph_objects as go
import polars as pl
from plotly.subplots import make_subplots

from acklab.figures.theme import DIVERGING, UNDECIDED, finish, widen

_ROW = 31
_LABELS = 96
"""Height in pixels: of a row of cells, and of the names below a panel."""
_CELL = 31
_MARGINS = 200
"""Width in pixels of the narrowest cell with two numbers, and of the space beside the panels."""
_LETTER = 9
"""Width in pixels of a character in the title of a panel: titles are side by side."""


def ratio_map(
    cells: pl.DataFrame,
    x: str,
    y: str,
    title: str,
    panel: str | None = None,
    *,
    wrap: int = 2,
    x_title: str = "",
    less_is_better: bool = False,
    most: float = 2.0,
    notes: str | None = None,
    commands: str | None = None,
) -> go.Figure:
    """Draws ratios with their intervals over two columns, with a panel for each value of `panel`.

    `cells` is a result of `acklab.statistics.ratios`.

    Blue is better than the baseline and orange worse, on a logarithmic scale that ends at `most`
    and 1/`most`. Cells are grey if their interval includes 1 or is missing. The second line of a
    cell is the half-width of its interval. `x_title` names the columns if their labels need it.
    `notes` and `commands` name columns of text: additional text for the hover label, and the
    command that repeats the cell, which the report also shows on a click.
    """
    panels = cells[panel].unique(maintain_order=True).to_list() if panel else [None]
    columns, lines = (cells[name].unique(maintain_order=True).to_list() for name in (x, y))
    rows = math.ceil(len(panels) / wrap)
    height = rows * (_ROW * len(lines) + _LABELS) + 70
    figure = make_subplots(
        rows=rows, cols=min(wrap, len(panels)), shared_yaxes=True, horizontal_spacing=0.02,
        vertical_spacing=(_LABELS / (height - 70)) if rows > 1 else 0, subplot_titles=[str(name or "") for name in panels],
    )  # fmt: skip
    for index, name in enumerate(panels):
        part = cells if panel is None else cells.filter(pl.col(panel) == name)
        known = {(cell[x], cell[y]): cell for cell in part.to_dicts()}
        grid = [[known.get((column, line)) for column in columns] for line in lines]
        where = {"row": index // wrap + 1, "col": index % wrap + 1}
        for decided in (False, True):
            shown = [[cell if cell is not None and is_decided(cell) == decided else None for cell in line] for line in grid]
            if not any(cell for line in shown for cell in line):
                continue
            colours = (
                {"coloraxis": "coloraxis"} if decided else {"colorscale": [[0, UNDECIDED], [1, UNDECIDED]], "showscale": False}
            )
            figure.add_heatmap(
                x=[str(column) for column in columns], y=[str(line) for line in lines],
                z=[[_level(cell, less_is_better) for cell in line] for line in shown],
                text=[[_text(cell) for cell in line] for line in shown], texttemplate="%{text}", textfont={"size": 10},
                customdata=[[_hover(cell, notes, commands) for cell in line] for line in shown],
                meta={"command": 1} if commands else None, xgap=1, ygap=1, hoverongaps=False,
                hovertemplate=f"<b>%{{y}} · %{{x}}</b><br>%{{customdata[0]}}<br>%{{customdata[1]}}<extra>{name or ''}</extra>",
                **colours, **where,
            )  # fmt: skip
        figure.update_xaxes(
            type="category", showgrid=False, tickangle=0 if _is_short(columns) else -45, ticks="",
            categoryarray=[str(column) for column in columns], title_text=x_title, **where,
        )  # fmt: skip
        figure.update_yaxes(
            type="category", showgrid=False, ticks="", autorange="reversed", categoryarray=[str(line) for line in lines], **where
        )
    edge = math.log2(most)
    steps = (0.1, 0.2, 0.5, 0.8, 1.0, 1.25, 2.0, 5.0, 10.0)
    # Only the ends of the scale have numbers if further numbers would overlap.
    ticks = [1 / most, *(value for value in steps if 1.2 / most <= value <= most / 1.2), most]
    sign = -1 if less_is_better else 1
    bar = {
        "title": {"text": title, "side": "right"}, "thickness": 12, "outlinewidth": 0, "len": 360, "lenmode": "pixels",
        "y": 1, "yanchor": "top", "tickvals": [sign * math.log2(value) for value in ticks], "ticktext": [f"{value:.3g}" for value in ticks],
    }  # fmt: skip
    figure.update_layout(coloraxis={"colorscale": DIVERGING, "cmin": -edge, "cmax": edge, "colorbar": bar})
    narrowest = max(_CELL * len(columns), *(_LETTER * (len(str(name or "")) + 1) for name in panels))
    return widen(finish(figure, height), narrowest * min(wrap, len(panels)) + _MARGINS)


def _is_short(names: Sequence[object]) -> bool:
    return all(len(str(name)) <= 3 for name in names)


def is_decided(cell: dict[str, Any]) -> bool:
    """Returns whether the interval of a ratio is entirely on one side of 1."""
    return cell["low"] is not None and (cell["low"] > 1 or cell["high"] < 1)


def _level(cell: dict[str, Any] | None, less_is_better: bool) -> float | None:
    """Returns the value of a cell's colour: log2 of the ratio, positive if better."""
    if cell is None or cell["mean"] is None:
        return None
    return math.log2(cell["mean"]) * (-1 if less_is_better else 1)


def _text(cell: dict[str, Any] | None) -> str:
    if cell is None or cell["mean"] is None:
        return ""
    mean = cell["mean"]
    decimals = 2 if mean < 9.95 else 0
    if cell["low"] is None:
        return f"{mean:.{decimals}f}"
    width = (cell["high"] - cell["low"]) / 2
    half = f"{width:.{2 if width < 0.995 else 1 if width < 9.95 else 0}f}"
    return f"{mean:.{decimals}f}<br><span style='font-size:8px'>±{half}</span>"


def _hover(cell: dict[str, Any] | None, notes: str | None, commands: str | None) -> Sequence[str]:
    if cell is None or cell["mean"] is None:
        return ["", ""]
    within = "" if cell["low"] is None else f" ({cell['low']:.3f} … {cell['high']:.3f})"
    lines = [f"ratio {cell['mean']:.3f}{within}, {cell['count']} seeds"]
    if notes:
        lines.append(str(cell[notes]))
    if not commands:
        return ["<br>".join(lines), ""]
    wrapped = textwrap.wrap(str(cell[commands]), 96, break_long_words=False, break_on_hyphens=False)
    return ["<br>".join(lines), "<br>".join(wrapped)]
