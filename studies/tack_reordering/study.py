"""Settling time: how long a receiver waits before it reports a loss.

The module has the runs, measures and report sections of the study.
"""

from collections.abc import Mapping

import polars as pl

from acklab import figures
from acklab.report import Figure, Section, Table
from acklab.statistics import Interval, intervals
from acklab.studies import Bench, Measure, differences, per_seed
from acklab.sweeps import SweepResult, load_sweep

COMMAND = "acklab study tack_reordering"
SCENARIO = "path.toml"
LATE, LOST = "late", "lost"

SETTLING = ("0", "0.25", "0.5", "1")
"""Settling times, as shares of RTTmin."""
DELAYS = ("2ms", "5ms", "8ms", "12ms", "20ms", "40ms")
QUICK_DELAYS = ("5ms", "20ms")
ADAPTIVE = ("false", "true")
SHARE = 0.01
"""Share of late packets, and of lost packets."""


def measures(bench: Bench) -> Mapping[str, Measure]:
    """Returns spurious retransmissions by settling time, and the cost of waiting."""
    delays = QUICK_DELAYS if bench.quick else DELAYS
    late = bench.sweep(SCENARIO, LATE, {
        "flow.0.transport.adaptive_settling": list(ADAPTIVE), "flow.0.transport.settling": list(SETTLING), "link.btl.forward.reorder.by": list(delays),
    })  # fmt: skip
    lost = bench.sweep(SCENARIO, LOST, {"flow.0.transport.settling": list(SETTLING)}, set={
        "link.btl.forward.reorder": "", "link.btl.forward.loss": {"model": "independent", "probability": SHARE},
    })  # fmt: skip
    runs, losses = summary(late), summary(lost)
    needless = {
        "needless_0": _values(runs, 0, 5, "false"),
        "needless_quarter": _values(runs, 0.25, 5, "false"),
        "needless_quarter_20": _values(runs, 0.25, 20, "false"),
        "needless_adaptive_20": _values(runs, 0.25, 20, "true"),
    }
    found = {name: Measure([100 * value for value in values], [late.rerun]) for name, values in needless.items()}
    waits = {settling: per_seed(losses, "blocked", settling=float(settling)) for settling in SETTLING}
    found["wait_quarter"] = Measure(differences(waits["0.25"], waits["0"]), [lost.rerun])
    return found | {"wait_whole": Measure(differences(waits["1"], waits["0"]), [lost.rerun])}


def summary(result: SweepResult) -> pl.DataFrame:
    """Returns one row for each run.

    A row has spurious retransmissions per late packet, blocked segments, and goodput.
    """
    names = {name: column for name, column in result.columns.items() if name.startswith(("flow", "link"))}
    short = {
        "flow.0.transport.adaptive_settling": "adaptive",
        "flow.0.transport.settling": "settling",
        "link.btl.forward.reorder.by": "milliseconds",
    }
    return result.flows.select(
        "point", "seed", *(pl.col(column).alias(short[name]) for name, column in names.items()),
        needless=pl.col("total_retransmissions_l4") / (SHARE * pl.col("total_data_packets_l4")),
        blocked=pl.col("mean_blocked_l4"),
        goodput=pl.col("mean_throughput_l7"),
    )  # fmt: skip


def _values(runs: pl.DataFrame, settling: float, milliseconds: float, adaptive: str) -> list[float]:
    return per_seed(runs, "needless", settling=settling, milliseconds=milliseconds, adaptive=adaptive)


def sections(bench: Bench) -> list[Section]:
    """Returns the sections of the report."""
    late, lost = (load_sweep(bench.folder / name) for name in (LATE, LOST))
    over = f"mean and 95 % confidence interval over {len(late.seeds)} seeds"
    runs = summary(late).with_columns(
        receiver=pl.when(pl.col("adaptive") == "true").then(pl.lit("adapts")).otherwise(pl.lit("fixed")),
        settling=pl.col("settling").map_elements(lambda settling: f"{settling:g} RTTmin", pl.String),
        needless=100 * pl.col("needless"),
    )
    losses = summary(lost)
    means = {
        column: {row["settling"]: Interval.of_row(row) for row in intervals(losses, ["settling"], column).to_dicts()}
        for column in ("blocked", "goodput")
    }
    rows = [[f"{settling:g} RTTmin", *(means[column][settling].text(1) for column in means)] for settling in means["blocked"]]
    head = ["settling time", "segments behind gaps", "goodput [Mbps]"]
    return [
        Section(
            "Spurious retransmissions",
            "One packet in a hundred is late by the time on the axis, and none is lost. RTTmin is 40 ms. The lines fall to zero where the settling "
            "time exceeds this time. An adaptive receiver extends it by a quarter of RTTmin per spurious loss report.",
            items=[
                Figure(
                    figures.profiles(runs, "milliseconds", "settling", "needless", "retransmissions per late packet [%]", "late by [ms]", "receiver"),
                    f"Spurious retransmissions [% of the late packets]: {over}",
                    [COMMAND, late.rerun],
                )
            ],
        ),
        Section(
            "Cost of waiting",
            "One packet in a hundred is lost, and none is late. Data that arrived after a loss wait for its recovery.",
            items=[Table(head, rows, over.capitalize(), commands=[COMMAND, lost.rerun])],
        ),
    ]  # fmt: skip
