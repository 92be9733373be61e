"""Ratios of our numbers to those of another implementation, path by path."""

import math
from collections.abc import Sequence

import plotly.graph_objects as go

from acklab.figures.theme import COLOURS, OPTIMUM, finish
from acklab.verdict import Finding

_SYMBOLS = ("circle", "diamond", "square", "triangle-up", "x", "cross", "triangle-down", "pentagon", "hexagon")
_TICKS = (0.1, 0.2, 0.5, 0.8, 0.9, 1, 1.1, 1.25, 2, 5, 10)


def agreement(claims: Sequence[Finding]) -> go.Figure:
    """Draws the ratios of our numbers to the reference with intervals, on a logarithmic axis.

    There is a row per group of claims, and a colour per title.

    Claims are omitted if either number is zero, because they have no ratio.
    """
    shown = [claim for claim in claims if claim.published > 0 and claim.measured > 0]
    groups = list(dict.fromkeys(claim.group for claim in shown))
    titles = list(dict.fromkeys(claim.title for claim in shown))
    figure = go.Figure()
    for index, title in enumerate(titles):
        own = [claim for claim in shown if claim.title == title]
        ink = COLOURS[index % len(COLOURS)]
        figure.add_scatter(
            y=[claim.group for claim in own], x=[claim.measured / claim.published for claim in own], name=title, mode="markers",
            marker={"size": 8, "color": ink, "symbol": _SYMBOLS[index % len(_SYMBOLS)]},
            error_x={
                "type": "data", "symmetric": False, "thickness": 1.2, "width": 3, "color": ink,
                "array": [_span(claim, claim.high) for claim in own], "arrayminus": [-_span(claim, claim.low) for claim in own],
            },
            customdata=[[claim.published, claim.measured] for claim in own],
            hovertemplate="reference %{customdata[0]:.4g}, ours %{customdata[1]:.4g}: %{x:.3f}",
        )  # fmt: skip
    figure.add_vline(1, line={"color": OPTIMUM, "width": 1.2, "dash": "dash"})
    figure.update_xaxes(
        type="log",
        title_text="Ratio of ours to the other implementation",
        tickvals=_TICKS,
        ticktext=[f"{tick:g}" for tick in _TICKS],
    )
    figure.update_yaxes(categoryorder="array", categoryarray=list(reversed(groups)))
    return finish(figure, 150 + 22 * max(len(groups), 4))


def _span(claim: Finding, value: float) -> float:
    """Returns the distance from the mean to an end of the interval, limited to positive values."""
    return 0.0 if math.isnan(value) else (max(value, 0.02 * claim.published) - claim.measured) / claim.published
