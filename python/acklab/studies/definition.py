"""What a study consists of, and where studies are found."""

import os
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, field_validator

from acklab.errors import StoreError, UsageError
from acklab.studies.metric import Metric
from acklab.verdict import judge, tolerated

CLAIMS_FILE = "claims.toml"
MEASURES = "study"
"""What stands in the place of a table where a metric is measured by study.py."""
_ENVIRONMENT = "ACKLAB_STUDIES"


def _metric(text: str) -> str:
    try:
        Metric.parse(text)
    except UsageError as error:
        raise ValueError(str(error)) from error
    return text


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Direction(_Strict):
    """What must hold, at least, for a claim to point the right way: ours lies on this side of a number or of another scenario."""

    lower_than: float | str | None = None
    higher_than: float | str | None = None

    @property
    def bound(self) -> float | str:
        """The number, or the scenario file whose value of the same metric is the bound."""
        return self.lower_than if self.lower_than is not None else self.higher_than  # type: ignore[return-value]

    def holds(self, measured: float, limit: float) -> bool:
        """Whether a number lies on the claimed side of the bound, whose value is `limit`."""
        return measured < limit if self.lower_than is not None else measured > limit

    def model_post_init(self, _context: Any) -> None:
        """Refuses a direction with both sides or none."""
        if (self.lower_than is None) == (self.higher_than is None):
            raise ValueError("expected one of lower_than and higher_than")


class Reference(_Strict):
    """The run that a ratio is taken to; what it does not name is as in the claim."""

    scenario: str | None = None
    variants: tuple[str, ...] | None = None
    set: tuple[str, ...] | None = None


class Claim(_Strict):
    """One published number."""

    id: Annotated[str, Field(pattern=r"^[a-z0-9_.]+$")]
    title: str
    group: str = ""
    """Heading that the claim stands under, where a study has many."""
    source: str
    unit: str = ""
    published: float
    tolerance: str
    """What we hold ourselves to: a share such as "3%", a number in the unit of the claim such as "0.05", or "factor 1.5" either way;
    "at least" or "at most" where a bound was published."""
    scenario: str = ""
    """The file that is run; none where `study.py` measures."""
    variants: tuple[str, ...] = ()
    """Variants laid over the scenario, such as "paths.toml:short"."""
    set: tuple[str, ...] = ()
    metric: Annotated[str, AfterValidator(_metric)]
    relative_to: Reference | None = None
    """Where the published number is a ratio: the metric is divided by that of this run, seed by seed."""
    direction: Direction | None = None
    note: str = ""
    """Why ours differs, if it does."""

    @property
    def measured_by_study(self) -> str | None:
        """The measure of `study.py` that is meant, if the number is in no table of a run: `study.name`."""
        metric = Metric.parse(self.metric)
        return metric.column if metric.table == MEASURES else None

    def verdict(self, measured: float, limit: float | None = None) -> str:
        """How a number of ours stands to the published one; `limit` is the value of the scenario that the direction names, if it does."""
        if self.direction is not None and isinstance(self.direction.bound, float):
            limit = self.direction.bound
        holds = None if self.direction is None or limit is None else self.direction.holds(measured, limit)
        return judge(self.published, measured, self.tolerance, holds)

    def model_post_init(self, _context: Any) -> None:
        """Refuses to hold a ratio against what is none, and a scenario beside a measure of the study."""
        if self.measured_by_study is None and not self.scenario:
            raise ValueError("expected a scenario to run, or a metric that study.py measures such as study.name")
        bound = None if self.direction is None else self.direction.bound
        runs = (self.scenario, *self.variants, *self.set, self.relative_to)
        if self.measured_by_study is not None and (any(runs) or isinstance(bound, str)):
            raise ValueError(f"expected nothing to run beside {self.metric}, which study.py measures")
        if self.relative_to is not None and self.direction is not None and isinstance(self.direction.bound, str):
            raise ValueError("expected a number as the direction of a ratio, found a scenario")

    @field_validator("tolerance", mode="before")
    @classmethod
    def _as_text(cls, value: object) -> object:
        text = str(value) if isinstance(value, int | float) else value
        if isinstance(text, str):
            try:
                tolerated(text, 1.0)
            except UsageError as error:
                raise ValueError(str(error)) from error
        return text


class StudyFile(_Strict):
    """What stands in claims.toml."""

    title: str
    question: str
    seeds: Annotated[int, Field(ge=1)] = 10
    quick_seeds: Annotated[int, Field(ge=1)] = 3
    vary: dict[str, str] = {}
    """Values drawn anew for each seed but the first, such as {"flow.0.start" = "0ms..5ms"}."""
    claim: tuple[Claim, ...]


@dataclass(frozen=True)
class Study:
    """A study: its folder and what stands in it."""

    folder: Path
    file: StudyFile

    @property
    def name(self) -> str:
        """The name of the folder."""
        return self.folder.name

    @property
    def readme(self) -> str:
        """The README as Markdown; empty if there is none."""
        path = self.folder / "README.md"
        return path.read_text(encoding="utf-8") if path.is_file() else ""

    def scenario(self, name: str) -> Path:
        """The path of one of its scenario files, from the current folder if it lies below."""
        path = self.folder / name
        below = os.path.relpath(path)
        return path if below.startswith("..") else Path(below)

    @classmethod
    def read(cls, folder: Path) -> "Study":
        """Reads a study. Raises StoreError with every place that is wrong."""
        path = folder / CLAIMS_FILE
        try:
            study = cls(folder, StudyFile.model_validate(tomllib.loads(path.read_text(encoding="utf-8"))))
        except OSError as error:
            raise StoreError(f"{path}: cannot read it: {error.strerror}") from error
        except ValidationError as error:
            places = "; ".join(f"{_place(item['loc'])}: {item['msg']}" for item in error.errors())
            raise StoreError(f"{path}: {places}") from error
        except ValueError as error:
            raise StoreError(f"{path}: expected TOML: {error}") from error
        ids = [claim.id for claim in study.file.claim]
        if twice := sorted({name for name in ids if ids.count(name) > 1}):
            raise StoreError(f"{path}: found the id {', '.join(twice)} more than once")
        return study


def _place(location: tuple[int | str, ...]) -> str:
    return ".".join(str(part) for part in location)


def studies_folder() -> Path:
    """Where studies are: $ACKLAB_STUDIES, else `studies` here or in a folder above, else in the checkout of acklab.

    Raises UsageError if there is none.
    """
    given = os.environ.get(_ENVIRONMENT)
    if given:
        return Path(given)
    here = Path.cwd()
    for folder in (*(place / "studies" for place in (here, *here.parents)), Path(__file__).resolve().parents[3] / "studies"):
        if folder.is_dir() and any(folder.glob(f"*/{CLAIMS_FILE}")):
            return folder
    raise UsageError(f"found no folder studies/ here or above, expected one with studies (or its path in ${_ENVIRONMENT})")


def discover() -> list[Study]:
    """All studies, by name. Raises UsageError, StoreError."""
    return [Study.read(path.parent) for path in sorted(studies_folder().glob(f"*/{CLAIMS_FILE}"))]


def find(name: str) -> Study:
    """The study of that name. Raises UsageError naming those that there are."""
    folder = studies_folder()
    known = sorted(path.parent.name for path in folder.glob(f"*/{CLAIMS_FILE}"))
    if name not in known:
        raise UsageError(f"found no study {name!r} in {folder}, expected one of: {', '.join(known)}")
    return Study.read(folder / name)
