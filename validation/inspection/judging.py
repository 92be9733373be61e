"""Computes the true ratio of ACKs, and prints errors, for all validations of inspections."""

from collections.abc import Mapping, Sequence
from typing import Any

from validation.inspection.paths import Path


def ack_ratio(path: Path, flow: Mapping[str, Any]) -> float:
    """Returns the segments per ACK where a path is captured.

    `flow` is its row of the table of flows.
    """
    is_behind = path.position in ("receiver", "behind")
    count = flow["total_acks_sent_l4"] if is_behind else flow["total_acks_delivered_l4"]
    # The path drops packets only at its bottleneck, so a capture behind the bottleneck does not
    # contain them.
    segments = flow["total_data_packets_l4"] - (flow["total_drops_l2"] if is_behind else 0)
    return float(segments / count)


def show(found: Sequence[Mapping[str, Any]], tolerances: Mapping[str, float]) -> bool:
    """Prints the number of correct cases of each quantity, and the wrong cases.

    Wrong cases are printed with their `number`, `kind`, and (truth, found). Returns `True` if each
    quantity is correct in 95 % of the cases. If there is nothing to compare, a case has None for a
    quantity, or a truth that is not a number.
    """
    holds = True
    for name, tolerance in tolerances.items():
        cases = [(one, *one[name]) for one in found if one.get(name) is not None and one[name][0] == one[name][0]]
        errors = [(one, value / truth - 1 if value else None, truth, value) for one, truth, value in cases]
        good = sum(error is not None and abs(error) <= tolerance for _, error, *_ in errors)
        holds &= good >= 0.95 * len(errors)
        print(f"{name}: within {tolerance:.0%} in {good} of {len(errors)}")
        for one, error, truth, value in errors:
            if error is None or abs(error) > tolerance:
                estimate = "nothing" if value is None else f"{value:.4g}"
                print(
                    f"    {one['number']}: {one['kind']}: true {truth:.4g}, found {estimate}{', a lower bound' if name == 'rate' and one.get('lower') else ''}"
                )
    return holds
