"""Columns of the tables that are metrics, their better direction, and formats of values."""

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from acklab import _core

MORE, LESS = "more", "less"


@dataclass(frozen=True)
class Metric:
    """One column of a table, as described by the core.

    `better` is "more", "less" or "neither"; a ratio has no unit.
    """

    table: str
    name: str
    unit: str
    better: str
    meaning: str


@cache
def metrics() -> tuple[Metric, ...]:
    """Returns the columns of the tables of metrics, in their order."""
    return tuple(Metric(**described) for described in json.loads(_core.metrics()))


def numbers_of(table: str) -> list[str]:
    """Returns the columns of a table that are numbers, not names or settings."""
    columns = (metric for metric in metrics() if metric.table == table)
    return [one.name for one in columns if one.unit or one.better in (MORE, LESS) or is_metric(one.name)]


@cache
def _better() -> dict[str, str]:
    """Returns whether more or less is better, by column; omits metrics without a better direction.

    A column has the same meaning in every table.
    """
    return {metric.name: metric.better for metric in metrics() if metric.better in (MORE, LESS)}


_STATISTICS = ("agg_", "cov_", "flow_completion", "jain_", "last_", "max_", "mean_", "share_", "time_mean_", "total_")


def is_metric(column: str) -> bool:
    """Returns whether a column is a measurement, not a name or a setting.

    Its name begins with a statistic.
    """
    return column.startswith(_STATISTICS)


def name_columns(columns: Sequence[str]) -> list[str]:
    """Returns the columns that name the rows of a table.

    The first column names the rows; for nodes of Wi-Fi cells, the first two do. A table of one row
    has no such column.
    """
    if columns[:2] == ["cell", "node"]:
        return ["cell", "node"]
    return [] if is_metric(columns[0]) else [columns[0]]


def best(column: str, values: list[Any]) -> set[int]:
    """Returns indices of the best values of a metric.

    Returns no index if the metric has no better direction or all values are equal.
    """
    better = _better().get(column)
    numbers = [math.nan if value is None else float(value) for value in values]
    known = [number for number in numbers if not math.isnan(number)]
    if better is None or len(known) < 2 or min(known) == max(known):
        return set()
    wanted = max(known) if better == MORE else min(known)
    return {place for place, number in enumerate(numbers) if number == wanted}


def written(value: Any) -> str:
    """Returns a value as text: two decimals or four significant digits, a dash if it is missing."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return "–"
    if isinstance(value, bool | str):
        return str(value)
    if isinstance(value, int) or float(value).is_integer():
        return f"{int(value):,}"
    size = abs(value)
    if size >= 1_000:
        return f"{value:,.0f}"
    return f"{value:.2f}" if size >= 0.1 else f"{value:.3g}"
