"""Time–sequence graphs of captured connections, in the style of tcptrace."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import plotly.graph_objects as go

from acklab.figures.theme import COLOURS, MUTED, faded, finish, legend_below


@dataclass(frozen=True)
class Axis:
    """Names of a protocol's byte numbers and of the units that carry them."""

    quantity: str
    packet: str


SEQUENCE = Axis("Sequence number", "segment")
"""Axis of TCP."""

Numbers = npt.NDArray[np.float64]

_UNITS = ((1e6, "MB"), (1e3, "kB"), (1.0, "B"))
_BARS: Mapping[str, tuple[str, str, dict[str, Any] | None]] = {
    "data": ("", COLOURS[0], None),
    "retransmitted": ("retransmitted", COLOURS[1], {"symbol": "x-thin", "size": 7}),
    "reordered": ("reordered", COLOURS[4], {"symbol": "diamond-open", "size": 7}),
}
"""Kinds of data: names, colours, and marks for bars that are too short."""
_ACKED = COLOURS[2]
_SACKED = COLOURS[6]
_ROOM = 0.04
"""Margin above and below the first view."""
_EDGE = 1.5
"""Maximum height of the receive window's edge in the first view, relative to the data. Chosen."""
_HEIGHT = 560


def time_sequence(
    curves: Mapping[str, Any], title: str, axis: Axis = SEQUENCE, span: tuple[float, float] | None = None
) -> go.Figure:
    """Draws the bytes of one direction of a connection over the time of their packets.

    A segment is a bar from its first to its last byte. ACKs and the right edge of the receive
    window are steps. SACK blocks are bars above them. `curves` are those of `acklab.inspection`:
    for long transfers, only some windows contain all packets, and lines show the course between
    these windows. `span` limits the figure to a span of time and its surroundings.
    """
    windows = [_Window(window) for window in curves["windows"]]
    overview = _Overview(curves["overview"]) if curves["overview"] else None
    if span is not None:
        around = (2 * span[0] - span[1], 2 * span[1] - span[0])
        windows = [part for window in windows if (part := window.within(around)) is not None]
        overview = None
    view = _view(windows, overview, span)
    unit, name = next(((unit, name) for unit, name in _UNITS if view[1] - view[0] >= unit), _UNITS[-1])
    figure = go.Figure()
    if overview is not None:
        _draw_overview(figure, overview, unit, name)
        for window in windows:
            figure.add_vrect(*window.times, fillcolor=MUTED, opacity=0.12, line_width=0, layer="below")
    _draw_windows(figure, windows, overview is not None, unit, name, axis)
    if span is not None:
        figure.update_xaxes(range=list(span))
    room = _ROOM * (view[1] - view[0])
    figure.update_yaxes(range=[(view[0] - room) / unit, (view[1] + room) / unit], title_text=f"{axis.quantity} [{name}]")
    figure.update_xaxes(title_text="Time [s]")
    figure.update_layout(title={"text": title, "x": 0, "xref": "paper", "y": 0.98, "yanchor": "top", "font": {"size": 16}})
    return legend_below(finish(figure, _HEIGHT))


class _Window:
    """All packets in a span of time, as columns."""

    def __init__(self, window: Mapping[str, Sequence[Sequence[float | None]]]) -> None:
        widths = {"data": 3, "retransmitted": 3, "reordered": 3, "acks": 3, "sacked": 3}
        self.of: dict[str, Numbers] = {
            name: np.array(window[name], dtype=np.float64).reshape(-1, width) for name, width in widths.items()
        }

    def within(self, span: tuple[float, float]) -> "_Window | None":
        """Returns the part within a span of time, or None if the span has no packet."""
        part = object.__new__(_Window)
        part.of = {name: rows[(rows[:, 0] >= span[0]) & (rows[:, 0] <= span[1])] for name, rows in self.of.items()}
        return part if any(len(rows) for rows in part.of.values()) else None

    @property
    def times(self) -> tuple[float, float]:
        """Returns the times of its first and last packet."""
        times = np.concatenate([rows[:, 0] for rows in self.of.values()])
        return float(times.min()), float(times.max())

    @property
    def duplicates(self) -> Numbers:
        """Returns duplicate ACKs while data are outstanding: same number and window.

        Source: RFC 5681, §2.
        """
        acks = self.of["acks"]
        if len(acks) < 2 or not len(self.of["data"]):
            return acks[:0]
        data = self.of["data"]
        place = np.searchsorted(data[:, 0], acks[1:, 0]) - 1
        sent = np.where(place >= 0, np.maximum.accumulate(data[:, 1] + data[:, 2])[np.maximum(place, 0)], 0.0)
        same_edge = (acks[1:, 2] == acks[:-1, 2]) | np.isnan(acks[1:, 2])
        repeats = (acks[1:, 1] == acks[:-1, 1]) & same_edge & (acks[1:, 1] < sent)
        return acks[1:].compress(repeats, axis=0)

    def extent(self, span: tuple[float, float] | None) -> list[float]:
        """Returns the byte range of data and ACKs within a span."""
        part = self if span is None else self.within(span)
        if part is None:
            return []
        data = [part.of[name] for name in _BARS]
        ends = [*(rows[:, 1] for rows in data), *(rows[:, 1] + rows[:, 2] for rows in data), part.of["acks"][:, 1]]
        octets = np.concatenate(ends)
        return [] if not len(octets) else [float(octets.min()), float(octets.max())]


class _Overview:
    """The course of the whole direction, as columns."""

    def __init__(self, points: Sequence[Mapping[str, Any]]) -> None:
        self.at = np.array([point["at"] for point in points])
        self.lines = {
            name: np.array([np.nan if point[name] is None else point[name] for point in points], dtype=np.float64)
            for name in ("sent", "acknowledged", "edge")
        }
        self.extents = {
            name: np.array(
                [(point["at"], *point[name]) for point in points if point[name] is not None], dtype=np.float64
            ).reshape(-1, 3)
            for name in ("retransmitted", "reordered")
        }

    def line(self, name: str) -> tuple[Numbers, Numbers]:
        """Returns times and bytes of a line that has points only at changes."""
        known = ~np.isnan(self.lines[name])
        return self.at[known], self.lines[name][known]


def _view(windows: Sequence[_Window], overview: _Overview | None, span: tuple[float, float] | None) -> tuple[float, float]:
    """Returns the byte range of the first view.

    It covers data and ACKs. It also covers the edge of the receive window if the edge is near the
    data.
    """
    octets = [octet for window in windows for octet in window.extent(span)]
    edges = [window.of["acks"][:, 2] for window in windows]
    if overview is not None:
        octets += [float(octet) for name in ("sent", "acknowledged") for octet in overview.line(name)[1]]
        edges.append(overview.lines["edge"])
    low, high = min(octets, default=0.0), max(octets, default=1.0)
    known = np.concatenate(edges) if edges else np.empty(0)
    known = known[~np.isnan(known)]
    if span is None and len(known) and known.max() <= _EDGE * high:
        high = max(high, float(known.max()))
    return low, max(high, low + 1.0)


def _draw_overview(figure: go.Figure, overview: _Overview, unit: float, name: str) -> None:
    for column, label, style in (
        ("edge", "receive window, right edge", {"color": MUTED, "width": 1}),
        ("sent", "sent", {"color": COLOURS[0], "width": 1}),
        ("acknowledged", "acknowledged", {"color": _ACKED, "width": 1.5}),
    ):
        times, octets = overview.line(column)
        if len(times):
            _steps(figure, times, octets / unit, label, style, name, group=column)
    for kind, rows in overview.extents.items():
        if len(rows):
            label, colour, marks = _BARS[kind]
            _bars(figure, rows, label, colour, marks, unit, name)


def _draw_windows(figure: go.Figure, windows: Sequence[_Window], is_sample: bool, unit: float, name: str, axis: Axis) -> None:
    acks = _apart([window.of["acks"] for window in windows])
    # If the overview draws the line, the overview's line has the entry in the legend.
    if not is_sample and len(acks) and not np.isnan(acks[:, 2]).all():
        _steps(figure, acks[:, 0], acks[:, 2] / unit, "receive window, right edge", {"color": MUTED, "width": 1}, name, "edge")
    if not is_sample:
        # Bars that are shorter than a pixel are not drawn.
        data = _apart([window.of["data"] for window in windows])
        style = {"color": faded(COLOURS[0], 0.5), "width": 1}
        _steps(figure, data[:, 0], (data[:, 1] + data[:, 2]) / unit, axis.packet, style, name, axis.packet, has_legend=False)
    if len(acks):
        style = {"color": _ACKED, "width": 1.5}
        _steps(figure, acks[:, 0], acks[:, 1] / unit, "acknowledged", style, name, "acknowledged", has_legend=not is_sample)
    sacked = np.concatenate([window.of["sacked"] for window in windows]) if windows else np.empty((0, 3))
    if len(sacked):
        _bars(figure, sacked, "SACK block", _SACKED, None, unit, name)
    for kind, (word, colour, marks) in _BARS.items():
        rows = np.concatenate([window.of[kind] for window in windows]) if windows else np.empty((0, 3))
        label = word or axis.packet
        if len(rows) and not (is_sample and kind != "data"):
            _bars(figure, rows, label, colour, marks, unit, name)
    repeated = np.concatenate([window.duplicates for window in windows]) if windows else np.empty((0, 3))
    # In a long transfer these marks would hide the retransmissions that they cause.
    if len(repeated) and not is_sample:
        figure.add_scatter(
            x=repeated[:, 0], y=repeated[:, 1] / unit, name="duplicate ACK", mode="markers",
            marker={"color": _ACKED, "size": 8, "symbol": "line-ns", "line": {"width": 1, "color": _ACKED}},
            hovertemplate=_hover("duplicate ACK", name),
        )  # fmt: skip


def _apart(parts: Sequence[Numbers]) -> Numbers:
    """Returns rows of several windows, separated by empty rows, where lines are interrupted."""
    gap = np.full((1, 3), np.nan)
    return np.concatenate([rows for part in parts for rows in (part, gap)][:-1]) if parts else np.empty((0, 3))


def _steps(
    figure: go.Figure, times: Numbers, octets: Numbers, label: str, style: Mapping[str, Any], unit: str, group: str,
    has_legend: bool = True,
) -> None:  # fmt: skip
    figure.add_scatter(
        x=times, y=octets, name=label, mode="lines", line={"shape": "hv", **style}, hovertemplate=_hover(label, unit),
        legendgroup=group, showlegend=has_legend, connectgaps=False,
    )  # fmt: skip


def _bars(
    figure: go.Figure, rows: Numbers, label: str, colour: str, marks: Mapping[str, Any] | None, unit: float, name: str
) -> None:
    """Draws a vertical bar from the first to the last byte of each row.

    A line with gaps is drawn fast; error bars are slow.
    """
    x = np.repeat(rows[:, 0], 3)
    y = np.full(len(x), np.nan)
    y[0::3] = rows[:, 1] / unit
    y[1::3] = (rows[:, 1] + rows[:, 2]) / unit
    figure.add_scatter(
        x=x, y=y, name=label, mode="lines", line={"color": colour, "width": 2 if marks is None else 2.5},
        hovertemplate=_hover(label, name), legendgroup=label, showlegend=marks is None, connectgaps=False,
    )  # fmt: skip
    if marks is not None:
        # In a figure of many segments, the bar of one segment is too short to be visible.
        figure.add_scatter(
            x=rows[:, 0], y=(rows[:, 1] + rows[:, 2] / 2) / unit, name=label, mode="markers",
            marker={"color": faded(colour, 0.9), "line": {"width": 1.5, "color": colour}, **marks}, legendgroup=label,
            hovertemplate=_hover(label, name),
        )  # fmt: skip


def _hover(label: str, unit: str) -> str:
    return f"{label}<br>%{{x:.6f}} s · %{{y:.6f}} {unit}<extra></extra>"
