"""Builds the table of evidence.

It shows the evidence of each finding of an inspection, and why other quantities are not known.
"""

from collections.abc import Sequence

from acklab.inspection.model import Way
from acklab.tables import Table

_QUANTITIES = {
    "protocol": "protocol: QUIC",
    "rate": "rate of the bottleneck",
    "base": "base RTT",
    "round_trip": "RTT under load",
    "losses": "losses",
    "goodput": "goodput",
    "ratio": "segments per ACK",
    "thinning": "ACKs thinned",
    "missing": "ACKs missing by their numbers",
    "compressed": "ACKs compressed",
    "limits": "limits",
    "controller": "controller",
}
"""Findings in the order in which they are shown, with their names."""


def evidence_table(ways: Sequence[Way]) -> Table | None:
    """Returns the table of evidence, with one row per finding.

    A row has the quantity, the numbers of the directions, and the evidence or the reason why it is
    not known.

    Directions with the same text share a row. Returns `None` if the directions have no findings.
    """
    numbers: dict[tuple[str, bool, str], list[int]] = {}
    for number, way in enumerate(ways, start=1):
        for quantity, text in way["evidence"].items():
            numbers.setdefault((quantity, True, text), []).append(number)
        for quantity, reason in way["not_known"].items():
            numbers.setdefault((quantity, False, reason), []).append(number)
    order = {quantity: place for place, quantity in enumerate(_QUANTITIES)}
    found = sorted(numbers.items(), key=lambda item: (order.get(item[0][0], len(order)), item[0][0], item[1]))
    if not found:
        return None
    rows = [
        [_name(quantity), *([] if len(ways) == 1 else [_listed(which)]), text if is_known else f"not known: {text}"]
        for (quantity, is_known, text), which in found
    ]
    head = ["quantity", *([] if len(ways) == 1 else ["direction"]), "evidence"]
    return Table(head, rows, "Evidence", numeric_from=len(head))


def _name(quantity: str) -> str:
    return _QUANTITIES.get(quantity, quantity.replace("_", " "))


def _listed(numbers: Sequence[int]) -> str:
    return ", ".join(map(str, numbers))
