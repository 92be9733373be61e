"""Determines the transport of a transfer.

It is TCP or QUIC as captured, with the stacks and the controllers that are possible.
"""

from dataclasses import dataclass
from typing import Any

from acklab.fitting.observed import Observed
from acklab.fitting.quantity import ASSUMED, MEASURED, UNKNOWN, Quantity
from acklab.inspection.model import Way

_LOGS = {
    "quic-go": "quic-go",
    "picoquic": "picoquic",
    "neqo": "neqo",
    "msquic": "msquic",
    "quinn": "quinn",
    "mvfst": "mvfst",
    "s2n": "s2n-quic",
    "quicly": "quicly",
    "chrome": "chrome",
}
"""Words in the title of a log in qlog that name a stack, and its preset."""
_DECIMATES = 6.0
"""Minimum packets per ACK of a QUIC receiver that sends few ACKs.

Chrome, mvfst and s2n-quic acknowledge ten packets (`quic/preset.rs`), and the other stacks two.
"""
_FAMILIES = {"reno": ("newreno",), "cubic": ("cubic",), "rate-based": ("bbr",), "delay-based": ("bbr",)}
"""Controllers of each family that `inspect` names."""
_CONTROLLERS = ("cubic", "bbr", "newreno")
"""One controller of each family."""
_AGREED = 0.5
"""ACKs show the receiver's policy if at least this share of them covers the usual number of
segments; *chosen*.
"""
_BUFFER = "64MiB"
"""Buffer size that exceeds any window on captured paths.

A buffer limits a simulation only if the capture shows that a buffer limited the transfer.
"""
_WINDOWS = {"model": "fixed", "stream": _BUFFER, "connection": _BUFFER}
_LIMITED = 0.5
"""Minimum share of the time for which `inspect` reports that the receive window limited the
sender.
"""


@dataclass(frozen=True)
class Stack:
    """Describes the transport of the flow, without its controller, and the evidence for it."""

    transport: dict[str, Any]
    controllers: tuple[str, ...]
    """Possible controllers."""
    parameters: tuple[Quantity, ...]
    """Quantities of the stack, for the table `fit`."""


def stack_of(observed: Observed) -> Stack:
    """Returns the stack of a transfer."""
    way = observed.way
    transport: dict[str, Any]
    controllers, controller = _controllers(way, "flow.transfer.transport.congestion.algorithm")
    if _is_tack(observed):
        transport = {"protocol": "tack", "send_buffer": _BUFFER, "receive_buffer": _BUFFER}
        known = Quantity("flow.transfer.transport.protocol", "", MEASURED, "the log names TACK", "qlog: protocol_type")
        return Stack(transport, ("bbr-tack",), (known,))
    if observed.is_quic:
        preset, found = _preset(observed)
        transport = {"protocol": "quic", "preset": preset, "flow_control": dict(_WINDOWS)}
        return Stack(transport, controllers, (found, controller))
    policy, found = _policy(way)
    transport = {"protocol": "tcp", "preset": "linux", "ack": policy, "send_buffer": _BUFFER, "receive_buffer": _BUFFER}
    limits = way["limits"]
    if limits is not None and limits["receive_window"] > _LIMITED and (trip := way["round_trip"]["median"]):
        window = max(round(way["goodput"] * 125 * trip), 2 * way["mss"])
        transport |= {"receive_buffer": f"{window}B", "receive_window": "whole-buffer"}
    return Stack(transport, controllers, (_tcp(way), found, controller))


def _is_tack(observed: Observed) -> bool:
    """Returns `True` for the log of an end of TACK."""
    origin = observed.connection["source"]
    return origin is not None and (origin["protocol"] or "").upper() == "TACK"


def _controllers(way: Way, key: str) -> tuple[tuple[str, ...], Quantity]:
    found, source = way["controller"], "inspect: controller"
    if found is None:
        reason = way["not_known"].get("controller", "data in flight are not visible")
        return _CONTROLLERS, Quantity(key, "", UNKNOWN, f"{reason}; each family is tried", source)
    evidence = way["evidence"].get("controller", f"{found['episodes']} reductions")
    return _FAMILIES[found["family"]], Quantity(key, "", MEASURED, f"{found['family']}: {evidence}", source)


def _tcp(way: Way) -> Quantity:
    key, source = "flow.transfer.transport.preset", "inspect: options of TCP"
    options = [name for name, is_used in (("timestamps", way["timestamps"]), ("SACK", way["sack"])) if is_used]
    if len(options) == 2:
        return Quantity(key, "", ASSUMED, "timestamps and SACK, as Linux uses them; other stacks do too", source)
    return Quantity(
        key, "", UNKNOWN, f"unknown stack: {' and '.join(options) or 'neither timestamps nor SACK'}; linux is used", source
    )


def _policy(way: Way) -> tuple[dict[str, Any], Quantity]:
    """Returns the receiver's ACK policy, if most ACKs agree in the number of their segments."""
    key, source, acks = "flow.transfer.transport.ack", "inspect: segments per ACK", way["acks"]
    if acks is None or acks["ratio"] is None:
        reason = way["not_known"].get("ratio", "no pure ACK was captured")
        return {"policy": "linux"}, Quantity(key, "", UNKNOWN, f"{reason}; linux is used", source)
    segments = acks["usual"] if acks["agreement"] >= _AGREED and acks["usual"] > 0 else max(round(acks["ratio"]), 1)
    if acks["thinning"] == "thinned":
        return {"policy": "linux"}, Quantity(key, "", ASSUMED, "ACKs are removed on their way; linux is used", source)
    evidence = f"{acks['ratio']:.3g} segments per ACK, {acks['agreement']:.0%} of the ACKs cover {acks['usual']}"
    return policy_of(segments), Quantity(key, "", MEASURED, evidence, source)


def policy_of(segments: int) -> dict[str, Any]:
    """Returns the policy of a receiver by its segments per ACK.

    Two segments per ACK is the policy `linux`; more segments per ACK is a policy that counts
    segments.
    """
    if segments == 1:
        return {"policy": "per-packet"}
    if segments == 2:
        return {"policy": "linux"}
    return {"policy": "byte-counting", "segments": segments, "timer": "25ms"}


def _preset(observed: Observed) -> tuple[str, Quantity]:
    """Returns the preset of QUIC.

    It is the preset of the stack that a log names. Otherwise, it follows from the packets per ACK
    if they are visible.
    """
    key, way = "flow.transfer.transport.preset", observed.way
    origin = observed.connection["source"]
    texts = [origin["title"], origin["description"]] if origin else []
    title = " ".join(text for text in (*texts, observed.inspection.path.name) if text).lower()
    for word, preset in _LOGS.items():
        if observed.is_log and word in title:
            return preset, Quantity(key, "", MEASURED, f"the log names {word}", "qlog: title")
    version = way["evidence"].get("protocol", "")
    acks = way["acks"]
    if acks is not None and acks["ratio"] is not None:
        decimates = acks["ratio"] >= _DECIMATES
        evidence = f"unknown stack: {acks['ratio']:.3g} packets per ACK, as {'chrome, mvfst and s2n-quic' if decimates else 'most stacks'} have"
        return "chrome" if decimates else "rfc", Quantity(key, "", ASSUMED, evidence, "inspect: packets per ACK")
    reason = f"unknown stack: {version + '; ' if version else ''}its ACKs are encrypted, and nothing in the clear names it; rfc is used"
    return "rfc", Quantity(key, "", UNKNOWN, reason, "inspect: protocol")
