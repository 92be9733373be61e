"""The runs of the study, and one row for each."""

import polars as pl

from acklab.statistics import Interval, ratio_interval
from acklab.studies import Bench, per_seed
from acklab.sweeps import SweepResult, load_sweep

COMMAND = "acklab study thinner_stations"
HEADLINE, CELLS = "headline", "cells"
PAPER = "../tack_wlan/cell.toml"
LINKS = ("802.11b", "802.11g", "802.11n", "802.11ac")
TACK, SENDERS = "TACK", ("TCP BBR", "TCP CUBIC")
PLAIN = "plain"
PHONES = (PLAIN, "SCSC", "dhd", "Unisoc")
SHORTER = {"duration": "16s", "measure.from": "6s"}
QUICKER = {"duration": "8s", "measure.from": "5s"}
"""Duration of runs. Runs of the study tack_wlan take 30 s and give the same verdicts."""
QUICK = {"cell": "n 1 down", "controller": "CUBIC", "scheme": "plain,SCSC,HACK"}


def run_headline(bench: Bench) -> SweepResult:
    """Runs TACK, and TCP on phones with each thinner, over the paper's links."""
    phones = PHONES[:2] if bench.quick else PHONES
    senders = {TACK: bench.sets([f"../tack_wlan/senders.toml:{TACK}"])}
    for sender in SENDERS[:1] if bench.quick else SENDERS:
        for phone in phones:
            sets = bench.sets([f"../tack_wlan/senders.toml:{sender}", f"phones.toml:{phone}"])
            senders[arm(sender, phone)] = sets
    links = bench.variants("../tack_ideal/links.toml")
    return bench.sweep(PAPER, HEADLINE, {"link": links, "sender": senders}, set=QUICKER if bench.quick else SHORTER)


def run_cells(bench: Bench) -> SweepResult:
    """Returns each scheme in each cell, with each controller."""
    files = {"cell": "cells.toml", "controller": "controllers.toml", "scheme": "schemes.toml"}
    axes = {axis: bench.variants(f"{file}:{QUICK[axis]}" if bench.quick else file) for axis, file in files.items()}
    return bench.sweep("cell.toml", CELLS, axes)


def arm(sender: str, phone: str) -> str:
    """Returns the name of a sender and its phone."""
    return f"{sender} on {phone}"


def again(bench: Bench, name: str) -> SweepResult:
    """Returns a stored sweep."""
    return load_sweep(bench.folder / name)


def summary(result: SweepResult, *axes: str) -> pl.DataFrame:
    """Returns one row per run, all flows together.

    A row has the axes and `seed`; goodput [Mbps]; ACKs sent by the receivers and ACKs that arrived,
    both by data packet [%]; segments per burst after consecutive ACKs; smoothed RTT [ms];
    retransmitted packets; Jain's index; the share of the air [%] in PPDUs that have only TCP ACKs.
    """
    key = ["point", *(result.columns[axis] for axis in axes), "seed"]
    flows = result.flows.group_by(key, maintain_order=True).agg(
        goodput=pl.col("mean_throughput_l7").sum(),
        sent=100 * pl.col("total_acks_sent_l4").sum() / pl.col("total_data_packets_l4").sum(),
        arrived=100 * pl.col("total_acks_delivered_l4").sum() / pl.col("total_data_packets_l4").sum(),
        burst=pl.col("total_data_packets_l4").sum() / (pl.col("total_acks_delivered_l4") / pl.col("mean_ack_burst_l4")).sum(),
        srtt=pl.col("mean_srtt_l4").mean(),
        again=pl.col("total_retransmissions_l4").sum().cast(pl.Float64),
    )
    air = result.airtime.group_by("point", maintain_order=True).agg(
        air=100 * pl.col("share").filter(pl.col("use") == "transport_ack").sum()
    )
    network = result.network.select("point", jain="jain_throughput_l4")
    table = flows.join(air, on="point", maintain_order="left").join(network, on="point", maintain_order="left")
    return table.rename({result.columns[axis]: axis for axis in axes}, strict=False)


def lead(runs: pl.DataFrame, link: str, sender: str) -> Interval:
    """Returns the gain of TACK over this sender and phone on a link [%]."""
    return ratio_interval(
        per_seed(runs, "goodput", link=link, sender=TACK), per_seed(runs, "goodput", link=link, sender=sender)
    ).gain
