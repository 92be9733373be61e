"""Time–sequence plots of captured connections."""

from collections.abc import Sequence

import plotly.graph_objects as go

from acklab.figures.theme import COLOURS, finish


def time_sequence(
    data: Sequence[tuple[float, int, int]],
    repeated: Sequence[tuple[float, int, int]],
    acks: Sequence[tuple[float, int]],
    window: tuple[float, float] | None = None,
) -> go.Figure:
    """Octets over the time [s] at which they passed: new data, retransmitted or reordered data, acknowledgments.

    Points of data are (time, first octet, octets), those of ACKs (time, octets acknowledged), as `acklab.inspection` gives them. `window` is a
    span of time to begin with; the figure can be moved and widened.
    """
    figure = go.Figure()
    for name, points, marker in (
        ("data", data, {"color": COLOURS[0], "size": 4, "symbol": "circle"}),
        ("sent again or late", repeated, {"color": COLOURS[1], "size": 8, "symbol": "x"}),
    ):
        figure.add_scatter(
            x=[point[0] for point in points], y=[(point[1] + point[2]) / 1e6 for point in points], name=name, mode="markers",
            marker=marker, hovertemplate="%{x:.4f} s · %{y:.3f} MB",
        )  # fmt: skip
    figure.add_scatter(
        x=[point[0] for point in acks], y=[point[1] / 1e6 for point in acks], name="acknowledged", mode="markers",
        marker={"color": COLOURS[4], "size": 4, "symbol": "line-ew-open", "line": {"width": 1.5}}, hovertemplate="%{x:.4f} s · %{y:.3f} MB",
    )  # fmt: skip
    if window is not None:
        figure.update_xaxes(range=list(window))
        inside = [(point[1] + point[2]) / 1e6 for point in data if window[0] <= point[0] <= window[1]]
        inside += [point[1] / 1e6 for point in acks if window[0] <= point[0] <= window[1]]
        if inside:
            room = 0.05 * (max(inside) - min(inside) or 0.01)
            figure.update_yaxes(range=[min(inside) - room, max(inside) + room])
    figure.update_xaxes(title_text="time [s]")
    figure.update_yaxes(title_text="octets [MB]")
    return finish(figure, 460)
