"""Sentences about packets without a connection, and the reasons why they are not followed."""

from collections.abc import Iterator, Mapping

from acklab.inspection.model import Inspection

_SHOWN = 6
"""Maximum number of names in a sentence. Others are counted together."""


def nothing_followed(found: Inspection) -> str:
    """Returns a description of the content of a capture without data."""
    counts = found.counts
    packets = _packets(counts["packets"])
    if counts["connections"]:
        one = counts["connections"] == 1
        held = "1 connection" if one else f"{counts['connections']:,} connections"
        return f"found {packets} and {held} without data, expected data over TCP or QUIC"
    return f"found {packets} and no connection with data, expected TCP or QUIC"


def unopened(found: Inspection) -> Iterator[str]:
    """Yields a sentence, without its full stop, for each reason why packets are not followed."""
    counts = found.counts
    if counts["closed"]:
        verb = "was" if sum(counts["closed"].values()) == 1 else "were"
        yield f"{_listed(counts['closed'], 'of')} {verb} not decoded{_not_quic(found)}"
    if cut := counts["cut"]:
        verb = "ends" if sum(cut.values()) == 1 else "end"
        yield f"the snap length cut headers: {_listed(_headers(cut), f'{verb} within the')}"
    if damaged := counts["damaged"]:
        verb = "has" if sum(damaged.values()) == 1 else "have"
        yield f"{_listed(_headers(damaged), f'{verb} a damaged')}"
    if counts["retried"]:
        yield f"{counts['retried']:,} frames of 802.11 were on the air more than once: each is counted once"


def _not_quic(found: Inspection) -> str:
    packets, flows = found.counts["other_udp_packets"], found.counts["other_udp_flows"]
    if not flows:
        return ""
    verb, of = "is" if packets == 1 else "are", "1 flow" if flows == 1 else f"{flows:,} flows"
    return f"; {_packets(packets)} of them {verb} in {of} of UDP without QUIC"


def _headers(names: Mapping[str, int]) -> dict[str, int]:
    return {name if name.endswith("options") else f"{name} header": count for name, count in names.items()}


def _listed(names: Mapping[str, int], link: str) -> str:
    """Returns `5 packets of ARP, 3 of DNS and 2 of 4 others`, the most frequent first."""
    order = sorted(names.items(), key=lambda one: (-one[1], one[0]))
    (first, count), *rest = order
    parts = [f"{_packets(count)} {link} {first}"]
    parts += [f"{count:,} {link} {name}" for name, count in rest[: _SHOWN - 1]]
    if others := rest[_SHOWN - 1 :]:
        parts.append(f"{sum(count for _, count in others):,} {link} {len(others)} others")
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"


def _packets(count: int) -> str:
    return "1 packet" if count == 1 else f"{count:,} packets"
