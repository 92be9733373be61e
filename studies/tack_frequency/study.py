"""The frequencies of the paper's Figure 8, by formula and as measured."""

from collections.abc import Mapping

import polars as pl

from acklab.report import Figure, Section, Table
from acklab.statistics import mean_interval
from acklab.studies import Bench, Measure

from . import drawing, law
from .runs import COMMAND, LINKS, MSS, RTTS, TACK, TCP, again, run, summary


def measures(bench: Bench) -> Mapping[str, Measure]:
    """Returns Figure 8 by formula, the measured frequencies of Figure 8(b), and their ratios."""
    result = run(bench)
    found = {name: Measure([hertz], [COMMAND]) for name, hertz in _by_law().items()}
    for (link, rtt, receiver), runs in _runs(summary(result)).items():
        name = f"{_name(link, rtt)}_{'tack' if receiver == TACK else 'tcp'}"
        found[f"measured_{name}"] = Measure(runs["hz"].to_list(), [result.rerun])
        found[f"over_law_{name}"] = Measure(_over_law(runs, rtt, receiver), [result.rerun])
    return found


def sections(bench: Bench) -> list[Section]:
    """Returns the figure and its numbers."""
    result = again(bench)
    found = summary(result)
    rows = []
    for (link, rtt, receiver), runs in _runs(found).items():
        ratio = mean_interval(_over_law(runs, rtt, receiver))
        measured, goodput = mean_interval(runs["hz"]), mean_interval(runs["goodput"])
        rows.append(
            [link, rtt, receiver, goodput.text(), measured.text(), f"{_law(goodput.mean, rtt, receiver):.2f}", ratio.text(3)]
        )
    head = ["link", "RTT", "receiver", "goodput [Mbps]", "measured [Hz]", "formula [Hz]", "measured ÷ formula"]
    return [
        Section(
            "Frequency by bandwidth",
            "Lines are the formulas, by goodput and propagation round trip. Dots are ACKs that receivers sent after start-up. Left of its bend "
            "TACK counts bytes as TCP does. Right of it the bandwidth has no effect.",
            items=[
                Figure(drawing.frequencies(found), f"ACKs per second, with 95 % confidence intervals over {bench.seeds} seeds", [COMMAND, result.rerun]),
                Table(head, rows, "Measured frequencies, and those of the formula for the measured goodput", commands=[result.rerun], numeric_from=3),
            ],
        )
    ]  # fmt: skip


def _runs(found: pl.DataFrame) -> dict[tuple[str, str, str], pl.DataFrame]:
    by = ["link", "rtt", "receiver"]
    return {(str(link), str(rtt), str(receiver)): runs for (link, rtt, receiver), runs in found.group_by(by, maintain_order=True)}


def _law(mbps: float, rtt: str, receiver: str) -> float:
    if receiver == TCP:
        return law.byte_counting(mbps * 1e6, 2, MSS[TCP])
    return law.tack(mbps * 1e6, RTTS[rtt], MSS[TACK])


def _over_law(runs: pl.DataFrame, rtt: str, receiver: str) -> list[float]:
    return [hz / _law(goodput, rtt, receiver) for hz, goodput in runs.select("hz", "goodput").iter_rows()]


def _by_law() -> dict[str, float]:
    """Returns Figure 8 in the units of the paper's tool.

    (a) is the ACK frequency of one ACK per packet minus the frequency of TACK. (b) has both
    frequencies.
    """
    found = {}
    for link, mbps in LINKS.items():
        rate = law.published_rate(mbps)
        counting = {packets: law.byte_counting(rate, packets, law.PUBLISHED_PACKET) for packets in (1, 2)}
        found[f"law_{_name(link)}_tcp"] = counting[2]
        for name, rtt in RTTS.items():
            tack = law.tack(rate, rtt, law.PUBLISHED_PACKET)
            found[f"law_{_name(link, name)}_tack"] = tack
            found[f"saved_{_name(link, name)}"] = counting[1] - tack
    return found


def _name(link: str, rtt: str = "") -> str:
    """Returns the name in claims, such as ac_10."""
    return "_".join(part for part in (link.removeprefix("802.11"), rtt.removesuffix(" ms")) if part)
