"""The emulated.toml of a study: the emulated points and their metrics."""

import math
import tomllib
from collections.abc import Mapping
from fnmatch import fnmatchcase
from typing import Annotated, Self

from pydantic import AfterValidator, Field, ValidationError, model_validator

from acklab.errors import StoreError, UsageError
from acklab.faults import faults
from acklab.studies.claim import Claim, Strict, metric_text
from acklab.studies.definition import Study
from acklab.studies.folders import study_folders

FILE = "emulated.toml"


class PointFile(Strict):
    """A scenario that is simulated and emulated."""

    name: str
    scenario: str
    variants: tuple[str, ...] = ()
    """Variants laid over the scenario, such as "paths.toml:short"."""
    set: tuple[str, ...] = ()
    """Overrides. They must at least replace any other stack by Linux."""
    claims: tuple[str, ...] = ()
    """Claims of the study, such as "reno.*": their metrics are read and compared with the published
    numbers.
    """
    metrics: tuple[Annotated[str, AfterValidator(metric_text)], ...] = ()
    """Metrics without a published number."""
    published: Mapping[Annotated[str, AfterValidator(metric_text)], str] = {}
    """Metrics, each with the id of a claim that measures the same quantity in another way, such as
    a mean over runs.

    The metric is compared with the claim's published number.
    """
    perf: str = ""
    """The contender of `acklab perf --with` that replaces the flow in the emulation, such as
    "tack:packet=1500B".

    The simulation keeps the flow of the scenario.
    """

    def chosen(self, study: Study) -> list[Claim]:
        """Returns the claims of the point. Raises UsageError for a pattern without a match."""
        found: list[Claim] = []
        for pattern in self.claims:
            own = [claim for claim in study.file.claim if fnmatchcase(claim.id, pattern) and claim.measured_by_study is None]
            if not own:
                raise UsageError(
                    f"{study.folder / FILE}: point {self.name!r}: claims: found {pattern!r}, expected the id of a claim with a metric of a table"
                )
            found += own
        return found

    def beside(self, study: Study) -> list[tuple[str, Claim]]:
        """Returns metrics, and the claims whose published numbers they are compared with.

        Raises UsageError if there is no such claim.
        """
        return [(metric, claim_of(study, name, f"point {self.name!r}: published")) for metric, name in self.published.items()]


class GainFile(Strict):
    """The ratio of a metric of two points."""

    title: str
    point: str
    """The name of the point in the numerator."""
    over: str
    """The name of the point in the denominator."""
    metric: Annotated[str, AfterValidator(metric_text)] = "network.agg_throughput_l4"
    claim: str = ""
    """The id of the claim with the published number: a ratio, or its excess over 1 if its unit is
    %.
    """

    def published(self, study: Study) -> float:
        """Returns the published ratio; NaN without a claim.

        Raises UsageError if there is no such claim.
        """
        if not self.claim:
            return math.nan
        found = claim_of(study, self.claim, f"gain {self.title!r}: claim")
        return 1 + found.published / 100 if found.unit == "%" else found.published


class EmulatedFile(Strict):
    """The points of a study that are emulated."""

    repeats: Annotated[int, Field(ge=1)] = 3
    """Runs of each point, with the first seeds of the study."""
    quick_repeats: Annotated[int, Field(ge=1)] = 1
    before: str = ""
    """A shell command that both ends of `acklab perf` run before the measurement."""
    text: str = ""
    """Notes for readers of the report, in Markdown."""
    set: tuple[str, ...] = ()
    """Overrides of all points, applied before the overrides of each point."""
    metrics: tuple[Annotated[str, AfterValidator(metric_text)], ...] = ()
    """Metrics of all points, before the metrics of each."""
    point: tuple[PointFile, ...]
    gain: tuple[GainFile, ...] = ()
    """Ratios of points."""

    @model_validator(mode="after")
    def _has_the_points_of_gains(self) -> Self:
        names = [point.name for point in self.point]
        for gain in self.gain:
            for name in (gain.point, gain.over):
                if name not in names:
                    raise ValueError(f"gain {gain.title!r}: found the point {name!r}, expected one of: {', '.join(names)}")
        return self


def claim_of(study: Study, name: str, place: str) -> Claim:
    """Returns the claim with this id. Raises UsageError, naming the place, if there is none."""
    found = next((claim for claim in study.file.claim if claim.id == name), None)
    if found is None:
        raise UsageError(f"{study.folder / FILE}: {place}: found {name!r}, expected the id of a claim of the study")
    return found


def read(study: Study) -> EmulatedFile:
    """Reads the emulated.toml of a study, with the common settings in each point.

    Raises UsageError if there is none, StoreError with the place of every error.
    """
    path = study.folder / FILE
    try:
        file = EmulatedFile.model_validate(tomllib.loads(path.read_text(encoding="utf-8")))
        points = (
            one.model_copy(update={"set": (*file.set, *one.set), "metrics": (*file.metrics, *one.metrics)}) for one in file.point
        )
        return file.model_copy(update={"point": tuple(points)})
    except FileNotFoundError as error:
        others = ", ".join(name for name, folder in study_folders().items() if (folder / FILE).is_file()) or "none"
        raise UsageError(f"{study.name}: found no {FILE}, expected a study that has one: {others}") from error
    except OSError as error:
        raise StoreError(f"{path}: cannot be read: {error.strerror}") from error
    except ValidationError as error:
        raise StoreError(f"{path}: {faults(error)}") from error
    except tomllib.TOMLDecodeError as error:
        raise StoreError(f"{path}: expected TOML: {error}") from error
