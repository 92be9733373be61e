"""Figures 4 and 5: single runs of ten stations, from their first packet on."""

from collections.abc import Mapping

import numpy as np
import plotly.graph_objects as go
import polars as pl
from plotly.subplots import make_subplots

from acklab.figures.theme import MUTED, OPTIMUM, colour, finish, thin
from acklab.report import Figure, Section
from acklab.result import Result
from acklab.studies import Bench

from .arms import FIRST, LARGE, SMALL, SMALL_DELAYED, Arm
from .drawing import FILTER, PLAIN
from .runs import COMMAND, SCENARIO, STATIONS, TEN

_QUEUE = "cell_ap_best-effort"
_STEP = 0.1
"""Resolution of the drawn sequence numbers [s]."""


def sections(bench: Bench) -> list[Section]:
    """Returns both figures."""
    return [_queues(bench), _progress(bench)]


def _run(bench: Bench, arm: Arm, *series: str) -> Result:
    return bench.run(SCENARIO, set={**arm.set, STATIONS: TEN, "measure.from": "0s"}, series=series)


def _queues(bench: Bench) -> Section:
    figure, commands = go.Figure(), [COMMAND]
    for arm, dash in ((SMALL, "dot"), (LARGE, "solid")):
        for one, name, ink in ((arm, "without the filter", PLAIN), (arm.filtered, "with the filter", FILTER)):
            result = _run(bench, one, "queue")
            own = result.queue.filter(pl.col("link") == _QUEUE)
            x, y = thin(own["time"].to_numpy(), own["length"].cast(pl.Float64).to_numpy(), 400)
            figure.add_scatter(
                x=x, y=np.where(y > 0, y, np.nan), name=f"q = {arm.slots}, {name}", mode="lines", line={"color": ink, "width": 1.2, "dash": dash, "shape": "hv"},
                hovertemplate="%{x:.2f} s · %{y} packets",
            )  # fmt: skip
            commands.append(result.provenance.command)
    figure.add_scatter(
        x=[0, 40],
        y=[TEN, TEN],
        name="published: at most ten with the filter",
        mode="lines",
        line={"color": OPTIMUM, "width": 1.4, "dash": "dash"},
        hoverinfo="skip",
    )
    figure.update_xaxes(title_text="time [s]")
    figure.update_yaxes(title_text="queue of the access point [packets]", type="log", dtick=1)
    text = (
        "Without the filter the queue fills to its limit and stays full. With it, one ACK per connection waits, until a station drops a data frame: the ACKs "
        "of all later data in flight are duplicates, which the filter keeps."
    )
    caption = (
        f"Length of the access point's queue over time, {TEN} stations (the paper's Figure 4); including the packet on the air"
    )
    return Section("Queue", text, [Figure(finish(figure, 420), caption, commands)])


def _progress(bench: Bench) -> Section:
    panels: Mapping[str, Arm] = {"without": SMALL, "with the filter": SMALL.filtered, "with delayed ACKs": SMALL_DELAYED[FIRST]}
    figure = make_subplots(
        rows=2, cols=len(panels), shared_yaxes="rows", shared_xaxes="columns", horizontal_spacing=0.03, vertical_spacing=0.06,
        row_heights=[0.68, 0.32], subplot_titles=list(panels),
    )  # fmt: skip
    commands = [COMMAND]
    for column, arm in enumerate(panels.values(), start=1):
        result = _run(bench, arm, "packets", "events")
        _add_progress(figure, result, column)
        commands.append(result.provenance.command)
        figure.update_xaxes(title_text="time [s]", row=2, col=column)
    figure.update_yaxes(title_text="sequence number [packets]", row=1, col=1)
    figure.update_yaxes(title_text="timeouts of flow", row=2, col=1)
    figure.update_yaxes(dtick=1, range=[0.2, TEN + 0.8], row=2)
    finish(figure, 640).update_layout(showlegend=False)
    text = (
        "Top: acknowledged data of ten connections. Bottom: their timeouts, larger for consecutive ones. A connection that times out while "
        "the queue is full has one packet in flight, and its only ACK is often dropped: no later ACK covers it."
    )
    caption = f"Progress and timeouts of {TEN} connections, q = {SMALL.slots} (the paper's Figure 5)"
    return Section("Fairness and timeouts", text, [Figure(figure, caption, commands)])


def _add_progress(figure: go.Figure, result: Result, column: int) -> None:
    acked = result.packets.filter(pl.col("kind") == "acked")
    expired = result.events.filter(pl.col("event") == "retransmission-timeout")
    for index, name in enumerate(result.flows["flow"].to_list()):
        own = acked.filter(pl.col("flow") == name).with_columns(step=(pl.col("time") / _STEP).floor())
        own = own.group_by("step", maintain_order=True).agg(pl.col("time").last(), pl.col("number").max())
        ink = colour(index)
        figure.add_scatter(
            x=own["time"],
            y=own["number"],
            mode="lines",
            name=name,
            line={"color": ink, "width": 1.2},
            hovertemplate="%{x:.1f} s · %{y:.0f}",
            row=1,
            col=column,
        )
        late = expired.filter(pl.col("flow") == name)
        backoff = late["detail"].str.extract(r"(\d+)").cast(pl.Int64)
        figure.add_scatter(
            x=late["time"], y=[index + 1] * late.height, mode="markers", name=name, marker={"color": ink, "size": 4 + 2 * backoff, "line": {"color": MUTED, "width": 0.5}},
            customdata=backoff, hovertemplate="%{x:.2f} s · consecutive timeout %{customdata}", row=2, col=column,
        )  # fmt: skip
