"""Effects of Accurate ECN on ACK filters.

Ordinary filters remove fewer ACKs with Accurate ECN, because the counter of marks differs between
ACKs. A filter that decodes Accurate ECN removes more ACKs.
"""

from collections.abc import Mapping

import plotly.graph_objects as go
import polars as pl

from acklab.figures.error_bars import error_bars, half_widths
from acklab.figures.theme import COLOURS, finish
from acklab.report import Figure, Section, Table
from acklab.statistics import intervals, mean_rows
from acklab.studies import Bench, Measure, per_seed
from acklab.sweeps import SweepResult, load_sweep

COMMAND = "acklab study accecn_filtering"
SCENARIO, SWEEP = "path.toml", "filters"
BY = ["echo", "filter"]
QUICK = {"echo": "ecn_feedback.toml:classic,Prague ACE + option", "filter": "filters.toml:CAKE,knows"}
FULL = {"echo": "ecn_feedback.toml", "filter": "filters.toml"}


def run(bench: Bench) -> SweepResult:
    """Returns each filter with each echo."""
    chosen = QUICK if bench.quick else FULL
    return bench.sweep(SCENARIO, SWEEP, {axis: bench.variants(chosen[axis]) for axis in BY})


def summary(result: SweepResult) -> pl.DataFrame:
    """Returns one row per run: the axes, `seed`.

    Also has goodput [Mbps], ACKs removed by the filter [%] and dropped by its queue [%], marked
    packets [%], the waiting time of ACKs and the smoothed RTT [ms].
    """
    back = result.links.filter(pl.col("link") == "btl_reverse").select(
        "point",
        removed=100 * pl.col("total_filtered_acks_l2") / pl.col("total_packets_in_l2"),
        dropped=100 * pl.col("total_qdisc_drops_l2") / pl.col("total_packets_in_l2"),
        wait="mean_qdisc_delay_l2",
    )
    flows = result.flows.select(
        "point",
        "seed",
        *(pl.col(result.columns[axis]).alias(axis) for axis in BY),
        goodput="mean_throughput_l7",
        marked=100 * pl.col("total_marked_l4") / pl.col("total_data_packets_l4"),
        srtt="mean_srtt_l4",
    )
    return flows.join(back, on="point", maintain_order="left")


def measures(bench: Bench) -> Mapping[str, Measure]:
    """Returns the shares of removed ACKs of Prague, and of CUBIC with classic ECN."""
    result = run(bench)
    runs = summary(result)

    def removed(echo: str, chosen: str) -> Measure:
        return Measure(per_seed(runs, "removed", echo=echo, filter=chosen), [result.rerun])

    return {
        "classic": removed("classic", "CAKE"),
        "option": removed("Prague ACE + option", "CAKE"),
        "knows": removed("Prague ACE + option", "knows"),
    }


def sections(bench: Bench) -> list[Section]:
    """Returns the sections of the report."""
    result = load_sweep(bench.folder / SWEEP)
    runs = summary(result)
    shown = {"goodput": "±1", "removed": "±1", "dropped": ".1f", "wait": ".1f", "marked": ".2f", "srtt": ".0f"}
    rows = mean_rows(runs, BY, shown)
    head = ["", "filter", "goodput [Mbps]", "removed [%]", "dropped [%]", "wait [ms]", "marked [%]", "sRTT [ms]"]
    listed = [[name, of.title, of.source] for axis in BY for name, of in bench.variants(FULL[axis]).chosen.items()]
    return [
        Section(
            "ACKs removed by filters",
            "50 Mbps forward and 500 kbps return. An ACK per two segments would need 0.9 to 1.1 Mbps.",
            items=[
                Figure(_bars(runs), f"ACKs removed by the filter; 95 % confidence intervals over {len(result.seeds)} seeds", [COMMAND, result.rerun]),
                Table(head, rows, "Measured values", commands=[COMMAND], numeric_from=2),
                Table(["", "", "source"], listed, "Echoes and filters", numeric_from=3),
            ],
        )
    ]  # fmt: skip


def _bars(runs: pl.DataFrame) -> go.Figure:
    figure = go.Figure()
    filters = [name for name in runs["filter"].unique(maintain_order=True) if name != "FIFO"]
    for name, ink in zip(filters, COLOURS, strict=False):
        own = intervals(runs.filter(pl.col("filter") == name), BY, "removed")
        figure.add_bar(
            x=own["echo"], y=own["mean"], name=name, marker={"color": ink}, error_y=error_bars(half_widths(own)),
            hovertemplate="%{x}: %{y:.1f} %",
        )  # fmt: skip
    figure.update_yaxes(title_text="ACKs removed [%]", rangemode="tozero")
    figure.update_layout(barmode="group", bargap=0.25)
    return finish(figure, 360)
