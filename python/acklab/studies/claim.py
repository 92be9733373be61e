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


MIN_SHARE = 0.1
"""Minimum share of the published effect that counts as the same direction.

It applies to claims whose bound is no effect.
"""


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
    """The direction of a claim: our number lies on this side of a bound.

    The bound is a number, or the same metric in another scenario.
    """

    lower_than: float | str | None = None
    higher_than: float | str | None = None

    @property
    def bound(self) -> float | str:
        """Returns the number, or the scenario file whose value of the same metric is the bound."""
        return self.lower_than if self.lower_than is not None else self.higher_than  # type: ignore[return-value]

    def side(self, limit: float | str) -> str:
        """Returns the bound as text, such as "more than 1.05"."""
        text = limit if isinstance(limit, str) else f"{limit:g}"
        return f"{LESS_THAN if self.lower_than is not None else MORE_THAN} {text}"

    def holds(self, ours: Interval, limit: float) -> bool | None:
        """Returns whether our whole interval lies on the claimed side of `limit`.

        Returns False if no part of the interval lies on this side, None if only a part does.
        """
        edges = (-math.inf, limit) if self.lower_than is not None else (limit, math.inf)
        return lies_within(ours, *edges, strictly=True)

    def model_post_init(self, _context: Any) -> None:
        """Rejects a direction with both sides or none."""
        if (self.lower_than is None) == (self.higher_than is None):
            raise ValueError("expected one of lower_than and higher_than")


class Reference(Strict):
    """The run in the denominator of a ratio. Other settings are those of the claim."""

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
    """The value of no effect, to which tolerances are relative: 1 for a ratio by `relative_to`,
    else 0.
    """
    tolerance: str
    """The tolerance: a share of the published effect such as "3%", a number in the unit of the
    claim such as "0.05", or "factor 1.5" in both directions.

    For published bounds: "at least", "at most", "more than" or "less than".
    """
    scenario: str = ""
    """The scenario file; empty if `study.py` measures the number."""
    variants: tuple[str, ...] = ()
    """Variants of the scenario, such as "paths.toml:short"."""
    set: tuple[str, ...] = ()
    metric: Annotated[str, AfterValidator(metric_text)]
    seeds: Annotated[int, Field(ge=1)] | None = None
    """Number of seeds, if the claim is undecided with the study's number of seeds."""
    relative_to: Reference | None = None
    """The run in the denominator of a published ratio.

    Our metric is divided by the metric of this run, per seed.
    """
    direction: Direction | None = None
    note: str = ""
    """The reason of a difference from the published number."""
    fitted: str = ""
    """How the settings were fitted, as a part of the verdict; empty if they were not fitted."""
    kind: Literal["paper", "parity", "own"] | None = None
    """The kind of the claim, if the first words of the source do not define it
    (`acklab.verdict.kind_of`).
    """
    reading_of: str = ""
    """The id of the counted claim, if this claim is another reading of the same statement, for
    example with other settings.

    `study/id` for a claim of another study.
    """
    same_as: str = ""
    """The id of another claim about the same quantity, for example about bytes if this claim is
    about the time to send them.

    This claim gets the verdict of the other claim.
    """

    @property
    def effect_from(self) -> float:
        """Returns the value of the claim if there is no effect."""
        return self.no_effect if self.no_effect is not None else 0.0 if self.relative_to is None else 1.0

    @property
    def limit(self) -> float | str | None:
        """Returns the bound of the direction, if there is one.

        If the bound is no effect (0, or 1 for a ratio), `MIN_SHARE` of the published effect is
        required. Otherwise, any significant difference would exceed the bound.
        """
        if self.direction is None:
            return None
        bound = self.direction.bound
        if isinstance(bound, str) or bound != self.effect_from:
            return bound
        return bound + MIN_SHARE * (self.published - bound)

    @property
    def side(self) -> str:
        """Returns the limit as text, such as "more than 1.05"; empty without a direction."""
        return "" if self.direction is None or self.limit is None else self.direction.side(self.limit)

    @property
    def origin(self) -> str:
        """Returns the kind of the claim, one of `acklab.verdict.KINDS`."""
        return self.kind or kind_of(self.source)

    @property
    def counts_as(self) -> str:
        """Returns the id of the counted claim for the same statement, if it is another claim.

        `study/id` for a claim of another study.
        """
        return self.reading_of or self.same_as

    def statement(self, study: str) -> str:
        """Returns the full id of the counted claim for the same statement; empty for this claim."""
        place, _, name = self.counts_as.rpartition("/")
        return f"{place or study}.{name}" if name else ""

    @property
    def measured_by_study(self) -> str | None:
        """Returns the name of the measure of `study.py` for a metric `study.name`, or None."""
        metric = Metric.parse(self.metric)
        return metric.column if metric.table == MEASURES else None

    def verdict(self, ours: Interval, beyond: Interval | None = None) -> str:
        """Returns the verdict of our number.

        `beyond` is the excess of our number over the value of the scenario that the direction
        names, per seed.
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
            raise ValueError(f"found the tolerance {self.tolerance} of no effect, expected a number in the unit of the claim")
        bound = None if self.direction is None else self.direction.bound
        runs = (self.scenario, *self.variants, *self.set, self.relative_to, self.seeds)
        if self.measured_by_study is not None and (any(runs) or isinstance(bound, str)):
            raise ValueError(f"found a scenario beside {self.metric}, which study.py measures; expected one of them")
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
