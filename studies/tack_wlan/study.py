"""TACK and TCP over Wi-Fi links: the paper's Figures 1 and 10."""

from collections.abc import Mapping

import polars as pl

from acklab.report import Figure, Section, Table
from acklab.statistics import Interval, mean_interval, ratio_interval
from acklab.studies import Bench, Measure, per_seed

from . import client, drawing
from .runs import (
    BBR,
    CAUSES,
    COMMAND,
    CUBIC,
    LINKS,
    RTT,
    TACK,
    THINNED,
    THINNED_LINK,
    again,
    arm,
    fewer,
    gain,
    run_causes,
    run_links,
    run_thinned,
    summary,
)


def measures(bench: Bench) -> Mapping[str, Measure]:
    """Returns goodputs, gains and ACK shares of Figures 10(a), 1 and 10(b)."""
    result, thinned = run_links(bench), run_thinned(bench)
    runs = summary(result, "link", "rtt", "sender")
    found: dict[str, list[float]] = {}
    of_ratios: dict[str, Interval] = {}
    for link in LINKS:
        short = link.removeprefix("802.11")
        of = {sender: {"link": link, "rtt": RTT, "sender": sender} for sender in (TACK, BBR, CUBIC)}
        goodput = {sender: per_seed(runs, "goodput", **names) for sender, names in of.items()}
        acks = {sender: per_seed(runs, "acks", **names) for sender, names in of.items()}
        found[f"tack_{short}"], found[f"bbr_{short}"] = goodput[TACK], goodput[BBR]
        of_ratios[f"gain_{short}"] = gain(runs, "goodput", TACK, link=link, rtt=RTT)
        of_ratios[f"fewer_{short}"] = fewer(runs, "acks", TACK, link=link, rtt=RTT)
        for sender, name in ((TACK, "tack"), (BBR, "bbr")):
            data = per_seed(runs, "data", **of[sender])
            found[f"share_{name}_{short}"] = [100 * ack / packet for ack, packet in zip(acks[sender], data, strict=True)]
    measured = {name: Measure(numbers, [result.rerun]) for name, numbers in found.items()}
    measured |= {name: Measure.of(ratio, [result.rerun]) for name, ratio in of_ratios.items()}
    actual = summary(thinned, "arm")
    for packets in THINNED:
        measured[f"actual_l{packets}"] = Measure(per_seed(actual, "goodput", arm=arm(BBR, packets)), [thinned.rerun])
    measured["actual_tack"] = Measure(per_seed(actual, "goodput", arm=TACK), [thinned.rerun])
    return measured | client.measures(bench)


def sections(bench: Bench) -> list[Section]:
    """Returns the figures of the paper, the round trips, and alternative settings."""
    return [_links(bench), _thinned(bench), client.section(bench), _causes(bench)]


def _links(bench: Bench) -> Section:
    result = again(bench, "links")
    runs = summary(result, "link", "rtt", "sender")
    commands = [COMMAND, result.rerun]
    rows = []
    for (link, rtt, sender), own in runs.group_by(["link", "rtt", "sender"], maintain_order=True):
        means = own.select(pl.col("srtt", "resent").mean(), share=(100 * pl.col("acks") / pl.col("data")).mean()).row(
            0, named=True
        )
        lead = gain(runs, "goodput", str(sender), link=str(link), rtt=str(rtt))
        shown = "" if sender == BBR else lead.text(1, signed=True)
        rows.append(
            [
                link,
                rtt,
                sender,
                mean_interval(own["goodput"]).text(),
                shown,
                f"{means['share']:.2f}",
                f"{means['srtt']:.0f}",
                f"{means['resent']:.0f}",
            ]
        )
    head = ["link", "RTT", "", "goodput [Mbps]", "gain over TCP BBR [%]", "ACKs ÷ data [%]", "sRTT [ms]", "resent"]
    return Section(
        "TACK and TCP",
        f"Figure 10(a) of the paper has a round trip of {RTT}.",
        items=[
            Figure(drawing.links(runs), f"Goodput at {RTT} ÷ that of TCP BBR; 95 % confidence intervals over {bench.seeds} seeds, stars are published values", commands),
            Figure(drawing.round_trips(runs), "Gain of TACK and CUBIC over TCP BBR by round trip", commands),
            Table(head, rows, "Measured values", commands=[result.rerun], numeric_from=3),
        ],
    )  # fmt: skip


def _thinned(bench: Bench) -> Section:
    result = again(bench, "thinned")
    runs = summary(result, "arm")
    rows = []
    for (name,), own in runs.group_by(["arm"], maintain_order=True):
        means = own.select(pl.col("srtt", "resent").mean(), share=(100 * pl.col("acks") / pl.col("data")).mean()).row(
            0, named=True
        )
        rows.append(
            [
                name,
                mean_interval(own["goodput"]).text(),
                f"{means['share']:.1f}",
                f"{means['srtt']:.0f}",
                f"{means['resent']:.0f}",
            ]
        )
    return Section(
        "Thinned ACKs of TCP",
        f"Figure 10(b): {THINNED_LINK}, 80 ms, one packet in a thousand lost. Byte counting has no timer, and acknowledges immediately if data arrive out of "
        "order. A patient receiver counts these data like other data, and has a timer of 200 ms.",
        items=[
            Figure(drawing.thinned(runs), "Actual goodput; stars are published values", [COMMAND, result.rerun]),
            Table(["", "goodput [Mbps]", "ACKs ÷ data [%]", "sRTT [ms]", "resent"], rows, "Measured values", commands=[result.rerun]),
        ],
    )  # fmt: skip


def _causes(bench: Bench) -> Section:
    results = run_causes(bench)
    runs = pl.concat([summary(result, "cause", "sender") for result in results])
    titles = {name: variant.title for name, variant in bench.variants("alternatives.toml").chosen.items()}
    rows = []
    for cause, on in CAUSES.items():
        for link in on:
            own = {sender: per_seed(runs, "goodput", cause=f"{cause}: {link}", sender=sender) for sender in (TACK, BBR)}
            goodputs = [mean_interval(own[sender]).text() for sender in (TACK, BBR)]
            rows.append([link, titles[cause], *goodputs, ratio_interval(own[TACK], own[BBR]).gain.text(1, signed=True)])
    rows.sort(key=lambda row: LINKS.index(row[0]))
    for link, (tack, bbr, lead) in drawing.PUBLISHED_10A.items():
        rows.append([link, "published", f"{tack:g}", f"{bbr:g}", f"{lead:+g}"])
    return Section(
        "Alternative settings",
        f"TACK and TCP BBR at {RTT}, with settings of the environment that the paper omits.",
        items=[
            Table(
                ["link", "setting", "TACK [Mbps]", "TCP BBR [Mbps]", "gain [%]"], rows, "Gain by setting",
                commands=[COMMAND, *(result.rerun for result in results)], numeric_from=2,
            )
        ],
    )  # fmt: skip
