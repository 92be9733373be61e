"""What ACKs cost a cell if they do nothing but contend: the paper's Figures 7 and 9."""

from collections.abc import Mapping

from acklab.report import Figure, Section, Table
from acklab.statistics import mean_interval
from acklab.studies import Bench, Measure

from . import drawing
from .arms import BY_COUNT, LINKS, NONE, RTTS, TACKS, THINNED
from .runs import CAUSES_ON, COMMAND, again, by_arm, by_frequency, counted_values, run_arms, run_causes, run_frequencies, values


def measures(bench: Bench) -> Mapping[str, Measure]:
    """Baselines, goodput by receiver (Figure 9(b)) and TACK's lead over ACKs per packet (9(a))."""
    result = run_arms(bench)
    runs = by_arm(result)
    found = {}
    for link in LINKS:
        short = link.removeprefix("802.11")
        found[f"baseline_{short}"] = values(runs, link, NONE)
        for packets, arm in BY_COUNT.items():
            found[f"{short}_l{packets}"] = values(runs, link, arm.name)
        each = values(runs, link, BY_COUNT[1].name)
        for name, rtt in RTTS.items():
            tack = values(runs, link, TACKS[name].name)
            found[f"{short}_tack_{rtt}"] = tack
            found[f"gain_{short}_{rtt}"] = [ours - theirs for ours, theirs in zip(tack, each, strict=True)]
    return {name: Measure(numbers, [result.rerun]) for name, numbers in found.items()}


def sections(bench: Bench) -> list[Section]:
    """Returns the figures, the curve behind them, and what may have been different."""
    return [_setting(bench), _gains(bench), _curve(bench), _causes(bench)]


def _setting(bench: Bench) -> Section:
    runs = by_arm(again(bench, "arms"))
    rows = []
    for link, variant in bench.variants("links.toml").chosen.items():
        baseline = mean_interval(values(runs, link, NONE))
        rows.append([link, variant.title, f"{LINKS[link]:g}", baseline.text()])
    return Section(
        "Links",
        items=[
            Table(
                ["link", "chosen", "published [Mbps]", "UDP here [Mbps]"],
                rows,
                "UDP baselines",
                commands=[COMMAND],
                numeric_from=2,
            )
        ],
    )


def _gains(bench: Bench) -> Section:
    result = again(bench, "arms")
    runs = by_arm(result)
    commands = [COMMAND, result.rerun]
    over = f"Means with 95 % confidence intervals over {bench.seeds} seeds; stars are published values"
    return Section(
        "Ideal goodput",
        "Figure 9 of the paper. TCP in its part (a) sends an ACK for each packet.",
        items=[
            Figure(drawing.gains(runs), f"TACK's lead over an ACK for each packet. {over}", commands),
            Figure(drawing.receivers(runs), f"Goodput by receiver, {CAUSES_ON}, 80 ms. {over}", commands),
        ],
    )


def _curve(bench: Bench) -> Section:
    result = run_frequencies(bench)
    runs = by_frequency(result)
    rows = []
    for link in LINKS:
        found = (mean_interval(counted_values(runs, link, packets)) for packets in THINNED)
        rows.append([link, *(one.text() for one in found)])
    return Section(
        "Goodput by ACK frequency",
        "The tool sends as many ACKs as the baseline would bring, whatever goodput is left. A receiver that counts what arrives sends fewer: its "
        "goodput is where the curve meets the line of L packets an ACK.",
        items=[
            Figure(drawing.curves(runs), "Goodput over the UDP baseline by ACK frequency", [COMMAND, result.rerun]),
            Table(["link", *(f"L = {packets}" for packets in THINNED)], rows, "Goodput with receivers that count [Mbps]", commands=[result.rerun]),
        ],
    )  # fmt: skip


def _causes(bench: Bench) -> Section:
    result = run_causes(bench)
    runs = by_arm(result)
    arms = [*(arm.name for arm in BY_COUNT.values()), TACKS["80 ms"].name, NONE]
    rows = []
    for cause, variant in bench.variants("alternatives.toml").chosen.items():
        rows.append([cause, variant.title, *(mean_interval(values(runs, cause, arm)).text(1) for arm in arms)])
    rows.append(["published", "Figure 9(b)", *(f"{drawing.PUBLISHED_9B[arm]:g}" for arm in arms)])
    head = ["", "what differs", *(arm.removesuffix(" 80 ms") for arm in arms)]
    return Section(
        "What may have been different",
        "Goodput in Mbps over 802.11n, with settings of room and hosts that the paper omits.",
        items=[Table(head, rows, "Goodput by receiver and by what differs", commands=[COMMAND, result.rerun], numeric_from=2)],
    )
