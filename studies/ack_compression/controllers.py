"""Whether a controller finds an efficient operating point behind a gate.

Controllers by gates by presets, with CCperf's metrics.
"""

from collections.abc import Sequence

import polars as pl

from acklab import figures
from acklab.figures.path import Optimum, optimum
from acklab.report import Figure, Section, Table
from acklab.statistics import Interval, intervals, ratios
from acklab.studies import Bench
from acklab.sweeps import SweepResult

from . import drawing
from .runs import COMMAND, CONTROLLERS, NO_GATE, controllers

METRICS = {
    "mean_throughput_l4": ("throughput [Mbps]", 2),
    "mean_srtt_l4": ("sRTT [ms]", 1),
    "mean_est_qdelay_l4": ("queueing delay [ms]", 1),
    "mean_in_flight_l4": ("in flight [segments]", 1),
    "cov_throughput_l4": ("variation of throughput", 2),
    "share_of_power": ("power, of the optimum", 2),
    "total_retransmissions_l4": ("retransmissions", 0),
    "total_rtos_l4": ("timeouts", 1),
}
SHOWN = "linux"
"""The preset whose numbers are listed; figures have all."""


def sections(bench: Bench) -> list[Section]:
    """Returns the operating points, what the gate costs each controller, and the numbers."""
    result = controllers(bench)
    best = optimum(bench.run(CONTROLLERS))
    if best is None:
        return []
    frame = _with_power(result, best)
    commands = [COMMAND, result.rerun]
    return [
        _points(frame, best, commands, len(result.seeds)),
        _costs(frame, result, commands, len(result.seeds)),
        _numbers(frame, commands),
    ]


def _with_power(result: SweepResult, best: Optimum) -> pl.DataFrame:
    """Returns the flows with short names of axes, and network power relative to the optimum."""
    preset, controller, _ = result.columns.values()
    most = 1000 * best.throughput / best.rtt
    return result.flows.with_columns(
        share_of_power=pl.col("mean_network_power_l4") / most, preset_=pl.col(preset), controller=pl.col(controller)
    )


def _points(frame: pl.DataFrame, best: Optimum, commands: Sequence[str], seeds: int) -> Section:
    over = f"mean and 95 % confidence interval over {seeds} seeds"
    return Section(
        "Controllers behind gates",
        "CCperf asks whether a controller converges to an efficient operating point when ACKs are compressed. One greedy flow for 15 s, each controller with each stack's growth "
        "of the window, ACK policy and recovery. The optimum, where the bottleneck is just busy and its queue empty, is "
        f"{best.throughput:g} Mbps at {best.rtt:g} ms. Network power is throughput over smoothed RTT; 1 is that of the optimum. Of all these runs one condition was "
        "used to choose settings: NewReno of ns-3 with an ACK for every segment behind the gate of experiment #55, which is not among them. The others are held out.",
        items=[
            Figure(drawing.planes(frame, best), f"Operating points: means over seeds, a panel for each gate, {SHOWN}; the star is the optimum", commands),
            Figure(
                figures.heat_map(frame, "gate", "controller", "share_of_power", "power, of the optimum", "preset_", wrap=1),
                f"Network power as a share of that of the optimum: {over}",
                commands,
            ),
            Figure(
                figures.heat_map(frame, "gate", "controller", "cov_throughput_l4", "variation of throughput", "preset_", wrap=1),
                f"Variation of throughput over time: {over}",
                commands,
            ),
        ],
    )  # fmt: skip


def _costs(frame: pl.DataFrame, result: SweepResult, commands: Sequence[str], seeds: int) -> Section:
    by = ["preset_", "controller", "gate"]
    items: list[Figure | Table] = []
    for metric, title, less in (
        ("mean_throughput_l4", "throughput ÷ that without a gate", False),
        ("mean_srtt_l4", "smoothed RTT ÷ that without a gate", True),
    ):
        cells = ratios(frame, by, metric, {"gate": NO_GATE}).filter(pl.col("gate") != NO_GATE)
        cells = result.with_commands(cells, frame, by)
        drawn = figures.ratio_map(cells, "gate", "controller", title, "preset_", wrap=3, less_is_better=less, commands="command")
        caption = f"{title[:1].upper()}{title[1:]}: geometric mean and 95 % confidence interval over {seeds} seeds; grey where the interval includes 1"
        items.append(Figure(drawn, caption, commands))
    return Section(
        "What a gate costs each controller",
        "The same controller and preset without a gate is the baseline, seed by seed: where the flow meets the gate is drawn anew for each seed.",
        items=items,
    )


def _numbers(frame: pl.DataFrame, commands: Sequence[str]) -> Section:
    own = frame.filter(pl.col("preset_") == SHOWN)
    means = {metric: intervals(own, ["gate", "controller"], metric).to_dicts() for metric in METRICS}
    rows = []
    for place, cell in enumerate(means["mean_throughput_l4"]):
        texts = [Interval.of_row(means[metric][place]).text(decimals) for metric, (_, decimals) in METRICS.items()]
        rows.append([cell["gate"], cell["controller"], *texts])
    rows.sort(key=lambda row: own["gate"].unique(maintain_order=True).to_list().index(row[0]))
    head = ["gate", "controller", *(title for title, _ in METRICS.values())]
    return Section(
        "Operating points in numbers",
        items=[Table(head, rows, f"Preset {SHOWN}: mean ± half-width of the 95 % confidence interval over seeds", commands=commands, numeric_from=2)],
    )  # fmt: skip
