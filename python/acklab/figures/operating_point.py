"""The operating point of flows: data in flight, RTT and throughput."""

from collections.abc import Mapping

import numpy as np
import plotly.graph_objects as go
import polars as pl
from plotly.subplots import make_subplots

from acklab.figures.path import Optimum, optimum
from acklab.figures.theme import MUTED, OPTIMUM, colour, faded, finish, legend_below, style_of, symbol_of, thin
from acklab.result import Result

MAX_MARKS = 24
"""Maximum number of flows with a separate mark and name.

If there are more flows, they are drawn as one cloud, and hovering shows their names.
"""

_MANY = {"size": 6, "color": faded(colour(0), 0.5)}
_STAR = {"symbol": "star", "size": 19, "color": OPTIMUM, "line": {"width": 1, "color": "white"}}


def operating_point(result: Result) -> go.Figure:
    """Draws data in flight [segments], smoothed RTT [ms] and throughput [Mbps] over time.

    Requires the series `operating_point` and `throughput`. Dashed lines mark the optimum. Of many
    flows, those with the highest and the lowest throughput are drawn.
    """
    series, throughput = result.operating_point, result.throughput
    figure = make_subplots(rows=3, cols=1, shared_xaxes=True, vertical_spacing=0.045)
    for index, flow in enumerate(drawn_flows(result)):
        own = series.filter(pl.col("flow") == flow)
        time = own["time"].to_numpy()
        common = {"legendgroup": flow, "line": {"width": 1.4, "shape": "hv", **style_of(index)}, "mode": "lines"}
        for row, column, unit in ((1, "in_flight", "segments"), (2, "srtt", "ms")):
            x, y = thin(time, own[column].cast(pl.Float64).to_numpy())
            hover = f"%{{x:.3f}} s · %{{y:.2f}} {unit}"
            figure.add_scatter(x=x, y=y, name=flow, showlegend=row == 1, hovertemplate=hover, row=row, col=1, **common)
        bins = throughput.filter(pl.col("flow") == flow)
        ends, rates = bins["time"].to_list(), bins["throughput"].to_list()
        first = ends[0] - (ends[1] - ends[0]) if len(ends) > 1 else 0.0
        # The time of a bin is its end, so a step extends to its left.
        line = {"width": 1.8, "shape": "vh", **style_of(index)}
        figure.add_scatter(
            x=[first, *ends], y=[*rates[:1], *rates], name=flow, legendgroup=flow, showlegend=False, mode="lines", line=line,
            hovertemplate="%{x:.3f} s · %{y:.2f} Mbps", row=3, col=1,
        )  # fmt: skip
    best = optimum(result)
    if best is not None:
        for row, value, text in (
            (1, best.in_flight, f"BDP {best.in_flight:.1f}"),
            (2, best.rtt, f"empty path {best.rtt:.4g} ms"),
            (3, best.throughput, f"bottleneck {best.throughput:.4g} Mbps"),
        ):
            _reference(figure, row, value, text)
    for row, title in ((1, "In flight [segments]"), (2, "sRTT [ms]"), (3, "Throughput [Mbps]")):
        figure.update_yaxes(title_text=title, rangemode="tozero", row=row, col=1)
    figure.update_xaxes(title_text="time [s]", row=3, col=1)
    legend_below(finish(figure, 660))
    # The labels of the reference lines are beside the plots, clear of the data.
    figure.update_layout(showlegend=True, margin={"r": 20 if best is None else 136})
    return figure


def drawn_flows(result: Result, limit: int = 16) -> list[str]:
    """Returns the flows that a figure with a line per flow draws, in their order.

    Of many flows, these are those with the highest and the lowest throughput.
    """
    flows = result.flows
    if flows.height <= limit:
        return flows["flow"].to_list()
    ranked = flows.with_row_index("_place").sort("mean_throughput_l4", descending=True, nulls_last=True)
    chosen = pl.concat([ranked.head(limit // 2), ranked.tail(limit // 2)]).sort("_place")
    return chosen["flow"].to_list()


def in_flight_plane(result: Result) -> go.Figure:
    """Draws throughput [Mbps] and smoothed RTT [ms] over data in flight [segments].

    Lines show theory for comparison.

    In theory, throughput grows with the data in flight until the bottleneck is busy; beyond this
    point, only the RTT grows. The star is the optimum, where both curves bend. Each dot is the mean
    of a flow. The square is the sum of all flows at their mean RTT.
    """
    figure = make_subplots(rows=2, cols=1, shared_xaxes=True, vertical_spacing=0.06)
    # A UDP flow has no data in flight.
    flows = result.flows.filter(pl.col("mean_in_flight_l4").is_not_null())
    best = optimum(result)
    if best is not None:
        _theory(figure, best, float(flows["mean_in_flight_l4"].sum() or 0))
    if flows.height <= MAX_MARKS:
        for index, flow in enumerate(flows.iter_rows(named=True)):
            _mean_point(figure, flow["flow"], index, flow["mean_in_flight_l4"], flow["mean_throughput_l4"], flow["mean_srtt_l4"])
    else:
        for row, column, unit in ((1, "mean_throughput_l4", "Mbps"), (2, "mean_srtt_l4", "ms")):
            figure.add_scatter(
                x=flows["mean_in_flight_l4"], y=flows[column], name="flows", legendgroup="flows", mode="markers", showlegend=row == 1, marker=_MANY, text=flows["flow"],
                hovertemplate=f"%{{text}}: %{{x:.2f}} segments · %{{y:.2f}} {unit}", row=row, col=1,
            )  # fmt: skip
    if flows.height > 1:
        x = flows["mean_in_flight_l4"].sum()
        marker = {"symbol": "square", "size": 11, "color": MUTED}
        for row, y in ((1, flows["mean_throughput_l4"].sum()), (2, flows["mean_srtt_l4"].mean())):
            figure.add_scatter(x=[x], y=[y], name="joint", mode="markers", marker=marker, showlegend=row == 1, row=row, col=1)
    figure.update_yaxes(title_text="throughput [Mbps]", rangemode="tozero", row=1, col=1)
    figure.update_yaxes(title_text="sRTT [ms]", rangemode="tozero", row=2, col=1)
    figure.update_xaxes(title_text="In flight [segments]", rangemode="tozero", row=2, col=1)
    return legend_below(finish(figure, 560))


def mean_plane(result: Result) -> go.Figure:
    """Draws mean throughput [Mbps] of each flow over its mean smoothed RTT [ms].

    Up and left is better; the star is the optimum.
    """
    figure = go.Figure()
    flows, best = result.flows.filter(pl.col("mean_srtt_l4").is_not_null()), optimum(result)
    if flows.height <= MAX_MARKS:
        for index, flow in enumerate(flows.iter_rows(named=True)):
            name = f"{flow['flow']} ({flow['cca']})" if flow["cca"] else flow["flow"]
            figure.add_scatter(
                x=[flow["mean_srtt_l4"]], y=[flow["mean_throughput_l4"]], name=name, mode="markers",
                marker={"size": 13, **symbol_of(index)}, hovertemplate="%{x:.2f} ms · %{y:.2f} Mbps",
            )  # fmt: skip
    else:
        figure.add_scatter(
            x=flows["mean_srtt_l4"], y=flows["mean_throughput_l4"], name="flows", mode="markers", marker=_MANY, text=flows["flow"],
            hovertemplate="%{text}: %{x:.2f} ms · %{y:.2f} Mbps",
        )  # fmt: skip
    if best is not None:
        figure.add_scatter(
            x=[best.rtt], y=[best.throughput], name="optimum", mode="markers", marker=_STAR,
            hovertemplate="%{x:.2f} ms · %{y:.2f} Mbps",
        )  # fmt: skip
        figure.add_hline(best.throughput, line={"dash": "dot", "color": MUTED, "width": 1})
        figure.add_vline(best.rtt, line={"dash": "dot", "color": MUTED, "width": 1})
    figure.update_xaxes(title_text="Mean sRTT [ms]", rangemode="tozero")
    figure.update_yaxes(title_text="Mean throughput [Mbps]", rangemode="tozero")
    return legend_below(finish(figure, 440).update_layout(showlegend=True))


def runs_plane(results: Mapping[str, Result]) -> go.Figure:
    """Draws mean throughput [Mbps] over mean smoothed RTT [ms] of flows in several runs.

    Each run has a colour, and each flow a symbol.
    """
    figure = go.Figure()
    for index, (label, result) in enumerate(results.items()):
        flows = result.flows.filter(pl.col("mean_srtt_l4").is_not_null())
        symbols = [symbol_of(place)["symbol"] for place in range(flows.height)]
        figure.add_scatter(
            x=flows["mean_srtt_l4"], y=flows["mean_throughput_l4"], name=label, mode="markers", text=flows["flow"],
            marker={"size": 12, "color": colour(index), "symbol": symbols}, hovertemplate="%{text}: %{x:.2f} ms · %{y:.2f} Mbps",
        )  # fmt: skip
    figure.update_xaxes(title_text="Mean sRTT [ms]", rangemode="tozero")
    figure.update_yaxes(title_text="Mean throughput [Mbps]", rangemode="tozero")
    return legend_below(finish(figure, 440).update_layout(showlegend=True))


def _reference(figure: go.Figure, row: int, value: float, text: str) -> None:
    figure.add_hline(
        value, row=row, col=1, line={"dash": "dash", "color": MUTED, "width": 1}, annotation_text=text,
        annotation_position="right", annotation_font={"size": 11, "color": MUTED},
    )  # fmt: skip


def _theory(figure: go.Figure, best: Optimum, reached: float) -> None:
    x = np.linspace(0, max(2.2 * best.in_flight, 1.25 * reached), 200)
    x = np.sort(np.append(x, best.in_flight))
    share = np.maximum(x / best.in_flight, 1e-9)
    line = {"color": MUTED, "dash": "dash", "width": 1.6}
    for row, y, star in (
        (1, best.throughput * np.minimum(share, 1), best.throughput),
        (2, best.rtt * np.maximum(share, 1), best.rtt),
    ):
        figure.add_scatter(
            x=x, y=y, name="theory", mode="lines", line=line, showlegend=row == 1, hoverinfo="skip", row=row, col=1
        )
        figure.add_scatter(
            x=[best.in_flight], y=[star], name="optimum", mode="markers", marker=_STAR, showlegend=row == 1,
            hovertemplate="%{x:.2f} segments · %{y:.2f}", row=row, col=1,
        )  # fmt: skip


def _mean_point(figure: go.Figure, name: str, index: int, x: float, throughput: float, srtt: float) -> None:
    for row, y, unit in ((1, throughput, "Mbps"), (2, srtt, "ms")):
        figure.add_scatter(
            x=[x], y=[y], name=name, legendgroup=name, mode="markers", showlegend=row == 1,
            marker={"size": 12, **symbol_of(index), "line": {"width": 5, "color": faded(colour(index), 0.3)}},
            hovertemplate=f"%{{x:.2f}} segments · %{{y:.2f}} {unit}", row=row, col=1,
        )  # fmt: skip
