"""What a flow could reach at best, worked out from the table of flows."""

import math
from dataclasses import dataclass
from typing import Any

from acklab.result import Result


@dataclass(frozen=True)
class Optimum:
    """The operating point at which the bottleneck is busy and its queue empty."""

    throughput: float
    """Rate of the bottleneck, Mbps."""
    rtt: float
    """RTT without queues, ms."""
    in_flight: float
    """Product of the two, segments."""


def optimum(result: Result) -> Optimum | None:
    """The optimum of the first flow, or None where the table does not tell.

    A Wi-Fi cell delivers less than the rate of its PHY by as much as contention, preambles and acknowledgements take, and shares it among
    its stations: for a flow through a cell the rate of the PHY would be no optimum, and there is none.

    Utilisation is throughput over rate, or flight over their product, and estimated queueing delay is smoothed RTT less that of the
    empty path; so each denominator follows from the mean and the ratio that stand side by side.
    """
    flow = result.flows.to_dicts()[0]
    if "stations" in result.tables and {flow.get("src"), flow.get("dst")} & set(result.stations["node"]):
        return None
    rate = _divide(flow, "mean_throughput_l4", "mean_utilization_bw_l4")
    product = _divide(flow, "mean_in_flight_l4", "mean_utilization_bdp_l4")
    rtt = _number(flow, "mean_srtt_l4") - _number(flow, "mean_est_qdelay_l4")
    if any(math.isnan(value) or value <= 0 for value in (rate, product, rtt)):
        return None
    return Optimum(rate, rtt, product)


def _number(row: dict[str, Any], name: str) -> float:
    value = row.get(name)
    return math.nan if value is None else float(value)


def _divide(row: dict[str, Any], numerator: str, denominator: str) -> float:
    below = _number(row, denominator)
    return math.nan if math.isnan(below) or below <= 0 else _number(row, numerator) / below
