"""Operating points of controllers behind a gate, which releases packets in bursts.

The table has every controller, gate and preset, with CCperf's metrics.
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
    "share_of_power": ("power ÷ optimum", 2),
    "total_retransmissions_l4": ("retransmissions", 0),
    "total_rtos_l4": ("timeouts", 1),
}
SHOWN = "linux"
"""The preset of the table. Figures show all presets."""


def sections(bench: Bench) -> list[Section]:
    """Returns the operating points, the cost of the gate for each controller, and the numbers."""
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
        "CCperf tests whether controllers converge to an efficient operating point with compressed ACKs. One greedy flow runs for 15 s, each controller with each stack's growth "
        "of the window, ACK policy and recovery. At the optimum the bottleneck is just busy and its queue is empty: "
        f"{best.throughput:g} Mbps at {best.rtt:g} ms. Network power is throughput over smoothed RTT, relative to the optimum. One condition was "
        "used to choose settings, and it is not among these runs: NewReno of ns-3 with an ACK per segment behind the gate of experiment #55. All others are held out.",
        items=[
            Figure(drawing.planes(frame, best), f"Operating points: means over seeds, a panel for each gate, {SHOWN}; the star is the optimum", commands),
            Figure(
                figures.heat_map(frame, "gate", "controller", "share_of_power", "power ÷ optimum", "preset_", wrap=1),
                f"Network power relative to the optimum: {over}",
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
        "Cost of a gate for each controller",
        "The baseline is the same controller and preset without a gate, seed by seed. The phase between the flow and the gate is random for each seed.",
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
