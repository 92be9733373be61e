"""The short answer to a run.

For each flow, the answer has goodput, RTT, ACKs, retransmissions and the limiting factor.
"""

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from acklab.airtime import by_use
from acklab.links import shapers
from acklab.metrics import written
from acklab.tables import PROGRAM, Table

if TYPE_CHECKING:
    from acklab.result import Result

BLOCKS = 4
"""Maximum number of flows with separate blocks of lines. More flows share a table."""

_FACTORS = {
    "application": "share_application_limited_l4",
    "send buffer": "share_send_buffer_limited_l4",
    "receive window": "share_receive_window_limited_l4",
    "window": "share_window_limited_l4",
    "pacing": "share_pacing_limited_l4",
}
"""Limiting factors, each with the column that has its share of time."""

Row = Mapping[str, Any]


@dataclass(frozen=True)
class Line:
    """One line of an answer: name, value, and a reference value for comparison."""

    name: str
    value: str
    detail: str = ""


@dataclass(frozen=True)
class Answer:
    """The answer for one flow."""

    flow: str
    kind: str
    lines: Sequence[Line]


def answers(result: "Result") -> list[Answer]:
    """Returns the answers of a run, flow by flow. Small connections of programs are excluded."""
    busy, shaped = _busy(result), shapers(result.scenario)
    return [_answer(flow, busy, shaped) for flow in _flows(result)[0]]


def answer_tables(result: "Result") -> list[Table]:
    """Returns the answers as tables for a page: one per flow, or one for all if there are many."""
    found = answers(result)
    if len(found) > BLOCKS:
        return [answer_table(result)]
    return [
        Table(
            ["", "", ""],
            [[line.name, line.value, line.detail] for line in answer.lines],
            f"{answer.flow}  {answer.kind}",
            numeric_from=3,
        )
        for answer in found
    ]


def answer_table(result: "Result") -> Table:
    """Returns the answers as a table with a row per flow, for runs with many flows."""
    head = ["flow", "goodput [Mbps]", "RTT [ms]", "ACKs", "packets/ACK", "retransmissions", "limited by"]
    cells = []
    for flow in _flows(result)[0]:
        acks, per_ack = flow.get("total_acks_sent_l4"), flow.get("mean_data_per_ack_l4")
        numbers = (_goodput(flow), flow.get("mean_srtt_l4"), acks, per_ack, flow.get("total_retransmissions_l4"))
        cells.append([flow["flow"], *(written(number) for number in numbers), str(flow.get("limited_by") or "–")])
    return Table(head, cells, "Each flow", text=frozenset({6}))


SMALL = 0.01
"""Connections of programs have no answer if they delivered less than this share of all bytes.
"""


def _flows(result: "Result") -> tuple[list[dict[str, Any]], int]:
    """Returns the flows that have an answer, and the number of the other flows.

    The other flows are small connections of programs, such as connections that control a
    measurement.
    """
    flows = _rows(result, "flows")
    octets = [flow.get("total_delivered_bytes_l7") or 0 for flow in flows]
    min_octets = SMALL * sum(octets)
    kept = [flow for flow, own in zip(flows, octets, strict=True) if flow.get("traffic_model") != PROGRAM or own >= min_octets]
    return kept, len(flows) - len(kept)


def left_out(result: "Result") -> str:
    """Returns a line about the connections of programs without an answer; empty without any."""
    number = _flows(result)[1]
    what = "connection of programs" if number == 1 else "connections of programs"
    return f"{number} more {what} with less than {SMALL:.0%} of the bytes (--all)" if number else ""


def together(result: "Result") -> str:
    """Returns a line about the sum of all flows; empty for a single flow."""
    rows = _rows(result, "network")
    if len(rows) != 1 or (rows[0].get("flows") or 0) < 2:
        return ""
    whole = rows[0]
    fair = whole.get("jain_throughput_l4")
    index = f", Jain's index {fair:.3f}" if fair is not None else ""
    return f"all {whole['flows']} flows together: {written(whole.get('agg_throughput_l4'))} Mbps{index}"


def _answer(flow: Row, busy: Mapping[str, float], shaped: Set[str]) -> Answer:
    parts = (flow.get("transport_protocol"), flow.get("cca"), flow.get("ack_policy") and f"ACKs by {flow['ack_policy']}")
    kind = ", ".join(str(part) for part in parts if part)
    ends = f"{flow['src']} → {flow['dst']}" if flow.get("src") and flow.get("dst") else ""
    lines = [
        _goodput_line(flow, shaped),
        _rtt_line(flow),
        _acks_line(flow),
        _losses_line(flow),
        _limit_line(flow, busy, shaped),
        *_ending(flow),
    ]
    return Answer(flow["flow"], "  ".join(part for part in (ends, kind) if part), lines)


def _goodput(flow: Row) -> float | None:
    goodput = flow.get("mean_throughput_l7")
    value = flow.get("mean_throughput_l4") if goodput is None else goodput
    return None if value is None else float(value)


def _goodput_line(flow: Row, shaped: Set[str]) -> Line:
    goodput, capacity, hop = _goodput(flow), flow.get("bottleneck_capacity_l2"), _hop(flow.get("bottleneck"), shaped)
    detail = ""
    if goodput is not None and capacity and hop:
        detail = f"{goodput / capacity:.0%} of {hop} ({written(capacity)} Mbps)"
    return Line("goodput", _with_unit(goodput, "Mbps"), detail)


def _rtt_line(flow: Row) -> Line:
    srtt, empty = flow.get("mean_srtt_l4"), flow.get("empty_path_rtt_l4")
    if srtt is None and flow.get("mean_one_way_delay_l4") is not None:
        high = flow.get("p95_one_way_delay_l4")
        return Line("one-way delay", _with_unit(flow["mean_one_way_delay_l4"], "ms"), f"95 % below {_with_unit(high, 'ms')}")
    return Line("RTT", _with_unit(srtt, "ms"), f"empty path {_with_unit(empty, 'ms')}" if empty is not None else "")


def _acks_line(flow: Row) -> Line:
    sent, per_ack, delivered = (
        flow.get(name) for name in ("total_acks_sent_l4", "mean_data_per_ack_l4", "total_acks_delivered_l4")
    )
    if sent is None:
        return Line("ACKs", "none", "no ACKs on the wire")
    details = [f"one for {per_ack:.2f} data packets"] if per_ack is not None else []
    # The SYN-ACK is counted as sent, but not as delivered.
    if delivered is not None and sent - delivered > 1:
        details.append(f"{written(delivered)} arrived")
    return Line("ACKs", written(sent), ", ".join(details))


def _losses_line(flow: Row) -> Line:
    again, packets = flow.get("total_retransmissions_l4"), flow.get("total_data_packets_l4")
    if again is None and flow.get("total_lost_l4") is not None:
        return Line("lost", written(flow["total_lost_l4"]), _share(flow.get("share_lost_l4"), "of the packets"))
    details = [_share(again / packets, "of the packets")] if again and packets else []
    if flow.get("total_rtos_l4"):
        details.append(_count(flow["total_rtos_l4"], "timeout"))
    return Line("retransmissions", written(again), ", ".join(details))


def _limit_line(flow: Row, busy: Mapping[str, float], shaped: Set[str]) -> Line:
    limit = flow.get("limited_by")
    if not limit:
        return Line("limited by", "–", "not measured for this transport")
    hop, back = str(flow.get("bottleneck")), str(flow.get("return_bottleneck"))
    # The share is relative to the time in which the flow was active, which may be shorter than the
    # window.
    used = flow.get("mean_bottleneck_utilization_l1", busy.get(hop))
    column = _FACTORS.get(limit)
    if column is not None:
        return Line("limited by", limit, _share(flow.get(column), "of the time"))
    if limit in ("rate", "contention"):
        others = "" if limit == "rate" else ", shared with other flows"
        return Line("limited by", limit, f"{_hop(hop, shaped)} was {used:.0%} busy{others}" if used is not None else "")
    if limit == "losses":
        return Line("limited by", limit, f"{_hop(hop, shaped)} was only {used:.0%} busy" if used is not None else "")
    wait = flow.get("mean_return_wait_l4")
    details = [f"{_hop(back, shaped)} was {busy[back]:.0%} busy"] if back in busy else []
    if wait is not None:
        details.append(f"ACKs wait {_with_unit(wait, 'ms')} there")
    return Line("limited by", limit, ", ".join(details))


def _hop(name: str | None, shaped: Set[str]) -> str | None:
    """Returns a hop as text. Names the hop's shaper if the shaper limits the rate."""
    return f"the shaper of {name}" if name in shaped else name


def _ending(flow: Row) -> list[Line]:
    """Returns the state of the connection if it failed or stays open without progress."""
    ending, at = flow.get("ending"), flow.get("ending_time")
    if ending in (None, "open", "finished"):
        return []
    return [Line("state", str(ending), "" if at is None else f"since {at:.2f} s")]


def _busy(result: "Result") -> dict[str, float]:
    """Returns the share of capacity that each link direction used, and of airtime for each cell."""
    used = {row["link"]: row.get("mean_utilization_l1") for row in _rows(result, "links")}
    for row in by_use(_rows(result, "airtime")):
        used.setdefault(row["cell"], 1.0)
        if row["use"] == "idle":
            used[row["cell"]] = 1.0 - row["share"]
    return {name: share for name, share in used.items() if share is not None}


def _rows(result: "Result", name: str) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = result.arrow(name).to_pylist() if name in result.tables else []
    return rows


def _with_unit(value: float | None, unit: str) -> str:
    return "–" if value is None else f"{written(value)} {unit}"


def _share(share: float | None, of: str) -> str:
    if share is None:
        return ""
    return f"{share:.{2 if share < 0.001 else 1 if share < 0.1 else 0}%} {of}"


def _count(number: int, what: str) -> str:
    return f"{written(number)} {what}{'' if number == 1 else 's'}"
