"""Reruns a study and writes down what came out."""

import importlib.util
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from acklab import core, store
from acklab.errors import AcklabError, RunError
from acklab.report.document import Document, Section
from acklab.result import Result
from acklab.statistics import Interval, mean_interval
from acklab.studies.bench import Bench
from acklab.studies.definition import Claim, Study
from acklab.studies.metric import Metric
from acklab.sweeps import Point
from acklab.verdict import Finding, judge

_Key = tuple[str, tuple[str, ...]]


@dataclass(frozen=True)
class StudyResult:
    """A study and what came out; `document` is what the report shows of it, as kept in `folder`."""

    study: Study
    folder: Path
    findings: tuple[Finding, ...]
    document: Document


def run_study(study: Study, out: str | Path, *, quick: bool = False, jobs: int | None = None, quiet: bool = False) -> StudyResult:
    """Runs every scenario of a study over its seeds, judges its claims, and draws its figures.

    Results go to the folder of that name in `out`; runs that are there already are not repeated. Raises RunError if a run fails,
    UsageError if a claim asks for what the tables do not have, StoreError, Cancelled.
    """
    bench = Bench(study, Path(out) / study.name, quick, jobs, quiet)
    findings = tuple(_judge_claims(bench))
    document = Document(
        name=study.name,
        title=study.file.title,
        question=study.file.question,
        readme=study.readme,
        revision=core.revision(),
        version=core.version(),
        seeds=bench.seeds,
        findings=findings,
        sections=tuple(_sections(Bench(study, bench.folder, quick, jobs, quiet, findings))),
    )
    document.write(bench.folder)
    store.write_json(bench.folder / "claims.json", {"claims": [finding.row() for finding in findings]})
    return StudyResult(study, bench.folder, findings, document)


def _judge_claims(bench: Bench) -> list[Finding]:
    claims = bench.study.file.claim
    wanted: dict[_Key, None] = {(claim.scenario, claim.set): None for claim in claims}
    for claim in claims:
        if claim.direction is not None and isinstance(claim.direction.bound, str):
            wanted[(claim.direction.bound, ())] = None
    points = dict(zip(wanted, bench.replicas(list(wanted)), strict=True))
    read: dict[_Key, list[Result]] = {}

    def measure(key: _Key, metric: Metric) -> tuple[Interval, float]:
        if key not in read:
            read[key] = [point.result(bench.folder) for point in points[key]]
        values = [metric.of(result) for result in read[key]]
        return mean_interval(values), values[0]

    return [_finding(bench.study, claim, points, measure) for claim in claims]


def _finding(
    study: Study,
    claim: Claim,
    points: Mapping[_Key, Sequence[Point]],
    measure: Callable[[_Key, Metric], tuple[Interval, float]],
) -> Finding:
    metric = Metric.parse(claim.metric)
    key = (claim.scenario, claim.set)
    interval, as_written = measure(key, metric)
    holds: bool | None = None
    if claim.direction is not None:
        bound = claim.direction.bound
        limit = measure((bound, ()), metric)[0].mean if isinstance(bound, str) else bound
        holds = interval.mean < limit if claim.direction.lower_than is not None else interval.mean > limit
    return Finding(
        id=f"{study.name}.{claim.id}",
        title=claim.title,
        source=claim.source,
        unit=claim.unit,
        published=claim.published,
        measured=interval.mean,
        low=interval.low,
        high=interval.high,
        tolerance=claim.tolerance,
        verdict=judge(claim.published, interval.mean, claim.tolerance, holds),
        as_written=as_written,
        seeds=interval.count,
        metric=claim.metric,
        command=points[key][0].command,
        note=claim.note,
        group=claim.group,
    )


def _sections(bench: Bench) -> Sequence[Section]:
    """What the `study.py` of the study adds to the report: its function `sections(bench)` gives it."""
    path = bench.study.folder / "study.py"
    if not path.is_file():
        return ()
    spec = importlib.util.spec_from_file_location(f"acklab_study_{bench.study.name}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
        return cast(Sequence[Section], module.sections(bench))
    except AcklabError:
        raise
    except Exception as error:
        place = traceback.extract_tb(error.__traceback__)[-1]
        raise RunError(f"{path}: {type(error).__name__}: {error} ({place.filename}, line {place.lineno})") from error
