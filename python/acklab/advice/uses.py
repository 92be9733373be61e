"""What a person does over a path, and how that is scored."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from acklab.advice.candidates import Candidate
from acklab.result import Result

_VIDEO = 1e6
"""Rate of a video call in bits/s, in each direction: of the order of what WebRTC sends at 720p. Slower paths carry a call of a tenth of their rate."""
PATIENCE = (8.0, 30.0, 120.0)
"""Simulated seconds of a page: if it is not complete, more, because what runs beside it costs time until the end. After the last it counts as failed."""


@dataclass(frozen=True)
class Use:
    """A use of a path."""

    name: str
    title: str
    unit: str
    is_better_high: bool
    flows: Callable[[Mapping[str, Any], Candidate], list[dict[str, Any]]]
    """The flows of a scenario, for a candidate."""
    score: Callable[[Result], float | None]
    """What is measured; None if the run did not get there."""
    seconds: tuple[float, ...] = ()
    """Simulated seconds of a run that ends by itself, until one has reached its end; empty for those of the path."""
    quantity: str = ""
    """What the score is, where the title does not say it."""


def _flow(base: Mapping[str, Any], candidate: Candidate, **more: Any) -> dict[str, Any]:
    flow = base["flow"][0]
    return {"name": "advised", "from": flow["from"], "to": flow["to"], "transport": dict(candidate.transport), **more}


def _others(base: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [dict(flow) for flow in base["flow"][1:]]


def _bulk(base: Mapping[str, Any], candidate: Candidate) -> list[dict[str, Any]]:
    return [_flow(base, candidate, traffic={"model": "greedy"}), *_others(base)]


def _upload(base: Mapping[str, Any], candidate: Candidate) -> list[dict[str, Any]]:
    flow = _flow(base, candidate, traffic={"model": "greedy"})
    return [flow | {"from": flow["to"], "to": flow["from"]}, *_others(base)]


def _page(base: Mapping[str, Any], candidate: Candidate) -> list[dict[str, Any]]:
    # Two megabytes in 25 objects, of the order of the median page that the HTTP Archive measures.
    page = {
        "document": "60kB",
        "objects": [
            "250kB",
            "250kB",
            "200kB",
            "200kB",
            "150kB",
            "150kB",
            "120kB",
            "100kB",
            *["60kB"] * 6,
            *["25kB"] * 6,
            *["8kB"] * 4,
        ],
        "request": "500B",
        "think": "20ms",
        "requests": "parallel",
    }
    return [_flow(base, candidate, page=page), *_others(base)]


def _call(base: Mapping[str, Any], candidate: Candidate) -> list[dict[str, Any]]:
    rate = call_rate(base)
    flow = base["flow"][0]
    call = {"transport": {"protocol": "udp"}, "traffic": {"model": "constant", "rate": f"{int(rate)}bps", "write": "1000B"}}
    return [
        *_bulk(base, candidate),
        {"name": "heard", "from": flow["from"], "to": flow["to"], **call},
        {"name": "spoken", "from": flow["to"], "to": flow["from"], **call},
    ]


def call_rate(base: Mapping[str, Any]) -> float:
    """Bits/s of a video call over a path, in each direction."""
    rates = [
        bits(way["rate"])
        for link in base.get("link") or []
        for way in (link["forward"], link["reverse"])
        if way.get("rate") is not None
    ]
    return min(_VIDEO, min(rates, default=10 * _VIDEO) / 10)


def bits(rate: str) -> float:
    """Bits/s of a rate such as 16Mbps."""
    for unit, factor in (("Gbps", 1e9), ("Mbps", 1e6), ("kbps", 1e3), ("bps", 1.0)):
        if rate.endswith(unit):
            return float(rate.removesuffix(unit)) * factor
    return float(rate)


def _goodput(result: Result) -> float | None:
    return _of(result, "advised", "mean_throughput_l7")


def _load_time(result: Result) -> float | None:
    return _of(result, "advised", "page_load_time_l7")


def _call_delay(result: Result) -> float | None:
    delays = [_of(result, name, "p95_one_way_delay_l4") for name in ("heard", "spoken")]
    return None if None in delays else max(delay for delay in delays if delay is not None)


def _of(result: Result, flow: str, column: str) -> float | None:
    rows = result.arrow("flows").to_pylist()
    value = next((row.get(column) for row in rows if row["flow"] == flow), None)
    return None if value is None or math.isnan(value) else float(value)


USES: Mapping[str, Use] = {
    use.name: use
    for use in (
        Use("bulk", "Bulk download", "Mbps", True, _bulk, _goodput, quantity="goodput"),
        Use("page", "Web page", "s", False, _page, _load_time, PATIENCE, "load time"),
        Use("call", "Video call beside a download", "ms", False, _call, _call_delay, quantity="delay, p95"),
        Use("upload", "Upload", "Mbps", True, _upload, _goodput, quantity="goodput"),
    )
}
"""The uses, by name. The score of a call is the 95th percentile of the delay of its packets, of the slower direction, while a download fills the path."""
