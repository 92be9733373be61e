"""Measures and report sections of the study."""

from collections.abc import Mapping

from acklab.report import Section
from acklab.statistics import rare_events
from acklab.studies import Bench, Measure
from acklab.studies.runs import failures, failures_of, timeouts

from . import crosscheck, figure_9, lateness, loss_causes, sensing, transfer
from .runs import (
    BOTH,
    COMMAND,
    HACK,
    ONE,
    SCHEMES,
    STOCK,
    alike,
    contents,
    late,
    sensed_late,
    settings,
    simulated,
    throughput,
    timeouts_of,
    transfers,
)


def measures(bench: Bench) -> Mapping[str, Measure]:
    """Returns numbers of claims that are in no table of a single run."""
    sent, drawn, even = transfers(bench), throughput(bench), alike(bench)
    swept = [late(bench), settings(bench), contents(bench), simulated(bench)]
    sensed_late(bench)
    costs = {scheme: transfer.costs(bench, own) for scheme, own in sent.items()}
    found = {
        name: Measure([float(getattr(cost, part)) for cost in costs[scheme]], [sent[scheme].command])
        for name, (part, scheme) in transfer.COSTS.items()
    }
    plain, compressed = costs[STOCK], costs[HACK]
    ratio = [one.octets / one.acks / two.compressed_mean for one, two in zip(plain, compressed, strict=True)]
    with_hack = [own for runs in (drawn, even) for (_, scheme), own in runs.items() if scheme == HACK] + [sent[HACK]]
    failed = [failures(result) for own in with_hack for result in own.results]
    failed += [count for sweep in swept for count in failures_of(sweep)]
    waited = {
        scheme: [
            *(timeouts(result) for runs in (drawn, even) for clients in (ONE, BOTH) for result in runs[clients, scheme].results),
            *(count for sweep in swept[:2] for count in timeouts_of(sweep, scheme)),
        ]
        for scheme in SCHEMES
    }
    return {
        **found,
        "ratio": Measure(ratio, [sent[scheme].command for scheme in SCHEMES]),
        "late_benefit": Measure.of(lateness.benefit(bench), [swept[0].rerun]),
        "constant_size": Measure(transfer.of_constant_size(bench), [swept[2].rerun]),
        "failures": Measure.of(rare_events(failed), [COMMAND]),
        "timeouts": Measure.of(rare_events(waited[HACK], waited[STOCK]), [COMMAND]),
    }


def sections(bench: Bench) -> list[Section]:
    """Returns the sections of the report."""
    drawn, even = throughput(bench), alike(bench)
    return [
        figure_9.goodput_section(bench, drawn, even),
        figure_9.sent_again_section(bench, even),
        transfer.section(bench),
        figure_9.air_section(drawn),
        lateness.section(bench),
        sensing.section(bench),
        loss_causes.section(bench),
        crosscheck.section(bench),
    ]
