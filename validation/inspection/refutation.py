"""Finds reasons why a capture rules out that ACKs were removed on the path.

The reasons are unmet necessary conditions. They are checked independently of acklab's code.

If a middlebox removes pure ACKs of a connection, four conditions are met. Some ACKs remain. At most
one ACK per segment was sent. The capture is not at the sender of the ACKs. And missing IPv4
identifications belong to this connection. RFC 6864 does not specify whether a host counts
identifications per connection, per destination, or over all packets.
"""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from validation.inspection.dissection import Dissection, Packet, without_copies

_STEPS = 50
"""Number of steps of a counter without a gap that show that nothing is missing.

Chosen: acklab requires the same number to identify a counter.
"""
_LONGEST_STEP = 512
"""Maximum step between two numbers that are regarded as neighbours.

Chosen: half of a burst of 1,024 packets.
"""


def refutations(dissection: Dissection, way: Mapping[str, Any]) -> list[str]:
    """Returns the unmet conditions of a direction in which acklab finds ACKs removed."""
    source, destination = way["from"], way["to"]
    by_direction = dissection.directions()
    data = [one for one in without_copies(by_direction.get((source, destination), [])) if one.length]
    answers = without_copies(by_direction.get((destination, source), []))
    # The ACK of the handshake is also a pure ACK.
    acks = sum(packet.is_pure_ack for packet in answers if data and packet.number > data[0].number)
    missing = way["acks"]["missing"] or 0.0
    found = []
    if way["position"] == "receiver":
        found.append("captured where the ACKs are sent")
    if acks == 0:
        found.append("no pure ACK after the first data")
    else:
        ratio = sum(-(-packet.length // way["mss"]) for packet in data) / acks
        if ratio * (1 - missing) < 1:
            found.append(f"{ratio:.2f} segments per ACK × (1 - {missing:.2f}) is below 1")
    return found + _by_identification(answers, dissection, destination, missing)


def _by_identification(answers: Sequence[Packet], dissection: Dissection, sender: str, missing: float) -> list[str]:
    if not answers or any(packet.identification is None for packet in answers):
        return []
    steps = [(other.identification - one.identification) % 2**16 for one, other in pairwise(answers)]  # type: ignore[operator]
    found = []
    if len(steps) >= _STEPS and all(step == 1 for step in steps):
        found.append(f"{len(steps)} identifications without a gap")
    if missing == 0.0:
        return found
    elsewhere = _skipped_elsewhere(answers, dissection, sender)
    if elsewhere is not None:
        found.append(elsewhere)
    inside = [
        (step, one)
        for step, (one, other) in zip(steps, pairwise(answers), strict=True)
        if one.length and other.length and other.seq == (one.seq + one.length) % 2**32 and other.ack == one.ack
    ]
    size = max((packet.length for _, packet in inside), default=1)
    wide = [step for step, packet in inside if not 1 <= step <= max(-(-packet.length // min(size, 1460)), 1)]
    if wide:
        found.append(f"{len(wide)} of {len(inside)} steps between contiguous data are not one number per segment")
    return found


def _skipped_elsewhere(answers: Sequence[Packet], dissection: Dissection, sender: str) -> str | None:
    """Returns the evidence that skipped numbers belong to other connections, or None.

    The numbers are those that the connection skips, the other connections those of the host at that
    time.
    """
    host = sender.rpartition(":")[0]
    others: dict[int, list[float]] = {}
    for packet in dissection.tcp:
        if packet.source.rpartition(":")[0] == host and packet.identification and packet.stream != answers[0].stream:
            others.setdefault(packet.identification, []).append(packet.at)
    skipped = used = 0
    for one, other in pairwise(answers):
        assert one.identification is not None
        assert other.identification is not None
        step = (other.identification - one.identification) % 2**16
        if not 1 < step < _LONGEST_STEP:
            continue
        for number in range(1, step):
            times = others.get((one.identification + number) % 2**16, [])
            skipped += 1
            used += any(one.at <= at <= other.at for at in times)
    # Up to one in a hundred may match by coincidence.
    return f"{used} of {skipped} skipped numbers are of other connections of the host" if used * 100 > skipped else None
