"""Figures of the study."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import plotly.graph_objects as go
from plotly.subplots import make_subplots

from acklab.figures.error_bars import error_bars
from acklab.figures.theme import COLOURS, MUTED, OPTIMUM, finish
from acklab.verdict import Finding

from .points import AGGREGATED, SINGLE
from .runs import Candidates, Curves, Held

_INK = {"802.11b": COLOURS[7], "802.11g": COLOURS[4], "802.11a": COLOURS[2], "802.11n": COLOURS[0], "802.11ac": COLOURS[1]}
_DASH = {"long": "dot", "short": "solid", "1": "solid", "2": "dash", "3": "dot", "4": "dashdot"}
_SYMBOL = {"long": "circle-open", "short": "circle", "1": "circle", "2": "square", "3": "triangle-up", "4": "diamond"}
_PANELS = (SINGLE, AGGREGATED)

# Positions of published numbers: claim, panel, rate of the PHY, label, and the side of the star for
# the label, in goodput and in efficiency.
_MARKS = (
    ("tack_b", SINGLE, 11, "TACK b: 7", "bottom right", "middle left"),
    ("tack_g", SINGLE, 54, "TACK g: 26", "bottom right", "middle left"),
    ("hack_a", SINGLE, 54, "HACK a: 30.2", "top left", "middle right"),
    ("hack_efficiency", SINGLE, 600, "HACK n: 9 %", "top left", "top right"),
    ("tack_n", AGGREGATED, 300, "TACK n: 210", "bottom right", "middle left"),
    ("tack_ac", AGGREGATED, 866.7, "TACK ac: 590", "bottom right", "bottom left"),
)


@dataclass(frozen=True)
class Mark:
    """A published number in the figures."""

    panel: str
    mbps: float
    goodput: float
    label: str
    side: str
    side_of_share: str


def marks(findings: Sequence[Finding]) -> list[Mark]:
    """Returns the published numbers of the claims."""
    published = {finding.id.rpartition(".")[2]: finding for finding in findings}
    found = []
    for claim, panel, mbps, label, *sides in _MARKS:
        if claim in published:
            number = published[claim].published
            found.append(Mark(panel, mbps, number * mbps / 100 if published[claim].unit == "%" else number, label, *sides))
    return found


def capacity(drawn: Curves, published: Sequence[Mark], *, efficiency: bool = False) -> go.Figure:
    """Draws goodput, or its share of the rate, over the rate of the PHY.

    Shows model, simulation and published numbers.
    """
    figure = make_subplots(rows=1, cols=2, shared_yaxes=True, horizontal_spacing=0.03, subplot_titles=_PANELS)
    named: set[str] = set()
    for column, panel in enumerate(_PANELS, start=1):
        for series in dict.fromkeys(point.series for point in drawn.points if point.panel == panel):
            own = [
                one for one, point in zip(drawn.held, drawn.points, strict=True) if (point.series, point.panel) == (series, panel)
            ]
            _add_series(figure, series, own, efficiency, column, series not in named)
            named.add(series)
        shown = [mark for mark in published if mark.panel == panel]
        figure.add_scatter(
            x=[mark.mbps for mark in shown], y=[100 * mark.goodput / mark.mbps if efficiency else mark.goodput for mark in shown],
            mode="markers+text", text=[mark.label for mark in shown], name="published", legendgroup="published", showlegend=column == 1,
            textposition=[mark.side_of_share if efficiency else mark.side for mark in shown],
            marker={"symbol": "star", "size": 13, "color": OPTIMUM}, textfont={"size": 11, "color": OPTIMUM},
            hovertemplate="%{text}<extra>published</extra>", row=1, col=column,
        )  # fmt: skip
        figure.update_xaxes(
            type="log", title_text="rate of the PHY [Mbps]", tickvals=[1, 3, 10, 30, 100, 300, 1000], tickangle=0,
            range=[-0.2, 3.7] if panel == SINGLE else [1, 3.5], row=1, col=column
        )  # fmt: skip
    if efficiency:
        figure.update_yaxes(range=[0, 100], ticksuffix=" %", row=1)
        figure.update_yaxes(title_text="goodput ÷ rate", row=1, col=1)
    else:
        figure.update_yaxes(type="log", tickvals=[1, 2, 5, 10, 20, 50, 100, 200, 500, 1000], row=1)
        figure.update_yaxes(title_text="goodput [Mbps]", row=1, col=1)
    figure.update_layout(legend={"orientation": "v", "x": 1.01, "y": 1, "yanchor": "top"}, margin={"r": 190})
    return finish(figure, 520)


def _add_series(figure: go.Figure, series: str, held: Sequence[Held], efficiency: bool, column: int, is_new: bool) -> None:
    standard, _, kind = series.partition(", ")
    word = kind.split(" ")[0] or "1"
    ink, rates = _INK[standard], [one.cycle.mbps for one in held]
    scale = [100 / one.cycle.mbps if efficiency else 1.0 for one in held]
    figure.add_scatter(
        x=rates, y=[one.cycle.goodput * factor for one, factor in zip(held, scale, strict=True)], mode="lines", name=series,
        legendgroup=series, showlegend=False, line={"color": ink, "width": 1.4, "dash": _DASH[word]}, hoverinfo="skip", row=1, col=column,
    )  # fmt: skip
    simulated = [(one, one.simulated, factor) for one, factor in zip(held, scale, strict=True) if one.simulated is not None]
    figure.add_scatter(
        x=[one.cycle.mbps for one, _, _ in simulated], y=[interval.mean * factor for _, interval, factor in simulated],
        error_y=error_bars([interval.half_width * factor for _, interval, factor in simulated], ink),
        mode="markers", name=series, legendgroup=series, showlegend=is_new, marker={"color": ink, "size": 6, "symbol": _SYMBOL[word]},
        customdata=[[one.name, one.cycle.goodput, interval.mean, interval.half_width, 100 * one.cycle.efficiency, one.cycle.frames] for one, interval, _ in simulated],
        hovertemplate="<b>%{customdata[0]}</b><br>model %{customdata[1]:.2f} Mbps, %{customdata[4]:.1f} %, %{customdata[5]} frames<br>"
        "simulated %{customdata[2]:.2f} ± %{customdata[3]:.2f} Mbps<extra></extra>",
        row=1, col=column,
    )  # fmt: skip


_PARTS = (
    ("AIFS or DIFS", "aifs", COLOURS[7]),
    ("backoff", "backoff", "#B4BAC4"),
    ("preamble", "preamble", COLOURS[4]),
    ("headers", "headers", COLOURS[3]),
    ("payload", "payload", COLOURS[0]),
    ("SIFS", "sifs", COLOURS[6]),
    ("response frame", "response", COLOURS[2]),
)


def cycles(held: Sequence[tuple[Held, bool]]) -> go.Figure:
    """Draws the parts of a cycle at the fastest rate of each series."""
    fastest: dict[tuple[str, bool], Held] = {}
    for one, is_single in held:
        series = one.name.partition(" MCS ")[0].partition(" at ")[0]
        if (series, is_single) not in fastest or fastest[series, is_single].cycle.mbps < one.cycle.mbps:
            fastest[series, is_single] = one
    shown = list(reversed(fastest.values()))
    names = [
        f"{one.name.removesuffix(' single').removesuffix(' aggregates')}, {one.cycle.mbps:.4g} Mbps, {_count(one)}"
        for one in shown
    ]
    figure = go.Figure()
    for title, part, ink in _PARTS:
        times = [getattr(one.cycle, part) for one in shown]
        figure.add_bar(
            y=names, x=[100 * time / one.cycle.total for time, one in zip(times, shown, strict=True)], name=title, orientation="h",
            marker={"color": ink}, customdata=[[time / 1000, one.cycle.total / 1000] for time, one in zip(times, shown, strict=True)],
            hovertemplate="%{customdata[0]:.1f} of %{customdata[1]:.1f} µs",
        )  # fmt: skip
    figure.update_layout(barmode="stack", bargap=0.3, legend={"traceorder": "normal"})
    figure.update_xaxes(title_text="share of the cycle", ticksuffix=" %", range=[0, 100])
    figure.update_yaxes(showgrid=False)
    return finish(figure, 120 + 24 * len(shown))


def _count(one: Held) -> str:
    return "1 frame" if one.cycle.frames == 1 else f"{one.cycle.frames} frames"


def spaces(
    combined: Mapping[str, Sequence[tuple[str, float]]],
    tried: Sequence[Candidates],
    published: Mapping[str, float],
) -> go.Figure:
    """Draws the goodput of each choice relative to the published goodput, by link."""
    figure = go.Figure()
    links, titles = [*combined][::-1], {one.space.link: one.title for one in tried}
    figure.add_vrect(x0=1, x1=1.024, fillcolor=MUTED, opacity=0.35, line_width=0)
    for index, link in enumerate(links):
        points = sorted(combined[link], key=lambda one: one[1])
        figure.add_scatter(
            x=[goodput / published[link] for _, goodput in points],
            # Spreads dots over the height of a line, so that they do not overlap.
            y=[index - 0.3 + 0.6 * (place * 7 % 19) / 18 for place in range(len(points))],
            mode="markers", marker={"size": 4, "color": COLOURS[0], "opacity": 0.45}, showlegend=index == 0, name="combinations",
            customdata=[[text.replace("; ", "<br>"), goodput] for text, goodput in points], hovertemplate="%{customdata[1]:.2f} Mbps<br>%{customdata[0]}<extra></extra>",
        )  # fmt: skip
        (own,) = (one for one in tried if one.space.link == link)
        figure.add_scatter(
            x=[one.cycle.goodput / published[link] for one in own.held], y=[index] * len(own.held), mode="markers",
            marker={
                "size": [13 if place == 0 else 9 for place in range(len(own.held))], "color": COLOURS[1],
                "symbol": ["star"] + ["circle"] * (len(own.held) - 1), "line": {"width": 1, "color": "white"},
            },
            showlegend=index == 0, name="one choice by itself; star: defaults",
            customdata=[[choice.title, one.cycle.goodput] for choice, one in zip(own.choices, own.held, strict=True)],
            hovertemplate="%{customdata[1]:.2f} Mbps<br>%{customdata[0]}<extra></extra>",
        )  # fmt: skip
    figure.add_vline(1, line={"color": OPTIMUM, "width": 1.4})
    figure.update_xaxes(title_text="goodput ÷ published")
    figure.update_yaxes(
        tickvals=list(range(len(links))),
        ticktext=[f"{titles[link]}<br>published {published[link]:g}" for link in links],
        showgrid=False,
    )
    return finish(figure, 130 + 96 * len(links))


def agreement(held: Sequence[Held]) -> go.Figure:
    """Draws simulation relative to model, by rate of the PHY."""
    figure = go.Figure()
    for title, is_single, ink in ((SINGLE, True, COLOURS[0]), ("aggregates", False, COLOURS[1])):
        own = [(one, one.simulated) for one in held if (one.cycle.frames == 1) == is_single and one.simulated is not None]
        figure.add_scatter(
            x=[one.cycle.goodput for one, _ in own], y=[one.apart for one, _ in own], mode="markers", name=title, marker={"size": 6, "color": ink},
            error_y=error_bars([100 * interval.half_width / one.cycle.goodput for one, interval in own], ink),
            customdata=[[one.name] for one, _ in own], hovertemplate="%{customdata[0]}<br>%{y:+.3f} %<extra></extra>",
        )  # fmt: skip
    for edge in (-0.5, 0.5):
        figure.add_hline(edge, line={"color": MUTED, "width": 1, "dash": "dash"})
    figure.update_xaxes(type="log", title_text="goodput of the model [Mbps]", tickvals=[1, 2, 5, 10, 20, 50, 100, 200, 500, 1000])
    figure.update_yaxes(title_text="simulation − model", ticksuffix=" %", range=[-0.75, 0.75])
    return finish(figure, 380)
