"""Reads the quantities of a path that the user gives because the capture does not show them."""

from collections.abc import Mapping, Sequence

from acklab.fitting.path import BACK, BACK_QUEUE, DELAYS, FORWARD, QUEUE
from acklab.fitting.quantity import GIVEN, Quantity
from acklab.links import bits

_UNITS = {FORWARD: "Mbps", BACK: "Mbps", QUEUE: "packets", BACK_QUEUE: "packets", **dict.fromkeys(DELAYS, "ms")}
KEYS = tuple(_UNITS)
"""Quantities that may be given."""
_MILLISECONDS = {"ns": 1e-6, "us": 1e-3, "ms": 1.0, "s": 1e3}


def given_of(changes: Sequence[str]) -> Mapping[str, Quantity]:
    """Returns the quantities of the path that are set, by key; other settings are left out."""
    found = {}
    for change in changes:
        key, _, text = (part.strip() for part in change.partition("="))
        unit = _UNITS.get(key)
        value = None if unit is None else _value(text.strip("\"'"), unit)
        if unit is not None and value is not None:
            found[key] = Quantity(key, unit, GIVEN, f"set to {text}", "given", value, value)
    return found


def _value(text: str, unit: str) -> float | None:
    """Returns the value in this unit; None if it has another unit or a scenario refuses it."""
    try:
        if unit == "Mbps":
            value = bits(text) / 1e6
        elif unit == "packets":
            value = float(text.removesuffix("packets"))
        else:
            suffix = next(suffix for suffix in _MILLISECONDS if text.endswith(suffix))
            value = float(text.removesuffix(suffix)) * _MILLISECONDS[suffix]
    except (ValueError, StopIteration):
        return None
    return value if 0 < value < float("inf") else None
