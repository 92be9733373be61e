"""The timeline of a cell's medium: sender, type, time and outcome of each PPDU."""

import plotly.graph_objects as go
import polars as pl

from acklab.figures.theme import COLOURS, MUTED, finish

_KINDS = {
    "data": ("data", COLOURS[0]),
    "tcp_ack": ("TCP ACK", COLOURS[4]),
    "ack": ("ACK", COLOURS[2]),
    "augmented_ack": ("ACK with TCP ACKs", COLOURS[1]),
    "block_ack": ("Block ACK", COLOURS[6]),
    "augmented_block_ack": ("Block ACK with TCP ACKs", COLOURS[1]),
    "block_ack_request": ("Block ACK request", COLOURS[3]),
    "rts": ("RTS", COLOURS[7]),
    "cts": ("CTS", COLOURS[5]),
}
_FAILED = "#D7263D"
_FATES = {"collided": ("collided", "/"), "lost": ("lost", "")}
_CARRIES = ("data", "tcp_ack")
_SEEN_AT_FIRST = 40
"""Number of frames in the first view: their gaps stay visible on a page."""


def air_timeline(air: pl.DataFrame, window: tuple[float, float] | None = None, at_most: int = 4000) -> go.Figure:
    """Draws each PPDU as a bar in the lane of its sender.

    The gaps are interframe spaces and backoff.

    `air` is the table of that name. The first view shows `window`, a span of time in seconds
    (default: the first few PPDUs). Drag in the view to zoom, drag the axis to move, and
    double-click to see all drawn PPDUs. At most `at_most` PPDUs are drawn, a quarter of them before
    the window. Bars with a red edge failed: hatched bars collided; bars without hatching were lost
    for another reason.
    """
    frames = air.sort("time")
    before = 0 if window is None else frames.filter(pl.col("time") + pl.col("duration") / 1e6 < window[0]).height
    first = max(min(before - at_most // 4, frames.height - at_most), 0)
    shown = frames.slice(first, at_most)
    figure = go.Figure()
    for kind in [*_KINDS, *sorted(set(shown["kind"]) - set(_KINDS))]:
        rows = shown.filter(pl.col("kind") == kind)
        if rows.height:
            figure.add_trace(_bars(kind, rows))
    for fate, (label, hatch) in _FATES.items():
        if (shown["fate"] == fate).any():
            figure.add_trace(_key(label, hatch))
    lanes = shown["node"].unique(maintain_order=True).to_list()
    figure.update_yaxes(
        categoryorder="array", categoryarray=lanes[::-1], fixedrange=True, showgrid=False, range=[-0.6, len(lanes) - 0.4]
    )
    figure.update_xaxes(title_text="time [ms]", range=_view(shown, window), exponentformat="none")
    figure.update_layout(barmode="overlay", dragmode="zoom")
    if shown.height < frames.height:
        figure.add_annotation(
            text=f"PPDUs {first + 1} to {first + shown.height} of {frames.height}", showarrow=False, xref="paper", yref="paper",
            x=1, y=1, xanchor="right", yanchor="bottom", font={"size": 11, "color": MUTED},
        )  # fmt: skip
    return finish(figure, min(180 + 54 * len(lanes), 900))


def around_first_collision(air: pl.DataFrame, seconds: float = 0.01) -> tuple[float, float] | None:
    """Returns a span of time around the first collision, or None if there is none."""
    first = air.filter(pl.col("fate") == "collided")["time"].min()
    if not isinstance(first, float):
        return None
    start = max(first - seconds / 3, 0.0)
    return start, start + seconds


def _bars(kind: str, rows: pl.DataFrame) -> go.Bar:
    label, colour = _KINDS.get(kind, (kind, MUTED))
    failed = rows["fate"].is_in(list(_FATES))
    details = rows.select("to", "duration", "mpdus", "octets", "mode", "fate", pl.col("time") * 1e3)
    return go.Bar(
        orientation="h",
        y=rows["node"].to_list(),
        base=(rows["time"] * 1e3).to_list(),
        x=(rows["duration"] / 1e3).to_list(),
        width=0.72 if kind in _CARRIES else 0.44,
        name=label,
        marker={
            "color": colour,
            "line": {"color": [_FAILED if one else colour for one in failed], "width": [1.6 if one else 0 for one in failed]},
            "pattern": {
                "shape": [_FATES.get(fate, ("", ""))[1] for fate in rows["fate"]],
                "fillmode": "replace",
                "size": 6,
                "solidity": 0.35,
            },
        },
        customdata=details.rows(),
        hovertemplate=(
            f"<b>{label}</b> to %{{customdata[0]}}, %{{customdata[5]}}<br>"
            "at %{customdata[6]:.4f} ms for %{customdata[1]:.1f} µs<br>"
            "%{customdata[2]} MPDU, %{customdata[3]} bytes<br>%{customdata[4]}<extra>%{y}</extra>"
        ),
    )


def _key(label: str, hatch: str) -> go.Bar:
    """Returns an entry of the legend, without a bar."""
    pattern = {"shape": hatch, "fillmode": "replace", "size": 6, "solidity": 0.35}
    marker = {"color": MUTED, "line": {"color": _FAILED, "width": 1.6}, "pattern": pattern}
    return go.Bar(orientation="h", y=[None], x=[None], name=label, marker=marker, hoverinfo="skip")


def _view(shown: pl.DataFrame, window: tuple[float, float] | None) -> list[float] | None:
    """Returns the first view in ms."""
    if window is not None:
        return [1e3 * window[0], 1e3 * window[1]]
    first = shown.head(_SEEN_AT_FIRST).select(start=pl.col("time") * 1e3, end=pl.col("time") * 1e3 + pl.col("duration") / 1e3)
    start, end = first["start"].min(), first["end"].max()
    if not isinstance(start, float) or not isinstance(end, float):
        return None
    margin = 0.02 * (end - start)
    return [start - margin, end + margin]
