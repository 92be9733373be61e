"""The JSON form of a document, as accepted by `Document.read`."""

import math
from typing import Annotated, Any, Literal

from annotated_types import Len
from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field

from acklab.errors import UsageError
from acklab.verdict import KINDS, VERDICTS, Finding, tolerated


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid")


class _Table(_Strict):
    """A table. Documents of an earlier version have neither `text` nor `left_out`."""

    kind: Literal["table"]
    head: list[str]
    rows: list[list[str]]
    caption: str
    best: list[Annotated[list[int], Len(2, 2)]]
    commands: list[str]
    numeric_from: int
    text: list[int] = []
    left_out: int = 0


class _Layout(BaseModel):
    """The parts of Plotly's layout that the page reads."""

    model_config = ConfigDict(extra="allow")
    height: float = 400


class _Plotly(BaseModel):
    model_config = ConfigDict(extra="allow")
    data: list[dict[str, Any]]
    layout: _Layout


class _Figure(_Strict):
    """A figure as Plotly writes it."""

    kind: Literal["figure"]
    figure: _Plotly
    caption: str
    commands: list[str]


class _Section(_Strict):
    """A section."""

    title: str
    text: str
    items: list[Annotated[_Table | _Figure, Field(discriminator="kind")]]


def _with_nan(value: object) -> object:
    """Returns NaN for null, because JSON has no NaN.

    The interval of a finding with a single seed is NaN.
    """
    return Finding.with_nan(value) if isinstance(value, dict) else value


def _judged(finding: Finding) -> Finding:
    if finding.verdict not in VERDICTS:
        raise ValueError(f"verdict: found {finding.verdict!r}, expected one of {', '.join(VERDICTS)}")
    if finding.kind and finding.kind not in KINDS:
        raise ValueError(f"kind: found {finding.kind!r}, expected one of {', '.join(KINDS)}")
    if not math.isfinite(finding.published):
        raise ValueError(f"published: found {finding.published}, expected a finite number")
    try:
        tolerated(finding.tolerance, finding.published)
    except UsageError as error:
        raise ValueError(str(error)) from error
    return finding


class StoredDocument(_Strict):
    """The whole document, without its `format`."""

    name: str
    title: str
    question: str
    readme: str
    revision: str
    version: str
    seeds: int | None
    part_of: str = ""
    findings: list[Annotated[Finding, BeforeValidator(_with_nan), AfterValidator(_judged)]]
    sections: list[_Section]
