"""Cost of ACKs by contention alone: the paper's Figures 7 and 9."""

from collections.abc import Mapping

from acklab.report import Figure, Section, Table
from acklab.statistics import mean_interval
from acklab.studies import Bench, Measure

from . import drawing
from .arms import BY_COUNT, LINKS, NONE, RTTS, TACKS, THINNED
from .runs import CAUSES_ON, COMMAND, again, by_arm, by_frequency, counted_values, run_arms, run_causes, run_frequencies, values


def measures(bench: Bench) -> Mapping[str, Measure]:
    """Returns baselines, goodput by receiver (Figure 9(b)), and TACK's gain (Figure 9(a))."""
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
    """Returns the figures, the curve of goodput by ACK frequency, and alternative settings."""
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
        "Figure 9 of the paper. In part (a) TCP sends an ACK per packet.",
        items=[
            Figure(drawing.gains(runs), f"Gain of TACK over an ACK per packet. {over}", commands),
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
        "The tool sends the ACKs of the baseline, independent of the remaining goodput. A receiver that counts arriving packets sends fewer. Its "
        "goodput is at the intersection of the curve with the line of L packets per ACK.",
        items=[
            Figure(drawing.curves(runs), "Goodput ÷ UDP baseline by ACK frequency", [COMMAND, result.rerun]),
            Table(["link", *(f"L = {packets}" for packets in THINNED)], rows, "Goodput with receivers that count packets [Mbps]", commands=[result.rerun]),
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
    head = ["", "setting", *(arm.removesuffix(" 80 ms") for arm in arms)]
    return Section(
        "Alternative settings",
        "Goodput in Mbps over 802.11n, with settings of the environment and the hosts that the paper omits.",
        items=[Table(head, rows, "Goodput by receiver and by setting", commands=[COMMAND, result.rerun], numeric_from=2)],
    )
