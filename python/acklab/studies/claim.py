"""One published number and the conditions of its verdict."""

import math
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, field_validator

from acklab.errors import UsageError
from acklab.statistics import Interval
from acklab.studies.metric import Metric
from acklab.verdict import LESS_THAN, MORE_THAN, judge, kind_of, lies_within, tolerated

MEASURES = "study"
"""Replaces the table in the name of a metric that study.py measures."""


LEAST_SHARE = 0.1
"""Of the published effect, the least that points in the same direction if the claim's direction is against no effect."""


def metric_text(text: str) -> str:
    """Parses a metric. Raises ValueError, which pydantic reports with its place."""
    try:
        Metric.parse(text)
    except UsageError as error:
        raise ValueError(str(error)) from error
    return text


class Strict(BaseModel):
    """Rejects unknown keys."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Direction(Strict):
    """The direction of a claim: our number lies on this side of a number or of another scenario."""

    lower_than: float | str | None = None
    higher_than: float | str | None = None

    @property
    def bound(self) -> float | str:
        """The number, or the scenario file whose value of the same metric is the bound."""
        return self.lower_than if self.lower_than is not None else self.higher_than  # type: ignore[return-value]

    def side(self, limit: float | str) -> str:
        """What is asked for as text, such as "more than 1.05"."""
        text = limit if isinstance(limit, str) else f"{limit:g}"
        return f"{LESS_THAN if self.lower_than is not None else MORE_THAN} {text}"

    def holds(self, ours: Interval, limit: float) -> bool | None:
        """Whether our whole interval lies on the claimed side of `limit`; False if no part does, None if a part does."""
        edges = (-math.inf, limit) if self.lower_than is not None else (limit, math.inf)
        return lies_within(ours, *edges, strictly=True)

    def model_post_init(self, _context: Any) -> None:
        """Rejects a direction with both sides or none."""
        if (self.lower_than is None) == (self.higher_than is None):
            raise ValueError("expected one of lower_than and higher_than")


class Reference(Strict):
    """The run in the denominator of a ratio; settings that it does not name are those of the claim."""

    scenario: str | None = None
    variants: tuple[str, ...] | None = None
    set: tuple[str, ...] | None = None


class Claim(Strict):
    """One published number."""

    id: Annotated[str, Field(pattern=r"^[a-z0-9_.]+$")]
    title: str
    group: str = ""
    """Heading of the claim in a study with many claims."""
    source: str
    unit: str = ""
    published: float
    no_effect: float | None = None
    """The value without effect, to which tolerances are relative: 1 for a ratio by `relative_to`, else 0."""
    tolerance: str
    """What we hold ourselves to: a share of the published effect such as "3%", a number in the unit of the claim such as "0.05", or
    "factor 1.5" either way; "at least", "at most", "more than" or "less than" where a bound was published."""
    scenario: str = ""
    """The scenario file; empty if `study.py` measures the number."""
    variants: tuple[str, ...] = ()
    """Variants of the scenario, such as "paths.toml:short"."""
    set: tuple[str, ...] = ()
    metric: Annotated[str, AfterValidator(metric_text)]
    seeds: Annotated[int, Field(ge=1)] | None = None
    """Number of seeds, if those of the study leave the claim undecided."""
    relative_to: Reference | None = None
    """If the published number is a ratio: the metric is divided by that of this run, seed by seed."""
    direction: Direction | None = None
    note: str = ""
    """The reason of a difference."""
    fitted: str = ""
    """How the settings were fitted, if they were; the verdict then says so."""
    kind: Literal["paper", "parity", "own"] | None = None
    """Whose number it is, if the first words of the source do not tell (`acklab.verdict.kind_of`)."""
    reading_of: str = ""
    """The id of the claim that counts, if this one is another reading of the same statement, such as with other settings; `study/id` if
    another study has it."""
    same_as: str = ""
    """The id of the claim that is about the same quantity, such as octets where this one is about the time that they take: this one
    gets its verdict."""

    @property
    def effect_from(self) -> float:
        """The value without effect."""
        return self.no_effect if self.no_effect is not None else 0.0 if self.relative_to is None else 1.0

    @property
    def limit(self) -> float | str | None:
        """From where on ours points in the same direction: the bound of the direction, if there is one.

        A bound that is no effect at all (0, or 1 of a ratio) asks for `LEAST_SHARE` of the published effect, since any
        difference that is not noise would be beyond it otherwise.
        """
        if self.direction is None:
            return None
        bound = self.direction.bound
        if isinstance(bound, str) or bound != self.effect_from:
            return bound
        return bound + LEAST_SHARE * (self.published - bound)

    @property
    def side(self) -> str:
        """The limit as text, such as "more than 1.05"; empty without a direction."""
        return "" if self.direction is None or self.limit is None else self.direction.side(self.limit)

    @property
    def whose(self) -> str:
        """Whose number it is, one of `acklab.verdict.KINDS`."""
        return self.kind or kind_of(self.source)

    @property
    def counts_as(self) -> str:
        """The id of the claim that counts for the same statement, if it is another one; `study/id` if another study has it."""
        return self.reading_of or self.same_as

    def statement(self, study: str) -> str:
        """The full id of the claim that counts for the same statement, for a claim of this study; empty if it is this one."""
        place, _, name = self.counts_as.rpartition("/")
        return f"{place or study}.{name}" if name else ""

    @property
    def measured_by_study(self) -> str | None:
        """The name of the measure of `study.py`, if no table of a run has the number: `study.name`."""
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
        return judge(reproduced, self.direction.holds(ours, float(self.limit or 0)))

    def model_post_init(self, _context: Any) -> None:
        """Rejects inconsistent ratios, and a scenario in addition to a measure of the study."""
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
