"""Limiting factors of flows."""

import plotly.graph_objects as go
import polars as pl

from acklab.figures.theme import COLOURS, MUTED, finish, legend_below
from acklab.result import Result

_FACTORS = (
    ("share_application_limited_l4", "application", MUTED),
    ("share_send_buffer_limited_l4", "send buffer", COLOURS[3]),
    ("share_receive_window_limited_l4", "receive window", COLOURS[4]),
    ("share_window_limited_l4", "congestion window", COLOURS[0]),
    ("share_pacing_limited_l4", "pacing", COLOURS[5]),
)


def limits(result: Result, limit: int = 24) -> go.Figure | None:
    """Draws a bar per flow: the shares of time of each limiting factor.

    The conclusion is beside the name.

    At most `limit` flows are drawn. Returns None if no sender reports its limits.
    """
    flows = result.flows
    factors = [factor for factor in _FACTORS if factor[0] in flows.columns]
    if not factors:
        return None
    flows = flows.filter(pl.any_horizontal(pl.col(column).is_not_null() for column, _, _ in factors)).head(limit)
    if flows.is_empty():
        return None
    names = [f"{row['flow']}: {row['limited_by']}" for row in flows.iter_rows(named=True)][::-1]
    figure = go.Figure()
    for column, title, ink in factors:
        shares = [100 * (share or 0.0) for share in flows[column]][::-1]
        if any(shares):
            figure.add_bar(y=names, x=shares, name=title, orientation="h", marker={"color": ink}, hovertemplate="%{x:.1f} %")
    figure.update_layout(barmode="stack", bargap=0.35, legend={"traceorder": "normal"}, margin={"r": 32}, showlegend=True)
    figure.update_xaxes(title_text="Share of the time", ticksuffix=" %", range=[0, 100])
    figure.update_yaxes(showgrid=False, type="category")
    return legend_below(finish(figure, 170 + 34 * len(names)))
