"""Measures and report sections of the study."""

from collections.abc import Mapping

import polars as pl

from acklab import figures
from acklab.report import Figure, Section, Table
from acklab.statistics import Interval, intervals
from acklab.studies import Bench, Measure, per_seed

from .runs import BDP, COMMAND, DATA_LOSS, IACKS, LISTS, SAMPLES, TOLD, kept, rows, run

JITTERED = "10 ms"


def measures(bench: Bench) -> Mapping[str, Measure]:
    """Returns the gains of IACKs, the bias of samples, and the losses of poor lists."""
    swept = run(bench)
    runs = {name: rows(result) for name, result in swept.items()}
    iacks = [per_seed(runs[IACKS], "blocked", rtt="40 ms", loss="1 %", told=told) for told in TOLD]
    least = {
        who: per_seed(runs[SAMPLES], "min_rtt_l4", jitter=JITTERED, samples=who)
        for who in ("TCP delayed ACKs", "TCP at TACK's frequency", "TACK newest packet", "TACK least delay")
    }
    mean = {who: per_seed(runs[SAMPLES], "mean_rtt_l4", jitter="none", samples=who) for who in least}
    poor, rich = (
        {acks: per_seed(runs[LISTS], "goodput", rtt="40 ms", ack_loss=acks, lists=lists) for acks in ("0", "30")}
        for lists in ("TACK-poor", "TACK-rich")
    )
    found = {
        "iacks_spare": (IACKS, _more(iacks[1], iacks[0])),
        "bias_thin": (SAMPLES, _more(least["TCP at TACK's frequency"], least["TACK least delay"])),
        "bias_delayed": (SAMPLES, _more(least["TCP delayed ACKs"], least["TACK least delay"])),
        "bias_mean": (SAMPLES, _more(mean["TCP at TACK's frequency"], mean["TACK least delay"])),
        "poor_without_loss": (LISTS, _more(rich["0"], poor["0"])),
        "poor_with_loss": (LISTS, _more(rich["30"], poor["30"])),
    }
    return {name: Measure(numbers, [swept[sweep].rerun]) for name, (sweep, numbers) in found.items()}


def _more(above: list[float], below: list[float]) -> list[float]:
    """Returns the excess of the first over the second, seed by seed [%]."""
    return [100 * (one / other - 1) for one, other in zip(above, below, strict=True)]


def sections(bench: Bench) -> list[Section]:
    """Returns the sections of the report."""
    swept = kept(bench)
    runs = {name: rows(result) for name, result in swept.items()}
    over = {name: f"mean and 95 % confidence interval over {len(result.seeds)} seeds" for name, result in swept.items()}
    made = {IACKS: _iacks, SAMPLES: _samples, LISTS: _lists}
    return [section(runs[name], over[name], swept[name].rerun) for name, section in made.items()]


def _iacks(runs: pl.DataFrame, over: str, rerun: str) -> Section:
    told = runs.with_columns(at=pl.format("{}, {}", "rtt", "loss"))
    return Section(
        "Blocked data with and without IACKs",
        "Data that arrived after a loss wait for its recovery. Without IACKs the next TACK reports the loss, up to a quarter of RTTmin later.",
        items=[
            Figure(
                figures.bars(intervals(told, ["at", "told"], "blocked"), "at", "told", "segments behind gaps"),
                f"Time average of segments behind gaps, by RTT and loss: {over}",
                [COMMAND, rerun],
            )
        ],
    )


def _samples(runs: pl.DataFrame, over: str, rerun: str) -> Section:
    by = ["jitter", "samples"]
    means = {
        column: {(row["jitter"], row["samples"]): Interval.of_row(row) for row in intervals(runs, by, column).to_dicts()}
        for column in ("min_rtt_l4", "mean_rtt_l4", "goodput")
    }
    keys = runs.select(by).unique(maintain_order=True).rows()
    head = ["jitter", "samples", "minimum RTT sample [ms]", "mean sample [ms]", "goodput [Mbps]"]
    return Section(
        "Samples of the round trip",
        "The RTT of the path is 40.3 ms. A sample of a segment that waited for its ACK includes the wait. With few samples, an undelayed packet is rarely sampled.",
        items=[
            Figure(
                figures.bars(intervals(runs, by, "min_rtt_l4"), "jitter", "samples", "minimum RTT sample [ms]"),
                f"Minimum RTT sample in 16 s, by jitter of the path (uniform up to the given time): {over}",
                [COMMAND, rerun],
            ),
            Table(head, [[*key, *(means[column][key].text(2) for column in means)] for key in keys], over.capitalize(), commands=[COMMAND, rerun], numeric_from=2),
        ],
    )  # fmt: skip


def _lists(runs: pl.DataFrame, over: str, rerun: str) -> Section:
    shown = runs.with_columns(share=pl.col("ack_loss").cast(pl.Float64))
    bounds = "; ".join(f"{rtt}: {100 / (DATA_LOSS * bdp):.1f} %" for rtt, bdp in BDP.items())
    return Section(
        "TACK-poor and TACK-rich",
        f"{100 * DATA_LOSS:g} % of the data are lost. In the paper, a TACK that lists one block is insufficient if the loss of ACKs exceeds "
        f"MSS/(ρ·bdp), {bounds}.",
        items=[
            Figure(
                figures.profiles(shown, "share", "lists", value, title, "loss of ACKs [%]", "rtt"),
                f"{what} by the loss of ACKs: {over}",
                [COMMAND, rerun],
            )
            for value, title, what in (
                ("goodput", "goodput [Mbps]", "Goodput"),
                ("blocked", "segments behind gaps", "Segments that arrived and wait"),
            )
        ],
    )
