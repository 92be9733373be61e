"""Runs of the study, and numbers of the runs."""

from collections.abc import Mapping, Sequence

import polars as pl

from acklab.scenario import overrides
from acklab.statistics import Interval, ratio_interval
from acklab.studies import Bench, per_seed
from acklab.sweeps import SweepResult, load_sweep

COMMAND = "acklab study tack_wlan"
SCENARIO, CROWDED = "cell.toml", "busy_cell.toml"
LINKS_FILE = "../tack_ideal/links.toml"
LINKS = ("802.11b", "802.11g", "802.11n", "802.11ac")
TACK, BBR, LINUX, CUBIC = "TACK", "TCP BBR", "TCP BBR Linux", "TCP CUBIC"
UNPACED, PATIENT = "TCP BBR unpaced", "TCP BBR patient"
"""TCP BBR without pacing, and with a receiver that counts out-of-order data like other data.
"""
RTT = "100 ms"
"""Round trip of the claims."""
THINNED = (1, 2, 4, 8, 16)
THINNED_LINK = "802.11n"
CAUSES: Mapping[str, Sequence[str]] = {
    "as chosen": LINKS,
    "CWmin 15": ("802.11g",),
    "protection": ("802.11g",),
    "long preamble": ("802.11b",),
    "RTS and CTS": LINKS,
    "upload": LINKS,
    "5 others": LINKS,
    "20 others": LINKS[1:],
}
"""Links of each alternative setting. 802.11b is omitted with 20 other stations, because no goodput
remains.
"""


def run_links(bench: Bench) -> SweepResult:
    """Returns every transport on every link, by round trip."""
    files = {
        "link": LINKS_FILE,
        "rtt": f"rtts.toml:{RTT}" if bench.quick else "rtts.toml",
        "sender": f"senders.toml:{TACK},{BBR},{CUBIC}",
    }
    return bench.sweep(SCENARIO, "links", {axis: bench.variants(file) for axis, file in files.items()})


def run_thinned(bench: Bench) -> SweepResult:
    """Runs TCP with byte counting, and TACK, over the lossy link of Figure 10(b)."""
    link, lossy = bench.sets([f"{LINKS_FILE}:{THINNED_LINK}"]), bench.sets(["lossy_link.toml:lossy"])
    points = {name: [*link, *lossy, *bench.sets([f"senders.toml:{name}"])] for name in (TACK, LINUX)}
    for sender in (BBR, CUBIC):
        tcp = bench.sets([f"senders.toml:{sender}"])
        for packets in THINNED:
            counting = {"flow.0.ack": f'{{policy = "byte-counting", segments = {packets}}}'}
            # As in the paper, byte counting has no delayed ACK timer. Linux has a timer of 200 ms.
            points[arm(sender, packets)] = [*link, *lossy, *tcp, *overrides(counting)]
    tcp = bench.sets([f"senders.toml:{BBR}"])
    for packets in THINNED:
        unpaced = {"flow.0.ack": f'{{policy = "byte-counting", segments = {packets}}}', "flow.0.pacing": "never"}
        points[arm(UNPACED, packets)] = [*link, *lossy, *tcp, *overrides(unpaced)]
        # A receiver sends an ACK after more packets than the threshold, and none because of
        # reordering (draft-ietf-quic-ack-frequency, sections 4 and 6).
        patient = {
            "flow.0.ack": f'{{policy = "ack-frequency", ack_eliciting_threshold = {packets - 1}, requested_max_ack_delay = "200ms", reordering_threshold = 0}}'
        }
        points[arm(PATIENT, packets)] = [*link, *lossy, *tcp, *overrides(patient)]
    return bench.sweep(SCENARIO, "thinned", {"arm": points})


def arm(sender: str, packets: int) -> str:
    """Returns the name of a controller of TCP with an L."""
    return f"{sender} L = {packets}"


def run_causes(bench: Bench) -> list[SweepResult]:
    """Returns TACK and TCP BBR with alternative settings: alone, and with other stations."""
    causes, links = bench.variants("alternatives.toml").chosen, bench.variants(LINKS_FILE).chosen
    senders = bench.variants(f"senders.toml:{TACK},{BBR}")
    results = []
    for name, scenario, crowded in (("causes", SCENARIO, False), ("crowded", CROWDED, True)):
        points = {
            f"{cause}: {link}": [*links[link].set, *causes[cause].set]
            for cause, on in CAUSES.items()
            if cause.endswith("others") == crowded
            for link in on
        }
        results.append(bench.sweep(scenario, name, {"cause": points, "sender": senders}, seeds=min(3, bench.seeds)))
    return results


def again(bench: Bench, name: str) -> SweepResult:
    """Returns a stored sweep."""
    return load_sweep(bench.folder / name)


def summary(result: SweepResult, *axes: str, all_protocols: bool = False) -> pl.DataFrame:
    """Returns one row per run.

    A row has the axes, `seed`, goodput [Mbps], ACKs and data packets, smoothed RTT [ms], and
    retransmitted packets.

    Flows of UDP belong to other users, and are excluded unless `all_protocols` is set.
    """
    own = result.flows if all_protocols else result.flows.filter(pl.col("transport_protocol") != "UDP")
    return own.select(
        *(pl.col(result.columns[axis]).alias(axis) for axis in axes),
        "seed",
        goodput="mean_throughput_l7",
        acks="total_acks_sent_l4",
        data="total_data_packets_l4",
        srtt="mean_srtt_l4",
        resent="total_retransmissions_l4",
    )


def gain(runs: pl.DataFrame, column: str, sender: str, other: str = BBR, **of: str) -> Interval:
    """Returns the excess of a column with one sender over another [%]."""
    return ratio_interval(per_seed(runs, column, sender=sender, **of), per_seed(runs, column, sender=other, **of)).gain


def fewer(runs: pl.DataFrame, column: str, sender: str, other: str = BBR, **of: str) -> Interval:
    """Returns the reduction of a column [%]."""
    found = gain(runs, column, sender, other, **of)
    return Interval(-found.mean, -found.high, -found.low, found.count)
