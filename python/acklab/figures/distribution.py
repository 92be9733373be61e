"""Empirical distributions."""

import plotly.graph_objects as go
import polars as pl
from plotly.subplots import make_subplots

from acklab.figures.operating_point import drawn_flows
from acklab.figures.theme import finish, legend_below, style_of, thin
from acklab.result import Result
from acklab.statistics import ecdf


def distribution(result: Result) -> go.Figure:
    """Draws the distributions of throughput [Mbps] per time bin and of smoothed RTT [ms] per ACK.

    Requires the series `operating_point` and `throughput`.
    """
    figure = make_subplots(rows=1, cols=2, shared_yaxes=True, horizontal_spacing=0.05)
    for index, flow in enumerate(drawn_flows(result)):
        for column, frame, name, unit in (
            (1, result.throughput, "throughput", "Mbps"),
            (2, result.operating_point, "srtt", "ms"),
        ):
            x, y = thin(*ecdf(frame.filter(pl.col("flow") == flow)[name].to_list()))
            figure.add_scatter(
                x=x, y=y, name=flow, legendgroup=flow, showlegend=column == 1, mode="lines",
                line={"shape": "hv", "width": 2, **style_of(index)},
                hovertemplate=f"%{{y:.0%}} ≤ %{{x:.2f}} {unit}", row=1, col=column,
            )  # fmt: skip
    figure.update_yaxes(range=[0, 1.02], tickformat=".0%")
    figure.update_yaxes(title_text="share", row=1, col=1)
    figure.update_xaxes(title_text="throughput [Mbps]", row=1, col=1)
    figure.update_xaxes(title_text="sRTT [ms]", row=1, col=2)
    figure.update_layout(showlegend=True)
    return legend_below(finish(figure, 400))
