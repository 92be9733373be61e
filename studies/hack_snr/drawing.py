"""Figures of the study."""

from collections.abc import Mapping, Sequence
from statistics import fmean

import plotly.graph_objects as go
from plotly.subplots import make_subplots

from acklab.figures.error_bars import error_bars, half_widths
from acklab.figures.theme import COLOURS, MUTED, OPTIMUM, faded, finish
from acklab.statistics import mean_interval

from .places import RATES, SNRS, tried_at
from .runs import HACK, STOCK, Best, Downloads, Measured, at, improvement

INK = {STOCK: COLOURS[1], HACK: COLOURS[0]}
TITLE = {STOCK: "TCP/802.11n", HACK: "TCP/HACK"}


Pairs = Sequence[tuple[Best, Best]]
"""Best goodput of stock and of HACK at each signal-to-noise ratio."""


def envelopes(found: Measured, pairs: Pairs, waiting: Pairs, published: float) -> go.Figure:
    """Draws Figure 11: envelopes of goodput and each rate of HACK.

    A lower panel has HACK's gain.
    """
    figure = make_subplots(rows=2, cols=1, shared_xaxes=True, vertical_spacing=0.04, row_heights=[0.68, 0.32])
    ends: list[tuple[float, str]] = []
    for mcs, rate in enumerate(RATES):
        held = [(snr, one) for snr in SNRS if snr >= tried_at(mcs)[0] and (one := at(found[HACK], mcs, snr)) is not None]
        figure.add_scatter(
            x=[snr for snr, _ in held], y=[fmean(runs.goodput) for _, (_, runs) in held], mode="lines",
            name="HACK, each rate", legendgroup="rate", showlegend=mcs == 0, line={"color": faded(INK[HACK], 0.55), "width": 1, "dash": "dash"},
            hovertemplate=f"{rate} Mbps at %{{x}} dB: %{{y:.1f}} Mbps<extra>HACK</extra>", row=1, col=1,
        )  # fmt: skip
        ends.append((fmean(held[-1][1][1].goodput), f"{rate}"))
    for goodput, names in _apart(ends):
        figure.add_annotation(
            x=SNRS[-1],
            y=goodput,
            text=names,
            xanchor="left",
            xshift=6,
            showarrow=False,
            font={"size": 11, "color": MUTED},
            row=1,
            col=1,
        )
    for scheme, best in ((STOCK, [old for old, _ in pairs]), (HACK, [new for _, new in pairs])):
        means = [mean_interval(one.runs.goodput) for one in best]
        figure.add_scatter(
            x=[one.snr for one in best], y=[mean.mean for mean in means], mode="lines+markers", name=f"{TITLE[scheme]}, best rate",
            line={"color": INK[scheme], "width": 2.4}, marker={"size": 6},
            error_y=error_bars(half_widths(means)),
            customdata=[[RATES[one.place.mcs]] for one in best],
            hovertemplate="%{x} dB: %{y:.2f} Mbps at %{customdata[0]} Mbps", row=1, col=1,
        )  # fmt: skip
    _add_gains(figure, waiting, "improvement, 126 packets waiting", COLOURS[4], "dot")
    _add_gains(figure, pairs, "improvement, as in the scenario", COLOURS[2], "solid")
    figure.add_hline(
        published, line={"color": OPTIMUM, "width": 1.2, "dash": "dash"}, row=2, col=1,
        annotation={"text": f"published mean: {published:g} %", "font": {"color": OPTIMUM, "size": 11}}, annotation_position="top left",
    )  # fmt: skip
    figure.update_yaxes(title_text="goodput [Mbps]", rangemode="tozero", row=1, col=1)
    figure.update_yaxes(title_text="improvement", ticksuffix=" %", rangemode="tozero", row=2, col=1)
    figure.update_xaxes(range=[SNRS[0] - 0.5, SNRS[-1] + 0.5], row=1, col=1)
    figure.update_xaxes(title_text="signal-to-noise ratio [dB]", range=[SNRS[0] - 0.5, SNRS[-1] + 0.5], row=2, col=1)
    figure.update_layout(margin={"r": 56})
    return finish(figure, 640)


def _apart(ends: Sequence[tuple[float, str]], room: float = 4) -> list[tuple[float, str]]:
    """Returns names of lines. Lines that end within `room` Mbps share a label."""
    placed: list[tuple[float, str]] = []
    for goodput, name in sorted(ends):
        if placed and goodput - placed[-1][0] < room:
            placed[-1] = (placed[-1][0], f"{placed[-1][1]}, {name}")
        else:
            placed.append((goodput, name))
    return placed


def _add_gains(figure: go.Figure, pairs: Pairs, name: str, ink: str, dash: str) -> None:
    gains = [improvement(old.runs, new.runs) for old, new in pairs]
    figure.add_scatter(
        x=[new.snr for _, new in pairs], y=[gain.mean for gain in gains], mode="lines+markers", name=name,
        line={"color": ink, "width": 2, "dash": dash}, marker={"size": 6},
        error_y=error_bars(half_widths(gains)),
        customdata=[[RATES[old.place.mcs], RATES[new.place.mcs]] for old, new in pairs],
        hovertemplate="%{x} dB: %{y:+.1f} %<br>stock at %{customdata[0]}, HACK at %{customdata[1]} Mbps", row=2, col=1,
    )  # fmt: skip


def by_rate(series: Mapping[str, Sequence[tuple[int, Downloads, Downloads]]]) -> go.Figure:
    """Draws the improvement by HACK at each rate without losses to noise, by setting."""
    figure = go.Figure()
    for (name, pairs), ink, dash in zip(series.items(), (COLOURS[2], COLOURS[4]), ("solid", "dot"), strict=True):
        gains = [improvement(stock, hack) for _, stock, hack in pairs]
        figure.add_scatter(
            x=[rate for rate, _, _ in pairs], y=[gain.mean for gain in gains], mode="lines+markers", name=name,
            line={"color": ink, "width": 2, "dash": dash}, marker={"size": 7},
            error_y=error_bars(half_widths(gains)),
            customdata=[[hack.frames] for _, _, hack in pairs], hovertemplate="%{x} Mbps: %{y:+.2f} %<br>%{customdata[0]:.1f} packets per PPDU",
        )  # fmt: skip
    figure.update_xaxes(title_text="rate of the PHY [Mbps]", tickvals=list(RATES))
    figure.update_yaxes(title_text="improvement", ticksuffix=" %", rangemode="tozero")
    return finish(figure, 340)
