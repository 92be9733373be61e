"""Figures of the study."""

import plotly.graph_objects as go
import polars as pl

from acklab.figures.error_bars import error_bars, half_widths
from acklab.figures.theme import COLOURS, MUTED, OPTIMUM, finish
from acklab.statistics import mean_interval, ratios
from acklab.studies import per_seed

from .runs import BBR, CUBIC, LINKS, RTT, TACK, THINNED, arm, gain

PUBLISHED_10A = {"802.11b": (6, 5, 20.0), "802.11g": (24, 19, 26.3), "802.11n": (198, 155, 27.7), "802.11ac": (556, 434, 28.1)}
"""Figures 10(a) and 1: goodput of TACK and of TCP BBR [Mbps], and the gain [%]."""
PUBLISHED_10B = {1: 150.5, 2: 153.5, 4: 71.7, 8: 0.0, 16: 0.0}
"""Figure 10(b) [Mbps], read from the figure, by L."""
PUBLISHED_10B_TACK = 191.1
_STAR = {"symbol": "star", "size": 12, "color": OPTIMUM, "line": {"width": 1, "color": "white"}}
_GROUPS = {"barmode": "group", "scattermode": "group", "bargap": 0.2, "scattergap": 0.2}
"""Arranges bars side by side, with a star over the bar of its `offsetgroup`."""
_INKS = {TACK: COLOURS[1], BBR: COLOURS[0], CUBIC: COLOURS[2]}


def links(runs: pl.DataFrame) -> go.Figure:
    """Draws goodput of each transport relative to TCP BBR, by link, at the RTT of the claims."""
    own = runs.filter(pl.col("rtt") == RTT)
    found = ratios(own, ["link", "sender"], "goodput", {"sender": BBR})
    figure = go.Figure()
    for sender, ink in _INKS.items():
        bars = found.filter(pl.col("sender") == sender)
        mbps = [mean_interval(per_seed(own, "goodput", link=link, sender=sender)).mean for link in bars["link"]]
        figure.add_bar(
            x=bars["link"], y=bars["mean"], name=sender, offsetgroup=sender, marker={"color": ink}, error_y=error_bars(half_widths(bars)), text=[f"{one:.3g}" for one in mbps],
            hovertemplate="%{x}: %{y:.3f}, %{text} Mbps",
        )  # fmt: skip
    figure.add_scatter(
        x=list(LINKS), y=[1 + lead / 100 for _, _, lead in PUBLISHED_10A.values()], mode="markers", marker=_STAR,
        name="TACK, published", offsetgroup=TACK,
    )  # fmt: skip
    figure.update_yaxes(title_text="goodput ÷ that of TCP BBR", rangemode="tozero")
    figure.update_layout(_GROUPS)
    return finish(figure, 400)


def round_trips(runs: pl.DataFrame) -> go.Figure:
    """Returns the gain over TCP BBR by round trip, a line per link.

    Lines of TACK are solid, and those of CUBIC dotted.
    """
    figure = go.Figure()
    for link, ink in zip(LINKS, COLOURS, strict=False):
        for sender, dash in ((TACK, "solid"), (CUBIC, "dot")):
            own = runs.filter(pl.col("link") == link)
            rtts = own["rtt"].unique(maintain_order=True).to_list()
            leads = [gain(own, "goodput", sender, rtt=rtt) for rtt in rtts]
            figure.add_scatter(
                x=[float(rtt.removesuffix(" ms")) for rtt in rtts], y=[lead.mean for lead in leads], mode="lines+markers", name=f"{link}, {sender}",
                line={"color": ink, "dash": dash}, error_y=error_bars(half_widths(leads), ink), hovertemplate="%{x} ms: %{y:+.1f} %",
            )  # fmt: skip
    figure.add_hline(0, line={"color": MUTED, "width": 1})
    figure.update_xaxes(type="log", title_text="round trip [ms]", tickvals=[10, 20, 40, 100, 200])
    figure.update_yaxes(title_text="gain over TCP BBR [%]")
    return finish(figure, 440)


def thinned(runs: pl.DataFrame) -> go.Figure:
    """Draws goodput by L of each controller of TCP, and the goodput of TACK."""
    figure = go.Figure()
    for sender in (BBR, CUBIC):
        found = [mean_interval(per_seed(runs, "goodput", arm=arm(sender, packets))) for packets in THINNED]
        figure.add_bar(
            x=[f"L = {packets}" for packets in THINNED], y=[one.mean for one in found], name=sender, offsetgroup=sender, marker={"color": _INKS[sender]},
            error_y=error_bars(half_widths(found)), hovertemplate="%{x}: %{y:.1f} Mbps",
        )  # fmt: skip
    tack = mean_interval(per_seed(runs, "goodput", arm=TACK))
    # The bar is alone in its group, in the position of CUBIC.
    figure.add_bar(
        x=[TACK],
        y=[tack.mean],
        name=TACK,
        offsetgroup=CUBIC,
        marker={"color": _INKS[TACK]},
        error_y=error_bars(half_widths([tack])),
    )
    published = {BBR: {f"L = {packets}": mbps for packets, mbps in PUBLISHED_10B.items()}, CUBIC: {TACK: PUBLISHED_10B_TACK}}
    for group, stars in published.items():
        figure.add_scatter(
            x=list(stars), y=list(stars.values()), mode="markers", marker=_STAR, name="published", offsetgroup=group,
            legendgroup="published", showlegend=group == BBR, hovertemplate="published: %{y:g} Mbps<extra></extra>",
        )  # fmt: skip
    figure.update_yaxes(title_text="goodput [Mbps]", rangemode="tozero")
    figure.update_layout(_GROUPS)
    return finish(figure, 400)
