"""Figures of the study."""

import numpy as np
import plotly.graph_objects as go
import polars as pl

from acklab.figures.error_bars import error_bars, half_widths
from acklab.figures.theme import COLOURS, finish
from acklab.statistics import intervals

from . import law
from .runs import MSS, RTTS, TACK, TCP

_INKS = dict(zip(RTTS, COLOURS, strict=False))
_SYMBOLS = {TACK: "circle", TCP: "square-open"}


def frequencies(found: pl.DataFrame) -> go.Figure:
    """Draws ACKs per second against goodput: formulas as lines, measurements as dots."""
    figure = go.Figure()
    rates = np.geomspace(1, 1000, 121)
    by_octets = [law.byte_counting(mbps * 1e6, 2, MSS[TCP]) for mbps in rates]
    _line(figure, rates, by_octets, TCP, COLOURS[7])
    for rtt, ink in _INKS.items():
        _line(figure, rates, [law.tack(mbps * 1e6, RTTS[rtt], MSS[TACK]) for mbps in rates], f"TACK, {rtt}", ink)
    by = ["rtt", "receiver", "link"]
    hertz, goodput = intervals(found, by, "hz"), intervals(found, by, "goodput")
    for receiver, symbol in _SYMBOLS.items():
        for rtt, ink in _INKS.items():
            chosen = (pl.col("rtt") == rtt) & (pl.col("receiver") == receiver)
            own = hertz.filter(chosen)
            figure.add_scatter(
                x=goodput.filter(chosen)["mean"], y=own["mean"], error_y=error_bars(half_widths(own), ink), mode="markers",
                marker={"symbol": symbol, "size": 9 if receiver == TACK else 11, "color": ink}, name=f"{receiver}, measured", legendgroup=receiver,
                customdata=own["link"], hovertemplate="%{customdata}: %{y:.2f} Hz at %{x:.2f} Mbps",
                showlegend=rtt == next(iter(RTTS)),
            )  # fmt: skip
    figure.update_xaxes(type="log", title_text="goodput [Mbps]", tickvals=[1, 3, 10, 30, 100, 300, 1000])
    figure.update_yaxes(type="log", title_text="ACKs per second", tickvals=[10, 30, 100, 300, 1000, 3000, 10_000, 30_000])
    return finish(figure, 480)


def _line(figure: go.Figure, rates: np.ndarray, hertz: list[float], name: str, ink: str) -> None:
    figure.add_scatter(x=rates, y=hertz, mode="lines", name=name, line={"color": ink, "width": 1.6}, hoverinfo="skip")
