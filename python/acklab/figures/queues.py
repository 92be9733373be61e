"""Queues over time."""

import plotly.graph_objects as go
import polars as pl

from acklab.figures.theme import finish, legend_below, style_of, thin
from acklab.result import Result


def queues(result: Result, limit: int = 12) -> go.Figure | None:
    """Draws the length [packets] of each queue over time.

    Returns None if the series `queue` was not recorded or no packet ever waited.

    At most `limit` queues are drawn, the longest ones.
    """
    if "queue" not in result.tables:
        return None
    longest = result.queue.group_by("link").agg(pl.col("length").max()).filter(pl.col("length") > 0)
    shown = longest.sort("length", "link", descending=[True, False]).head(limit)["link"].to_list()
    if not shown:
        return None
    figure = go.Figure()
    for order, link in enumerate(shown):
        own = result.queue.filter(pl.col("link") == link)
        x, y = thin(own["time"].to_numpy(), own["length"].cast(pl.Float64).to_numpy())
        figure.add_scatter(
            x=x, y=y, name=link, mode="lines", line={"width": 1.4, "shape": "hv", **style_of(order)},
            hovertemplate="%{x:.3f} s · %{y:.0f} packets",
        )  # fmt: skip
    figure.update_layout(showlegend=True)
    figure.update_xaxes(title_text="time [s]")
    figure.update_yaxes(title_text="Queue length [packets]", rangemode="tozero")
    return legend_below(finish(figure, 400))
