"""ACK policies and congestion controllers of your own, written in Python.

    class EveryThird(acklab.AckPolicy):
        def decide(self, now, arrival, ledger):
            if arrival.kind != "in-order":
                return acklab.Now(arrival.kind)
            return acklab.Now("third") if ledger.segments >= 3 else acklab.At(ledger.since + 100 * MILLISECOND, "timer")

    acklab.run(scenario, strategies={"mine": EveryThird}, set={"flow.0.ack": {"policy": "custom", "name": "mine"}})

Times are whole nanoseconds, points in time since the start of the run; sizes are octets of payload; rates are bits per second.
A strategy sees only what it is told, so its runs repeat to the octet as long as it draws its chance from `start.seed` and looks at
no clock and at no set of strings, whose order changes from process to process.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Literal

from acklab.core import (
    Ack,
    Arrival,
    At,
    ControllerStart,
    Hold,
    Ledger,
    Lost,
    Now,
    PolicyStart,
    RateSample,
    Sent,
    Window,
)

MICROSECOND = 1_000
"""Nanoseconds of a microsecond."""
MILLISECOND = 1_000_000
"""Nanoseconds of a millisecond."""
SECOND = 1_000_000_000
"""Nanoseconds of a second."""

Decision = Now | At | Hold
"""What a policy answers."""
State = Literal["open", "disorder", "reduced", "recovery", "loss"]
"""Where congestion control stands: nothing unusual; duplicate ACKs; a reduction without loss; fast recovery; after a timeout."""
Signal = Literal["loss", "mark", "timeout"]
"""Why a window is reduced: a loss was detected, the receiver echoed a mark, the retransmission timer expired."""
Strategies = Mapping[str, Callable[[Any], Any]]
"""Classes, or whatever else makes a strategy from what it is given at its birth, by the name that scenarios call them."""


class AckPolicy(ABC):
    """When a receiver acknowledges. Each flow that names it has one instance.

    Scenarios name it as `ack = { policy = "custom", name = "mine" }`. A class that does not inherit from this one will do if it has
    the same methods.

    The receiver measures round trips and the delivery rate only for a policy that asks for them, by the attributes below, which are
    read once. A policy of one's own cannot have the sender set an ACK ratio (RFC 5690).
    """

    rtt_window: int | None = None
    """Nanoseconds for which the shortest round trip counts. With it, `ledger` has `handshake_rtt`, `srtt` and `min_rtt`."""
    bandwidth_window: int | None = None
    """Round trips of which the largest delivery rate counts. With it and `rtt_window`, `ledger` has `delivery_rate`."""
    bandwidth_intervals: int = 4
    """Rates that are taken in a round trip, if the delivery rate is measured."""

    def __init__(self, start: PolicyStart) -> None:
        """`start.mss` is the payload of a full-sized segment, `start.seed` a number for chance of its own."""
        self.start = start

    @abstractmethod
    def decide(self, now: int, arrival: Arrival, ledger: Ledger) -> Decision:
        """What to do about a segment with data that has arrived at `now` and that `ledger` already holds.

        `Now(why)` acknowledges at once and `At(time, why)` then, if nothing has made it happen before; a time that has passed means
        at once. `Hold()` waits for what follows. Neither puts off what an earlier decision asks for. Reasons are counted in the table
        `acks`; a policy may have 16 beside those that built-in policies give.
        """

    def on_ack_sent(self, now: int) -> None:  # noqa: B027 - what need not be said
        """An ACK has left, for whatever reason; nothing is owed now."""

    def on_first_mark(self) -> None:  # noqa: B027 - what need not be said
        """The first mark has come since the sender last reduced its window (RFC 3168, section 6.1.3)."""

    def on_window_reduced(self) -> None:  # noqa: B027 - what need not be said
        """The sender says that it has reduced its window."""


class CongestionController(ABC):
    """How much a sender may have in flight. Each flow that names it has one instance.

    Scenarios name it as `congestion = { custom = "mine" }`. It moves `window.cwnd` and `window.ssthresh` where it is given the window;
    in a recovery and after a timeout the sender itself takes the window to the threshold, unless `governs_window` is true. Methods
    that a class does not define cost nothing. A class that does not inherit from this one will do if it has the same methods.

    What became of each single transmission (`on_outcomes` of a controller in Rust) is not available here, only what was sent and what was lost.
    """

    governs_window: ClassVar[bool] = False
    """Whether it moves the window by itself also in a recovery and after a timeout. Read once."""
    wants_delivery_rate: ClassVar[bool] = False
    """Whether it looks at `Ack.rate`, which is measured only then. Read once."""

    def __init__(self, start: ControllerStart) -> None:
        """`start` tells `mss` and `initial_window` in octets, `growth` as the scenario spells it, `paced` and `seed`.

        `paced` is true if sending is paced even without a rate of the controller's own; `seed` is for chance of its own.
        """
        self.start = start

    @abstractmethod
    def on_ack(self, window: Window, ack: Ack) -> None:
        """An ACK has come, and loss recovery has drawn its conclusions."""

    @abstractmethod
    def ssthresh(self, now: int, window: Window, flight: int, signal: Signal) -> int:
        """The slow-start threshold after congestion, in octets, given the octets of `flight` that are to be reduced.

        The window is for reading here: what is changed in it is lost.
        """

    def on_established(self, now: int, window: Window, rtt: int | None) -> None:  # noqa: B027 - what need not be said
        """The connection is open; the handshake took `rtt` nanoseconds, unless its SYN was sent twice."""

    def on_state(self, now: int, window: Window, state: State) -> None:  # noqa: B027 - what need not be said
        """Congestion control has entered a recovery, or left it."""

    def on_undo(self, now: int, window: Window) -> None:  # noqa: B027 - what need not be said
        """The last reduction was for nothing, and the window has been restored."""

    def on_lost(self, window: Window, lost: Lost) -> None:  # noqa: B027 - what need not be said
        """A transmission counts as lost. Called before `on_ack` for the ACK that showed it; the window is for reading here."""

    def on_sent(self, window: Window, sent: Sent) -> None:  # noqa: B027 - what need not be said
        """A segment with data has left."""

    def limits_itself(self) -> bool:
        """Whether it sent less than it could on purpose at the last ACK: rates of what it sends then are not the path's."""
        return False

    def pacing_rate(self) -> int | None:
        """How fast to send, in bits per second; None for no limit. Asked after each segment."""
        return None


__all__ = [
    "MICROSECOND",
    "MILLISECOND",
    "SECOND",
    "Ack",
    "AckPolicy",
    "Arrival",
    "At",
    "CongestionController",
    "ControllerStart",
    "Decision",
    "Hold",
    "Ledger",
    "Lost",
    "Now",
    "PolicyStart",
    "RateSample",
    "Sent",
    "Signal",
    "State",
    "Strategies",
    "Window",
]
