"""The quantities of a path, from the figures of the inspection of both directions.

All values stay within the intervals of the inspection.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, replace

from acklab.fitting.observed import Observed
from acklab.fitting.quantity import ASSUMED, BOUNDED, MEASURED, Quantity, unknown
from acklab.inspection.model import Acks, Way

FORWARD, BACK = "link.path.forward.rate", "link.path.reverse.rate"
QUEUE, LOSS = "link.path.forward.queue.limit", "link.path.forward.loss.probability"
BACK_QUEUE = "link.path.reverse.queue.limit"
GATE = "link.path.reverse.gate.interval"
DELAYS = ("link.path.forward.delay", "link.path.reverse.delay")
_SYN, _ACK = 60, 52
"""IP bytes of a SYN and of an ACK with timestamps, as Linux sends them."""
EMPTY = 0.02
"""The minimum RTT of a capture exceeds the RTT of the empty path by at most this share, or by one
tick of the capture's clock. *Chosen*, and checked by `validation/advice`.
"""
_MIN_PROPAGATION = 0.001
"""Minimum one-way propagation of a path in ms."""
_RETURN = 1.1
"""The maximum rate of a return path that is busy with ACKs, relative to the pace of its ACKs;
*chosen*.
"""
_SHORT_OF_LIMIT = 0.8
"""The minimum ratio of the 95th percentile of the queue's delay to the limit at which packets are
dropped. After a loss, a loss-based controller has a window of 70 % (CUBIC, RFC 9438, section 4.6)
and fills the queue again, most of the time above the middle; *chosen*.
"""
_PACED = 0.99
"""Pace of BBR relative to its estimate of the rate (BBRPacingMarginPercent = 1,
draft-ietf-ccwg-bbr, section 2.5): the spacing of its packets may show its pace.
"""
_PACING = ("rate-based", "delay-based")
"""Families of controllers that `inspect` reports for BBR."""
_CLEAR = 0.95
"""Share of the queueing delay in the 95th percentile of the RTT that is due to the bottleneck;
other hops add some delay; *chosen*, and checked by `validation/advice`.
"""
_RARE = 2.5
"""ACKs are rare above this number of segments per ACK; *chosen*.

RFC 9293, section 3.8.6.3, has two; losses, and GRO of a pair, change this number by less.
"""
ACKS_WAIT = 100.0
"""Queue limit of the return path in packets if the capture shows only its ACKs: the ACKs of a
window of 200 segments.
"""
MAX_LOSS = 0.3
"""Maximum loss at which a transport fills a path; *chosen*."""


@dataclass(frozen=True)
class Path:
    """Quantities of one bottleneck and its return path."""

    rate: Quantity
    back_rate: Quantity
    base: Quantity
    """One-way propagation in ms: half of the base RTT without serialization."""
    queue: Quantity
    back_queue: Quantity
    loss: Quantity
    """Probability of loss, without drops of queues."""

    def rows(self) -> Iterator[Quantity]:
        """Yields the quantities by key of the scenario."""
        for field in fields(self):
            quantity: Quantity = getattr(self, field.name)
            if field.name == "base":
                for key in DELAYS:
                    yield Quantity(
                        key,
                        quantity.unit,
                        quantity.status,
                        quantity.evidence,
                        quantity.source,
                        quantity.low,
                        quantity.high,
                        f"--set {key}=VALUE, such as 10ms" if quantity.give else None,
                    )
            else:
                yield quantity

    @property
    def reversed(self) -> "Path":
        """Returns the path of the opposite transfer.

        Its losses are those of that transfer.
        """
        return replace(self, rate=self.back_rate, back_rate=self.rate, queue=self.back_queue, back_queue=self.queue)

    @property
    def missing(self) -> list[Quantity]:
        """Returns the unknown quantities that a run requires."""
        return [quantity for quantity in self.rows() if quantity.give is not None]

    @property
    def can_be_simulated(self) -> bool:
        """Returns `True` if the transfer can be simulated.

        All quantities must be known, except those of the return path, which carried the captured
        ACKs.
        """
        return all(quantity.key in (BACK, BACK_QUEUE) for quantity in self.missing)


def path_of(observed: Observed, given: Mapping[str, Quantity] | None = None) -> Path:
    """Returns the quantities of the path of a transfer.

    A given quantity replaces one that a run needs and that the capture does not show.
    """

    def completed(quantity: Quantity) -> Quantity:
        return (given or {}).get(quantity.key, quantity) if quantity.give is not None else quantity

    way = observed.way
    rate = completed(_rate(way, FORWARD, observed.name, "towards the receiver"))
    back_rate = completed(_back_rate(observed))
    base = completed(_base(observed, rate, back_rate))
    queue = completed(_queue(way, rate, QUEUE, observed.name))
    return Path(rate, back_rate, base, queue, completed(_back_queue(observed, back_rate)), _loss(way))


def _rate(way: Way, key: str, name: str, where: str) -> Quantity:
    found, source = way["rate"], f"inspect: rate of the bottleneck, {name}"
    example = _round(found["value"]) if found is not None else 100.0
    if found is None:
        reason = way["not_known"].get("rate", f"no train of packets {where} shows it")
        return unknown(key, "Mbps", reason, source, example)
    evidence = way["evidence"].get("rate", "distances of packets")
    if way["rate_is_lower_bound"]:
        return unknown(key, "Mbps", f"at least {found['value']:.4g} Mbps: {evidence}", source, example)
    controller = way["controller"]
    is_paced = controller is None or controller["family"] in _PACING
    return Quantity(key, "Mbps", MEASURED, evidence, source, found["low"], found["high"] / (_PACED if is_paced else 1.0))


def _back_rate(observed: Observed) -> Quantity:
    """Returns the rate towards the sender.

    The rate is that of the opposite transfer, or the rate of the ACKs if these keep a narrow return
    path busy.
    """
    acks = observed.way["acks"]
    if acks is not None and acks["rate"] is not None:
        evidence = observed.way["evidence"].get("thinning", "the pace of ACKs that a box leaves")
        source = f"inspect: rate of the return path, {observed.name}"
        seconds = max(observed.way["duration"], 1e-3)
        carried = min(acks["octets"] * 8e-6 / seconds, acks["rate"])
        return Quantity(BACK, "Mbps", MEASURED, evidence, source, carried, _RETURN * acks["rate"])
    if observed.opposite is not None:
        return _rate(observed.opposite, BACK, observed.inspection.name_of(observed.opposite), "towards the sender")
    reason = "the capture has no data towards the sender"
    if acks is not None and acks["octets"]:
        reason += f"; ACKs took {acks['octets'] * 8e-3 / max(observed.way['duration'], 1e-3):.3g} kbps of it"
    return unknown(BACK, "Mbps", reason, f"inspect: {observed.name}", 10.0)


def _base(observed: Observed, rate: Quantity, back_rate: Quantity) -> Quantity:
    way = observed.way
    times, source = way["round_trip"], f"inspect: base RTT, {observed.name}"
    base = times["base"]
    if base is None and times["base_below"] is not None:
        high = times["base_below"] / 2
        evidence = way["evidence"].get("base", "below the tick of the capture's clock")
        return Quantity(DELAYS[0], "ms", BOUNDED, evidence, source, 0.0, high)
    if base is None:
        reason = way["not_known"].get("base", "no round trip is complete in the capture")
        return unknown(DELAYS[0], "ms", reason, source, 10.0)

    def taken(ahead: int, back: int, slow: bool) -> float:
        """Returns the serialization time of an exchange in ms.

        Uses the known rates of both directions: the lower ends of their intervals if `slow`,
        otherwise the upper ends.
        """
        ways = ((ahead, rate.low if slow else rate.high), (back, back_rate.low if slow else back_rate.high))
        return sum(8e-3 * size / one for size, one in ways if one)

    data = way["packet_octets"]
    # Data and their ACK are exchanged throughout the transfer. So the base RTT is between the
    # fastest and the slowest serialization of such an exchange.
    longest = taken(data, _ACK, slow=True)
    shortest = min(taken(_SYN, _SYN, slow=False), taken(_ACK, _SYN, slow=False), taken(_SYN, _ACK, slow=False))
    slack = max(times["tick"], EMPTY * base)
    acks = way["acks"]
    if not back_rate.is_known and acks is not None and acks["octets"]:
        # The rate of the return path is at least the rate of the ACKs that it carried. At this
        # rate, the SYN of the handshake, the longest packet of an exchange, would take this time.
        slack += 8e-3 * _SYN / (_carried(way, acks) * 8e-6 / max(way["duration"], 1e-3))
    low, high = (base - slack - longest) / 2, (base + times["tick"] - shortest) / 2
    evidence = way["evidence"].get("base", f"{times['samples']} samples")
    return Quantity(DELAYS[0], "ms", MEASURED, evidence, source, max(low, _MIN_PROPAGATION), max(high, 2 * _MIN_PROPAGATION))


def _carried(way: Way, acks: Acks) -> int:
    """Returns the minimum number of bytes of ACKs that the return path carried.

    Only a capture at the sender shows the ACKs that the return path carried. Elsewhere, only ACKs
    that gave a sample of the RTT count.
    """
    if way["position"] == "sender":
        return acks["octets"]
    return min(acks["octets"], _ACK * max(way["round_trip"]["samples"], 1))


def _queue(way: Way, rate: Quantity, key: str, name: str) -> Quantity:
    times, source = way["round_trip"], f"inspect: distribution of the RTT under load, {name}"
    base, high = times["base"], times["p95"]
    if not rate.is_known:
        return unknown(key, "packets", "the rate of the bottleneck is not known, which turns delay into packets", source, 100.0)
    if base is None or high is None:
        reason = way["not_known"].get("round_trip", "no RTT under load was seen")
        return unknown(key, "packets", reason, source, 100.0)
    delay = (high - base) * rate.middle * 1e3 / (way["packet_octets"] * 8)
    # The packet in transmission does not wait. The lower end of the rate's interval gives the
    # minimum number of packets.
    waiting = max(delay * (rate.low or 0.0) / rate.middle - 1, 1.0)
    max_packets = max(delay / _SHORT_OF_LIMIT, 4.0)
    lost = way["losses"]["retransmitted"] - way["losses"]["spurious"]
    seen = f"95 % of the round trips are below {high:.4g} ms, {high - base:.4g} ms above the base RTT"
    if _acks_wait(way):
        return Quantity(key, "packets", BOUNDED, f"{seen}, of which ACKs may have waited a part", source, 2.0, max_packets)
    if lost > 0:
        # The interval has no upper end, because the channel may have lost the packets, or because
        # the controller does not fill the queue.
        return Quantity(key, "packets", BOUNDED, f"{seen}, and {lost} segments were lost", source, max(_CLEAR * waiting, 2.0))
    evidence = f"up to {waiting:.0f} packets waited, and nothing was lost: its limit was not reached"
    return Quantity(key, "packets", BOUNDED, evidence, source, max(_CLEAR * waiting, 2.0))


def _acks_wait(way: Way) -> bool:
    """Returns `True` if ACKs are rare or bursty, so that the RTT may include waiting for ACKs."""
    acks = way["acks"]
    if acks is None or acks["ratio"] is None:
        return False
    return acks["thinning"] == "thinned" or acks["ratio"] > _RARE or acks["period"] is not None


def _back_queue(observed: Observed, back_rate: Quantity) -> Quantity:
    """Returns the queue towards the sender.

    It is the queue of the opposite transfer, or a queue with only ACKs, which does not fill.
    """
    if observed.opposite is not None and observed.opposite["rate"] is not None and not observed.opposite["rate_is_lower_bound"]:
        return _queue(observed.opposite, back_rate, BACK_QUEUE, observed.inspection.name_of(observed.opposite))
    reason = "no data towards the sender have filled it"
    return Quantity(BACK_QUEUE, "packets", ASSUMED, reason, "assumed: more than ACKs fill", ACKS_WAIT, ACKS_WAIT)


def _loss(way: Way) -> Quantity:
    losses, source = way["losses"], "inspect: losses"
    lost = max(losses["retransmitted"] - losses["spurious"], 0)
    if way["acks"] is None and lost == 0:
        return Quantity(LOSS, "", ASSUMED, "losses are not visible in the capture", "assumed: none", 0.0, 0.0)
    interval = losses["share_interval"] or (losses["share"], losses["share"])
    if lost == 0:
        # The rule of three: no event in n trials bounds the rate by 3/n with 95 % (Hanley and
        # Lippman-Hand, JAMA 249, 1983).
        high = 3 / max(way["data_segments"], 1)
        return Quantity(LOSS, "", BOUNDED, f"none of {way['data_segments']} segments was lost", source, 0.0, min(high, MAX_LOSS))
    evidence = f"{lost} of {way['data_segments']} segments were lost, by a full queue or by the channel"
    return Quantity(LOSS, "", BOUNDED, evidence, source, 0.0, min(max(interval[1], losses["share"]), MAX_LOSS))


def _round(value: float) -> float:
    return float(f"{value:.2g}")
