"""Finds delays of single packets that no mechanism of the fit explains.

A gate (which releases packets in bursts) or a grant delays packets even if the queue is empty. If
its packets arrive in bursts, `inspect` reports the period. If a queue behind the gate is never
empty, the gate is visible only at the start of a transfer. Then the first round trip takes longer
than the base RTT plus the transmission of its segments, or two transfers over the same path have
different base RTTs.
"""

from collections.abc import Iterator

from acklab.fitting.observed import Observed
from acklab.fitting.path import EMPTY, GATE, Path
from acklab.fitting.quantity import UNKNOWN, Quantity
from acklab.inspection.model import Way


def timing_of(observed: Observed, path: Path) -> Quantity | None:
    """Returns the cause that delays single packets; None if the capture shows none.

    Examines both directions.
    """
    for way, rate in ((observed.way, path.rate), (observed.opposite, path.back_rate)):
        if way is None:
            continue
        name = observed.inspection.name_of(way)
        acks = way["acks"]
        if acks is not None and acks["period"] is not None:
            evidence = f"packets come in bursts each {acks['period']:.3g} ms"
            return Quantity(GATE, "ms", UNKNOWN, evidence, f"inspect: period of bursts, {name}")
        late, base = _late(way, rate), way["round_trip"]["base"] or 0.0
        if late is not None and late > max(way["round_trip"]["tick"], EMPTY * base):
            evidence = f"the first data took {late:.3g} ms longer than the base RTT of {base:.4g} ms and their transmission"
            return Quantity(GATE, "ms", UNKNOWN, evidence, f"inspect: first round trip, {name}")
    return None if observed.opposite is None else _uneven(observed.way, observed.opposite)


def _uneven(way: Way, other: Way) -> Quantity | None:
    """Returns the cause that delays single packets if two transfers have different base RTTs."""
    base, again = way["round_trip"]["base"], other["round_trip"]["base"]
    if base is None or again is None or abs(base - again) <= max(way["round_trip"]["tick"], EMPTY * min(base, again)):
        return None
    evidence = f"the base RTT is {base:.4g} ms in one transfer and {again:.4g} ms in another over the same path"
    return Quantity(GATE, "ms", UNKNOWN, evidence, "inspect: base RTT of both transfers")


def _late(way: Way, rate: Quantity) -> float | None:
    """Returns the excess in ms of the first round trip over the minimum RTT and the transmission.

    The excess is the minimum over segments, because a gate delays all segments equally and jitter
    does not. Returns None if the capture lacks the start, or if the rate is not known.
    """
    ahead = way["round_trip"]["ahead"]
    if not ahead or not rate.low:
        return None
    # Each segment of the first window waits for the segments before it.
    each = 8e-3 * way["packet_octets"] / rate.low
    return min((trip - ahead - place * each for place, trip in _first_window(way)), default=None)


def _first_window(way: Way) -> Iterator[tuple[int, float]]:
    """Yields the position and the round trip in ms of each segment sent before the first ACK."""
    windows = way["curves"]["windows"]
    if not windows or not windows[0]["data"] or not windows[0]["acks"]:
        return
    acks = sorted((at, covered) for at, covered, _ in windows[0]["acks"] if covered > 0)
    data = sorted(windows[0]["data"])
    if not acks or data[0][1] != 0:
        return
    end = 0
    for place, (at, first, size) in enumerate(data, 1):
        if first != end or at >= acks[0][0]:
            return
        end = first + size
        # An ACK for several segments waits for the last of these segments.
        found = next((time for time, covered in acks if covered >= end), None)
        exact = any(covered == end for _, covered in acks)
        if found is not None and exact:
            yield place, 1e3 * (found - at)
