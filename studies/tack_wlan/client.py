"""Effect of the client's rate and of frame losses, for 802.11b and g.

The paper specifies neither, so both are varied. The combination whose goodputs of UDP, TACK and TCP
BBR are nearest to the published goodputs is *fitted*.
"""

import math
from collections.abc import Mapping, Sequence

import polars as pl

from acklab.report import Section, Table
from acklab.scenario import overrides
from acklab.statistics import mean_interval
from acklab.studies import Bench, Measure, per_seed
from acklab.sweeps import SweepResult

from .drawing import PUBLISHED_10A
from .runs import BBR, COMMAND, LINKS_FILE, RTT, SCENARIO, TACK, again, fewer, gain, summary

UDP = "UDP"
UDP_BASELINES = {"802.11b": 7, "802.11g": 26}
"""Figure 7 [Mbps]."""
UPLINKS: Mapping[str, Sequence[str]] = {"802.11b": ("11", "5.5", "2", "1"), "802.11g": ("54", "24", "12", "6")}
"""Rates of the client [Mbps] for TCP ACKs, not for link-layer ACKs."""
ERRORS = ("0", "5", "9", "13", "17")
"""Lost data frames [%], independent of each other. The link layer retransmits them."""
STANDARD = {"802.11b": [], "802.11g": ["wifi.0.access.best_effort.cw_min=15"]}
"""802.11g with the CWmin of a cell whose stations all support OFDM (IEEE 802.11-2020, 18.4.5),
because losses reduce its goodput here.
"""
SWEEP = "client"


def run_client(bench: Bench) -> SweepResult:
    """Returns every combination with UDP, TACK and TCP BBR.

    A quick run has the ends of each range.
    """
    errors = (ERRORS[0], ERRORS[3]) if bench.quick else ERRORS
    points = {}
    for link, uplinks in UPLINKS.items():
        base = [*bench.sets([f"{LINKS_FILE}:{link}"]), *STANDARD[link]]
        for uplink in (uplinks[0], uplinks[2]) if bench.quick else uplinks:
            for percent in errors:
                points[f"{link}: {uplink}: {percent}"] = [*base, *_client(uplink, percent)]
    senders = {name: bench.sets([f"senders.toml:{name}"]) for name in (UDP, TACK, BBR)}
    return bench.sweep(SCENARIO, SWEEP, {"client": points, "sender": senders}, seeds=min(3, bench.seeds))


def _client(uplink: str, percent: str) -> list[str]:
    channel = {"model": "fixed", "frame_error_rate": float(percent) / 100}
    return overrides(
        {
            "wifi.0.station.0.rate": {"control": "fixed", "rate": f"{uplink}Mbps"},
            "wifi.0.reception": {"channel": channel},
        }
    )


def rows(result: SweepResult) -> pl.DataFrame:
    """Returns one row per run.

    Columns are `link`, `uplink` [Mbps], `errors` [%], `sender`, and the columns of `summary`.
    """
    place = pl.col("client").str.split_exact(": ", 2)
    names = ("link", "uplink", "errors")
    found = summary(result, "client", "sender", all_protocols=True)
    return found.with_columns(place.struct.field(f"field_{at}").alias(name) for at, name in enumerate(names))


def distance(runs: pl.DataFrame, link: str) -> float:
    """Returns the distance of the goodputs of UDP, TACK and TCP BBR from published goodputs.

    The distance is the root of the sum of squared relative differences.
    """
    tack, bbr, _ = PUBLISHED_10A[link]
    published = {UDP: UDP_BASELINES[link], TACK: tack, BBR: bbr}
    means = {sender: mean_interval(per_seed(runs, "goodput", sender=sender)).mean for sender in published}
    return math.hypot(*(means[sender] / mbps - 1 for sender, mbps in published.items()))


def nearest(runs: pl.DataFrame, link: str) -> pl.DataFrame:
    """Returns the runs of the nearest combination."""
    own = runs.filter(pl.col("link") == link)
    parts = own.partition_by("client", maintain_order=True)
    return min(parts, key=lambda part: distance(part, link))


def measures(bench: Bench) -> dict[str, Measure]:
    """Returns gain and saved ACKs of the nearest combination, seed by seed."""
    result = run_client(bench)
    runs = rows(result)
    found = {}
    for link in UPLINKS:
        own = nearest(runs, link)
        short = link.removeprefix("802.11")
        found[f"client_gain_{short}"] = gain(own, "goodput", TACK)
        found[f"client_fewer_{short}"] = fewer(own, "acks", TACK)
    return {name: Measure.of(number, [result.rerun]) for name, number in found.items()}


def section(bench: Bench) -> Section:
    """Returns all combinations, the nearest first."""
    result = again(bench, SWEEP)
    runs = rows(result)
    shown = []
    for link in UPLINKS:
        parts = runs.filter(pl.col("link") == link).partition_by("client", maintain_order=True)
        for own in sorted(parts, key=lambda part: distance(part, link)):
            _, uplink, percent = str(own["client"][0]).split(": ")
            goodputs = [mean_interval(per_seed(own, "goodput", sender=sender)).text() for sender in (UDP, TACK, BBR)]
            lead = gain(own, "goodput", TACK).text(1, signed=True)
            shown.append([link, uplink, percent, *goodputs, lead, f"{100 * distance(own, link):.1f}"])
        tack, bbr, lead_of_paper = PUBLISHED_10A[link]
        shown.append([link, "published", "", f"{UDP_BASELINES[link]}", f"{tack:g}", f"{bbr:g}", f"{lead_of_paper:+g}", ""])
    return Section(
        "Client rate and frame losses",
        f"802.11b and g at {RTT}. The client has its own rate for ACKs, and data frames are lost. The distance is that of the three goodputs "
        "from the published ones, relative to these and combined.",
        items=[
            Table(
                ["link", "uplink [Mbps]", "frames lost [%]", "UDP [Mbps]", "TACK [Mbps]", "TCP BBR [Mbps]", "gain [%]", "distance [%]"], shown,
                "Combinations, the nearest first", commands=[COMMAND, result.rerun], numeric_from=3,
            )
        ],
    )  # fmt: skip
