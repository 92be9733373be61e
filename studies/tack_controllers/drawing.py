"""Figures of the study."""

import plotly.graph_objects as go
import polars as pl

from acklab.figures.error_bars import error_bars, half_widths
from acklab.figures.theme import COLOURS, finish
from acklab.statistics import intervals

from .runs import FEEDBACKS


def feedbacks(runs: pl.DataFrame) -> go.Figure:
    """Draws goodput by controller, a bar for each feedback."""
    found = intervals(runs, ["controller", "feedback"], "goodput")
    figure = go.Figure()
    for feedback, ink in zip(FEEDBACKS, (COLOURS[7], COLOURS[4], COLOURS[5], COLOURS[1], COLOURS[3]), strict=True):
        own = found.filter(pl.col("feedback") == feedback)
        figure.add_bar(
            x=own["controller"], y=own["mean"], name=feedback, marker={"color": ink}, error_y=error_bars(half_widths(own)),
            hovertemplate="%{x}: %{y:.1f} Mbps",
        )  # fmt: skip
    figure.update_layout(barmode="group")
    figure.update_yaxes(title_text="goodput [Mbps]", rangemode="tozero")
    return finish(figure, 420)
