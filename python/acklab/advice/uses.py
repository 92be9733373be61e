"""Uses of a path, and their scores."""

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from acklab.advice.candidates import Candidate
from acklab.links import link_path
from acklab.result import Result

FORWARD, BACK, TIMING = "forward", "back", "timing"
"""Dependencies of a use on a path: the rates of the directions of the first flow's data and against
them, and the delay of single packets beside their queue.
"""
_VIDEO_CALL = 1e6
"""Rate of a video call in bit/s, in each direction: of the order of what WebRTC sends at 720p.

Slower paths carry a call of a tenth of their rate.
"""
_FILM = 25e6
"""Rate of a film in bit/s: that of streaming services for 4K.

Slower paths carry a film of half of their rate.
"""
_PROBE = {"transport": {"protocol": "udp"}, "traffic": {"model": "poisson", "rate": "32kbps", "write": "200B"}}
"""A probe of latency: 20 datagrams a second, at random so that they meet all phases of a queue
(PASTA: Wolff, Operations Research 30(2), 1982); the rate is *chosen*.
"""
PATIENCE = (8.0, 30.0, 120.0)
"""Simulated seconds of a page: if it is not complete, more, because what runs beside it costs time
until the end.

After the last it counts as failed.
"""

Flows = list[dict[str, Any]]


@dataclass(frozen=True)
class Use:
    """A use of a path."""

    name: str
    title: str
    quantity: str
    """Meaning of the score."""
    unit: str
    is_better_high: bool
    flows: Callable[[Mapping[str, Any], Candidate], Flows]
    """Function that returns the flows of a scenario for a candidate."""
    score: Callable[[Result], float | None]
    """Measured score; None if the run did not reach it."""
    needs: tuple[str, ...] = (FORWARD,)
    """Directions of the path that it depends on."""
    seconds: tuple[float, ...] = ()
    """Simulated seconds of a run that ends by itself, until one has reached its end; empty for
    those of the path.
    """
    perfect: float | None = None
    """Best possible score, if there is one."""
    min_seconds: float = 0.0
    """Minimum simulated seconds of a run."""
    beside: tuple["Use", ...] = ()
    """Further reported quantities of the same flows."""


def _flow(
    base: Mapping[str, Any], candidate: Candidate, name: str = "advised", back: bool = False, **more: Any
) -> dict[str, Any]:
    flow = base["flow"][0]
    ends = ("to", "from") if back else ("from", "to")
    transport = candidate.over(flow["transport"])
    category = {"category": flow["category"]} if "category" in flow else {}
    return {"name": name, "from": flow[ends[0]], "to": flow[ends[1]], "transport": transport, **category, **more}


def _others(base: Mapping[str, Any]) -> Flows:
    return [dict(flow) for flow in base["flow"][1:]]


def _greedy(base: Mapping[str, Any], candidate: Candidate, name: str = "advised", back: bool = False) -> dict[str, Any]:
    return _flow(base, candidate, name, back, traffic={"model": "greedy"})


def download(base: Mapping[str, Any], candidate: Candidate) -> Flows:
    """Returns a bulk transfer in the direction of the first flow."""
    return [_greedy(base, candidate), *_others(base)]


def upload(base: Mapping[str, Any], candidate: Candidate) -> Flows:
    """Returns a bulk transfer against the direction of the first flow."""
    return [_greedy(base, candidate, back=True), *_others(base)]


def _upload_under_download(base: Mapping[str, Any], candidate: Candidate) -> Flows:
    return [_greedy(base, candidate, back=True), _greedy(base, candidate, "beside"), *_others(base)]


def _download_under_upload(base: Mapping[str, Any], candidate: Candidate) -> Flows:
    return [_greedy(base, candidate), _greedy(base, candidate, "beside", back=True), *_others(base)]


def probes(base: Mapping[str, Any]) -> Flows:
    """Returns a probe of latency in each direction."""
    flow = base["flow"][0]
    ends = (("probe_out", flow["from"], flow["to"]), ("probe_back", flow["to"], flow["from"]))
    return [{"name": name, "from": start, "to": end, **_PROBE} for name, start, end in ends]


def _rrul(base: Mapping[str, Any], candidate: Candidate) -> Flows:
    """Returns four bulk transfers in each direction beside the probes, as in flent's test rrul."""
    four = [dict(_greedy(base, candidate, f"{name}", back), count=4) for name, back in (("down", False), ("up", True))]
    return [*four, *probes(base), *_others(base)]


def _page(base: Mapping[str, Any], candidate: Candidate) -> Flows:
    # Two megabytes in 25 objects, of the order of the median page that the HTTP Archive measures.
    sizes = [*["250kB"] * 2, *["200kB"] * 2, *["150kB"] * 2, "120kB", "100kB", *["60kB"] * 6, *["25kB"] * 6, *["8kB"] * 4]
    page = {"document": "60kB", "objects": sizes, "request": "500B", "think": "20ms", "requests": "parallel"}
    return [_flow(base, candidate, page=page), *_others(base)]


def _rpc(base: Mapping[str, Any], candidate: Candidate) -> Flows:
    """Returns fifty sequential calls beside a download of the same user.

    Each call has a request of 1 kB and a response of 2 kB.
    """
    calls = {"document": "2kB", "objects": ["2kB"] * 49, "request": "1kB", "requests": "serial"}
    return [_flow(base, candidate, page=calls), _greedy(base, candidate, "beside"), *_others(base)]


def _video(base: Mapping[str, Any], candidate: Candidate) -> Flows:
    """Returns a film with two seconds in its buffer, beside a download of the same user."""
    rate = min(_FILM, _slowest(base) / 2)
    film = _flow(base, candidate, traffic={"model": "video", "rate": f"{int(rate)}bps", "frame_rate": 25, "group": 50})
    film["reading"] = {"model": "playback", "buffer": "2s", "after_stall": "shift"}
    return [film, _greedy(base, candidate, "beside"), *_others(base)]


def _call(base: Mapping[str, Any], candidate: Candidate) -> Flows:
    flow = base["flow"][0]
    rate = min(_VIDEO_CALL, _slowest(base, both=True) / 10)
    call = {"transport": {"protocol": "udp"}, "traffic": {"model": "constant", "rate": f"{int(rate)}bps", "write": "1000B"}}
    ends = (("heard", flow["from"], flow["to"]), ("spoken", flow["to"], flow["from"]))
    return [*download(base, candidate), *({"name": name, "from": start, "to": end, **call} for name, start, end in ends)]


def _slowest(base: Mapping[str, Any], both: bool = False) -> float:
    """Returns the bit/s of the slowest hop that has a rate.

    Hops are those in the direction of the first flow, or in both. Without a rate, the result is
    ten times the highest rate of a use.
    """
    flow = base["flow"][0]
    ends = [(flow["from"], flow["to"]), *([(flow["to"], flow["from"])] if both else [])]
    rates = [one.capacity for start, end in ends for one in link_path(base, start, end) if one.rate is not None]
    return min(rates, default=10 * max(_FILM, _VIDEO_CALL))


def value_of(result: Result, flow: str, column: str) -> float | None:
    """Returns a number of a flow, or its mean over copies; None if one is missing."""
    rows = result.arrow("flows").to_pylist()
    values = [row.get(column) for row in rows if row["flow"] == flow or re.fullmatch(rf"{flow}_\d+", row["flow"])]
    if not values or any(value is None or math.isnan(value) for value in values):
        return None
    return math.fsum(values) / len(values)


def _of_advised(column: str) -> Callable[[Result], float | None]:
    return lambda result: value_of(result, "advised", column)


goodput = _of_advised("mean_throughput_l7")
"""The goodput of the flow that is advised."""
_complete = _of_advised("page_load_time_l7")


def _call_delay(result: Result) -> float | None:
    delays = [value_of(result, name, "p95_one_way_delay_l4") for name in ("heard", "spoken")]
    return None if None in delays else max(delay for delay in delays if delay is not None)


def probed(result: Result, column: str = "p95_one_way_delay_l4") -> float | None:
    """Returns the sum of both probes' delays."""
    delays = [value_of(result, name, column) for name in ("probe_out", "probe_back")]
    return None if None in delays else sum(delay for delay in delays if delay is not None)


def _smooth(result: Result) -> float | None:
    stalled = value_of(result, "advised", "rebuffering_ratio_l7")
    return None if stalled is None else 100 * (1 - stalled)


BOTH = (FORWARD, BACK)
DELAY = (*BOTH, TIMING)
_TYPICAL = Use(
    "latency-median",
    "round trip of a probe under load, median",
    "",
    "ms",
    False,
    _rrul,
    partial(probed, column="p50_one_way_delay_l4"),
    DELAY,
)
USES: Mapping[str, Use] = {
    use.name: use
    for use in (
        Use("download", "Download", "goodput", "Mbps", True, download, goodput),
        Use("upload", "Upload", "goodput", "Mbps", True, upload, goodput, (BACK,)),
        Use("upload-under-download", "Upload under a download", "goodput", "Mbps", True, _upload_under_download, goodput, BOTH),
        Use("download-under-upload", "Download under an upload", "goodput", "Mbps", True, _download_under_upload, goodput, BOTH),
        Use(
            "latency",
            "Latency under load (RRUL)",
            "round trip of a probe, p95",
            "ms",
            False,
            _rrul,
            probed,
            DELAY,
            beside=(_TYPICAL,),
        ),
        Use("page", "Web page", "load time", "s", False, _page, _complete, seconds=PATIENCE),
        Use(
            "video", "Film beside a download", "time without stalls", "%", True, _video, _smooth, perfect=100.0, min_seconds=12.0
        ),
        Use("call", "Video call beside a download", "delay, p95", "ms", False, _call, _call_delay, DELAY),
        Use("rpc", "50 calls (RPC) beside a download", "time", "s", False, _rpc, _complete, DELAY, PATIENCE),
    )
}
"""The uses, by name.

The score of a call is the 95th percentile of the delay of its packets in the slower direction; that
of RRUL is the sum of both probes'.
"""
