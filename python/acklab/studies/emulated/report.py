"""Published, simulated and emulated numbers side by side."""

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import plotly.graph_objects as go

from acklab.figures.theme import COLOURS, MUTED, finish
from acklab.metrics import metrics, written
from acklab.report.document import Document, Figure, Section
from acklab.statistics import Interval
from acklab.studies.definition import Study
from acklab.tables import Table


@dataclass(frozen=True)
class Comparison:
    """One metric of one point."""

    point: str
    title: str
    metric: str
    unit: str
    published: float
    """The published number; NaN if there is none."""
    simulated: Interval
    """The simulated number over all seeds of the study."""
    emulated: Interval
    ratio: Interval
    """The emulated number relative to the simulated number, per emulated seed."""
    trusted: int
    """Number of emulations with reliable results."""
    simulation: str
    """The command that repeats the first simulation."""
    emulation: str
    """The command that repeats the first emulation."""

    @property
    def difference(self) -> Interval:
        """Returns the excess of the emulated over the simulated number [%], seed by seed.

        NaN if the simulated mean is not significantly different from zero.
        """
        may_be_zero = not self.simulated.mean or self.simulated.low <= 0 <= self.simulated.high
        return Interval(math.nan, math.nan, math.nan, 0) if may_be_zero else self.ratio.gain

    def row(self) -> dict[str, Any]:
        """Returns plain values, with None for NaN."""
        plain = asdict(self) | {"difference": asdict(self.difference)}
        return {name: _plain(value) for name, value in plain.items()}


def name_of(study: Study, *, is_virtual: bool = False) -> str:
    """Returns the name of an emulated study, which is also the name of its folder."""
    return f"{study.name}_{'virtual' if is_virtual else 'emulated'}"


def document(study: Study, text: str, rows: Sequence[Comparison], kernel: str = "") -> Document:
    """Returns the report of an emulated study. `kernel` is the guest kernel of virtual time."""
    commands = [command for row in rows for command in (row.simulation, row.emulation)]
    unique = list(dict.fromkeys(commands))
    head = ["point", "metric", "published", "simulated", "emulated", "unit", "difference [%]", "trusted"]
    table = Table(head, [_cells(row) for row in rows], "Mean ± half-width of the 95 % confidence interval over runs", commands=unique, numeric_from=2, text=frozenset({5}))  # fmt: skip
    is_reliable = all(row.trusted == row.emulated.count for row in rows)
    manner = (
        f"in virtual time with the guest kernel {kernel} (`docs/guide/virtual.md`)"
        if kernel
        else "in real time (`docs/validation/emulation.md`)"
    )
    about = (
        f"Published numbers beside those of the same scenario in simulation and {manner}, with the kernel's TCP or `acklab perf`. "
        "The difference is the mean over the emulated seeds of emulated over simulated, minus one, if the interval of the simulated mean excludes zero. "
        + ("" if kernel else "Emulations run one at a time. An emulation with late packets is repeated. ")
        + (
            "All results are reliable."
            if is_reliable
            else "Where fewer are trusted than were run, packets were late in all attempts."
        )
    )
    return Document(
        name=name_of(study, is_virtual=bool(kernel)),
        title=f"{study.file.title}: emulated{' in virtual time' if kernel else ''}",
        question=study.file.question,
        part_of=study.name,
        sections=(
            Section(
                f"Published, simulated, emulated{' in virtual time' if kernel else ''}",
                "\n\n".join(part for part in (about, text) if part),
                items=[Figure(differences(rows), "Difference of the emulated from the simulated number, seed by seed, with its 95 % interval", unique), table],
            ),
        ),
    )  # fmt: skip


def differences(rows: Sequence[Comparison]) -> go.Figure:
    """Draws the difference of each emulated number from the simulated one [%], with its interval.

    Numbers without a significant simulated mean are omitted.
    """
    shown = [row for row in reversed(rows) if not math.isnan(row.difference.mean)]
    figure = go.Figure()
    names = [f"{row.point}: {row.title}" for row in shown]
    spans = [0.0 if math.isnan(row.difference.low) else row.difference.half_width for row in shown]
    error: dict[str, Any] = {"type": "data", "array": spans, "thickness": 1.6, "width": 4, "color": COLOURS[0]}
    figure.add_scatter(
        y=names, x=[row.difference.mean for row in shown], mode="markers", name="emulated", marker={"size": 9, "color": COLOURS[0]}, error_x=error,
        customdata=[[row.simulated.mean, row.emulated.mean] for row in shown],
        hovertemplate="simulated %{customdata[0]:.4g} · emulated %{customdata[1]:.4g} · %{x:+.2f} %<extra></extra>",
    )  # fmt: skip
    figure.add_vline(0, line={"color": MUTED, "width": 1})
    figure.update_xaxes(title_text="Emulated minus simulated [% of simulated]", ticksuffix=" %")
    figure.update_yaxes(categoryorder="array", categoryarray=names, showgrid=False)
    return finish(figure, 110 + 26 * max(len(shown), 3))


def title_of(metric: str) -> str:
    """Returns the title of a metric without a claim: its column, or two columns for a share."""
    return " / ".join(part.rpartition(".")[2] for part in metric.split(" / "))


def unit_of(metric: str) -> str:
    """Returns the unit of a metric without a claim; none for a share."""
    column = title_of(metric)
    return next((known.unit for known in metrics() if known.name == column), "")


def _cells(row: Comparison) -> list[str]:
    shown = [written(row.published), _with_interval(row.simulated), _with_interval(row.emulated)]
    return [row.point, row.title, *shown, row.unit, row.difference.text(1, signed=True), f"{row.trusted} of {row.emulated.count}"]


def _with_interval(interval: Interval) -> str:
    return written(interval.mean) + ("" if math.isnan(interval.low) else f" ± {written(interval.half_width)}")


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _plain(item) for name, item in value.items()}
    return None if isinstance(value, float) and not math.isfinite(value) else value
