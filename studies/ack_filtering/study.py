"""Measures and report sections of the study."""

from collections.abc import Mapping

from acklab.report import Section
from acklab.studies import Bench, Measure
from acklab.sweeps import load_sweep

from . import claim_values, contention, mimd, progress, settings, thinning
from .runs import BASE, COMMAND, base, collect, of_mimd, of_small, summary


def measures(bench: Bench) -> Mapping[str, Measure]:
    """Returns the numbers of claims. Each is computed from many runs."""
    result, small, more = base(bench), of_small(bench), of_mimd(bench)
    found = (
        ([result], claim_values.numbers(collect([summary(result)]))),
        ([result, small], claim_values.of_small(collect([summary(result), summary(small)]))),
        ([more], claim_values.of_more(collect([summary(more)]))),
    )
    return {
        name: claim_values.measure(number, [sweep.rerun for sweep in sweeps])
        for sweeps, own in found
        for name, number in own.items()
    }


def sections(bench: Bench) -> list[Section]:
    """Returns the sections of the report."""
    result = load_sweep(bench.folder / BASE)
    frame = summary(result)
    of, commands = f"mean over {len(result.seeds)} seeds with its 95 % confidence interval", [COMMAND, result.rerun]
    return [
        *progress.sections(bench),
        *contention.sections(bench, frame, of, commands),
        *mimd.sections(bench, frame, of, commands),
        *thinning.sections(bench, frame, of, commands),
        settings.survey(bench, collect([frame])),
    ]
