"""Events of endpoints over time."""

import plotly.graph_objects as go
import polars as pl

from acklab.figures.theme import finish, legend_below, symbol_of
from acklab.result import Result

_MOST = 4000
"""Events of one kind that are drawn."""


def events(result: Result) -> go.Figure | None:
    """A mark for each event inside an endpoint, such as a timeout or the beginning of a recovery: over time [s], in the row of its flow.

    None if the series `events` was not recorded or nothing happened.
    """
    if "events" not in result.tables or result.events.is_empty():
        return None
    rows = result.events
    flows = rows["flow"].unique(maintain_order=True).to_list()
    figure = go.Figure()
    for order, kind in enumerate(rows["event"].unique(maintain_order=True)):
        own = rows.filter(pl.col("event") == kind)
        own = own.gather_every(own.height // _MOST + 1)
        figure.add_scatter(
            x=own["time"], y=own["flow"], name=kind.replace("_", " "), mode="markers", marker={"size": 9, **symbol_of(order)},
            customdata=own["detail"], hovertemplate="%{x:.4f} s · %{customdata}",
        )  # fmt: skip
    figure.update_layout(showlegend=True)
    figure.update_xaxes(title_text="time [s]")
    figure.update_yaxes(type="category", categoryorder="array", categoryarray=flows[::-1])
    return legend_below(finish(figure, 220 + 34 * len(flows)))
