"""The optimal operating point of a flow, from the table of flows."""

import math
from dataclasses import dataclass

from acklab.result import Result


@dataclass(frozen=True)
class Optimum:
    """The operating point at which the bottleneck is busy and its queue empty."""

    throughput: float
    """Capacity of the bottleneck in Mbps: the rate of a link, or the maximum goodput of a Wi-Fi
    cell's MAC.
    """
    rtt: float
    """RTT without queues, in ms.

    If a cell is the bottleneck, the propagation delay plus the mean duration of a cycle of the
    cell.
"""
    in_flight: float
    """Product of throughput and RTT, in segments."""


def optimum(result: Result) -> Optimum | None:
    """Returns the optimum of the first flow.

    Returns None without a flow, a bottleneck or an RTT without queues.
    """
    if result.flows.is_empty():
        return None
    flow = result.flows.row(0, named=True)
    columns = ("bottleneck_capacity_l2", "empty_path_rtt_l4", "bandwidth_delay_product_l4")
    # Results of an earlier version lack these columns.
    values = [math.nan if flow.get(column) is None else float(flow[column]) for column in columns]
    return Optimum(*values) if all(value > 0 for value in values) else None
