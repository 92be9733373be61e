"""Figures of this study."""

from collections.abc import Mapping, Sequence

import plotly.graph_objects as go
import polars as pl
from plotly.subplots import make_subplots

from acklab.figures.error_bars import error_bars, half_widths
from acklab.figures.theme import COLOURS, MUTED, OPTIMUM, finish
from acklab.statistics import ecdf
from acklab.sweeps import Variant

INKS = {"UDP": COLOURS[7], "stock": COLOURS[1], "opportunistic": COLOURS[4], "MORE DATA": COLOURS[0]}
INKS_2014 = {
    "MORE DATA": {"each segment": COLOURS[0], "delayed": COLOURS[2]},
    "opportunistic": {"each segment": COLOURS[4], "delayed": COLOURS[5]},
}
_DASHES = {"MORE DATA": "dash", "opportunistic": "dot"}
_OF_CLIENTS = (COLOURS[0], COLOURS[1])


def timer(means: pl.DataFrame, lines: Mapping[str, Mapping[str, float]]) -> go.Figure:
    """Returns the gain by timer and, for comparison, by other variants.

    There is a line per number of clients.
    """
    figure = go.Figure()
    for (name, others), ink in zip(lines.items(), _OF_CLIENTS, strict=True):
        part = means.filter(pl.col("clients") == name)
        figure.add_scatter(
            x=part["limit"], y=part["mean"], name=name, mode="lines+markers", line={"color": ink, "width": 2},
            error_y=error_bars(half_widths(part), ink), hovertemplate="%{x} ms<br>%{y:.3f} ± %{error_y.array:.2~g}",
        )  # fmt: skip
        for variant, gain in others.items():
            figure.add_hline(gain, line={"color": ink, "width": 1.2, "dash": _DASHES[variant]})
    figure.add_hline(1, line={"color": MUTED, "width": 1})
    figure.update_xaxes(title_text="hold time [ms]", type="log", tickvals=[1, 3, 10, 30, 100, 300])
    figure.update_yaxes(title_text="goodput ÷ that of stock")
    return finish(figure, 420)


def gains(frame: pl.DataFrame, x: str, published: Mapping[str, float], of: Mapping[str, str]) -> go.Figure:
    """Returns the gain by column `x`, a line per value of `line`, and published gains."""
    figure = go.Figure()
    for order, name in enumerate(frame["line"].unique(maintain_order=True)):
        part = frame.filter(pl.col("line") == name)
        ink = _OF_CLIENTS[0 if order == 0 else 1]
        figure.add_scatter(
            x=[int(packets) for packets in part[x]], y=part["mean"], name=name, mode="lines+markers", line={"color": ink, "width": 2, "dash": "solid" if order < 2 else "dot"},
            error_y=error_bars(half_widths(part), ink), hovertemplate="%{x}<br>%{y:.3f} ± %{error_y.array:.2~g}",
        )  # fmt: skip
    for (count, gain), ink in zip(published.items(), _OF_CLIENTS, strict=True):
        label = {"text": f"published, {of[count]}", "font": {"size": 11, "color": ink}}
        figure.add_hline(
            gain, line={"color": ink, "width": 1.2, "dash": "dash"}, annotation=label, annotation_position="top left"
        )
    figure.add_hline(1, line={"color": MUTED, "width": 1})
    figure.update_xaxes(
        title_text="packets of the access point's queue per client", tickvals=sorted({int(packets) for packets in frame[x]})
    )
    figure.update_yaxes(title_text="MORE DATA ÷ stock")
    return finish(figure, 420)


def settings(
    found: Mapping[str, pl.DataFrame], titles: Mapping[str, Variant], published: Mapping[str, float], of: Mapping[str, str]
) -> go.Figure:
    """Returns the gain by setting, for each number of clients, and the published gain."""
    figure = go.Figure()
    names = [variant.title for variant in titles.values()]
    for order, (count, frame) in enumerate(found.items()):
        ink = _OF_CLIENTS[order]
        figure.add_vline(published[count], line={"color": ink, "width": 1.2, "dash": "dash"})
        figure.add_scatter(
            x=frame["mean"], y=[titles[name].title for name in frame["setting"]], name=of[count], mode="markers", marker={"size": 9, "color": ink},
            error_x=error_bars(half_widths(frame), ink),
            hovertemplate="%{y}<br>%{x:.3f}",
        )  # fmt: skip
    figure.add_scatter(
        x=[published[count] for count in found], y=[names[0]] * len(found), mode="markers", name="published",
        marker={"symbol": "star", "size": 13, "color": OPTIMUM, "line": {"width": 1, "color": "white"}}, hovertemplate="%{x}<extra>published</extra>",
    )  # fmt: skip
    figure.update_xaxes(title_text="MORE DATA ÷ stock")
    figure.update_yaxes(categoryorder="array", categoryarray=list(reversed(names)), showgrid=False)
    return finish(figure, 150 + 28 * len(names))


def seeds(spread: Mapping[str, tuple[Sequence[float], Sequence[float]]]) -> go.Figure:
    """Returns the distribution of the gain [%] over seeds.

    Also returns each gain over the share of ACKs sent as ordinary frames [%].
    """
    figure = make_subplots(rows=1, cols=2, horizontal_spacing=0.1)
    for (name, (gained, plain)), ink in zip(spread.items(), _OF_CLIENTS, strict=True):
        x, share = ecdf(gained)
        figure.add_scatter(
            x=x, y=share, name=name, legendgroup=name, mode="lines", line={"color": ink, "width": 2, "shape": "hv"},
            hovertemplate="%{y:.0%} of the seeds have a gain of at most %{x:.1f} %", row=1, col=1,
        )  # fmt: skip
        figure.add_scatter(
            x=plain, y=gained, name=name, legendgroup=name, showlegend=False, mode="markers", marker={"size": 8, "color": ink},
            hovertemplate="%{x:.1f} % as frames: gain %{y:.1f} %", row=1, col=2,
        )  # fmt: skip
    figure.update_xaxes(title_text="gain of MORE DATA over stock", ticksuffix=" %", row=1, col=1)
    figure.update_yaxes(title_text="share of seeds", tickformat=".0%", range=[0, 1.02], row=1, col=1)
    figure.update_xaxes(title_text="ACKs sent as ordinary frames", ticksuffix=" %", rangemode="tozero", row=1, col=2)
    figure.update_yaxes(title_text="gain", ticksuffix=" %", row=1, col=2)
    return finish(figure, 400)
