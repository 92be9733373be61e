"""Figure of TACK's main result: gain by link and phone."""

import plotly.graph_objects as go

from acklab.figures.error_bars import error_bars, half_widths
from acklab.figures.theme import COLOURS, OPTIMUM, finish
from acklab.statistics import Interval

_STAR = {"symbol": "star", "size": 12, "color": OPTIMUM, "line": {"width": 1, "color": "white"}}


def leads(found: dict[str, dict[str, Interval]], published: dict[str, float]) -> go.Figure:
    """Draws bars of TACK's gain [%] by phone and link: `found` is ours, `published` the paper's."""
    figure = go.Figure()
    for (phone, by_link), ink in zip(found.items(), COLOURS, strict=False):
        own = list(by_link.values())
        figure.add_bar(
            x=list(by_link), y=[one.mean for one in own], name=phone, marker={"color": ink}, error_y=error_bars(half_widths(own)),
            hovertemplate="%{x}: %{y:+.1f} %",
        )  # fmt: skip
    links = list(next(iter(found.values())))
    figure.add_scatter(
        x=links, y=[published[link] for link in links], mode="markers", marker=_STAR, name="published",
        hovertemplate="%{x}: %{y:+.1f} %",
    )  # fmt: skip
    figure.update_yaxes(title_text="TACK over TCP BBR [%]", rangemode="tozero")
    figure.update_layout(barmode="group", bargap=0.2)
    return finish(figure, 380)
