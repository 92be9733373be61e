"""The figure of each limit."""

from collections.abc import Mapping

import plotly.graph_objects as go
from plotly.subplots import make_subplots

from acklab.figures.error_bars import error_bars, half_widths
from acklab.figures.theme import COLOURS, MUTED, finish
from acklab.statistics import Interval


def limit(gains: Mapping[str, Interval], plain: Mapping[str, Interval], axis: str) -> go.Figure:
    """Returns the gain [%] and the share of ACKs sent as ordinary frames [%] by setting.

    Has dots only, because there are no runs between the settings.
    """
    figure = make_subplots(rows=1, cols=2, horizontal_spacing=0.1)
    for column, (points, title, ink) in enumerate(
        ((gains, "gain of TCP/HACK", COLOURS[2]), (plain, "ACKs sent as ordinary frames", COLOURS[1])), start=1
    ):
        figure.add_scatter(
            x=list(points), y=[one.mean for one in points.values()], mode="markers", showlegend=False,
            marker={"size": 9, "color": ink}, error_y=error_bars(half_widths(points.values()), ink), hovertemplate="%{x}: %{y:.1f} %<extra></extra>", row=1, col=column,
        )  # fmt: skip
        figure.update_yaxes(title_text=title, ticksuffix=" %", row=1, col=column)
    figure.add_hline(0, line={"color": MUTED, "width": 1}, row=1, col=1)
    figure.update_xaxes(title_text=axis, type="category")
    return finish(figure, 360)
