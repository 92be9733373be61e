"""Differences and ratios between results: of runs, of sweeps, and of points of one sweep.

Runs with the same seed share their random effects, so sweeps are compared per seed. The interval is
the interval of the differences or ratios per seed. It is narrower than the intervals of the two
means.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import polars as pl

from acklab.errors import UsageError
from acklab.metrics import is_metric, written
from acklab.samples import kinds_of_flow, per_run
from acklab.statistics import Interval, mean_interval, ratio_interval
from acklab.sweeps.axis_values import AxisColumn
from acklab.tables import Table

if TYPE_CHECKING:
    from acklab.result import Result
    from acklab.sweeps import SweepResult

SHORT = (
    "mean_throughput_l7",
    "mean_srtt_l4",
    "p95_one_way_delay_l4",
    "total_acks_sent_l4",
    "mean_data_per_ack_l4",
    "total_retransmissions_l4",
    "total_rtos_l4",
    "flow_completion_time_l4",
    "mean_qdisc_delay_l2",
    "max_qdisc_length_l2",
    "mean_utilization_l1",
    "total_qdisc_drops_l2",
    "total_filtered_acks_l2",
    "agg_throughput_l4",
    "jain_throughput_l4",
    "agg_retransmissions_l4",
)
"""Metrics that are compared by default."""
_MAX_ROWS = 20_000
"""Maximum number of rows in the table of flows; larger tables are not searched for axes without an
effect.
"""
OF_SWEEPS = ("mean_throughput_l7", "mean_srtt_l4", "total_acks_sent_l4", "total_retransmissions_l4")


def contrast_rows(rows: Mapping[str, Mapping[str, Any]], units: Mapping[str, str], only: Sequence[str], caption: str) -> Table:
    """Returns the same row of a table in several runs: values, differences and ratios.

    The first run is the reference.
    """
    (first, reference), *others = rows.items()
    head = ["metric", "unit", first]
    for label, _ in others:
        against = (f"− {first}", f"/ {first}") if len(others) == 1 else (f"{label} − {first}", f"{label} / {first}")
        head += [label, *against]
    shown = [column for column in only or reference if column in reference and (only or is_metric(column))]
    cells = []
    for metric in shown:
        value = reference[metric]
        if all(row.get(metric) is None for row in rows.values()):
            continue
        line = [metric, units.get(metric, ""), written(value)]
        for _, row in others:
            line += [written(row.get(metric)), *_against(row.get(metric), value)]
        cells.append(line)
    return Table(head, cells, caption, numeric_from=2)


def _against(value: object, reference: object) -> tuple[str, str]:
    """Returns the difference and the ratio as text."""
    if not isinstance(value, int | float) or not isinstance(reference, int | float):
        return "–", "–"
    difference = value - reference
    return ("+" if difference > 0 else "") + written(difference), f"{value / reference:.3f}" if reference else "–"


def run_columns(results: Mapping[str, "Result"], relative_to: str) -> dict[str, "Result"]:
    """Returns the results with the reference first. Raises UsageError if it is missing."""
    if not relative_to:
        return dict(results)
    if relative_to not in results:
        raise UsageError(f"--relative-to: found {relative_to!r}, expected one of the folders: {', '.join(results)}")
    return {relative_to: results[relative_to], **results}


def contrast_sweeps(sweeps: Mapping[str, "SweepResult"], only: Sequence[str], relative_to: str) -> list[Table]:
    """Compares sweeps over the same axes, per seed.

    There is a table per metric, and a row per point of the grid and kind of flow.

    Raises UsageError for sweeps without a common axis, point or seed.
    """
    labels = [relative_to or next(iter(sweeps)), *(label for label in sweeps if label != (relative_to or next(iter(sweeps))))]
    if labels[0] not in sweeps:
        raise UsageError(f"--relative-to: found {relative_to!r}, expected one of the folders: {', '.join(sweeps)}")
    axes = [name for name in sweeps[labels[0]].columns.values() if all(name in one.columns.values() for one in sweeps.values())]
    for label, one in sweeps.items():
        if own := [name for name in one.columns.values() if name not in axes]:
            raise UsageError(f"{label}: found the axis {own[0]!r}, which is missing from other sweeps; expected the same axes")
    frames = {label: _with_kinds(sweeps[label]) for label in labels}
    units = sweeps[labels[0]].units("flows")
    tables = []
    for metric in _metrics(frames.values(), only):
        values = {label: _values(frame, [*axes, "kind"], metric) for label, frame in frames.items()}
        if not any(key in values[labels[0]] for label in labels[1:] for key in values[label]):
            raise UsageError("found no common point of the sweeps' grids")
        rows = []
        for key, reference in values[labels[0]].items():
            row = [*map(str, key), mean_of(reference)]
            for label in labels[1:]:
                row += [mean_of(values[label].get(key, {})), *_paired(values[label].get(key, {}), reference)]
            rows.append(row)
        head = [*axes, "flows", labels[0]]
        for label in labels[1:]:
            head += [label, f"{label} − {labels[0]}", f"{label} / {labels[0]}"]
        tables.append(_without_kinds(Table(head, rows, _caption(metric, units), numeric_from=len(axes) + 1)))
    return tables


def contrast_within(sweep: "SweepResult", relative_to: str, only: Sequence[str]) -> list[Table]:
    """Compares each point of a sweep with the same point at one value of an axis.

    `relative_to` is the axis and the value, such as `congestion=newreno`.
    """
    axes = {name: key for key, name in sweep.columns.items()}
    axis, equals, held = relative_to.partition("=")
    name = axis if axis in axes else sweep.columns.get(axis, "")
    if not equals or not name:
        such = f"{next(iter(axes), 'congestion')}=VALUE"
        raise UsageError(
            f"--relative-to: found {relative_to!r}, expected an axis of the sweep and one of its values, such as {such}"
        )
    frame = _with_kinds(sweep)
    held_axis = sweep.grid.axes[axes[name]]
    # A column of the grid has numbers, not text, if the values of its key are numbers with a unit.
    choices = dict(zip(map(str, AxisColumn.of(held_axis).values), held_axis.choices, strict=True))
    if held not in choices.values():
        raise UsageError(f"--relative-to {name}: found {held!r}, expected one of {', '.join(choices.values())}")
    others = [one for one in axes if one != name]
    units = sweep.units("flows")
    tables = []
    for metric in _metrics([frame], only):
        values = _values(frame, [*others, "kind", name], metric)
        rows = []
        for (*rest, value), own in values.items():
            chosen = choices.get(str(value), str(value))
            reference = next(
                (found for key, found in values.items() if (*key[:-1], choices.get(str(key[-1]))) == (*rest, held)), {}
            )
            against = ("", "") if chosen == held else _paired(own, reference)
            rows.append([*map(str, rest), chosen, mean_of(own), *against])
        head = [*others, "flows", name, "mean", f"− {held}", f"/ {held}"]
        tables.append(_without_kinds(Table(head, rows, _caption(metric, units), numeric_from=len(others) + 2)))
    return tables


def unchanged_axes(sweep: "SweepResult") -> list[str]:
    """Returns the axes of the grid without an effect: every flow has equal numbers for all values.

    Large sweeps are not searched.
    """
    frame = sweep.flows if sweep.columns else pl.DataFrame()
    if not 0 < frame.height <= _MAX_ROWS:
        return []
    axes = list(sweep.columns.values())
    measured = [name for name in frame.columns if is_metric(name)]
    found = []
    for key, axis in sweep.columns.items():
        if frame[axis].n_unique() < 2 or not measured:
            continue
        rest = [*(name for name in axes if name != axis), "seed", "flow"]
        if all(name in frame.columns for name in rest):
            differing = frame.group_by(rest).agg(pl.col(name).n_unique() for name in measured)
            counts = frame.group_by(rest).len()
            if (counts["len"] > 1).all() and not any((differing[name] > 1).any() for name in measured):
                found.append(key)
    return found


def mean_of(by_seed: Mapping[Any, float]) -> str:
    """Returns the mean over seeds with its half-width, as text."""
    return _text(mean_interval(by_seed.values()))


def _paired(own: Mapping[Any, float], reference: Mapping[Any, float]) -> tuple[str, str]:
    """Returns difference and ratio per seed, with their intervals."""
    seeds = [seed for seed in own if seed in reference]
    difference = mean_interval(own[seed] - reference[seed] for seed in seeds)
    ratio = ratio_interval([own[seed] for seed in seeds], [reference[seed] for seed in seeds])
    return _text(difference, signed=True), _bounds(ratio)


def _text(interval: Interval, signed: bool = False) -> str:
    if math.isnan(interval.mean):
        return "–"
    sign = "+" if signed and interval.mean > 0 else ""
    half = "" if math.isnan(interval.low) else f" ± {written(interval.half_width)}"
    return f"{sign}{written(interval.mean)}{half}"


def _bounds(interval: Interval) -> str:
    """Returns a ratio as text. Its interval is not symmetric."""
    if math.isnan(interval.mean):
        return "–"
    bounds = "" if math.isnan(interval.low) else f" ({interval.low:.3f} … {interval.high:.3f})"
    return f"{interval.mean:.3f}{bounds}"


def _with_kinds(sweep: "SweepResult") -> pl.DataFrame:
    """Returns the flows of a sweep with a column `kind`.

    Flows whose names differ only in their number have one kind: the name without the number. Other
    flows have their whole name as the kind.
    """
    flows = sweep.flows
    if flows["flow"].n_unique() == 1:
        return flows.with_columns(kind=pl.lit(""))
    stems = flows.with_columns(kinds_of_flow(flows, ["point"]), stem=pl.col("flow").str.replace(r"_\d+$", ""))
    alike = stems.group_by("point", "stem").agg(pl.col("kind").n_unique())["kind"].max() == 1
    return flows.with_columns(kind=stems["stem"] if alike else flows["flow"])


def _values(frame: pl.DataFrame, by: Sequence[str], metric: str) -> dict[tuple[Any, ...], dict[Any, float]]:
    """Returns the value per seed by combination of the columns `by`.

    Flows of one kind in a run are averaged.
    """
    values: dict[tuple[Any, ...], dict[Any, float]] = {}
    for row in per_run(frame, by, metric, "mean").iter_rows(named=True):
        if row[metric] is not None:
            values.setdefault(tuple(row[name] for name in by), {})[row["seed"]] = row[metric]
    return values


def _metrics(frames: Iterable[pl.DataFrame], only: Sequence[str]) -> list[str]:
    every = list(frames)
    chosen = only or [name for name in OF_SWEEPS if all(name in frame.columns for frame in every)]
    for name in chosen:
        if any(name not in frame.columns or not frame.schema[name].is_numeric() for frame in every):
            raise UsageError(f"--only: found {name!r}, expected a metric of flows such as mean_throughput_l7")
    return [name for name in chosen if any(frame[name].null_count() < frame.height for frame in every)]


def _caption(metric: str, units: Mapping[str, str]) -> str:
    unit = f" [{units[metric]}]" if units.get(metric) else ""
    return (
        f"{metric}{unit}: per flow, mean ± half-width of the 95 % confidence interval over seeds; differences and ratios per seed"
    )


def _without_kinds(table: Table) -> Table:
    """Returns the table without the column of kinds of flows, if there is only one kind."""
    place = list(table.head).index("flows")
    if any(row[place] for row in table.rows):
        return table
    kept = [index for index in range(len(table.head)) if index != place]
    return Table(
        [table.head[index] for index in kept],
        [[row[index] for index in kept] for row in table.rows],
        table.caption,
        numeric_from=table.numeric_from - 1,
    )
