"""The figure: what each way to acknowledge returns, and what it costs."""

from collections.abc import Mapping

import plotly.graph_objects as go
import polars as pl
from plotly.subplots import make_subplots

from acklab.figures.error_bars import error_bars, half_widths
from acklab.figures.theme import COLOURS, MUTED, finish, widen
from acklab.statistics import intervals, ratios

from .air import PARTS
from .runs import AXES, BASELINE

PART_TITLES = {
    "frames": "ACKs themselves",
    "access": "their AIFS and backoff",
    "responses": "their link-layer ACKs",
    "collisions": "their collisions",
    "compressed": "ACKs on link-layer ACKs",
}
_INKS = dict(zip(PARTS, (COLOURS[0], "#B4BAC4", COLOURS[5], COLOURS[1], COLOURS[2]), strict=True))

_ROW = 240
"""Height of a row of panels in pixels."""

_COLUMNS = (
    ("air", "air that ACKs take [%]"),
    ("goodput", "goodput over the baseline's [%]"),
    ("burst", "segments let go at once"),
    ("srtt", "smoothed RTT [ms]"),
    ("jain", "Jain's index"),
)


def relief(runs: pl.DataFrame, titles: Mapping[str, str]) -> go.Figure:
    """A row of panels for each cell, a column for each quantity, a line for each way to acknowledge."""
    cells, schemes = (runs[axis].unique(maintain_order=True).to_list() for axis in AXES)
    figure = make_subplots(
        rows=len(cells), cols=len(_COLUMNS), shared_yaxes=True, horizontal_spacing=0.022, vertical_spacing=0.21 / len(cells),
        column_widths=[0.32, 0.19, 0.17, 0.17, 0.15], column_titles=[title for _, title in _COLUMNS],
    )  # fmt: skip
    for row, cell in enumerate(cells, start=1):
        own = runs.filter(pl.col("cell") == cell)
        _air(figure, own, row)
        gained = ratios(own, AXES, "goodput", BASELINE).with_columns((pl.col("mean", "low", "high") - 1) * 100)
        _dots(figure, gained, row, 2, COLOURS[0], "%{x:+.2f} %")
        for column, (name, _) in enumerate(_COLUMNS[2:], start=3):
            if name == "jain" and (own["jain"] == 1).all():
                continue
            _dots(figure, intervals(own, AXES, name), row, column, COLOURS[0], "%{x:.4g}")
        figure.add_vline(0, line={"color": MUTED, "width": 1}, row=row, col=2)
        figure.update_yaxes(
            categoryorder="array", categoryarray=list(reversed(schemes)), showgrid=True, ticks="", tickfont={"size": 11}, row=row
        )
        figure.add_annotation(
            text=f"<b>{titles[cell]}</b>", xref="paper", yref=f"{_axis('y', row)} domain", x=0, y=1, xanchor="left", yanchor="bottom",
            yshift=2, showarrow=False, font={"size": 12},
        )  # fmt: skip
    for column, (name, title) in enumerate(_COLUMNS, start=1):
        figure.update_xaxes(
            rangemode="normal" if name in {"goodput", "jain"} else "tozero", nticks=5, tickfont={"size": 10}, col=column
        )
        if name == "jain":
            figure.update_xaxes(range=[0.4, 1.03], col=column)
        figure.update_xaxes(title_text=title, title_font={"size": 11}, row=len(cells), col=column)
    # The titles of the columns, which alone have no name of an axis yet, stand clear of that of the first cell.
    figure.for_each_annotation(lambda title: title.update(yshift=24, font={"size": 11}), selector={"yref": "paper"})
    figure.update_layout(
        barmode="stack", bargap=0.3, legend={"y": 1 + 52 / (_ROW * len(cells)), "traceorder": "normal"}, margin={"t": 96}
    )
    # Five columns, the titles of which need this much.
    return widen(finish(figure, 160 + _ROW * len(cells)), 960)


def _axis(letter: str, row: int) -> str:
    index = (row - 1) * len(_COLUMNS) + 1
    return letter if index == 1 else f"{letter}{index}"


def _air(figure: go.Figure, own: pl.DataFrame, row: int) -> None:
    for part in PARTS:
        means = intervals(own, AXES, part)
        figure.add_bar(
            y=means["scheme"], x=means["mean"], orientation="h", name=PART_TITLES[part], legendgroup=part, showlegend=row == 1,
            marker={"color": _INKS[part]}, hovertemplate="%{y}: %{x:.2f} % of the time", row=row, col=1,
        )  # fmt: skip
    total = intervals(own, AXES, "air")
    figure.add_scatter(
        y=total["scheme"], x=total["mean"], mode="text", text=[f"  {mean:.1f}" for mean in total["mean"]], textposition="middle right",
        textfont={"size": 10}, showlegend=False, hoverinfo="skip", cliponaxis=False, row=row, col=1,
    )  # fmt: skip
    # Room for the numbers behind the bars.
    figure.update_xaxes(range=[0, 1.15 * float(total["mean"].to_numpy().max())], row=row, col=1)


def _dots(figure: go.Figure, means: pl.DataFrame, row: int, column: int, ink: str, hover: str) -> None:
    figure.add_scatter(
        y=means["scheme"], x=means["mean"], mode="markers", showlegend=False, marker={"color": ink, "size": 8},
        error_x=error_bars(half_widths(means), ink),
        hovertemplate=f"%{{y}}: {hover}<extra></extra>", row=row, col=column,
    )  # fmt: skip
