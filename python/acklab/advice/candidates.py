"""Lists the settings of receiver, sender and router, and the transports, that may be changed.

Changes that cannot act on the path are not listed.
"""

from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass, field
from typing import Any

from acklab.links import Direction, directions

TODAY = "as it is"
"""The candidate that changes nothing."""
RECEIVER, SENDER, ROUTER, TRANSPORT = "receiver", "sender", "router", "transport"
"""Owners of a setting."""
_SHAPED = 0.95
"""Rate of a shaper in front of a link, relative to the rate of the link. tc-cake(8) advises a rate
below the link's, so that the queue forms at CAKE.
"""
_ACKS_MATTER = 0.1
"""Fewer ACKs may help if the ACKs of a full download take at least this share of the return path.
*Chosen*: below this share, nine tenths of the return path remain for other traffic.
"""
_ACK = 52
"""IP bytes of an ACK with timestamps."""
_FULL = 1500
"""IP bytes of a full packet."""
_PER_ACK = {"per-packet": 1.0, "linux": 2.0, "delayed": 2.0, "quic": 2.0}
"""Data packets per ACK, by policy; 2 for other policies (RFC 9293, section 3.8.6.3)."""
_CONTROLLERS = {"cubic": "CUBIC", "bbr": "BBR", "newreno": "Reno"}
_BUFFERS = {"send_buffer": "64MiB", "receive_buffer": "64MiB"}
_WINDOWS = {"model": "fixed", "stream": "64MiB", "connection": "64MiB"}


@dataclass(frozen=True)
class Candidate:
    """A change of the path or of the transport over it."""

    name: str
    reach: str = ""
    """Owner of the setting; empty for the present settings."""
    transport: Mapping[str, Any] | None = None
    """Settings of the transport of the user's flows that replace the present ones."""
    replaces: bool = False
    """`True` if these settings replace the whole transport."""
    queues: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """The queues of directions of links that replace the present ones, by name."""
    switches: tuple[str, ...] = ()
    """Entries of stacks.toml with the commands that enable the change."""
    rates: tuple[tuple[str, str], ...] = ()
    """Directions of links with the RATE that tc sets for each."""
    adds_acks: bool = False
    """`True` if the change causes more ACKs than the present settings."""

    def over(self, today: Mapping[str, Any]) -> dict[str, Any]:
        """Returns the present transport with this change."""
        if self.transport is None:
            return dict(today)
        return dict(self.transport) if self.replaces else dict(today) | dict(self.transport)


def candidates(base: Mapping[str, Any], used: Set[str] | None = None) -> list[Candidate]:
    """Returns all candidates that can act on a path; the first changes nothing.

    `base` is the complete scenario; its first flow is the user's. `used` are the controllers that
    the sender may have today, if the flow names none.
    """
    today = base["flow"][0]["transport"]
    controllers = {(today.get("congestion") or {}).get("algorithm")} if used is None else used
    found = [Candidate(TODAY)]
    if today["protocol"] == "tcp":
        found += [*_receivers_of_tcp(base, today), *_senders(today["protocol"], controllers), *_quic()]
    elif today["protocol"] == "quic":
        found += [*_receivers_of_quic(base), *_senders(today["protocol"], controllers)]
    found += _routers(base)
    if today["protocol"] in ("tcp", "quic"):
        transport = {"protocol": "tack", "congestion": {"algorithm": "bbr-tack"}, **_BUFFERS}
        found.append(Candidate("TACK", TRANSPORT, transport, replaces=True, switches=("tack",)))
    return found


def _receivers_of_tcp(base: Mapping[str, Any], today: Mapping[str, Any]) -> Iterator[Candidate]:
    policy = (today.get("ack") or {}).get("policy")
    if policy != "per-packet":
        each = {"ack": {"policy": "per-packet"}}
        yield Candidate("an ACK per segment", RECEIVER, each, switches=("linux-quickack",), adds_acks=True)
    if acks_matter(base):
        rare = {"ack": {"policy": "byte-counting", "segments": 10, "timer": "25ms"}}
        yield Candidate("an ACK per 10 segments (GRO)", RECEIVER, rare, switches=("linux-gro",))


def _receivers_of_quic(base: Mapping[str, Any]) -> Iterator[Candidate]:
    if acks_matter(base):
        policy = {"policy": "ack-frequency", "ack_eliciting_threshold": 9, "requested_max_ack_delay": "25ms"}
        yield Candidate("an ACK per 10 packets", RECEIVER, {"ack": policy}, switches=("quic-ack-frequency",))


def _senders(protocol: str, used: Set[str | None]) -> Iterator[Candidate]:
    """Yields other controllers with the rest of today's transport."""
    for algorithm, name in _CONTROLLERS.items():
        if used != {algorithm}:
            switches = (f"linux-{algorithm}",) if protocol == "tcp" else ("quic-controller",)
            yield Candidate(name, SENDER, {"congestion": {"algorithm": algorithm}}, switches=switches)


def _quic() -> Iterator[Candidate]:
    for algorithm in ("cubic", "bbr"):
        transport = {"protocol": "quic", "preset": "quinn", "congestion": {"algorithm": algorithm}, "flow_control": _WINDOWS}
        yield Candidate(f"QUIC with {_CONTROLLERS[algorithm]}", TRANSPORT, transport, replaces=True, switches=("quic",))


def _routers(base: Mapping[str, Any]) -> Iterator[Candidate]:
    """Yields the changes of routers.

    They are CAKE in front of the slowest links, CAKE's ACK filter if ACKs matter, and priority for
    ACKs.
    """
    if base.get("wifi"):
        # The queue of the access point fills, and a shaper on a wired link does not empty it.
        return
    narrow = [one for one in directions(base) if one.rate is not None and one.is_narrow]
    plain = [one for one in narrow if one.discipline == "fifo" and one.can_be_shaped]
    if plain:
        queues = {one.name: _cake(one, "off") for one in plain}
        rates = tuple((one.name, _tc_rate(_SHAPED * one.capacity)) for one in plain)
        yield Candidate("CAKE", ROUTER, queues=queues, switches=("cake",), rates=rates)
    back = _return(base)
    if back is None or not acks_matter(base):
        return
    if back.discipline == "cake" and back.queue.get("ack_filter", "off") == "off":
        queue = dict(back.queue) | {"ack_filter": "on"}
        rates = ((back.name, _tc_rate(back.capacity)),)
        yield Candidate(
            f"CAKE's ACK filter on {back.name}", ROUTER, queues={back.name: queue}, switches=("cake-ack-filter",), rates=rates
        )
    elif back.discipline == "fifo" and back.can_be_shaped:
        queues = {back.name: _cake(back, "on")}
        rates = ((back.name, _tc_rate(_SHAPED * back.capacity)),)
        yield Candidate(
            f"CAKE with its ACK filter on {back.name}", ROUTER, queues=queues, switches=("cake-ack-filter",), rates=rates
        )
        first = {"discipline": "acks-first", **{key: value for key, value in back.queue.items() if key == "limit"}}
        yield Candidate(f"ACKs first on {back.name}", ROUTER, queues={back.name: first}, switches=("linux-prio",))


def _cake(direction: Direction, ack_filter: str) -> dict[str, Any]:
    return {"discipline": "cake", "rate": f"{round(_SHAPED * direction.capacity)}bps", "ack_filter": ack_filter}


def _tc_rate(bits: float) -> str:
    """Returns a rate in the notation of tc."""
    return f"{bits / 1e6:.4g}Mbit" if bits >= 1e6 else f"{bits / 1e3:.4g}kbit"


def _return(base: Mapping[str, Any]) -> Direction | None:
    """Returns the slowest direction towards the sender of the first flow."""
    flow = base["flow"][0]
    ways = [one for one in directions(base) if one.rate is not None and one.leads(base, flow["to"], flow["from"])]
    return min(ways, key=lambda one: one.capacity, default=None)


def acks_matter(base: Mapping[str, Any]) -> bool:
    """Returns `True` if the ACKs of a full download matter.

    They matter if they take at least a tenth of the return path, or if they share the air of a
    Wi-Fi cell with the download.
    """
    if base.get("wifi"):
        return True
    flow, back = base["flow"][0], _return(base)
    ways = [one for one in directions(base) if one.rate is not None and one.leads(base, flow["from"], flow["to"])]
    forward = min((one.capacity for one in ways), default=None)
    if back is None or forward is None:
        return False
    ack = flow["transport"].get("ack") or {}
    per_ack = (
        float(ack.get("segments", 2.0)) if ack.get("policy") == "byte-counting" else _PER_ACK.get(str(ack.get("policy")), 2.0)
    )
    return forward / (8 * _FULL) / per_ack * 8 * _ACK >= _ACKS_MATTER * back.capacity
