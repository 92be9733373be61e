"""Runs a study and stores its results."""

import math
import tempfile
import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import cast

from acklab import store
from acklab.contents import Contents, refuse_others
from acklab.errors import AcklabError, RunError, UsageError, words_of
from acklab.metrics import written
from acklab.places import LocalPlace, Place, place_of
from acklab.report.document import Document, Section
from acklab.result import Result
from acklab.sequential import Looks
from acklab.statistics import Interval, event_rate, mean_interval, ratio_interval
from acklab.studies import emulated
from acklab.studies.bench import Bench
from acklab.studies.claim import Claim
from acklab.studies.definition import Study, find
from acklab.studies.emulated import Comparison
from acklab.studies.measure import Measure
from acklab.studies.metric import Metric
from acklab.studies.modules import load_module
from acklab.sweeps import Point
from acklab.sweeps.estimation import Estimate, FirstSeeds
from acklab.sweeps.execution import Executor, cores
from acklab.verdict import UNDECIDED, Finding, summary
from acklab.virtual.kernels import find as guest_kernel
from acklab.ways import EMULATE, SIMULATE, VIRTUAL, check_way

WAYS = (SIMULATE, EMULATE, VIRTUAL)
"""The modes of a study: simulated, or with the kernel's TCP in real time or in virtual time."""

_Key = tuple[str, tuple[str, ...]]


@dataclass(frozen=True, repr=False)
class StudyResult:
    """The result of a study. `document` is the content of its report, as stored in `folder`."""

    study: Study
    folder: Path | Place
    findings: tuple[Finding, ...]
    document: Document
    comparisons: tuple[Comparison, ...] = ()
    """Published, simulated and emulated numbers of an emulated study, which has no verdicts."""

    def __repr__(self) -> str:
        """Returns a short text, because a study may have hundreds of claims."""
        return f"StudyResult({self.study.name!r}: {summary(self.findings)})"

    def _repr_html_(self) -> str:
        """Returns HTML for notebooks: claims and differences from the published numbers."""
        from acklab.figures import comparison
        from acklab.notebook import page
        from acklab.tables import Table

        head = ["claim", "published", "ours", "low", "high", "unit", "verdict"]
        rows = [
            [
                one.title,
                *(written(value) for value in (one.published, one.measured, one.low, one.high)),
                one.unit,
                one.verdict_text,
            ]
            for one in self.findings
        ]
        table = Table(head, rows, "Claims", text=frozenset({5, 6}))
        figure = comparison(self.findings) if self.findings else None
        return page(self.study.file.title, summary(self.findings), [table], figure=figure)


def run_study(
    study: Study | str,
    out: str | Path | Place,
    *,
    quick: bool = False,
    jobs: int | None = None,
    quiet: bool = False,
    way: str = SIMULATE,
    on: Executor | None = None,
    most_seeds: int | None = None,
    processors: str = "auto",
    kernel: str | None = None,
) -> StudyResult:
    """Runs a study over its seeds, judges its claims, and draws its figures.

    Results go to the folder of that name in `out`, which may be the URL of a store. Runs that are
    stored there are not repeated. `on` is the executor of points (default: threads, `jobs` at a
    time). With `most_seeds`, undecided claims on scenarios get more seeds, up to that number, by
    the rule of `acklab.sequential`; claims that study.py measures keep their seeds. With the way
    "emulate", runs the points in the study's emulated.toml in real time with the kernel's TCP, and
    compares published, simulated and emulated numbers; `processors` is as in `acklab.emulate`. The
    way "virtual" does the same in virtual time, with the guest kernel of that name (default: the
    newest), `jobs` at a time.

    Raises RunError if a run fails, UsageError if a claim requires a column that the tables do not
    have, StoreError, Cancelled.
    """
    check_way(way, kernel, WAYS)
    study = find(study) if isinstance(study, str) else study
    top = place_of(out, "out")
    if way != SIMULATE and top.path is None:
        raise UsageError(f"{top}: found a store, expected a folder of this machine for emulations")
    place = top / study.name
    bench = Bench(study, place.path or place, quick, jobs, quiet, on=on, most_seeds=most_seeds)
    refuse_others(place, Contents.STUDY)
    if top.path is None or way == SIMULATE:
        return _simulate(bench, place)
    return _emulate(bench, top.path, processors, guest_kernel(kernel).name if way == VIRTUAL else "")


def estimate_study(
    study: Study | str,
    out: str | Path | Place,
    *,
    quick: bool = False,
    jobs: int | None = None,
    quiet: bool = False,
) -> Estimate:
    """Estimates the cost of `run_study` with these arguments: points, CPU time and memory.

    Runs the first seed of each setting, copies its results to the other seeds, and judges and draws
    as the study does. Stores nothing. The estimate excludes additional seeds for undecided claims.
    Raises the errors of `run_study`.
    """
    study = find(study) if isinstance(study, str) else study
    with tempfile.TemporaryDirectory(prefix="acklab-") as folder:
        started = time.process_time()
        sample = FirstSeeds(frozenset(study.file.vary), Path(folder), place_of(out, "out") / study.name, jobs or cores())
        bench = Bench(study, Path(folder), quick, jobs, quiet, on=sample)
        _simulate(bench, LocalPlace(Path(folder)))
        # The time in addition to runs and copies is for judging, merging and drawing. These are
        # repeated if any run is left.
        around = time.process_time() - started - sample.spent
    return sample.estimate(around)


def _simulate(bench: Bench, place: Place) -> StudyResult:
    study = bench.study
    findings = tuple(_judge_claims(bench))
    document = Document(
        name=study.name,
        title=study.file.title,
        question=study.file.question,
        readme=study.readme,
        seeds=bench.seeds,
        findings=findings,
        sections=tuple(_sections(replace(bench, findings=findings))),
    )
    document.write(place)
    place.write_json("claims.json", {"claims": [finding.row() for finding in findings]})
    return StudyResult(study, bench.folder, findings, document)


def _emulate(bench: Bench, out: Path, processors: str, kernel: str) -> StudyResult:
    study = bench.study
    file = emulated.read(study)
    folder = out / emulated.name_of(study, is_virtual=bool(kernel))
    refuse_others(LocalPlace(folder), Contents.STUDY)
    rows = emulated.compare(bench, file, out / study.name, processors, kernel)
    document = emulated.document(study, file.text, rows, kernel)
    document.write(folder)
    store.write_json(folder / "emulated.json", {"emulated": [row.row() for row in rows]})
    return StudyResult(study, folder, (), document, tuple(rows))


def _judge_claims(bench: Bench) -> list[Finding]:
    claims = bench.study.file.claim
    measures = _measures(bench) if any(not claim.scenario for claim in claims) else {}
    findings = {claim.id: _found(bench, claim, measures) for claim in claims if not claim.scenario}
    looks = {claim.id: Looks.of(bench.at_least(claim.seeds or 1), bench.most_seeds) for claim in claims}
    look, waiting = 0, [claim for claim in claims if claim.scenario]
    while waiting:
        findings |= _look(bench, waiting, looks, look)
        look += 1
        waiting = [claim for claim in waiting if findings[claim.id].verdict == UNDECIDED and look < len(looks[claim.id].seeds)]
    same = {claim.id: claim.same_as for claim in claims if claim.same_as}
    return [
        replace(findings[claim.id], verdict=findings[same[claim.id]].verdict) if claim.id in same else findings[claim.id]
        for claim in claims
    ]


def _look(bench: Bench, claims: Sequence[Claim], looks: Mapping[str, Looks], look: int) -> dict[str, Finding]:
    """Runs the seeds of a look, and judges the claims by them."""
    wanted: dict[_Key, int] = {}
    for claim in claims:
        for key in _runs(bench, claim):
            wanted[key] = max(wanted.get(key, 0), looks[claim.id].seeds[look])
    points = dict(zip(wanted, bench.replicas(list(wanted), list(wanted.values())), strict=True))
    read: dict[_Key, list[Result]] = {}

    def judge(claim: Claim) -> Finding:
        own = looks[claim.id]
        # With one look, a run has all seeds that any claim requests; with several looks, the number
        # of seeds must not depend on other claims.
        limit = own.seeds[look] if len(own.seeds) > 1 else None

        def measure(key: _Key, metric: Metric) -> list[float]:
            if key not in read:
                read[key] = bench.results(points[key])
            return [metric.of(result) for result in read[key][:limit]]

        return _finding(bench, claim, points, measure, own.confidence(look))

    return {claim.id: judge(claim) for claim in claims}


def _runs(bench: Bench, claim: Claim) -> list[_Key]:
    """Returns the runs of a claim's scenario, then the runs that the claim is compared with."""
    keys = [_key(bench, claim.scenario, claim.variants, claim.set)]
    if (over := claim.relative_to) is not None:
        variants = claim.variants if over.variants is None else over.variants
        keys.append(_key(bench, over.scenario or claim.scenario, variants, claim.set if over.set is None else over.set))
    if claim.direction is not None and isinstance(claim.direction.bound, str):
        keys.append((claim.direction.bound, ()))
    return keys


def _key(bench: Bench, scenario: str, variants: Sequence[str], sets: Sequence[str]) -> _Key:
    return scenario, (*bench.sets(variants), *sets)


def _finding(
    bench: Bench,
    claim: Claim,
    points: Mapping[_Key, Sequence[Point]],
    measure: Callable[[_Key, Metric], list[float]],
    confidence: float,
) -> Finding:
    metric = Metric.parse(claim.metric)
    key, *others = _runs(bench, claim)
    values = measure(key, metric)
    commands = [points[key][0].command]
    interval = event_rate(values, confidence) if metric.counts_events else mean_interval(values, confidence)
    if claim.relative_to is not None:
        below = measure(others[0], metric)
        # Some runs may have more seeds because of another claim. The first seeds are the same.
        seeds = min(len(values), len(below))
        interval = ratio_interval(values[:seeds], below[:seeds], confidence)
        values = [value / base if base else math.nan for value, base in zip(values, below, strict=False)]
        commands.append(points[others[0]][0].command)
    beyond = None
    if claim.direction is not None and isinstance(claim.direction.bound, str):
        pairs = zip(values, measure(others[0], metric), strict=False)
        beyond = mean_interval([value - other for value, other in pairs], confidence)
    return _judged(bench, claim, Measure(values, commands), interval, beyond)


def _found(bench: Bench, claim: Claim, measures: Mapping[str, Measure]) -> Finding:
    name = claim.measured_by_study or ""
    if name not in measures:
        raise UsageError(
            f"{bench.study.name}: found no measure {name!r} in study.py, expected one of: {', '.join(measures) or 'none'}"
        )
    return _judged(bench, claim, measures[name], measures[name].interval)


def _judged(bench: Bench, claim: Claim, measured: Measure, interval: Interval, beyond: Interval | None = None) -> Finding:
    missing = 0 if measured.known is not None else len(measured.values) - interval.count
    # Seeds without a number are not a random selection, so a mean over the other seeds decides
    # nothing.
    verdict = UNDECIDED if 0 < missing < len(measured.values) else claim.verdict(interval, beyond)
    return Finding(
        id=f"{bench.study.name}.{claim.id}",
        title=claim.title,
        source=claim.source,
        unit=claim.unit,
        published=claim.published,
        measured=interval.mean,
        low=interval.low,
        high=interval.high,
        tolerance=claim.tolerance,
        verdict=verdict,
        as_written=measured.values[0],
        seeds=interval.count,
        metric=claim.metric,
        command="\n".join(measured.commands),
        note=" ".join(part for part in (claim.note, _note_on_missing(missing, len(measured.values))) if part),
        missing=missing,
        group=claim.group,
        no_effect=claim.effect_from,
        fitted=claim.fitted,
        kind=claim.origin,
        reading_of=claim.statement(bench.study.name),
        side=claim.side,
    )


def _note_on_missing(missing: int, seeds: int) -> str:
    """Returns the note on seeds without a number."""
    return f"{missing} of {seeds} seeds have no number: the base is zero, or nothing was measured." if missing else ""


def _sections(bench: Bench) -> Sequence[Section]:
    """Returns the sections of the report from `sections(bench)` of `study.py`."""
    return cast(Sequence[Section], _call(bench, "sections", ()))


def _measures(bench: Bench) -> Mapping[str, Measure]:
    """Returns the numbers from `measures(bench)` of `study.py`."""
    return cast(Mapping[str, Measure], _call(bench, "measures", {}))


def _call(bench: Bench, name: str, default: object) -> object:
    try:
        module = load_module(bench.study)
        return default if module is None or not hasattr(module, name) else getattr(module, name)(bench)
    except (AcklabError, KeyboardInterrupt):
        raise
    # Includes SystemExit, which would end the process without a message.
    except BaseException as error:
        place = traceback.extract_tb(error.__traceback__)[-1]
        path = bench.study.folder / "study.py"
        raise RunError(f"{path}: {type(error).__name__}: {words_of(error)} ({place.filename}, line {place.lineno})") from error
