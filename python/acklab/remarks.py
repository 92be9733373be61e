"""Remarks on anomalies of a run, and on a scenario before it runs.

Anomalies are starved flows, queues that only grew, and measurement windows without data.
"""

import signal
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from acklab.links import link_path
from acklab.tables import competitors
from acklab.unused import unused

if TYPE_CHECKING:
    from acklab.result import Result

STARVED = 0.01
"""A flow is starved below this share of the mean of its competitors."""
_NAMED = 4
"""Maximum number of flows that a remark names."""
GREW = 0.05
"""Minimum growth of a queue that never drained, as a share of the packets that left the queue in
the window.

The queue must also be at its maximum at the end.
"""


def remarks(result: "Result") -> list[str]:
    """Returns the anomalies of a run as text; an empty list for most runs."""
    flows = result.arrow("flows").to_pylist()
    links = result.arrow("links").to_pylist() if "links" in result.tables else []
    hack = result.arrow("hack").to_pylist() if "hack" in result.tables else []
    programs = result.arrow("applications").to_pylist() if "applications" in result.tables else []
    timing = result.arrow("timing").to_pylist() if "timing" in result.tables else []
    stopped = [
        f"stopped early at {row['stopped_time']:.1f} s: the tables cover the time until then"
        for row in timing
        if row.get("stopped_time") is not None
    ]
    late = [f"results unreliable: {row['reasons']}" for row in timing if row["trusted"] != "yes"]
    return [
        *stopped,
        *late,
        *_endings(flows),
        *_without_data(flows),
        *_unacknowledged(flows),
        *_starved(flows),
        *_retransmissions(flows),
        *_above_capacity(flows),
        *_queues(links),
        *unused(result.scenario, links, hack),
        *_unlimited(result.scenario, flows, links),
        *_programs(programs),
    ]


_UNFORTUNATE = {
    "refused": "connection refused",
    "closed": "connection closed by an application",
    "failed": "connection failed",
    "idle-timeout": "connection timed out: nothing arrived for too long",
    "reset": "connection reset",
    "opening": "handshake incomplete at the end of the window",
}


def _endings(flows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Returns remarks on failed and on stalled connections."""
    found = []
    for flow in flows:
        ending, at = flow.get("ending"), flow.get("ending_time")
        if ending == "stands":
            causes = [
                f"{flow.get('total_rtos_l4'):,} retransmission timeouts in the window" if flow.get("total_rtos_l4") else "",
                f"{flow['mean_in_flight_l4']:,.0f} segments in flight on average" if flow.get("mean_in_flight_l4") else "",
                f"{flow['mean_blocked_l4']:,.0f} received but unread, because of a gap or a slow reader"
                if flow.get("mean_blocked_l4")
                else "",
            ]
            why = ", ".join(filter(None, causes))
            found.append(f"{flow['flow']}: stalled: nothing was delivered after {at:.3f} s{f' ({why})' if why else ''}")
        elif ending:
            kind, _, code = ending.partition(":")
            if kind in _UNFORTUNATE:
                when = "" if kind == "opening" or at is None else f" at {at:.3f} s"
                why = _reason(code.strip(), str(flow.get("transport_protocol"))) if kind == "failed" and code else code.strip()
                found.append(f"{flow['flow']}: {_UNFORTUNATE[kind]}{when}{f' ({why})' if why else ''}")
    more = len(found) - _NAMED
    return found if more <= 1 else [*found[:_NAMED], f"{more} more flows failed or stalled (column `ending`)"]


_CODES = {
    0x1: "INTERNAL_ERROR",
    0x3: "FLOW_CONTROL_ERROR",
    0x4: "STREAM_LIMIT_ERROR",
    0x5: "STREAM_STATE_ERROR",
    0x6: "FINAL_SIZE_ERROR",
    0x7: "FRAME_ENCODING_ERROR",
    0x8: "TRANSPORT_PARAMETER_ERROR",
    0x9: "CONNECTION_ID_LIMIT_ERROR",
    0xA: "PROTOCOL_VIOLATION",
    0xD: "CRYPTO_BUFFER_EXCEEDED",
    0x11: "VERSION_NEGOTIATION_ERROR",
}
"""Codes of transport errors, for QUIC and TACK. Source: RFC 9000, §20.1, and RFC 9368, §10.2."""
_OF_TRANSPORT = 1 << 31
"""Bit that is set in TACK's codes of transport errors."""


def _reason(code: str, protocol: str) -> str:
    """Returns the meaning of an error code of a connection, such as "code 0x1"."""
    number = int(code.removeprefix("code "), 16)
    name = _CODES.get(number & ~_OF_TRANSPORT)
    # quinn-proto 0.11 reports this error only for this reason (`MAX_CHUNKS` of
    # `connection/assembler.rs`).
    gaps = ": more than 1,024 gaps in its stream" if number == 0x1 and "quinn" in protocol else ""
    return f"{name}, {code}{gaps}" if name else code


def remarks_on_scenario(scenario: Mapping[str, Any]) -> list[str]:
    """Returns remarks on a complete scenario.

    Covers queues without a limit, and ACK policies that may never send an ACK.
    """
    return [*_queues_without_limit(scenario), *_policies_without_timer(scenario)]


def _queues_without_limit(scenario: Mapping[str, Any]) -> list[str]:
    """Returns remarks on the slowest hops of flows and of their ACKs whose queues drop nothing."""
    windows: dict[str, list[str]] = {}
    datagrams: dict[str, list[str]] = {}
    for flow in scenario.get("flow") or []:
        # UDP has no window and no ACKs on the return path.
        is_udp = flow.get("transport", {}).get("protocol") == "udp"
        found = datagrams if is_udp else windows
        back = [] if is_udp else [_path(scenario, flow["to"], flow["from"])]
        for path in (_path(scenario, flow["from"], flow["to"]), *back):
            slowest = min(path, key=lambda hop: hop[1], default=None)
            if slowest is not None and slowest[0] in _unlimited_directions(scenario):
                found.setdefault(slowest[0], []).append(str(flow["name"]))
    grows = [(name, f"the RTT of {_some(dict.fromkeys(flows))} grows with the window") for name, flows in windows.items()]
    grows += [
        (name, f"datagrams of {_some(dict.fromkeys(flows))} wait longer the more they exceed its rate")
        for name, flows in datagrams.items()
    ]
    return [
        f"{name}: the queue has no limit, so it drops nothing, and {what}; set a limit, "
        'such as queue = { discipline = "fifo", limit = "100packets" }'
        for name, what in grows
    ]


def _unlimited_directions(scenario: Mapping[str, Any]) -> set[str]:
    """Returns the directions of links whose queues have neither a limit nor an AQM."""
    names = set()
    for link in scenario.get("link") or []:
        for direction in ("forward", "reverse"):
            queue = link.get(direction, {}).get("queue", {})
            plain = str(queue.get("discipline", "fifo"))
            if "limit" not in queue and (plain == "fifo" or plain.endswith("ack-filter")):
                names.add(f"{link['name']}_{direction}")
    return names


def _path(scenario: Mapping[str, Any], start: str, end: str) -> list[tuple[str, float]]:
    """Returns the link directions with a rate on the path with the fewest hops.

    Returns each direction with its rate in bit/s.
    """
    return [(one.name, one.rate) for one in link_path(scenario, start, end) if one.rate is not None]


def _policies_without_timer(scenario: Mapping[str, Any]) -> list[str]:
    flows = [
        str(flow["name"])
        for flow in scenario.get("flow") or []
        if (ack := (flow.get("transport") or {}).get("ack")) and ack.get("policy") == "byte-counting" and "timer" not in ack
    ]
    return _of(flows, "the ACK policy has no timer, so data below its threshold are never acknowledged (ack.timer)")


def _unacknowledged(flows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Returns flows whose receiver sent no ACK. The SYN-ACK of the handshake counts as sent."""
    silent = [
        flow["flow"]
        for flow in flows
        if flow.get("total_acks_sent_l4") is not None
        and (flow.get("total_delivered_bytes_l7") or 0) > 0
        and not flow.get("total_acks_delivered_l4")
        and not flow.get("total_ack_frames_sent_l4")
    ]
    return _of(
        silent,
        "data arrived, but no ACK returned: the ACK policy withheld them, or the return path lost them",
    )


def _some(names: Iterable[str]) -> str:
    every = list(names)
    more = f" and {len(every) - _NAMED} more" if len(every) > _NAMED else ""
    return f"{', '.join(every[:_NAMED])}{more}"


def _without_data(flows: Sequence[Mapping[str, Any]]) -> list[str]:
    silent = [flow["flow"] for flow in flows if flow.get("total_data_packets_l4") == 0]
    lost = [flow["flow"] for flow in flows if flow.get("total_data_packets_l4") and flow.get("total_delivered_bytes_l7") == 0]
    return [
        *_of(
            silent, "sent no data in the window of measurement, so its means are undefined (measure.from, measure.until, start)"
        ),
        *_of(lost, "sent data, but delivered nothing"),
    ]


def _of(flows: Sequence[str], what: str) -> list[str]:
    """Returns one remark on several flows."""
    return [f"{_some(flows)}: {what}"] if flows else []


def _starved(flows: Sequence[Mapping[str, Any]]) -> list[str]:
    found = []
    for group in competitors(flows):
        rates = {flows[place]["flow"]: flows[place].get("mean_throughput_l4") or 0.0 for place in group}
        mean = sum(rates.values()) / len(rates)
        starved = [name for name, rate in rates.items() if rate < STARVED * mean]
        found += _of(starved, f"starved: less than {STARVED:.0%} of the mean throughput of the {len(group)} competing flows")
    return found


def _retransmissions(flows: Sequence[Mapping[str, Any]]) -> list[str]:
    many = []
    for flow in flows:
        again = flow.get("total_retransmissions_l4") or 0
        once = (flow.get("total_data_packets_l4") or 0) - again
        if again > once >= 0:
            many.append((flow["flow"], again, once))
    counts = f" ({many[0][1]:,} of {many[0][1] + many[0][2]:,} packets)" if len(many) == 1 else ""
    return _of([name for name, _, _ in many], f"more than half of the sent packets were retransmissions{counts}")


def _above_capacity(flows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Returns remarks on flows whose goodput exceeds the capacity.

    Goodput counts data when the application receives them in order, so some data may have arrived
    before the window.
    """
    found = []
    for flow in flows:
        goodput, arrived, capacity = (
            flow.get(name) for name in ("mean_throughput_l7", "mean_throughput_l4", "bottleneck_capacity_l2")
        )
        if capacity and goodput is not None and arrived is not None and goodput > capacity >= arrived:
            found.append(
                f"{flow['flow']}: goodput exceeds the capacity of {flow['bottleneck']}: data that arrived before the window of "
                f"measurement were delivered within it, after a gap was filled; {arrived:,.2f} Mbps arrived in the window"
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
                f"{link['link']}: the queue never drained: it grew by {gained:,} packets while {left:,} left, so the link is overloaded"
            )
    return found


def _unlimited(scenario: Mapping[str, Any], flows: Sequence[Mapping[str, Any]], links: Sequence[Mapping[str, Any]]) -> list[str]:
    """Returns remarks on bottlenecks without a queue limit whose queue exceeded the path's BDP."""
    unlimited = _unlimited_directions(scenario)
    longest = {link["link"]: link.get("max_qdisc_length_l2") or 0 for link in links}
    found: dict[str, tuple[float, float]] = {}
    for flow in flows:
        for hop in (flow.get("bottleneck"), flow.get("return_bottleneck")):
            srtt, empty = flow.get("mean_srtt_l4"), flow.get("empty_path_rtt_l4")
            fits = flow.get("bandwidth_delay_product_l4") or 0
            if hop in unlimited and srtt and empty and srtt > 2 * empty and longest.get(hop, 0) > fits:
                found.setdefault(hop, (srtt, empty))
    return [
        f"{hop}: the queue has no limit and held up to {longest[hop]:,} packets: the RTT is {srtt:,.0f} ms (empty path {empty:,.3g} ms)"
        for hop, (srtt, empty) in found.items()
    ]


def _programs(programs: Sequence[Mapping[str, Any]]) -> list[str]:
    """Returns remarks on commands of an emulation that failed.

    A command that ends by the requested SIGTERM has not failed.
    """
    found = []
    for program in programs:
        name, at = program["application"], f" at {program['stop_time']:.1f} s" if program["stop_time"] is not None else ""
        if program["failure"]:
            found.append(f"{name}: failed to start: {program['failure']}")
        elif program["start_time"] is None:
            found.append(f"{name}: was never started: the run ended first")
        elif program["signal"] == signal.SIGKILL:
            found.append(f"{name}: was killed{at}: it ignored SIGTERM, or another process killed it")
        elif program["signal"] not in (None, signal.SIGTERM):
            found.append(f"{name}: ended by {_signal(program['signal'])}{at}")
        elif program["exit_status"]:
            found.append(f"{name}: exit status {program['exit_status']}{at}")
    return found


def _signal(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
