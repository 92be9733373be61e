"""Invariants of all runs."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

Scenario = dict[str, Any]
Rows = Sequence[Mapping[str, Any]]

ENTER = ("total_packets_in_l2", "total_wire_duplicates_l1")
EXIT = ("total_qdisc_drops_l2", "total_filtered_acks_l2", "total_wire_losses_l1", "total_packets_out_l2")
TOLERANCE = 1e-9
TICK = 1.0
"""Tick of TCP's timestamp clock in milliseconds. A measured RTT may be too short by one tick."""
HALF = 0.5


def milliseconds(span: str) -> float:
    """Returns a duration of a scenario, in ms."""
    number, unit = re.fullmatch(r"([\d.]+)(ns|us|ms|s)", span).groups()  # type: ignore[union-attr]
    return float(number) * {"ns": 1e-6, "us": 1e-3, "ms": 1.0, "s": 1e3}[unit]


def is_clean(scenario: Scenario) -> bool:
    """Returns whether the scenario is one greedy flow over one link without faults."""
    return str(scenario.get("title", "")).startswith("clean")


def violations(scenario: Scenario, tables: Mapping[str, Rows]) -> list[str]:
    """Returns the faults in the results of a run, each preceded by the name of its rule."""
    flows, links = tables["flows"], tables["links"]
    return [*_conserved(links), *_within_the_capacity(flows, links), *_propagated(scenario, flows), *_moves(scenario, flows)]


def _conserved(links: Rows) -> list[str]:
    """Checks for each link: sent = delivered + dropped + in flight."""
    found = []
    for link in links:
        inside = sum(link[name] for name in ENTER) - sum(link[name] for name in EXIT)
        if inside < 0:
            found.append(f"conservation: {-inside} more packets left {link['link']} than entered it")
    return found


def _within_the_capacity(flows: Rows, links: Rows) -> list[str]:
    found = [
        f"utilization: {link['link']} is used to {link['mean_utilization_l1']:.6f}"
        for link in links
        if (link["mean_utilization_l1"] or 0.0) > 1 + TOLERANCE
    ]
    for flow in flows:
        capacity, goodput = flow["bottleneck_capacity_l2"], flow["mean_throughput_l7"]
        if capacity is not None and (goodput or 0.0) > capacity * (1 + TOLERANCE):
            found.append(f"goodput: {flow['flow']} delivers {goodput:.4f} Mbps of {capacity:.4f}")
        sent, arrived, acknowledged = (flow[f"mean_{rate}_l4"] for rate in ("sending_rate", "throughput", "delivery_rate"))
        if sent and arrived is not None and arrived > sent:
            found.append(f"conservation: {flow['flow']} receives {arrived:.6f} Mbps of the {sent:.6f} that it sends")
        if acknowledged is not None and acknowledged > (arrived or 0.0):
            found.append(f"conservation: {flow['flow']} has {acknowledged:.6f} Mbps acknowledged of {arrived:.6f} that arrive")
    return found


def _propagated(scenario: Scenario, flows: Rows) -> list[str]:
    """Checks that no RTT is shorter than the propagation in both directions."""
    if scenario.get("wifi"):
        return []
    ways = {frozenset((link["from"], link["to"])): link for link in scenario["link"]}
    found = []
    for flow in flows:
        least = _round_trip(ways, flow["src"], flow["dst"])
        if (
            flow["min_rtt_l4"] is not None
            and least is not None
            and flow["min_rtt_l4"] < least * (1 - TOLERANCE) - (TICK if flow["transport_protocol"] == "TCP" else 0.0)
        ):
            found.append(f"round trip: {flow['flow']} measured {flow['min_rtt_l4']:.6f} ms over a path of {least:.6f}")
    return found


def _round_trip(ways: Mapping[frozenset[str], Scenario], start: str, end: str) -> float | None:
    """Returns the delays of the path in both directions in ms.

    The path is unique in a chain and a fork.
    """
    seen, edge = {start}, [(start, 0.0)]
    while edge:
        node, so_far = edge.pop()
        if node == end:
            return so_far
        for pair, link in ways.items():
            if node in pair:
                (other,) = pair - {node}
                if other not in seen:
                    seen.add(other)
                    both = milliseconds(link["forward"]["delay"]) + milliseconds(link["reverse"]["delay"])
                    edge.append((other, so_far + both))
    return None


def _moves(scenario: Scenario, flows: Rows) -> list[str]:
    """Checks that no flow over a clean path stalls or loses its connection."""
    if not is_clean(scenario):
        return []
    return [
        f"stall: {flow['flow']} {flow['ending']} from {flow['ending_time']} s on"
        for flow in flows
        if flow.get("ending") not in ("open", None)
    ]


def below_half(goodput: float, best: float) -> bool:
    """Returns `True` if a goodput is below half of the best controller's on the same path."""
    return goodput < HALF * best
