"""One published number, and what ours must be for it to count as reproduced."""

import math
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, field_validator

from acklab.errors import UsageError
from acklab.statistics import Interval
from acklab.studies.metric import Metric
from acklab.verdict import LESS_THAN, MORE_THAN, judge, lies_within, tolerated

MEASURES = "study"
"""What stands in the place of a table where a metric is measured by study.py."""


def metric_text(text: str) -> str:
    """A metric as it is written. Raises ValueError, which pydantic turns into a complaint with its place."""
    try:
        Metric.parse(text)
    except UsageError as error:
        raise ValueError(str(error)) from error
    return text


class Strict(BaseModel):
    """Refuses keys that it does not know."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Direction(Strict):
    """What must hold, at least, for a claim to point the right way: ours lies on this side of a number or of another scenario."""

    lower_than: float | str | None = None
    higher_than: float | str | None = None

    @property
    def bound(self) -> float | str:
        """The number, or the scenario file whose value of the same metric is the bound."""
        return self.lower_than if self.lower_than is not None else self.higher_than  # type: ignore[return-value]

    def holds(self, ours: Interval, limit: float) -> bool | None:
        """Whether all of ours, none of it (False) or a part of it (None) lies on the claimed side of `limit`."""
        edges = (-math.inf, limit) if self.lower_than is not None else (limit, math.inf)
        return lies_within(ours, *edges, strictly=True)

    def model_post_init(self, _context: Any) -> None:
        """Refuses a direction with both sides or none."""
        if (self.lower_than is None) == (self.higher_than is None):
            raise ValueError("expected one of lower_than and higher_than")


class Reference(Strict):
    """The run that a ratio is taken to; what it does not name is as in the claim."""

    scenario: str | None = None
    variants: tuple[str, ...] | None = None
    set: tuple[str, ...] | None = None


class Claim(Strict):
    """One published number."""

    id: Annotated[str, Field(pattern=r"^[a-z0-9_.]+$")]
    title: str
    group: str = ""
    """Heading that the claim stands under, where a study has many."""
    source: str
    unit: str = ""
    published: float
    no_effect: float | None = None
    """The number that means no effect, from which shares are counted: 1 where `relative_to` makes a ratio, else 0."""
    tolerance: str
    """What we hold ourselves to: a share of the published effect such as "3%", a number in the unit of the claim such as "0.05", or
    "factor 1.5" either way; "at least", "at most", "more than" or "less than" where a bound was published."""
    scenario: str = ""
    """The file that is run; none where `study.py` measures."""
    variants: tuple[str, ...] = ()
    """Variants laid over the scenario, such as "paths.toml:short"."""
    set: tuple[str, ...] = ()
    metric: Annotated[str, AfterValidator(metric_text)]
    seeds: Annotated[int, Field(ge=1)] | None = None
    """How many seeds it takes, if those of the study leave it undecided."""
    relative_to: Reference | None = None
    """Where the published number is a ratio: the metric is divided by that of this run, seed by seed."""
    direction: Direction | None = None
    note: str = ""
    """Why ours differs, if it does."""
    fitted: str = ""
    """How the settings were found, if they were searched for a fit: the verdict then says so."""
    same_as: str = ""
    """The id of the claim that is about the same quantity, such as octets where this one is about the time that they take: this one
    gets its verdict."""

    @property
    def effect_from(self) -> float:
        """The number that means no effect."""
        return self.no_effect if self.no_effect is not None else 0.0 if self.relative_to is None else 1.0

    @property
    def measured_by_study(self) -> str | None:
        """The measure of `study.py` that is meant, if the number is in no table of a run: `study.name`."""
        metric = Metric.parse(self.metric)
        return metric.column if metric.table == MEASURES else None

    def verdict(self, ours: Interval, beyond: Interval | None = None) -> str:
        """How ours stands to the published number.

        `beyond` is by how much ours exceeds the value of the scenario that the direction names, if it names one, seed by seed.
        """
        strictly = self.tolerance in (LESS_THAN, MORE_THAN)
        reproduced = lies_within(ours, *tolerated(self.tolerance, self.published, self.effect_from), strictly=strictly)
        if self.direction is None:
            return judge(reproduced)
        if isinstance(self.direction.bound, str):
            return judge(reproduced, None if beyond is None else self.direction.holds(beyond, 0.0))
        return judge(reproduced, self.direction.holds(ours, self.direction.bound))

    def model_post_init(self, _context: Any) -> None:
        """Refuses to hold a ratio against what is none, and a scenario beside a measure of the study."""
        if self.measured_by_study is None and not self.scenario:
            raise ValueError("expected a scenario to run, or a metric that study.py measures such as study.name")
        if "%" in self.tolerance and self.published == self.effect_from:
            raise ValueError(
                f"found the tolerance {self.tolerance} of no effect at all, expected a number in the unit of the claim"
            )
        bound = None if self.direction is None else self.direction.bound
        runs = (self.scenario, *self.variants, *self.set, self.relative_to, self.seeds)
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
