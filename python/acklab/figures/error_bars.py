"""Error bars of means with their intervals."""

from collections.abc import Iterable, Sequence
from typing import Any

import polars as pl

from acklab.statistics import Interval


def half_widths(points: pl.DataFrame | Iterable[Interval]) -> list[float]:
    """Half of the width of each interval, or of the part above the mean where it is not symmetric; 0, which draws no bar, where there is none.

    `points` are intervals, or a frame as `acklab.statistics.intervals` and `ratios` give it.
    """
    rows = points.select("mean", "high").rows() if isinstance(points, pl.DataFrame) else [one.row[::2] for one in points]
    return [0.0 if mean is None or high is None else high - mean for mean, high in rows]


def error_bars(half_widths: Sequence[float], ink: str | None = None) -> dict[str, Any]:
    """What Plotly takes as `error_x` or `error_y`."""
    bars: dict[str, Any] = {"type": "data", "array": list(half_widths), "thickness": 1.3, "width": 3}
    return bars if ink is None else bars | {"color": ink}
