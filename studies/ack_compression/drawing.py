"""Figures of this study."""

import plotly.graph_objects as go
import polars as pl
from plotly.subplots import make_subplots

from acklab.figures.error_bars import error_bars, half_widths
from acklab.figures.path import Optimum
from acklab.figures.theme import FROM_ZERO, MUTED, OPTIMUM, colour, finish, legend_below
from acklab.statistics import intervals


def planes(frame: pl.DataFrame, best: Optimum, preset: str = "linux") -> go.Figure:
    """Draws throughput over smoothed RTT of each controller, with a panel for each gate.

    Up and to the left is better.
    """
    own = frame.filter(pl.col("preset_") == preset)
    gates = own["gate"].unique(maintain_order=True).to_list()
    columns = min(len(gates), 4)
    rows = -(-len(gates) // columns)
    figure = make_subplots(
        rows=rows, cols=columns, shared_yaxes=True, horizontal_spacing=0.02, vertical_spacing=0.1, subplot_titles=gates,
    )  # fmt: skip
    for place, gate in enumerate(gates):
        where = {"row": place // columns + 1, "col": place % columns + 1}
        part = own.filter(pl.col("gate") == gate)
        throughput, srtt = (intervals(part, ["controller"], metric) for metric in ("mean_throughput_l4", "mean_srtt_l4"))
        for index, controller in enumerate(throughput["controller"]):
            x, y = srtt.slice(index, 1), throughput.slice(index, 1)
            ink = colour(index)
            figure.add_scatter(
                x=x["mean"], y=y["mean"], name=controller, legendgroup=controller, showlegend=place == 0, mode="markers",
                marker={"size": 9, "color": ink}, error_x=error_bars(half_widths(x), ink), error_y=error_bars(half_widths(y), ink),
                hovertemplate=f"<b>{controller}</b><br>%{{x:.1f}} ms · %{{y:.2f}} Mbps<extra>{gate}</extra>", **where,
            )  # fmt: skip
        figure.add_scatter(
            x=[best.rtt], y=[best.throughput], name="optimum", legendgroup="optimum", showlegend=place == 0, mode="markers",
            marker={"symbol": "star", "size": 14, "color": OPTIMUM}, hovertemplate="%{x:.1f} ms · %{y:.2f} Mbps<extra>optimum</extra>", **where,
        )  # fmt: skip
        figure.add_hline(best.throughput, line={"dash": "dot", "color": MUTED, "width": 1}, **where)
        figure.add_vline(best.rtt, line={"dash": "dot", "color": MUTED, "width": 1}, **where)
    figure.update_xaxes(FROM_ZERO)
    figure.update_yaxes(FROM_ZERO)
    figure.update_xaxes(title_text="mean sRTT [ms]", row=rows)
    figure.update_yaxes(title_text="mean throughput [Mbps]", col=1)
    return legend_below(finish(figure, 120 + 300 * rows))
