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
"""Properties of the path that a use depends on: the rate in the direction of the first flow's data,
the rate in the opposite direction, and the delay of single packets in addition to queueing.
"""
_VIDEO_CALL = 1e6
"""Rate of a video call in bit/s, in each direction: the order of magnitude of WebRTC at 720p.

On a slower path, the call has a tenth of the path's rate.
"""
_FILM = 25e6
"""Rate of a film in bit/s: the rate of streaming services for 4K.

On a slower path, the film has half of the path's rate.
"""
_PROBE = {"transport": {"protocol": "udp"}, "traffic": {"model": "poisson", "rate": "32kbps", "write": "200B"}}
"""A probe of latency: 20 datagrams per second at random times, which sample all phases of a queue
(PASTA: Wolff, Operations Research 30(2), 1982).

The rate is *chosen*.
"""
PATIENCE = (8.0, 30.0, 120.0)
"""Simulated durations in seconds for a page.

If the page is not complete after one duration, the run is repeated with the next. The durations
grow stepwise because concurrent flows cost computing time until the end.

After the last duration, the page has failed.
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
    """Function that returns the measured score; None if the run did not complete."""
    needs: tuple[str, ...] = (FORWARD,)
    """Directions of the path that the use depends on."""
    seconds: tuple[float, ...] = ()
    """Simulated durations in seconds to try, for a use that ends by itself.

    Empty if the use has the duration of the path's runs.
    """
    perfect: float | None = None
    """Best possible score; None if there is none."""
    min_seconds: float = 0.0
    """Minimum simulated seconds of a run."""
    beside: tuple["Use", ...] = ()
    """Further quantities of the same flows that are reported."""


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
    """Returns four bulk transfers in each direction and the probes, as in flent's test rrul."""
    four = [dict(_greedy(base, candidate, f"{name}", back), count=4) for name, back in (("down", False), ("up", True))]
    return [*four, *probes(base), *_others(base)]


def _page(base: Mapping[str, Any], candidate: Candidate) -> Flows:
    # Two megabytes in 25 objects, of the order of the median page that the HTTP Archive measures.
    sizes = [*["250kB"] * 2, *["200kB"] * 2, *["150kB"] * 2, "120kB", "100kB", *["60kB"] * 6, *["25kB"] * 6, *["8kB"] * 4]
    page = {"document": "60kB", "objects": sizes, "request": "500B", "think": "20ms", "requests": "parallel"}
    return [_flow(base, candidate, page=page), *_others(base)]


def _rpc(base: Mapping[str, Any], candidate: Candidate) -> Flows:
    """Returns fifty sequential calls that compete with a download of the same user.

    Each call has a request of 1 kB and a response of 2 kB.
    """
    calls = {"document": "2kB", "objects": ["2kB"] * 49, "request": "1kB", "requests": "serial"}
    return [_flow(base, candidate, page=calls), _greedy(base, candidate, "beside"), *_others(base)]


def _video(base: Mapping[str, Any], candidate: Candidate) -> Flows:
    """Returns a film with a buffer of two seconds. It competes with a download of the same user."""
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

    Considers hops in the direction of the first flow, or in both directions. If no hop has a rate,
    returns ten times the highest rate of a use.
    """
    flow = base["flow"][0]
    ends = [(flow["from"], flow["to"]), *([(flow["to"], flow["from"])] if both else [])]
    rates = [one.capacity for start, end in ends for one in link_path(base, start, end) if one.rate is not None]
    return min(rates, default=10 * max(_FILM, _VIDEO_CALL))


def value_of(result: Result, flow: str, column: str) -> float | None:
    """Returns a value of a flow, or the mean over its copies; None if a value is missing."""
    rows = result.arrow("flows").to_pylist()
    values = [row.get(column) for row in rows if row["flow"] == flow or re.fullmatch(rf"{flow}_\d+", row["flow"])]
    if not values or any(value is None or math.isnan(value) for value in values):
        return None
    return math.fsum(values) / len(values)


def _of_advised(column: str) -> Callable[[Result], float | None]:
    return lambda result: value_of(result, "advised", column)


goodput = _of_advised("mean_throughput_l7")
"""The goodput of the advised flow."""
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

The score of a call is the 95th percentile of the delay of its packets in the slower direction. The
score of RRUL is the sum of this percentile over both probes.
"""
