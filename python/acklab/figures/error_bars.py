"""Error bars of means with their intervals."""

from collections.abc import Iterable, Sequence
from typing import Any

import polars as pl

from acklab.statistics import Interval


def half_widths(points: pl.DataFrame | Iterable[Interval]) -> list[float]:
    """Returns the half-width of each interval, or its part above the mean if it is not symmetric.

    Without an interval the half-width is 0, which draws no bar.

    `points` are intervals, or a frame of `acklab.statistics.intervals` or `ratios`.
    """
    rows = points.select("mean", "high").rows() if isinstance(points, pl.DataFrame) else [one.row[::2] for one in points]
    return [0.0 if mean is None or high is None else high - mean for mean, high in rows]


def error_bars(half_widths: Sequence[float], ink: str | None = None) -> dict[str, Any]:
    """Returns the value of `error_x` or `error_y` for Plotly."""
    bars: dict[str, Any] = {"type": "data", "array": list(half_widths), "thickness": 1.3, "width": 3}
    return bars if ink is None else bars | {"color": ink}
