"""The best operating point of a flow, from the table of flows."""

import math
from dataclasses import dataclass

from acklab.result import Result


@dataclass(frozen=True)
class Optimum:
    """The operating point at which the bottleneck is busy and its queue empty."""

    throughput: float
    """Capacity of the bottleneck, Mbps: the rate of a link, or what the MAC of a Wi-Fi cell can deliver."""
    rtt: float
    """RTT without queues, ms; with a cell as the bottleneck, one of its mean cycles more than the propagation."""
    in_flight: float
    """Product of the two, segments."""


def optimum(result: Result) -> Optimum | None:
    """Returns the optimum of the first flow, or None without a flow, or if its path has no bottleneck or no RTT without queues."""
    if result.flows.is_empty():
        return None
    flow = result.flows.row(0, named=True)
    columns = ("bottleneck_capacity_l2", "empty_path_rtt_l4", "bandwidth_delay_product_l4")
    # Results of an earlier version do not have the columns.
    values = [math.nan if flow.get(column) is None else float(flow[column]) for column in columns]
    return Optimum(*values) if all(value > 0 for value in values) else None
