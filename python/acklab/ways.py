"""The ways to run a scenario: simulated, or with the kernel's TCP in real time or virtual time."""

from collections.abc import Sequence

from acklab.errors import UsageError

SIMULATE, EMULATE, VIRTUAL = "simulate", "emulate", "virtual"


def check_way(way: str, kernel: str | None, ways: Sequence[str]) -> None:
    """Raises UsageError unless `way` is one of `ways`.

    A guest `kernel` is accepted in virtual time only.
    """
    if way not in ways:
        raise UsageError(f"way: found {way!r}, expected one of: {', '.join(ways)}")
    if kernel is not None and way != VIRTUAL:
        raise UsageError(f"kernel: found a guest kernel with the way {way!r}, expected {VIRTUAL!r}")
