"""Your own ACK policies, congestion controllers and rules for requesting ACKs, in Python.

    class EveryThird(acklab.AckPolicy):
        def decide(self, now, arrival, ledger):
            if arrival.kind != "in-order":
                return acklab.Now(arrival.kind)
            if ledger.segments >= 3:
                return acklab.Now("third")
            return acklab.At(ledger.since + 100 * MILLISECOND, "timer")

    ack = {"policy": "custom", "name": "mine"}
    acklab.run(scenario, strategies={"mine": EveryThird}, set={"flow.0.ack": ack})

Times are whole nanoseconds, points in time since the start of the run; sizes are bytes of payload;
rates are bits per second. A strategy sees only its arguments, so its runs are reproducible to the
byte, provided that it draws random numbers from `start.seed` only. A strategy must not read a
clock. It must not iterate over a set of strings, whose order changes from process to process.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Literal

from acklab._core import (
    Ack,
    AckRequest,
    Arrival,
    AskPath,
    AskStart,
    At,
    ControllerStart,
    Hold,
    Ledger,
    Lost,
    Now,
    PolicyStart,
    RateSample,
    Sent,
    Transmission,
    Window,
)

MICROSECOND = 1_000
"""Nanoseconds per microsecond."""
MILLISECOND = 1_000_000
"""Nanoseconds per millisecond."""
SECOND = 1_000_000_000
"""Nanoseconds per second."""

Decision = Now | At | Hold
"""The decision of an ACK policy."""
State = Literal["open", "disorder", "reduced", "recovery", "loss"]
"""State of congestion control: open; disorder after duplicate ACKs; reduction without loss; fast
recovery; after a timeout.
"""
Signal = Literal["loss", "mark", "timeout"]
"""Cause of a window reduction: a detected loss, an echoed mark, an expired retransmission timer."""
Phase = Literal["probes", "cruises", "probes-rtt"]
"""Purpose for which a controller needs feedback: a search for bandwidth, the use of its estimates,
or a measurement of the minimum RTT.
"""
Strategies = Mapping[str, Callable[[Any], Any]]
"""Classes, or other callables that create a strategy, by their names in scenarios."""


class AckPolicy(ABC):
    """Decides when a receiver acknowledges.

    Each flow that names the policy has a separate instance.

    Scenarios name it as `ack = { policy = "custom", name = "mine" }`. A class need not inherit from
    `AckPolicy` if it has the same methods. The receiver measures round trips and the delivery rate
    only if the attributes below request them. The attributes are read once. A custom policy cannot
    receive an ACK ratio (RFC 5690) or an ACK rate (draft-ietf-tcpm-ack-rate-request) from the
    sender: the sender sends them only if the receiver uses the built-in policy of that name.
    """

    rtt_window: int | None = None
    """Window of the minimum RTT in nanoseconds. If it is set, `ledger` has `handshake_rtt`, `srtt`
    and `min_rtt`.
    """
    bandwidth_window: int | None = None
    """Window of the maximum delivery rate in round trips. If it and `rtt_window` are set, `ledger`
    has `delivery_rate`.
    """
    bandwidth_intervals: int = 4
    """Samples of the delivery rate per round trip, if it is measured."""
    goes_by_time: ClassVar[bool] = False
    """`True` if the policy decides by time, not by counts. Read once.

    Over TACK, a due ACK then reports everything that a host processes together.
    """

    def __init__(self, start: PolicyStart) -> None:
        """Creates a policy.

        `start.mss` is the payload of a full-sized segment, `start.seed` a seed for random numbers
        of the policy.
        """
        self.start = start

    @abstractmethod
    def decide(self, now: int, arrival: Arrival, ledger: Ledger) -> Decision:
        """Decides on a segment with data that arrived at `now`; `ledger` already includes it.

        `Now(why)` acknowledges immediately. `At(time, why)` acknowledges at that time unless an ACK
        is sent earlier; a time in the past acknowledges immediately. `Hold()` waits for the next
        segment. A decision never postpones an earlier one. The table `acks` counts reasons; a
        policy may have 16 reasons in addition to those of built-in policies.
        """

    def on_ack_sent(self, now: int) -> None:  # noqa: B027 - what need not be said
        """Called after any ACK was sent; no data are unacknowledged now."""

    def on_frequency(self, packets: int, beta: int) -> None:  # noqa: B027 - what need not be said
        """Called over TACK when the sender requests other constants of the ACK frequency.

        The frequency is min{bw/(L·MSS), β/RTTmin}, with the delivery rate bw.

        `packets` is L, the full-sized packets per ACK, `beta` the ACKs per minimum RTT.
        """

    def on_first_mark(self) -> None:  # noqa: B027 - what need not be said
        """Called over TCP at the first mark since the sender last reduced its window.

        Source: RFC 3168, section 6.1.3.
        """

    def on_window_reduced(self) -> None:  # noqa: B027 - what need not be said
        """Called over TCP when the sender signals that it has reduced its window (CWR)."""

    def on_window_growth(self) -> None:  # noqa: B027 - what need not be said
        """Called over TCP when the present segment enlarges the receive window (autotuning)."""

    def on_push(self, is_read: bool) -> None:  # noqa: B027 - what need not be said
        """Called over TCP before `decide` for an in-order segment that ends a write.

        The segment has the push flag, or is not full-sized. `is_read` is `True` if the application
        has read the segment.
        """

    def on_data_sent(self, now: int) -> None:  # noqa: B027 - what need not be said
        """Called over TCP when a data segment of the receiver carries the acknowledgment."""

    def on_unread(self, is_short: bool, shrinks: bool) -> None:  # noqa: B027 - what need not be said
        """Called over TCP when an arrival or ACK finds data that the application has not read.

        `is_short` is `True` if less than half of the receive buffer is free. `shrinks` is `True` if
        an ACK would offer a smaller window than the last ACK.
        """

    def on_read(self, ledger: Ledger) -> str | None:
        """Called over TCP when the application has read data.

        Returns the reason to send an ACK now, or None. The reason has no effect if no data are
        unacknowledged.
        """
        return None

    def on_emptied(self) -> str | None:
        """Called over TCP when the application has read all data, while data are unacknowledged.

        Returns the reason to send an ACK now, or None.
        """
        return None

    def on_fin(self, now: int, ledger: Ledger) -> Decision | None:
        """Called over TCP at the peer's FIN after complete data, if this end may still send.

        Returns the decision; None acknowledges immediately (RFC 9293, section 3.10.7.4).
        """
        return None


class CongestionController(ABC):
    """Controls the bytes in flight. Each flow that names the controller has a separate instance.

    Scenarios name it as `congestion = { custom = "mine" }`. Methods that receive the window may
    change `window.cwnd` and `window.ssthresh`. In a recovery and after a timeout, the sender sets
    the window to the threshold, unless `governs_window` is `True`. Methods that a class does not
    define cost no time. A class need not inherit from `CongestionController` if it has the same
    methods.
    """

    governs_window: ClassVar[bool] = False
    """`True` if the controller sets the window in a recovery and after a timeout. Read once."""
    wants_delivery_rate: ClassVar[bool] = False
    """`True` if the controller uses `Ack.rate`, which is measured only in this case. Read once."""
    send_buffer_windows: ClassVar[int] = 2
    """Size of an automatic send buffer, in congestion windows. Read once."""

    def __init__(self, start: ControllerStart) -> None:
        """Creates a controller.

        `start` has `mss` and `initial_window` in bytes, `growth` and `slow_start` as in the
        scenario, `dialect`, `paced`, `burst` and `seed`.

        `paced` is `True` if the sender paces even without a rate from the controller. `seed` is for
        random numbers of the controller.
        """
        self.start = start

    @abstractmethod
    def on_ack(self, window: Window, ack: Ack) -> None:
        """Called for each ACK, after loss detection."""

    @abstractmethod
    def ssthresh(self, now: int, window: Window, flight: int, signal: Signal) -> int:
        """Returns the slow-start threshold after congestion, in bytes.

        `flight` is the bytes in flight.

        The window is read-only here: changes have no effect.
        """

    def on_established(self, now: int, window: Window, rtt: int | None) -> None:  # noqa: B027 - what need not be said
        """Called when the connection is established.

        `rtt` is the RTT of the handshake in nanoseconds, or None if the SYN was retransmitted.
        """

    def on_state(self, now: int, window: Window, state: State) -> None:  # noqa: B027 - what need not be said
        """Called when the state of congestion control changes."""

    def on_undo(self, now: int, window: Window) -> None:  # noqa: B027 - what need not be said
        """Called when the last reduction was spurious and the window has been restored."""

    def on_lost(self, window: Window, lost: Lost) -> None:  # noqa: B027 - what need not be said
        """Called when a transmission is declared lost, before `on_ack` for the same ACK.

        The window is read-only here.
        """

    def on_sent(self, window: Window, sent: Sent) -> None:  # noqa: B027 - what need not be said
        """Called when a segment with data was sent."""

    def limits_itself(self) -> bool:
        """Returns whether the controller deliberately limited sending at the last ACK.

        Rate samples then do not measure the path.
        """
        return False

    def pacing_rate(self) -> int | None:
        """Returns the pacing rate in bits per second, or None for no limit.

        Called after each segment.
        """
        return None

    def on_frequency(self, packets: int, beta: int) -> None:  # noqa: B027 - what need not be said
        """Called over TACK with the constants of the receiver's ACK frequency.

        `packets` is L, the full-sized packets per ACK, `beta` the ACKs per minimum RTT.
        """

    def on_outcomes(self, outcomes: list[Transmission]) -> None:  # noqa: B027 - what need not be said
        """Called before `on_ack` with the outcomes of transmissions except losses.

        An outcome results from this ACK, or from a timer since the previous ACK.
        """

    def deadline(self) -> int | None:
        """Returns the time of the next `on_deadline`, or None.

        Called after each other method that may change the window.
        """
        return None

    def on_deadline(self, now: int, window: Window, in_flight: int) -> None:  # noqa: B027 - what need not be said
        """Called at the deadline, with an estimate of the bytes in flight.

        Afterwards the deadline must be later than `now`, or None.
        """

    def phase(self) -> Phase | None:
        """Returns the purpose for which the controller needs feedback; None if it does not matter.

        Rules for requesting ACKs receive the value as `AskPath.phase`.
        """
        return None


class AskRule(ABC):
    """Requests ACKs from the peer of a QUIC sender (draft-ietf-quic-ack-frequency).

    Each endpoint that names the rule has a separate instance.

    Scenarios name it as `ask = { rule = "custom", name = "mine" }`. A class need not inherit from
    `AskRule` if it has the same method.
    """

    def __init__(self, start: AskStart) -> None:
        """Creates a rule.

        `start.mss` is the size of a full-sized packet, `start.seed` a seed for random numbers of
        the rule.
        """
        self.start = start

    @abstractmethod
    def request(self, now: int, path: AskPath) -> AckRequest | None:
        """Returns the best request now, or None for no new request. Called after each ACK.

        The delay is raised to the peer's minimum (its `min_ack_delay`). A frame is sent if no frame
        is in flight and the request differs from the last request. It differs in the threshold, in
        the reordering threshold, or by at least a quarter of the delay.
        """


__all__ = [
    "MICROSECOND",
    "MILLISECOND",
    "SECOND",
    "Ack",
    "AckPolicy",
    "AckRequest",
    "Arrival",
    "AskPath",
    "AskRule",
    "AskStart",
    "At",
    "CongestionController",
    "ControllerStart",
    "Decision",
    "Hold",
    "Ledger",
    "Lost",
    "Now",
    "Phase",
    "PolicyStart",
    "RateSample",
    "Sent",
    "Signal",
    "State",
    "Strategies",
    "Transmission",
    "Window",
]


def __dir__() -> list[str]:
    return __all__
