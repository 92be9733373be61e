"""What the study measures, and the figures and tables of its report."""

from collections.abc import Mapping

from acklab.report import Section
from acklab.studies import Bench, Measure
from acklab.sweeps import load_sweep

from . import claimed, contention, progress, reach, settings, thinning
from .runs import BASE, COMMAND, base, collect, of_mimd, summary


def measures(bench: Bench) -> Mapping[str, Measure]:
    """Numbers of claims: each is read from many runs."""
    result, more = base(bench), of_mimd(bench)
    found = claimed.numbers(collect([summary(result)]))
    of_more = dict(claimed.mimd(collect([summary(more)])))
    return {
        **{name: claimed.measure(number, [result.rerun]) for name, number in found.items()},
        **{name: claimed.measure(number, [more.rerun]) for name, number in of_more.items()},
    }


def sections(bench: Bench) -> list[Section]:
    """What the report shows after the claims."""
    result = load_sweep(bench.folder / BASE)
    frame = summary(result)
    of, commands = f"mean over {len(result.seeds)} seeds with its interval of 95 %", [COMMAND, result.rerun]
    return [
        *progress.sections(bench),
        *contention.sections(bench, frame, of, commands),
        *reach.sections(bench, frame, of, commands),
        *thinning.sections(bench, frame, of, commands),
        settings.survey(bench, collect([frame])),
    ]
