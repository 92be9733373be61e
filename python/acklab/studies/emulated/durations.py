"""Durations as the core writes them."""

_UNITS = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "min": 60.0, "s": 1.0}


def seconds_of(duration: str) -> float:
    """Returns the seconds of a duration in the core's form, such as "12.5s"."""
    unit = next(unit for unit in _UNITS if duration.endswith(unit))
    return float(duration.removesuffix(unit)) * _UNITS[unit]
