"""What the study measures, and the sections of its report."""

from collections.abc import Mapping

from acklab.report import Section
from acklab.studies import Bench, Measure
from acklab.studies.runs import failures, timeouts

from . import causes, crosscheck, figure_9, lateness, sensing, transfer
from .runs import (
    BOTH,
    COMMAND,
    HACK,
    ONE,
    SCHEMES,
    STOCK,
    beyond_stock,
    contents,
    late,
    sensed_late,
    settings,
    simulated,
    throughput,
    transfers,
)


def measures(bench: Bench) -> Mapping[str, Measure]:
    """Numbers of claims that no table of one run tells."""
    sent, drawn = transfers(bench), throughput(bench)
    swept = [late(bench), settings(bench), contents(bench), simulated(bench)]
    sensed_late(bench)
    costs = {scheme: transfer.costs(bench, own) for scheme, own in sent.items()}
    found = {
        name: Measure([float(getattr(cost, part)) for cost in costs[scheme]], [sent[scheme].command])
        for name, (part, scheme) in transfer.COSTS.items()
    }
    plain, compressed = costs[STOCK], costs[HACK]
    ratio = [one.octets / one.acks / two.compressed_mean for one, two in zip(plain, compressed, strict=True)]
    with_hack = [own for (_, scheme), own in drawn.items() if scheme == HACK] + [sent[HACK]]
    failed = sum(failures(result) for own in with_hack for result in own.results)
    failed += sum(int(sweep.table("hack")["total_decompression_failures_l2"].sum()) for sweep in swept)
    beyond = [
        sum(max(0, timeouts(ours) - timeouts(theirs)) for ours, theirs in zip(drawn[clients, HACK].results, drawn[clients, STOCK].results, strict=True))
        for clients in (ONE, BOTH)
    ]  # fmt: skip
    return {
        **found,
        "ratio": Measure(ratio, [sent[scheme].command for scheme in SCHEMES]),
        "failures": Measure([failed], [COMMAND]),
        "timeouts": Measure([sum(beyond) + sum(beyond_stock(sweep) for sweep in swept[:2])], [COMMAND]),
    }


def sections(bench: Bench) -> list[Section]:
    """What the report shows after the claims."""
    drawn = throughput(bench)
    return [
        figure_9.goodput_section(bench, drawn),
        figure_9.sent_again_section(bench, drawn),
        transfer.section(bench),
        figure_9.air_section(drawn),
        lateness.section(bench),
        sensing.section(bench),
        causes.section(bench),
        crosscheck.section(bench),
    ]
