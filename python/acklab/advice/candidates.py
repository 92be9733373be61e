"""What is compared: ACK policies, controllers, transports, and filters on the return path."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

TODAY = "as it is"
"""The candidate that changes nothing."""


@dataclass(frozen=True)
class Candidate:
    """A way to carry data over a path."""

    name: str
    transport: Mapping[str, Any]
    queue: Mapping[str, Any] | None = None
    """What queues become; their limits stay."""
    switches: tuple[str, ...] = field(default=())
    """Entries of stacks.toml that say how to switch it on."""


_BUFFERS = {"send_buffer": "64MiB", "receive_buffer": "64MiB"}
_TCP_POLICIES: Mapping[str, tuple[str, Mapping[str, Any], tuple[str, ...]]] = {
    "": ("", {"policy": "linux"}, ()),
    "each": (", each segment acknowledged", {"policy": "per-packet"}, ("linux-quickack",)),
    "4": (", every 4th segment acknowledged", {"policy": "byte-counting", "segments": 4, "timer": "25ms"}, ("linux-gro",)),
    "10": (", every 10th segment acknowledged", {"policy": "byte-counting", "segments": 10, "timer": "25ms"}, ("linux-gro",)),
}
_QUIC_POLICIES: Mapping[str, tuple[str, Mapping[str, Any], tuple[str, ...]]] = {
    "": ("", {"policy": "quic"}, ()),
    "10": (
        ", every 10th packet acknowledged",
        {"policy": "ack-frequency", "ack_eliciting_threshold": 9, "requested_max_ack_delay": "25ms"},
        ("quic-ack-frequency",),
    ),
    "chrome": (", Chrome's ACK decimation", {"policy": "chrome"}, ("quic-chrome",)),
}
_CONTROLLERS = {"cubic": "CUBIC", "bbr": "BBR", "newreno": "Reno"}


def candidates(today: Mapping[str, Any]) -> list[Candidate]:
    """All candidates; the first is the transport of today, with its settings."""
    tcp = [
        Candidate(
            f"TCP {name}{words}",
            {"protocol": "tcp", "preset": "linux", "congestion": {"algorithm": algorithm}, "ack": ack, **_BUFFERS},
            switches=(*_controller(algorithm), *switches),
        )
        for algorithm, name in _CONTROLLERS.items()
        for words, ack, switches in _TCP_POLICIES.values()
    ]
    filtered = [
        Candidate(
            f"TCP {name}, {words}",
            {
                "protocol": "tcp",
                "preset": "linux",
                "congestion": {"algorithm": algorithm},
                "ack": {"policy": "linux"},
                **_BUFFERS,
            },
            queue={"discipline": discipline},
            switches=(*_controller(algorithm), switch),
        )
        for algorithm, name in _CONTROLLERS.items()
        if algorithm != "newreno"
        for discipline, words, switch in (
            ("cake-ack-filter", "ACKs filtered", "cake-ack-filter"),
            ("acks-first", "ACKs first", "linux-prio"),
        )
    ]
    quic = [
        Candidate(
            f"QUIC {_CONTROLLERS[algorithm]}{words}",
            {"protocol": "quic", "preset": "quinn", "congestion": {"algorithm": algorithm}, "ack": ack, "flow_control": _WINDOWS},
            switches=switches,
        )
        for algorithm in ("cubic", "bbr")
        for words, ack, switches in _QUIC_POLICIES.values()
    ]
    tack = [Candidate("TACK", {"protocol": "tack", "congestion": {"algorithm": "bbr-tack"}, **_BUFFERS}, switches=("tack",))]
    return [Candidate(TODAY, dict(today)), *tcp, *filtered, *quic, *tack]


_WINDOWS = {"model": "fixed", "stream": "64MiB", "connection": "64MiB"}


def _controller(algorithm: str) -> tuple[str, ...]:
    return (f"linux-{algorithm}",)
