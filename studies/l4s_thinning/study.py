"""Effect of ACK thinning (removal of ACKs) on the marks of L4S.

Goodput, queue and share of a Prague flow over DualPI2.
"""

from collections.abc import Mapping

import plotly.graph_objects as go
import polars as pl

from acklab.figures.error_bars import error_bars, half_widths
from acklab.figures.theme import COLOURS, finish
from acklab.report import Figure, Section, Table
from acklab.statistics import intervals, mean_rows, ratio_interval
from acklab.studies import Bench, Measure, per_seed
from acklab.sweeps import SweepResult, load_sweep

COMMAND = "acklab study l4s_thinning"
SCENARIO, SWEEP = "path.toml", "thinning"
BY = ["competing", "thinning"]
ALONE, BESIDE, EVERY_2 = "alone", "beside CUBIC", "every 2"
QUICK = "thinning.toml:every 2,TACK"
SHORTER = {"duration": "12s", "measure.from": "6s"}


def run(bench: Bench) -> SweepResult:
    """Returns each ACK scheme, alone and in competition with CUBIC."""
    axes = {"competing": bench.variants("competing.toml"), "thinning": bench.variants(QUICK if bench.quick else "thinning.toml")}
    return bench.sweep(SCENARIO, SWEEP, axes, set=SHORTER if bench.quick else {})


def summary(result: SweepResult) -> pl.DataFrame:
    """Returns one row per run: the axes, `seed`.

    For Prague: goodput [Mbps], arriving ACKs and marked packets by data packet [%], smoothed round
    trip [ms] and p·W/2.

    p·W/2 is half of the share of marked packets times the mean window in packets. p·W/2 is 1 if the
    window grows by a packet per round trip and shrinks by half of the share of marks. `cubic` is
    the goodput of CUBIC, and `queue` the mean time in the queue [ms], of both classes.
    """
    key = ["point", *(result.columns[axis] for axis in BY), "seed"]
    prague, cubic = (pl.col("cca") == name for name in ("prague", "cubic"))

    def of(column: str, who: pl.Expr = prague) -> pl.Expr:
        return pl.col(column).filter(who).first().cast(pl.Float64)

    marked = of("total_marked_l4") / of("total_data_packets_l4")
    flows = result.flows.group_by(key, maintain_order=True).agg(
        goodput=of("mean_throughput_l7"),
        cubic=of("mean_throughput_l7", cubic),
        arrived=100 * of("total_acks_delivered_l4") / of("total_data_packets_l4"),
        marked=100 * marked,
        law=marked * of("mean_cwnd_l4") / 2,
        srtt=of("mean_srtt_l4"),
    )
    queue = result.links.filter(pl.col("link") == "btl_forward").select("point", queue="mean_qdisc_delay_l2")
    table = flows.join(queue, on="point", maintain_order="left")
    return table.rename({result.columns[axis]: axis for axis in BY}, strict=False)


def measures(bench: Bench) -> Mapping[str, Measure]:
    """Returns measures of the window equation, of fairness to CUBIC, and of TACK's ACKs."""
    result = run(bench)
    runs = summary(result)

    def values(column: str, competing: str, thinning: str) -> list[float]:
        return per_seed(runs, column, competing=competing, thinning=thinning)

    beside = ratio_interval(values("goodput", BESIDE, EVERY_2), values("cubic", BESIDE, EVERY_2))
    tack = ratio_interval(values("goodput", ALONE, "TACK"), values("goodput", ALONE, EVERY_2))
    rerun = [result.rerun]
    return {
        "law": Measure(values("law", BESIDE, EVERY_2), rerun),
        "coupling": Measure.of(beside, rerun),
        "queue": Measure(values("queue", ALONE, EVERY_2), rerun),
        "tack": Measure.of(tack, rerun),
    }


def sections(bench: Bench) -> list[Section]:
    """Returns the sections of the report."""
    result = load_sweep(bench.folder / SWEEP)
    runs = summary(result)
    commands = [COMMAND, result.rerun]
    shown = {
        "goodput": "±2",
        "cubic": ".2f",
        "queue": ".2f",
        "arrived": ".1f",
        "marked": ".2f",
        "law": ".2f",
        "srtt": ".1f",
    }
    beside = pl.when(pl.col("competing") != ALONE).then("cubic").alias("cubic")
    rows = mean_rows(runs.with_columns(beside), BY, shown)
    head = ["", "ACKs", "goodput [Mbps]", "CUBIC's", "queue [ms]", "ACKs ÷ data [%]", "marked [%]", "p·W/2", "sRTT [ms]"]
    listed = [[name, of.title, of.source] for name, of in bench.variants("thinning.toml").chosen.items()]
    return [
        Section(
            "Effect of thinning on Prague",
            "40 Mbps, a round trip of 40 ms, DualPI2.",
            items=[
                Figure(_bars(runs), f"Goodput of Prague, and time in the queue; 95 % confidence intervals over {len(result.seeds)} seeds", commands),
                Table(head, rows, "Measured values", commands=[COMMAND], numeric_from=2),
                Table(["", "", "source"], listed, "ACK schemes", numeric_from=3),
            ],
        )
    ]  # fmt: skip


def _bars(runs: pl.DataFrame) -> go.Figure:
    figure = go.Figure()
    for competing, ink in zip((ALONE, BESIDE), COLOURS, strict=False):
        own = intervals(runs.filter(pl.col("competing") == competing), BY, "goodput")
        figure.add_bar(
            x=own["thinning"], y=own["mean"], name=competing, marker={"color": ink}, error_y=error_bars(half_widths(own)),
            hovertemplate="%{x}: %{y:.2f} Mbps",
        )  # fmt: skip
    figure.update_yaxes(title_text="goodput of Prague [Mbps]", rangemode="tozero")
    figure.update_layout(barmode="group", bargap=0.25)
    return finish(figure, 360)
