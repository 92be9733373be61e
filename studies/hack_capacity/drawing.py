"""Figures of the study."""

import math
from collections.abc import Mapping, Sequence

import plotly.graph_objects as go
from plotly.subplots import make_subplots

from acklab.figures.error_bars import error_bars, half_widths
from acklab.figures.theme import COLOURS, OPTIMUM, finish
from acklab.statistics import Interval
from acklab.studies.closed_form import Download
from acklab.verdict import Finding

from .rates import A, N, Rate
from .runs import AT_150, AT_600, HACK, IN_ALL, STOCK, WAITING, Measured

Curves = Mapping[Rate, Mapping[str, Download]]
"""Results of the model by rate and protocol."""

_INK = {STOCK: COLOURS[1], HACK: COLOURS[0]}
_GAIN = COLOURS[2]
_PANELS = {A: "(a) 802.11a", N: "(b) 802.11n, 40 MHz, up to four streams"}
_TICKS = {A: [6, 9, 12, 18, 24, 36, 54], N: [15, 30, 45, 60, 90, 150, 300, 450, 600]}
_RATE = "rate of the PHY [Mbps]"

# Published gains: claim, its rates, its label in the figure, and the side of the star.
_ANALYTIC = (
    ("mean_below_100", (15, 90), "8 % on average", "top center"),
    ("at_150", (150, 150), "7 %", "bottom center"),
    ("at_600", (600, 600), "20 %", "top center"),
)
_BOTH = (
    ("at_150", (150, 150), "analytic: 7 %", "middle right"),
    ("figure_12", (150, 150), "simulated: 14 %", "middle right"),
)


def figure_1(curves: Curves, measured: Measured) -> go.Figure:
    """Draws goodput over the rate of the PHY, of the model and of the simulation.

    The simulation has no collisions.
    """
    figure = make_subplots(rows=1, cols=2, horizontal_spacing=0.08, subplot_titles=list(_PANELS.values()))
    for column, standard in enumerate(_PANELS, start=1):
        for protocol, ink in _INK.items():
            model = {rate.mbps: of[protocol].goodput for rate, of in curves.items() if rate.standard == standard}
            cells = {rate.mbps: pair[protocol].interval for rate, pair in measured.free.items() if rate.standard == standard}
            _line(figure, model, f"{protocol}, model", ink, column)
            _dots(figure, cells, f"{protocol}, simulated", ink, column)
    figure.update_xaxes(title_text=_RATE, rangemode="tozero")
    figure.update_yaxes(rangemode="tozero")
    figure.update_yaxes(title_text="goodput [Mbps]", col=1)
    return _finish(figure, 470)


def gains(curves: Curves, measured: Measured, findings: Sequence[Finding]) -> go.Figure:
    """Draws the gain of TCP/HACK over the rate of the PHY. Stars are published values."""
    figure = make_subplots(rows=1, cols=2, horizontal_spacing=0.06, shared_yaxes=True, subplot_titles=list(_PANELS.values()))
    for column, standard in enumerate(_PANELS, start=1):
        model = {rate.mbps: gain(of) for rate, of in curves.items() if rate.standard == standard}
        _line(figure, model, "model", _GAIN, column)
        cells = {rate.mbps: pair.gain for rate, pair in measured.free.items() if rate.standard == standard}
        _dots(figure, cells, "simulated without collisions", _GAIN, column)
        _logarithmic(figure, standard, column)
    _published(figure, findings, _ANALYTIC, 2)
    figure.update_yaxes(ticksuffix=" %", range=[0, 25])
    figure.update_yaxes(title_text="gain of TCP/HACK", col=1)
    return _finish(figure, 400)


def figure_12(curves: Curves, measured: Measured, findings: Sequence[Finding]) -> go.Figure:
    """Draws goodput and gain of downloads with collisions and losses, and of the model."""
    figure = make_subplots(rows=1, cols=2, horizontal_spacing=0.1, subplot_titles=["goodput", "gain of TCP/HACK"])
    shown = {rate: curves[rate] for rate in measured.figure_12[WAITING]}
    for protocol, ink in _INK.items():
        _line(figure, {rate.mbps: of[protocol].goodput for rate, of in shown.items()}, f"{protocol}, model", ink, 1)
        cells = {rate.mbps: pair[protocol].interval for rate, pair in measured.figure_12[WAITING].items()}
        _dots(figure, cells, f"{protocol}, simulated", ink, 1)
    _line(figure, {rate.mbps: gain(of) for rate, of in shown.items()}, "gain, model", _GAIN, 2)
    for queue, symbol in ((WAITING, "circle"), (IN_ALL, "circle-open")):
        cells = {rate.mbps: pair.gain for rate, pair in measured.figure_12[queue].items()}
        _dots(figure, cells, f"gain, {queue}", _GAIN, 2, symbol)
    _logarithmic(figure, N, 2)
    _published(figure, findings, _BOTH, 2)
    # Leaves space for the labels of the stars.
    figure.update_xaxes(range=[math.log10(13), math.log10(340)], col=2)
    figure.update_xaxes(title_text=_RATE, rangemode="tozero", col=1)
    figure.update_yaxes(title_text="goodput [Mbps]", rangemode="tozero", col=1)
    figure.update_yaxes(ticksuffix=" %", range=[0, 21], col=2)
    return _finish(figure, 500, top=126)


def queues(curves: Curves, measured: Measured) -> go.Figure:
    """Returns the gain by the length of the access point's queue; lines are the model."""
    figure = go.Figure()
    for rate, ink in ((AT_150, COLOURS[4]), (AT_600, COLOURS[6])):
        pairs = measured.queues[rate]
        figure.add_scatter(
            x=list(pairs), y=[pair.gain.mean for pair in pairs.values()], mode="lines+markers", name=f"{rate.mbps} Mbps",
            line={"color": ink, "width": 1.4}, marker={"size": 7},
            error_y=error_bars(half_widths(pair.gain for pair in pairs.values())),
            customdata=[[pair[protocol].interval.mean for protocol in (STOCK, HACK)] for pair in pairs.values()],
            hovertemplate="%{x} packets: %{y:.1f} %, %{customdata[0]:.1f} → %{customdata[1]:.1f} Mbps",
        )  # fmt: skip
        figure.add_hline(gain(curves[rate]), line={"color": ink, "width": 1.2, "dash": "dash"})
    figure.update_xaxes(
        title_text="limit of the queue, including packets on the air [packets]", tickvals=list(measured.queues[AT_150])
    )
    figure.update_yaxes(title_text="gain of TCP/HACK", ticksuffix=" %")
    return finish(figure, 360)


def gain(of: Mapping[str, Download]) -> float:
    """Returns the gain of TCP/HACK in the model [%]."""
    return 100 * (of[HACK].goodput / of[STOCK].goodput - 1)


_PARTS = (
    ("payload", COLOURS[0]),
    ("headers, preamble", COLOURS[3]),
    ("access for data", "#B4BAC4"),
    ("response frames to data", COLOURS[2]),
    ("compressed ACKs on them", COLOURS[5]),
    ("access for ACKs", COLOURS[7]),
    ("ACKs and their response frames", COLOURS[1]),
)


def spent(curves: Curves, chosen: Sequence[Rate]) -> go.Figure:
    """Draws the uses of the time in the model, for the same payload.

    Time is relative to that of stock TCP [%].
    """
    names, parts, times = [], [], []
    for rate in reversed(chosen):
        whole = curves[rate][STOCK].total
        for protocol in (HACK, STOCK):
            download = curves[rate][protocol]
            names.append(f"{rate.standard}, {rate.mbps} Mbps: {protocol}")
            parts.append([100 * time / whole for time in _parts(download)])
            times.append([time / 1000 for time in _parts(download)])
    figure = go.Figure()
    for index, (title, ink) in enumerate(_PARTS):
        figure.add_bar(
            y=names, x=[part[index] for part in parts], name=title, orientation="h", marker={"color": ink},
            customdata=[[time[index], sum(time)] for time in times], hovertemplate="%{customdata[0]:.1f} of %{customdata[1]:.1f} µs",
        )  # fmt: skip
    figure.update_layout(barmode="stack", bargap=0.3, legend={"traceorder": "normal"})
    figure.update_xaxes(title_text="time for the same payload, stock = 100 %", ticksuffix=" %", range=[0, 101])
    figure.update_yaxes(showgrid=False)
    return finish(figure, 140 + 26 * len(names))


def _parts(download: Download) -> tuple[int, ...]:
    data, acks = download.data, download.acks
    return (
        sum(one.payload for one in data),
        sum(one.preamble + one.headers for one in data),
        sum(one.aifs + one.backoff for one in data),
        sum(one.sifs + one.response for one in data) - download.appended,
        download.appended,
        sum(one.aifs + one.backoff for one in acks),
        sum(one.data + one.sifs + one.response for one in acks),
    )


def _line(figure: go.Figure, model: Mapping[int, float], name: str, ink: str, column: int) -> None:
    figure.add_scatter(
        x=list(model), y=list(model.values()), mode="lines", name=name, legendgroup=name, showlegend=_is_new(figure, name),
        line={"color": ink, "width": 1.6}, hovertemplate="%{x} Mbps: %{y:.2f}", row=1, col=column,
    )  # fmt: skip


def _dots(figure: go.Figure, cells: Mapping[int, Interval], name: str, ink: str, column: int, symbol: str = "circle") -> None:
    figure.add_scatter(
        x=list(cells), y=[one.mean for one in cells.values()], mode="markers", name=name, legendgroup=name, showlegend=_is_new(figure, name),
        marker={"color": ink, "size": 7, "symbol": symbol},
        error_y=error_bars(half_widths(cells.values()), ink),
        customdata=[[one.half_width] for one in cells.values()], hovertemplate="%{x} Mbps: %{y:.2f} ± %{customdata[0]:.2f}", row=1, col=column,
    )  # fmt: skip


def _is_new(figure: go.Figure, name: str) -> bool:
    return all(trace.name != name for trace in figure.data)


def _published(
    figure: go.Figure,
    findings: Sequence[Finding],
    marks: Sequence[tuple[str, tuple[int, int], str, str]],
    column: int,
) -> None:
    """Adds stars, and for a published mean a line over its rates."""
    published = {finding.id.rpartition(".")[2]: finding.published for finding in findings}
    shown = [(published[claim], rates, label, side) for claim, rates, label, side in marks if claim in published]
    for value, (low, high), *_ in shown:
        figure.add_scatter(
            x=[low, high], y=[value, value], mode="lines", line={"color": OPTIMUM, "width": 1.4, "dash": "dot"}, showlegend=False,
            hoverinfo="skip", row=1, col=column,
        )  # fmt: skip
    figure.add_scatter(
        x=[(low * high) ** 0.5 for _, (low, high), *_ in shown], y=[value for value, *_ in shown], mode="markers+text",
        text=[label for _, _, label, _ in shown], textposition=[side for *_, side in shown], textfont={"size": 11, "color": OPTIMUM}, name="published",
        marker={"symbol": "star", "size": 12, "color": OPTIMUM}, hovertemplate="%{text}<extra>published</extra>", row=1, col=column,
    )  # fmt: skip


def _logarithmic(figure: go.Figure, standard: str, column: int) -> None:
    figure.update_xaxes(type="log", title_text=_RATE, tickvals=_TICKS[standard], tickangle=0, row=1, col=column)


def _finish(figure: go.Figure, height: int, top: int = 96) -> go.Figure:
    figure.update_layout(legend={"y": 1.08}, margin={"t": top})
    return finish(figure, height)
