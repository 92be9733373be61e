"""Simulates and emulates each point, and reads the same metrics from both."""

import math
from collections.abc import Mapping
from pathlib import Path

from acklab.result import Result
from acklab.statistics import mean_interval, ratio_interval
from acklab.studies.bench import Bench
from acklab.studies.definition import Study
from acklab.studies.emulated.definition import EmulatedFile, GainFile
from acklab.studies.emulated.report import Comparison, title_of, unit_of
from acklab.studies.emulated.runs import Emulation, emulate_points, is_trusted, seconds_of
from acklab.studies.metric import Metric
from acklab.terminal import notify, progress_bar


def compare(bench: Bench, file: EmulatedFile, folder: Path, processors: str, kernel: str = "") -> list[Comparison]:
    """Returns the metrics of all points, simulated and emulated.

    Simulations use all seeds of the study, emulations the first seeds.

    `folder` stores the emulations; `processors` is as in `acklab.emulate`. With `kernel`, a guest
    kernel, emulations run in virtual time. Prints the expected duration first. Raises RunError if
    a run fails, UsageError, StoreError.
    """
    study = bench.study
    claims = [(point.chosen(study), point.beside(study)) for point in file.point]
    wanted = [(point.scenario, [*bench.sets(point.variants), *point.set]) for point in file.point]
    repeats = file.quick_repeats if bench.quick else file.repeats
    replicas = bench.replicas(wanted, [max(repeats, bench.seeds)] * len(wanted))
    emulated = [points[:repeats] for points in replicas]
    flat = [
        Emulation(run, point.perf, file.before if point.perf else "", processors, kernel)
        for point, runs in zip(file.point, emulated, strict=True)
        for run in runs
    ]
    if (seconds := seconds_of(flat, folder)) and not bench.quiet:
        manner = (
            "of virtual time, a run per core"
            if kernel
            else "in real time, one run at a time; a run with late packets is repeated"
        )
        notify(f"{study.name}: emulating for {_minutes(seconds)} {manner}")
    with progress_bar(bench.quiet, f"{study.name}: emulated") as bar:
        results = iter(emulate_points(flat, folder, bar, bench.jobs))
    rows = []
    both: dict[str, tuple[list[Result], list[Result]]] = {}
    for point, own, points, (chosen, beside) in zip(file.point, replicas, emulated, claims, strict=True):
        simulations, emulations = bench.results(own), [next(results) for _ in points]
        both[point.name] = simulations, emulations
        trusted = [result for result in emulations if is_trusted(result)]
        read = [(claim.title, claim.metric, claim.unit, claim.published) for claim in chosen]
        read += [(claim.title, metric, unit_of(metric), claim.published) for metric, claim in beside]
        read += [(title_of(metric), metric, unit_of(metric), math.nan) for metric in point.metrics]
        for title, text, unit, published in read:
            metric = Metric.parse(text)
            rows.append(
                Comparison(
                    point=point.name,
                    title=title,
                    metric=text,
                    unit=unit,
                    published=published,
                    simulated=mean_interval(metric.of(result) for result in simulations),
                    emulated=mean_interval(metric.of(result) for result in emulations),
                    ratio=ratio_interval(
                        [metric.of(result) for result in emulations],
                        [metric.of(result) for result in simulations[: len(emulations)]],
                    ),
                    trusted=len(trusted),
                    simulation=own[0].command,
                    emulation=emulations[0].provenance.command,
                )
            )
    return [*(_gain(gain, study, both) for gain in file.gain), *rows]


def _gain(gain: GainFile, study: Study, both: Mapping[str, tuple[list[Result], list[Result]]]) -> Comparison:
    metric = Metric.parse(gain.metric)
    above, below = both[gain.point], both[gain.over]
    (simulated, emulated), (simulated_base, emulated_base) = (
        [[metric.of(result) for result in results] for results in point] for point in (above, below)
    )
    return Comparison(
        point=gain.title,
        title="gain",
        metric=gain.metric,
        unit="",
        published=gain.published(study),
        simulated=ratio_interval(simulated, simulated_base),
        emulated=ratio_interval(emulated, emulated_base),
        # The gain of an emulated seed relative to the gain of the same simulated seed.
        ratio=ratio_interval(
            [one * base for one, base in zip(emulated, simulated_base, strict=False)],
            [one * base for one, base in zip(simulated, emulated_base, strict=False)],
        ),
        # A ratio is reliable if both of its runs are reliable.
        trusted=sum(is_trusted(one) and is_trusted(other) for one, other in zip(above[1], below[1], strict=True)),
        simulation=above[0][0].provenance.command,
        emulation=above[1][0].provenance.command,
    )


def _minutes(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"
