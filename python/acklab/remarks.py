"""Remarks on anomalies of a run: a flow starved, a queue only grew, the measurement window saw no data."""

import signal
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from acklab.tables import competitors

if TYPE_CHECKING:
    from acklab.result import Result

STARVED = 0.01
"""A flow starves if it gets less than this share of the mean of its competitors."""
_NAMED = 4
"""Flows that a remark names."""
GREW = 0.05
"""A queue did not drain if it ends at its longest and has gained this share of all packets that left in the window."""


def remarks(result: "Result") -> list[str]:
    """Returns the anomalies of a run as text; an empty list for most runs."""
    flows = result.arrow("flows").to_pylist()
    links = result.arrow("links").to_pylist() if "links" in result.tables else []
    programs = result.arrow("applications").to_pylist() if "applications" in result.tables else []
    timing = result.arrow("timing").to_pylist() if "timing" in result.tables else []
    late = [f"not to be trusted: {row['reasons']}" for row in timing if row["trusted"] != "yes"]
    return [*late, *_without_data(flows), *_starved(flows), *_retransmissions(flows), *_queues(links), *_programs(programs)]


def _without_data(flows: Sequence[Mapping[str, Any]]) -> list[str]:
    silent = [flow["flow"] for flow in flows if flow.get("total_data_packets_l4") == 0]
    lost = [flow["flow"] for flow in flows if flow.get("total_data_packets_l4") and flow.get("total_delivered_bytes_l7") == 0]
    return [
        *_of(silent, "sent no data in the window of measurement, so its means say nothing (measure.from, measure.until, start)"),
        *_of(lost, "sent data and delivered nothing"),
    ]


def _of(flows: Sequence[str], what: str) -> list[str]:
    """One remark on several flows."""
    more = f" and {len(flows) - _NAMED} more" if len(flows) > _NAMED else ""
    return [f"{', '.join(flows[:_NAMED])}{more}: {what}"] if flows else []


def _starved(flows: Sequence[Mapping[str, Any]]) -> list[str]:
    found = []
    for group in competitors(flows):
        rates = {flows[place]["flow"]: flows[place].get("mean_throughput_l4") or 0.0 for place in group}
        mean = sum(rates.values()) / len(rates)
        starved = [name for name, rate in rates.items() if rate < STARVED * mean]
        found += _of(
            starved, f"starved, with less than {STARVED:.0%} of the mean throughput of the {len(group)} flows that compete"
        )
    return found


def _retransmissions(flows: Sequence[Mapping[str, Any]]) -> list[str]:
    many = []
    for flow in flows:
        again = flow.get("total_retransmissions_l4") or 0
        once = (flow.get("total_data_packets_l4") or 0) - again
        if again > once > 0:
            many.append((flow["flow"], again, once))
    counts = f" ({many[0][1]:,} of {many[0][1] + many[0][2]:,} packets)" if len(many) == 1 else ""
    return _of([name for name, _, _ in many], f"more than half of what it sent were retransmissions{counts}")


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


def _programs(programs: Sequence[Mapping[str, Any]]) -> list[str]:
    """Commands of an emulation that did not run as they should. Ending at SIGTERM is what they are asked to do."""
    found = []
    for program in programs:
        name, at = program["application"], f" at {program['stop_time']:.1f} s" if program["stop_time"] is not None else ""
        if program["failure"]:
            found.append(f"{name}: could not be started: {program['failure']}")
        elif program["start_time"] is None:
            found.append(f"{name}: was never started, because the run was over before")
        elif program["signal"] == signal.SIGKILL:
            found.append(f"{name}: was killed{at}; it had not ended when it was asked to, or something else killed it")
        elif program["signal"] not in (None, signal.SIGTERM):
            found.append(f"{name}: was ended by {_signal(program['signal'])}{at}")
        elif program["exit_status"]:
            found.append(f"{name}: ended with exit status {program['exit_status']}{at}")
    return found


def _signal(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
