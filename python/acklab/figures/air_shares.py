"""Shares of airtime by use."""

from collections.abc import Mapping

import plotly.graph_objects as go

from acklab.figures.theme import COLOURS, MUTED, finish

# Uses of the air in the order of a bar, with their names in the figure.
_USES = (
    ("data", "data", COLOURS[0]),
    ("transport_ack", "TCP ACKs", COLOURS[1]),
    ("link_ack", "link-layer ACKs", COLOURS[2]),
    ("compressed_ack", "compressed ACKs on them", COLOURS[4]),
    ("interframe_space", "interframe spaces", COLOURS[5]),
    ("backoff", "backoff", "#B4BAC4"),
    ("collision", "collisions", COLOURS[3]),
    ("lost", "frames lost for another reason", COLOURS[6]),
    ("idle", "idle", MUTED),
)


def air_shares(shares: Mapping[str, Mapping[str, float]]) -> go.Figure:
    """Draws a bar per name: shares of the airtime by use, as in the table `airtime`."""
    names = list(shares)[::-1]
    figure = go.Figure()
    for use, title, ink in _USES:
        parts = [100 * shares[name].get(use, 0.0) for name in names]
        if any(parts):
            figure.add_bar(y=names, x=parts, name=title, orientation="h", marker={"color": ink}, hovertemplate="%{x:.2f} %")
    figure.update_layout(barmode="stack", bargap=0.35, legend={"traceorder": "normal"}, margin={"r": 32})
    figure.update_xaxes(title_text="Share of the time", ticksuffix=" %", range=[0, 100])
    figure.update_yaxes(showgrid=False)
    return finish(figure, 150 + 44 * len(names))
