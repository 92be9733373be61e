"""Figures of the study: gain and cost of each scheme."""

from collections.abc import Mapping, Sequence

import plotly.graph_objects as go
import polars as pl
from plotly.subplots import make_subplots

from acklab.figures.error_bars import error_bars, half_widths
from acklab.figures.theme import COLOURS, MUTED, finish
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

_TITLES = {
    "air": "airtime of ACKs [%]",
    "goodput": "goodput relative to the baseline [%]",
    "burst": "segments per burst",
    "srtt": "smoothed RTT [ms]",
    "jain": "Jain's index",
}
RETURNS, COSTS = ("air", "goodput"), ("burst", "srtt", "jain")
"""Columns of the two figures."""


def relief(runs: pl.DataFrame, titles: Mapping[str, str], columns: Sequence[str]) -> go.Figure:
    """Returns a row of panels per cell, a column per quantity, and a line per scheme."""
    cells, schemes = (runs[axis].unique(maintain_order=True).to_list() for axis in AXES)
    figure = make_subplots(
        rows=len(cells), cols=len(columns), shared_yaxes=True, horizontal_spacing=0.03, vertical_spacing=0.21 / len(cells),
        column_titles=[_TITLES[name] for name in columns],
    )  # fmt: skip
    for row, cell in enumerate(cells, start=1):
        own = runs.filter(pl.col("cell") == cell)
        for column, name in enumerate(columns, start=1):
            if name == "air":
                _air(figure, own, row, column)
            elif name == "goodput":
                gained = ratios(own, AXES, "goodput", BASELINE).with_columns((pl.col("mean", "low", "high") - 1) * 100)
                _dots(figure, gained, row, column, "%{x:+.2f} %")
                figure.add_vline(0, line={"color": MUTED, "width": 1}, row=row, col=column)
            elif name != "jain" or (own["jain"] != 1).any():
                _dots(figure, intervals(own, AXES, name), row, column, "%{x:.4g}")
        figure.update_yaxes(
            categoryorder="array", categoryarray=list(reversed(schemes)), showgrid=True, ticks="", tickfont={"size": 11}, row=row
        )
        figure.add_annotation(
            text=f"<b>{titles[cell]}</b>", xref="paper", yref=f"{_axis('y', row, len(columns))} domain", x=0, y=1, xanchor="left",
            yanchor="bottom", yshift=2, showarrow=False, font={"size": 12},
        )  # fmt: skip
    for column, name in enumerate(columns, start=1):
        figure.update_xaxes(
            rangemode="normal" if name in {"goodput", "jain"} else "tozero", nticks=5, tickfont={"size": 10}, col=column
        )
        if name == "jain":
            figure.update_xaxes(range=[0.4, 1.03], col=column)
        figure.update_xaxes(title_text=_TITLES[name], title_font={"size": 11}, row=len(cells), col=column)
    # Moves the titles of the columns, which have no axis name, away from the title of the first
    # cell.
    figure.for_each_annotation(lambda title: title.update(yshift=24, font={"size": 11}), selector={"yref": "paper"})
    figure.update_layout(
        barmode="stack", bargap=0.3, legend={"y": 1 + 52 / (_ROW * len(cells)), "traceorder": "normal"}, margin={"t": 96}
    )
    return finish(figure, 160 + _ROW * len(cells))


def _axis(letter: str, row: int, columns: int) -> str:
    index = (row - 1) * columns + 1
    return letter if index == 1 else f"{letter}{index}"


def _air(figure: go.Figure, own: pl.DataFrame, row: int, column: int) -> None:
    for part in PARTS:
        means = intervals(own, AXES, part)
        figure.add_bar(
            y=means["scheme"], x=means["mean"], orientation="h", name=PART_TITLES[part], legendgroup=part, showlegend=row == 1,
            marker={"color": _INKS[part]}, hovertemplate="%{y}: %{x:.2f} % of the time", row=row, col=column,
        )  # fmt: skip
    total = intervals(own, AXES, "air")
    figure.add_scatter(
        y=total["scheme"], x=total["mean"], mode="text", text=[f"  {mean:.1f}" for mean in total["mean"]], textposition="middle right",
        textfont={"size": 10}, showlegend=False, hoverinfo="skip", cliponaxis=False, row=row, col=column,
    )  # fmt: skip
    # Leaves space for the numbers at the ends of the bars.
    figure.update_xaxes(range=[0, 1.15 * float(total["mean"].to_numpy().max())], row=row, col=column)


def _dots(figure: go.Figure, means: pl.DataFrame, row: int, column: int, hover: str) -> None:
    figure.add_scatter(
        y=means["scheme"], x=means["mean"], mode="markers", showlegend=False, marker={"color": COLOURS[0], "size": 8},
        error_x=error_bars(half_widths(means), COLOURS[0]),
        hovertemplate=f"%{{y}}: {hover}<extra></extra>", row=row, col=column,
    )  # fmt: skip
