"""One published number, and what ours must be for it to count as reproduced."""

from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, field_validator

from acklab.errors import UsageError
from acklab.studies.metric import Metric
from acklab.verdict import judge, tolerated

MEASURES = "study"
"""What stands in the place of a table where a metric is measured by study.py."""


def _metric(text: str) -> str:
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

    def holds(self, measured: float, limit: float) -> bool:
        """Whether a number lies on the claimed side of the bound, whose value is `limit`."""
        return measured < limit if self.lower_than is not None else measured > limit

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
