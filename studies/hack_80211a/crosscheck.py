"""The paper's cross-check: ns-3 with the losses that were seen on SoRa."""

import polars as pl

from acklab import figures
from acklab.report import Figure, Section, Table
from acklab.statistics import Interval, intervals
from acklab.studies import Bench
from acklab.sweeps import load_sweep

from . import drawing
from .runs import COMMAND, of_sweeps


def section(bench: Bench) -> Section:
    """Both schemes with the losses of SoRa, in ns-3's dialect and by the standard."""
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
        "The paper gave ns-3 the losses seen on SoRa, 12 % with stock TCP and 2 % with TCP/HACK, and took SoRa's late link-layer ACKs out of its measurements. "
        "Here it is ns-3's dialect with link-layer ACKs in time, the standard with late ones, and the standard without. Whether the 12 % include what collides in "
        "ns-3 as well is not published, nor whether link-layer ACKs are lost: both are shown.",
        items=[
            Figure(
                figures.bars(frame, "where", "scheme", "throughput [Mbps]", published=stars, inks=drawing.INKS),
                f"One client; stars are published; {of_sweeps(bench)}",
                [COMMAND],
            ),
            Table(
                ["", "published", "12 % with collisions; 2 % of data and of link-layer ACKs", "12 % beside them; 2 % of data"],
                rows,
                "Throughput of TCP/HACK over that of stock TCP",
            ),
            Table(
                ["lost", "Mbps"],
                [[cell["losses"], Interval.of_row(cell).text()] for cell in means.to_dicts()],
                "TCP/HACK in ns-3's dialect, for which the paper has 28 Mbps",
                commands=[simulated.rerun],
            ),
        ],
    )
