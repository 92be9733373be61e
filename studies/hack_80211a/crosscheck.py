"""The paper's cross-check: ns-3 with the losses measured on SoRa."""

import polars as pl

from acklab import figures
from acklab.report import Figure, Section, Table
from acklab.statistics import Interval, intervals
from acklab.studies import Bench
from acklab.sweeps import load_sweep

from . import drawing
from .runs import COMMAND, of_sweeps


def section(bench: Bench) -> Section:
    """Returns both schemes with the losses of SoRa, with ns-3's rules and by the standard."""
    found = {finding.id.rpartition(".")[2]: finding for finding in bench.findings}
    places = {"simulated": "ns-3", "sora": "SoRa", "corrected": "SoRa, corrected"}
    ours, stars, rows = [], {}, []
    for place, title in places.items():
        own = {losses: found[f"{place}_{losses}"] for losses in drawing.LOSSES}
        for losses, finding in own.items():
            ours.append((title, drawing.LOSSES[losses], finding.measured, finding.low, finding.high))
            stars[title, drawing.LOSSES[losses]] = finding.published
        gains = [own[hack].measured / own[stock].measured for hack, stock in (("hack", "all"), ("data", "stock"))]
        rows.append([title, *(f"{gain:.3f}" for gain in (own["hack"].published / own["all"].published, *gains))])
    frame = pl.DataFrame(ours, schema=["where", "scheme", "mean", "low", "high"], orient="row", nan_to_null=True)
    simulated = load_sweep(bench.folder / "simulated")
    means = intervals(simulated.network, ["losses"], "agg_throughput_l4")
    return Section(
        "Cross-check with ns-3",
        "The paper set the losses measured on SoRa in ns-3, 12 % with stock TCP and 2 % with TCP/HACK, and corrected its measurements for late link-layer ACKs. "
        "Here the cases are ns-3's rules with timely link-layer ACKs, the standard with late ones, and the standard with timely ones. Whether the 12 % include collisions in "
        "ns-3, and whether link-layer ACKs are lost, is not published. Both readings are shown.",
        items=[
            Figure(
                figures.bars(frame, "where", "scheme", "throughput [Mbps]", published=stars, inks=drawing.INKS),
                f"One client; stars are published; {of_sweeps(bench)}",
                [COMMAND],
            ),
            Table(
                [
                    "",
                    "published",
                    "12 % with collisions; 2 % of data and of link-layer ACKs",
                    "12 % besides collisions; 2 % of data",
                ],
                rows,
                "Throughput of TCP/HACK ÷ stock TCP",
            ),
            Table(
                ["lost", "Mbps"],
                [[cell["losses"], Interval.of_row(cell).text()] for cell in means.to_dicts()],
                "TCP/HACK with ns-3's rules (28 Mbps in the paper)",
                commands=[simulated.rerun],
            ),
        ],
    )
