"""Figures of the study."""

import plotly.graph_objects as go
import polars as pl

from acklab.figures.error_bars import error_bars, half_widths
from acklab.figures.theme import COLOURS, MUTED, OPTIMUM, finish
from acklab.statistics import intervals, mean_interval

from .arms import BY_COUNT, LINKS, NONE, RTTS, TACKS
from .runs import CAUSES_ON, values

PUBLISHED_9A = {
    "10 ms": (0.1, 6.2, 47.7, 166.4),
    "80 ms": (2.1, 7.3, 49.8, 169.1),
    "200 ms": (2.3, 7.4, 49.6, 170.4),
}
"""Figure 9(a) [Mbps], read from the figure, by link."""
PUBLISHED_9B = {
    "TCP (L = 1)": 152.5, "TCP (L = 2)": 162.3, "TCP (L = 4)": 175.2, "TCP (L = 8)": 182.3, "TCP (L = 16)": 188.5, "TACK 80 ms": 197.9,
    NONE: 210.0,
}  # fmt: skip
"""Figure 9(b) [Mbps], read from the figure."""
_STAR = {"symbol": "star", "size": 12, "color": OPTIMUM, "line": {"width": 1, "color": "white"}}


def gains(runs: pl.DataFrame) -> go.Figure:
    """Draws the gain of TACK over an ACK per packet, by link and round trip."""
    figure = go.Figure()
    for place, (rtt, ink) in enumerate(zip(RTTS, COLOURS, strict=False)):
        leads = []
        for link in LINKS:
            pairs = zip(values(runs, link, TACKS[rtt].name), values(runs, link, BY_COUNT[1].name), strict=True)
            leads.append(mean_interval([tack - each for tack, each in pairs]))
        figure.add_bar(
            x=list(LINKS), y=[lead.mean for lead in leads], name=rtt, marker={"color": ink}, offsetgroup=rtt,
            error_y=error_bars(half_widths(leads)), hovertemplate="%{x}: %{y:.2f} Mbps",
        )  # fmt: skip
        figure.add_scatter(
            x=[index + (place - 1) * 0.26 for index in range(len(LINKS))], y=PUBLISHED_9A[rtt], mode="markers", marker=_STAR, name="published",
            xaxis="x2", legendrank=2000, showlegend=place == 0, hovertemplate="published: %{y:g} Mbps<extra></extra>",
        )  # fmt: skip
    figure.update_layout(
        barmode="group",
        bargap=0.2,
        xaxis2={"overlaying": "x", "range": [-0.5, len(LINKS) - 0.5], "visible": False, "fixedrange": True},
    )
    figure.update_xaxes(range=[-0.5, len(LINKS) - 0.5])
    figure.update_yaxes(title_text="goodput of TACK − goodput of TCP [Mbps]")
    return finish(figure, 420)


def receivers(runs: pl.DataFrame) -> go.Figure:
    """Draws goodput by receiver on the link of Figure 9(b)."""
    arms = [*(arm.name for arm in BY_COUNT.values()), TACKS["80 ms"].name]
    found = [mean_interval(values(runs, CAUSES_ON, arm)) for arm in arms]
    figure = go.Figure()
    figure.add_bar(
        x=arms, y=[one.mean for one in found], marker={"color": [COLOURS[0]] * len(BY_COUNT) + [COLOURS[1]]}, name="here",
        error_y=error_bars(half_widths(found)), showlegend=False, hovertemplate="%{x}: %{y:.1f} Mbps",
    )  # fmt: skip
    figure.add_scatter(x=arms, y=[PUBLISHED_9B[arm] for arm in arms], mode="markers", marker=_STAR, name="published")
    figure.add_hline(
        mean_interval(values(runs, CAUSES_ON, NONE)).mean, line={"color": MUTED, "dash": "dash"}, annotation_text="UDP, no ACKs"
    )
    figure.update_yaxes(title_text="goodput [Mbps]", rangemode="tozero")
    return finish(figure, 400)


def curves(runs: pl.DataFrame) -> go.Figure:
    """Draws goodput relative to the baseline by ACKs per second, a line for each link."""
    figure = go.Figure()
    for (link, mbps), ink in zip(LINKS.items(), COLOURS, strict=False):
        own = intervals(runs.filter(pl.col("link") == link), ["sent"], "goodput").with_columns(
            pl.col("mean", "low", "high") / mbps
        )
        figure.add_scatter(
            x=own["sent"], y=own["mean"], mode="lines+markers", name=link, line={"color": ink}, error_y=error_bars(half_widths(own), ink),
            hovertemplate="%{x:g} ACKs per second: %{y:.3f}",
        )  # fmt: skip
    figure.update_xaxes(type="log", title_text="ACKs per second", tickvals=[10, 30, 100, 300, 1000, 3000, 10_000, 30_000])
    figure.update_yaxes(title_text="goodput ÷ UDP baseline", rangemode="tozero")
    return finish(figure, 420)
