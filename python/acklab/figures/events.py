"""Events of endpoints over time."""

import plotly.graph_objects as go
import polars as pl

from acklab.figures.theme import finish, legend_below, symbol_of
from acklab.result import Result

_MAX_EVENTS = 4000
"""Maximum number of drawn events of one kind."""


def events(result: Result) -> go.Figure | None:
    """Draws a mark for each event inside an endpoint, such as a timeout or the start of a recovery.

    The time [s] is the horizontal axis, and each flow has a row.

    Returns None if the series `events` was not recorded or is empty.
    """
    if "events" not in result.tables or result.events.is_empty():
        return None
    rows = result.events
    flows = rows["flow"].unique(maintain_order=True).to_list()
    figure = go.Figure()
    for order, kind in enumerate(rows["event"].unique(maintain_order=True)):
        own = rows.filter(pl.col("event") == kind)
        own = own.gather_every(own.height // _MAX_EVENTS + 1)
        figure.add_scatter(
            x=own["time"], y=own["flow"], name=kind.replace("_", " "), mode="markers", marker={"size": 9, **symbol_of(order)},
            customdata=own["detail"], hovertemplate="%{x:.4f} s · %{customdata}",
        )  # fmt: skip
    figure.update_layout(showlegend=True)
    figure.update_xaxes(title_text="time [s]")
    figure.update_yaxes(type="category", categoryorder="array", categoryarray=flows[::-1])
    return legend_below(finish(figure, 220 + 34 * len(flows)))
