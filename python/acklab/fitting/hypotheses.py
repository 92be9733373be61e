"""What a path may be like: first what a capture tells of it, then hypotheses by chance where that misleads."""

import math
import random

from acklab.fitting.parameters import Parameters, ack_rate
from acklab.inspection.model import Way

_CONTROLLERS = ("cubic", "bbr", "newreno")
"""Of each family one."""
_RECEIVERS = (1, 2, 4, 8)
"""Segments to an ACK that are tried beside what the capture shows."""
_FILTERS = ("ack-filter", "cake-ack-filter")
"""Disciplines that thin ACKs: those of the satellite terminals of RFC 3449, §5.2.1, and of CAKE."""
_THINNED = 1.2
"""Segments to an ACK from which something may thin the ACKs of a receiver that acknowledges each segment."""
_WAITS = 1.3
"""The 95th percentile of the RTT / the least from which a gate may hold ACKs."""
_FINEST = 0.5
"""Milliseconds of the shortest gate that is tried: that of a Wi-Fi exchange."""
_SPREAD = 0.95
"""Waits for a gate are spread evenly over its period, so that their 95th percentile is this share of it."""
_SHORTEST = 4.0
"""Packets of the shortest queue that is tried."""
_RAREST = 1e-4
"""The least random loss that is drawn: one in a transfer of some megabytes."""
_FACTOR = 8.0
"""By which something may be wrong of which the capture misleads: a flight of eight segments that comes as one ACK looks like one of them."""
_SEED = 1


class Hypotheses:
    """What a direction may be like."""

    def __init__(self, way: Way, first: Parameters) -> None:
        self._way, self._first = way, first
        self._chance = random.Random(_SEED)
        acks = way["acks"]
        self._ratio = None if acks is None else acks["ratio"]
        # Where a receiver numbers its packets, their numbers have the last word.
        is_open = acks is not None and (acks["missing"] is None or acks["thinning"] == "thinned")
        self._may_be_thinned = is_open and not first.is_behind and self._ratio is not None and self._ratio > _THINNED
        usual = (segments for segments in _RECEIVERS if self._ratio is None or segments <= max(2, 4 * self._ratio))
        self._receivers = tuple(dict.fromkeys([first.segments, *usual]))

    def of_sender(self) -> list[Parameters]:
        """Controllers, and causes of losses: a queue that is full, or the channel. What is in flight after a loss tells families of controllers apart, and not members of a family."""
        first = self._first
        controllers = dict.fromkeys([first.controller, *_CONTROLLERS])
        losses = dict.fromkeys([first.loss, 0.0])
        return [first.with_(controller=controller, loss=loss) for controller in controllers for loss in losses]

    def variants(self, one: Parameters) -> list[Parameters]:
        """Receivers, return paths and queues that look alike: ACKs that many losses or a box have changed tell little of the receiver, and waits may be those of ACKs."""
        rate, times = ack_rate(self._way), self._way["round_trip"]
        returns = [one]
        if one.is_behind:
            # ACKs that a gate behind the point of capture holds show in the RTT only.
            if one.gate is None and times["p95"] is not None and times["p95"] > _WAITS * one.base:
                waits = (times["median"] or one.base) - one.base
                # Its waits are all there are, or a sender that takes bursts for a faster path adds to them.
                periods = [(times["p95"] - one.base) / _SPREAD, 2 * waits, waits / 4]
                returns += [one.with_(gate=period) for period in periods if period > _FINEST]
        elif self._may_be_thinned:
            returns += [
                one.with_(return_rate=one.return_rate or rate, ack_filter=discipline, gate=None) for discipline in _FILTERS
            ]
        packets_per_ms = one.rate * 1e3 / (one.packet * 8)
        median = max((times["median"] or one.base) - one.base, 0.0) * packets_per_ms
        queues = [one.queue, max(median, _SHORTEST), max(one.base * packets_per_ms, _SHORTEST)]
        return [
            path.with_(segments=segments, queue=queue)
            for path in returns
            for segments in dict.fromkeys([one.segments, *self._receivers])
            for queue in queues
        ]

    def drawn(self) -> Parameters:
        """Another one by chance, the same in each search: random search (Bergstra and Bengio, JMLR 13, 2012), whose cost does not grow with parameters that matter little.

        Magnitudes are log-uniform. What the capture tells without doubt stays: the base RTT without a gate, and the rates unless something below hides them.
        """
        first, chance, acks = self._first, self._chance, self._way["acks"]
        controller = chance.choice(_CONTROLLERS)
        changes: dict[str, object] = {
            "controller": controller,
            "segments": chance.choice(self._receivers),
            "loss": chance.choice([0.0, self._between(_RAREST, max(first.loss, 2 * _RAREST))]),
        }
        # A sender that paces itself, and few ACKs, show a rate below that of the path.
        is_low = controller == "bbr" or self._may_be_thinned
        rate = chance.choice([first.rate, self._between(first.rate, _FACTOR * first.rate)]) if is_low else first.rate
        if self._may_be_thinned and (first.return_rate is not None or chance.random() < 0.5):
            # What came is the least that the return path carries.
            least = ack_rate(self._way) or first.rate
            is_known = acks is not None and acks["rate"] is not None
            back = least if is_known else self._between(least, 2 * least)
            changes |= {"return_rate": back, "ack_filter": chance.choice(_FILTERS), "gate": None}
        else:
            longest = 2 * max(self._way["round_trip"]["p95"] or 0.0, first.base, _FINEST)
            gate = chance.choice([first.gate, self._between(_FINEST, longest)])
            if gate is not None:
                # Each ACK may wait for it, so that no RTT is that of the path alone.
                base = chance.choice([first.base, self._between(first.base / _FACTOR, first.base)])
                changes |= {"gate": gate, "base": base, "return_rate": None}
        bdp = first.base * rate * 1e3 / (first.packet * 8)
        return first.with_(**changes, rate=rate, queue=self._between(_SHORTEST, max(first.queue, 2 * bdp, 2 * _SHORTEST)))

    def _between(self, low: float, high: float) -> float:
        return math.exp(self._chance.uniform(math.log(low), math.log(high)))
