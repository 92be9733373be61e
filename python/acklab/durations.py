"""Durations as the core writes them."""

import math

_UNITS = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "min": 60.0, "s": 1.0}


def seconds_of(duration: str) -> float:
    """Returns the seconds of a duration such as "12.5s"; infinity for other texts."""
    unit = next((unit for unit in _UNITS if duration.endswith(unit)), None)
    return math.inf if unit is None else float(duration.removesuffix(unit)) * _UNITS[unit]
