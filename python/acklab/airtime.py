"""Uses of the airtime of Wi-Fi cells."""

from collections.abc import Iterable, Mapping
from typing import Any


def by_use(airtime: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Returns the rows of the table `airtime`, summed over the nodes of each cell.

    A row has the cell, the use, the time [ns] and the share of the time.
    """
    sums: dict[tuple[str, str], dict[str, Any]] = {}
    for row in airtime:
        key = row["cell"], row["use"]
        use = sums.setdefault(key, {"cell": row["cell"], "use": row["use"], "time": 0, "share": 0.0})
        use["time"] += row["time"]
        use["share"] += row["share"]
    return list(sums.values())
