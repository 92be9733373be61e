"""The units of scenarios."""

from collections.abc import Mapping

FAMILIES: tuple[Mapping[str, int], ...] = (
    {"ns": 1, "us": 10**3, "µs": 10**3, "ms": 10**6, "s": 10**9, "min": 60 * 10**9},
    {"bps": 1, "kbps": 10**3, "Mbps": 10**6, "Gbps": 10**9},
    {"B": 1, "kB": 10**3, "MB": 10**6, "GB": 10**9, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30},
    {"packets": 1, "packet": 1},
    {"segments": 1, "segment": 1},
    {"": 1},
)
"""The units by quantity, each with its factor (crates/base/src/units.rs)."""


def family_of(units: list[str]) -> Mapping[str, int] | None:
    """Returns all units of the quantity that these units measure.

    Returns None if the units measure different quantities, or if a unit is unknown.
    """
    return next((family for family in FAMILIES if all(unit in family for unit in units)), None)
