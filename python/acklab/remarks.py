"""What a reader should know before the numbers of a run: that a flow starved, that a queue only grew, that nothing was measured."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from acklab.tables import competitors

if TYPE_CHECKING:
    from acklab.result import Result

STARVED = 0.01
"""A flow starves if it gets less than this share of the mean of those that it competes with."""
GREW = 0.05
"""A queue did not drain if it ends at its longest and has gained this share of all packets that left in the window."""


def remarks(result: "Result") -> list[str]:
    """What went wrong in a run, in words; nothing for most."""
    flows = result.arrow("flows").to_pylist()
    links = result.arrow("links").to_pylist() if "links" in result.tables else []
    return [*_without_data(flows), *_starved(flows), *_retransmissions(flows), *_queues(links)]


def _without_data(flows: Sequence[Mapping[str, Any]]) -> list[str]:
    found = []
    for flow in flows:
        if flow.get("total_data_packets_l4") == 0:
            found.append(
                f"{flow['flow']}: sent no data in the window of measurement, so its means say nothing (measure.from, measure.until, start)"
            )
        elif flow.get("total_data_packets_l4") and flow.get("total_delivered_bytes_l7") == 0:
            found.append(f"{flow['flow']}: sent {flow['total_data_packets_l4']:,} packets with data and delivered nothing")
    return found


def _starved(flows: Sequence[Mapping[str, Any]]) -> list[str]:
    found = []
    for group in competitors(flows):
        rates = {flows[place]["flow"]: flows[place].get("mean_throughput_l4") or 0.0 for place in group}
        mean = sum(rates.values()) / len(rates)
        starved = [name for name, rate in rates.items() if rate < STARVED * mean]
        if starved:
            names = ", ".join(starved[:4]) + (f" and {len(starved) - 4} more" if len(starved) > 4 else "")
            found.append(
                f"{names}: starved, with less than {STARVED:.0%} of the mean throughput of the {len(group)} flows that compete"
            )
    return found


def _retransmissions(flows: Sequence[Mapping[str, Any]]) -> list[str]:
    found = []
    for flow in flows:
        again = flow.get("total_retransmissions_l4") or 0
        once = (flow.get("total_data_packets_l4") or 0) - again
        if again > once > 0:
            found.append(
                f"{flow['flow']}: {again:,} retransmissions of {once:,} packets, so more than half of what it sent was sent before"
            )
    return found


def _queues(links: Sequence[Mapping[str, Any]]) -> list[str]:
    found = []
    for link in links:
        removed = ("total_packets_out_l2", "total_qdisc_drops_l2", "total_filtered_acks_l2", "total_wire_losses_l1")
        left = link.get("total_packets_out_l2") or 0
        gained = (link.get("total_packets_in_l2") or 0) - sum(link.get(name) or 0 for name in removed)
        gained += link.get("total_wire_duplicates_l1") or 0
        longest = link.get("max_qdisc_length_l2") or 0
        if left and gained > GREW * left and gained >= 0.9 * longest and longest > 1:
            found.append(
                f"{link['link']}: its queue grew by {gained:,} packets while {left:,} left, and never drained: more arrives than the link can send"
            )
    return found
