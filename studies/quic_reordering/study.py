"""Cost of a packet threshold of three with reordering, and gain of an adaptive threshold."""

from collections.abc import Mapping

import polars as pl

from acklab import figures
from acklab.report import Figure, Section, Table
from acklab.statistics import mean_rows, ratio_interval, ratios
from acklab.studies import Bench, Measure, per_seed
from acklab.sweeps import SweepResult, load_sweep

COMMAND = "acklab study quic_reordering"
SCENARIO, SWEEP = "path.toml", "thresholds"
BY = ["controller", "request", "late", "threshold"]
FILES = {"controller": "controllers.toml", "request": "requests.toml", "late": "lateness.toml", "threshold": "thresholds.toml"}
QUICK = {
    "controller": "CUBIC",
    "request": "every 2,4 a round trip",
    "late": "1,2,10",
    "threshold": "3,adaptive,adaptive 2 RTT",
}
BASELINE = {"threshold": "3"}
PANEL = "path"


def run(bench: Bench) -> SweepResult:
    """Returns each threshold with each request and controller, by lateness."""
    axes = {axis: bench.variants(f"{file}:{QUICK[axis]}" if bench.quick else file) for axis, file in FILES.items()}
    return bench.sweep(SCENARIO, SWEEP, axes)


def summary(result: SweepResult) -> pl.DataFrame:
    """Returns one row per run: the axes, `point`, `seed`.

    Also has goodput [Mbps], spurious losses and ACKs per data packet [%], and smoothed RTT [ms].
    """
    return result.flows.select(
        "point",
        "seed",
        *(pl.col(result.columns[axis]).alias(axis) for axis in BY),
        goodput="mean_throughput_l7",
        needless=100 * pl.col("total_spurious_losses_l4") / pl.col("total_data_packets_l4"),
        acks=100 * pl.col("total_acks_sent_l4") / pl.col("total_data_packets_l4"),
        srtt="mean_srtt_l4",
    )


def measures(bench: Bench) -> Mapping[str, Measure]:
    """Returns CUBIC's goodput with one packet in a hundred late, relative to little reordering.

    With little reordering, at most two packets overtake the late packet. Also returns the spurious
    losses.
    """
    result = run(bench)
    runs = summary(result)

    def values(late: str, threshold: str, column: str = "goodput") -> list[float]:
        return per_seed(runs, column, controller="CUBIC", request="every 2", late=late, threshold=threshold)

    wanted = {
        "fixed_2": ("2", "3"),
        "adaptive_2": ("2", "adaptive"),
        "fixed_10": ("10", "3"),
        "adaptive_10": ("10", "adaptive"),
        "both_10": ("10", "adaptive 2 RTT"),
    }
    found = {
        name: Measure.of(ratio_interval(values(late, threshold), values("1", "3")), [result.rerun])
        for name, (late, threshold) in wanted.items()
    }
    return found | {"needless": Measure(values("10", "adaptive 2 RTT", "needless"), [result.rerun])}


def sections(bench: Bench) -> list[Section]:
    """Returns the sections of the report."""
    result = load_sweep(bench.folder / SWEEP)
    runs = summary(result)
    found = ratios(runs, BY, "goodput", BASELINE).filter(pl.col("threshold") != "3")
    found = result.with_commands(found, runs, BY).with_columns(
        pl.concat_str("controller", "request", separator=", ").alias(PANEL)
    )
    figure = figures.ratio_map(
        found, "late", "threshold", "goodput ÷ a threshold of three", PANEL, x_title="late by [ms]", most=4.0,
        commands="command",
    )  # fmt: skip
    rows = mean_rows(runs, BY, {"goodput": "±2", "needless": ".3f", "acks": ".1f", "srtt": ".1f"})
    listed = [
        [name, of.title, of.source]
        for axis in ("threshold", "request")
        for name, of in bench.variants(FILES[axis]).chosen.items()
    ]
    over = f"geometric mean and 95 % confidence interval over {len(result.seeds)} seeds; grey where the interval includes 1"
    head = [*BY, "goodput [Mbps]", "spurious losses [%]", "ACKs [%]", "sRTT [ms]"]
    return [
        Section(
            "Adaptive threshold",
            "20 Mbps and a round trip of 40 ms.",
            items=[
                Figure(
                    figure,
                    f"Goodput ÷ that with a threshold of three, one packet in a hundred late: {over}",
                    [COMMAND, result.rerun],
                ),
                Table(["", "", "source"], listed, "Thresholds and requests", numeric_from=3),
            ],
        ),
        Section(
            "Measured values",
            "Spurious losses are packets that were declared lost and arrived. They and ACKs are by data packet.",
            items=[Table(head, rows, "By lateness", commands=[COMMAND], numeric_from=4)],
        ),
    ]
