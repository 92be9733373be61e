"""The compiled core: receives text, returns Arrow tables, and calls strategies."""

import os
from collections.abc import Callable, Sequence
from typing import Any, Literal, TypeAlias, final

_Path: TypeAlias = str | os.PathLike[str]

@final
class Table:
    """A table that implements the Arrow PyCapsule interface."""

    def __arrow_c_schema__(self) -> object: ...
    def __arrow_c_array__(self, requested_schema: object | None = None) -> tuple[object, object]: ...

@final
class Cancel:
    """A token that stops the runs that receive it."""

    def __init__(self) -> None: ...
    def cancel(self) -> None: ...
    @property
    def cancelled(self) -> bool: ...

@final
class RunResult:
    """The result of one run."""

    @property
    def scenario(self) -> str: ...
    @property
    def seed(self) -> int: ...
    @property
    def tables(self) -> dict[str, Table]: ...

@final
class BatchResult:
    """The results of many runs."""

    @property
    def outcomes(self) -> list[str | Exception]: ...
    @property
    def names(self) -> list[list[str]]: ...
    @property
    def tables(self) -> dict[str, Table]: ...

@final
class EmulationResult:
    """The result of one emulation."""

    @property
    def scenario(self) -> str: ...
    @property
    def seed(self) -> int: ...
    @property
    def tables(self) -> dict[str, Table]: ...
    @property
    def reasons(self) -> list[str]: ...
    @property
    def exit_status(self) -> int | None: ...
    @property
    def stopped(self) -> float | None: ...

@final
class PolicyStart:
    """Arguments of the constructor of an ACK policy."""

    @property
    def mss(self) -> int:
        """Payload of a full-sized segment, in bytes."""
    @property
    def seed(self) -> int:
        """Seed for random numbers of the policy.

        It is a function of the scenario's seed and the flow's name.
        """

@final
class AskStart:
    """Arguments of the constructor of a rule for ACK requests."""

    @property
    def mss(self) -> int:
        """Size of a full-sized packet, in bytes."""
    @property
    def seed(self) -> int:
        """Seed for random numbers of the rule.

        It is a function of the scenario's seed and the flow's name.
        """

@final
class AskPath:
    """A sender's state of its path."""

    @property
    def mss(self) -> int:
        """Size of a full-sized packet, in bytes."""
    @property
    def cwnd(self) -> int:
        """Congestion window, in bytes."""
    @property
    def in_slow_start(self) -> bool:
        """Whether the window is below the slow-start threshold."""
    @property
    def is_reno(self) -> bool:
        """Whether the controller is NewReno."""
    @property
    def phase(self) -> Literal["probes", "cruises", "probes-rtt"] | None:
        """What the controller needs feedback for, if it reports that."""
    @property
    def srtt(self) -> int:
        """Smoothed RTT, in nanoseconds."""
    @property
    def min_rtt(self) -> int:
        """Minimum RTT, in nanoseconds."""
    @property
    def delivery_rate(self) -> int | None:
        """Delivery rate over the last round trips, in bits per second; None if unknown."""
    @property
    def recoveries(self) -> int:
        """Number of recoveries so far."""
    @property
    def lost_acks(self) -> int:
        """Number of the peer's packets that were lost so far."""

@final
class AckRequest:
    """A request for ACKs: the fields of an `ACK_FREQUENCY` frame."""

    def __new__(cls, threshold: int, max_ack_delay: int, reordering: int = 1) -> AckRequest:
        """Requests an ACK for more than `threshold` packets, or after `max_ack_delay` [ns]."""
    @property
    def threshold(self) -> int:
        """Maximum number of unacknowledged packets."""
    @property
    def max_ack_delay(self) -> int:
        """Maximum delay of an ACK, in nanoseconds."""
    @property
    def reordering(self) -> int:
        """Reordering threshold in packets, at which a gap is reported at once; 0 for never."""

@final
class Arrival:
    """The arrival of one segment at the receiver."""

    @property
    def kind(self) -> Literal["in-order", "out-of-order", "fills-gap", "duplicate"]:
        """Kind of the segment.

        "in-order" extends the stream; "out-of-order" is beyond a gap; "fills-gap" extends the
        stream below data beyond a gap; "duplicate" has no new data.
        """
    @property
    def closes_gap(self) -> bool:
        """For "fills-gap": whether all data that waited are in order now."""
    @property
    def span(self) -> tuple[int, int]:
        """Range on the number line: stream offsets, or the packet number and the next."""
    @property
    def number(self) -> int | None:
        """Packet number, over QUIC and TACK."""
    @property
    def bytes(self) -> int:
        """Payload in bytes; over QUIC, the size of the packet."""
    @property
    def advanced(self) -> int:
        """Bytes by which it extended the stream; the payload where packets have numbers."""
    @property
    def continues(self) -> bool:
        """Whether it counts in `Ledger.segments`: it extended the stream or has a number."""
    @property
    def push(self) -> bool:
        """Whether it has the push flag (RFC 9293, section 3.1), which only TCP has."""
    @property
    def timestamp(self) -> int | None:
        """Time of departure by the sender's clock, modulo 2**32.

        TSval of TCP in ticks (RFC 7323), over TACK microseconds, over QUIC None.
        """

@final
class Ledger:
    """The received data, and which of them are unacknowledged.

    Ranges are stream offsets: the first byte, and the one after the last.

    Over QUIC and TACK, a segment is an ack-eliciting packet, with or without bytes of a stream.
    Ranges are packet numbers, and each packet extends the sequence of numbers. Bytes are those of
    streams; over QUIC, those of whole packets.
    """

    @property
    def segments(self) -> int:
        """Segments that extended the stream since the last ACK."""
    @property
    def bytes(self) -> int:
        """Bytes that extended the stream since the last ACK."""
    @property
    def since(self) -> int | None:
        """Arrival time of the first of these segments, in nanoseconds; None without any.

        After an "in-order" arrival there is one.
        """
    @property
    def newest(self) -> int:
        """Arrival time of the newest data, in nanoseconds."""
    @property
    def full_size(self) -> int:
        """Payload of the largest segment so far, in bytes."""
    @property
    def unit(self) -> int:
        """Length of a full-sized segment in ranges: `full_size`, or 1 where packets have numbers."""
    @property
    def arrived_segments(self) -> int:
        """Segments with data since the last ACK, in order or not."""
    @property
    def arrived_bytes(self) -> int:
        """Bytes of these."""
    @property
    def total_segments(self) -> int:
        """All segments with data so far."""
    @property
    def total_bytes(self) -> int:
        """Bytes of these."""
    @property
    def last(self) -> tuple[int, int]:
        """Range of the segment that arrived last."""
    @property
    def highest(self) -> tuple[int, int]:
        """Range of the segment that is highest in the stream."""
    @property
    def reported(self) -> tuple[int, int]:
        """The value of `highest` when the last ACK was sent."""
    @property
    def next(self) -> int:
        """Stream offset of the next expected byte: RCV.NXT."""
    @property
    def beyond(self) -> list[tuple[int, int]]:
        """Ranges beyond gaps: disjoint, in order, all above `next`."""
    @property
    def has_sack(self) -> bool:
        """Whether ACKs report data beyond gaps (RFC 2018)."""
    @property
    def newer(self) -> int:
        """Ranges of the last ACK that changed after the range that this arrival extends.

        All of them if the arrival begins a range.
        """
    @property
    def handshake_rtt(self) -> int | None:
        """RTT of the handshake, in nanoseconds.

        This and the next two are measured for policies with an `rtt_window`.
        """
    @property
    def srtt(self) -> int | None:
        """The receiver's estimate of the RTT, in nanoseconds.

        It follows shorter samples at once, longer ones by an eighth.
        """
    @property
    def min_rtt(self) -> int | None:
        """Minimum RTT of the last `rtt_window`, in nanoseconds."""
    @property
    def delivery_rate(self) -> int | None:
        """Maximum rate of arriving data in the last `bandwidth_window` round trips, in bit/s."""

@final
class Now:
    """Acknowledges at once."""

    def __init__(self, why: str) -> None: ...
    @property
    def why(self) -> str:
        """The reason, as in the table `acks`."""

@final
class At:
    """Acknowledges at a time in nanoseconds since the start of the run.

    An ACK that is sent before replaces it.
    """

    def __init__(self, at: int, why: str) -> None: ...
    @property
    def at(self) -> int:
        """The time, in nanoseconds since the start of the run."""
    @property
    def why(self) -> str:
        """The reason, as in the table `acks`."""

@final
class Hold:
    """Waits for the next segment."""

    def __init__(self) -> None: ...

@final
class ControllerStart:
    """Arguments of the constructor of a congestion controller."""

    @property
    def mss(self) -> int:
        """Payload of a full-sized segment, in bytes."""
    @property
    def initial_window(self) -> int:
        """Initial window, in bytes."""
    @property
    def growth(self) -> Literal["per-ack", "per-segment", "byte-counting"]:
        """Unit of window growth in the simulated stack."""
    @property
    def slow_start(
        self,
    ) -> Literal["classic", "hystart-plus-plus", "linux-hystart", "ns3-hystart", "quiche-hystart"]:
        """Rule that ends slow start before a loss."""
    @property
    def dialect(self) -> Literal["reference", "linux", "ns3"]:
        """Version of a controller that stacks implement differently."""
    @property
    def paced(self) -> bool:
        """Whether the sender paces even if the controller sets no rate."""
    @property
    def burst(self) -> tuple[int, int, bool] | None:
        """Burst that pacing permits, if it permits bursts.

        Minimum packets, the nanoseconds whose data also fit, and whether a late sender catches up.
        """
    @property
    def seed(self) -> int:
        """Seed for random numbers of the controller.

        It is a function of the scenario's seed and the flow's name.
        """

@final
class Window:
    """The congestion window, in bytes."""

    cwnd: int
    """Congestion window."""
    ssthresh: int
    """Slow-start threshold; 2**64 - 1 before the first reduction."""
    @property
    def mss(self) -> int:
        """Payload of a full-sized segment."""
    @property
    def in_slow_start(self) -> bool:
        """Whether the window is below the threshold."""

@final
class Ack:
    """One ACK. Sizes are bytes, times nanoseconds."""

    @property
    def now(self) -> int:
        """Arrival time."""
    @property
    def acked_bytes(self) -> int:
        """Cumulatively acknowledged bytes, as far as they count for growth."""
    @property
    def acked_segments(self) -> int:
        """The same in full-sized segments. The rest of a segment is carried to the next ACK."""
    @property
    def delivered(self) -> int:
        """Newly acknowledged bytes, cumulative or selective."""
    @property
    def total_delivered(self) -> int:
        """Bytes delivered since the connection began, including this ACK."""
    @property
    def lost(self) -> int:
        """Bytes that count as lost because of this ACK."""
    @property
    def marked(self) -> int:
        """Delivered bytes that were marked Congestion Experienced, if the receiver reports this."""
    @property
    def in_flight(self) -> int:
        """Estimated bytes in flight after this ACK."""
    @property
    def prior_in_flight(self) -> int:
        """Estimated bytes in flight before this ACK."""
    @property
    def acked_to(self) -> int:
        """Position up to which everything is acknowledged.

        For TCP it is SND.UNA as a stream offset. Positions serve for comparisons.
        """
    @property
    def sent_to(self) -> int:
        """Position up to which everything was sent.

        For TCP it is SND.NXT as a stream offset. A round trip that begins here ends once `acked_to`
        reaches it.
        """
    @property
    def una(self) -> int:
        """`acked_to` by its name in TCP (RFC 9293, §3.3.1)."""
    @property
    def nxt(self) -> int:
        """`sent_to` by its name in TCP (RFC 9293, §3.3.1)."""
    @property
    def rtt(self) -> int | None:
        """RTT sample, if this ACK has one."""
    @property
    def newest_rtt(self) -> int | None:
        """Time since the newest delivered transmission, unless that is a retransmission.

        Excludes the time that earlier segments waited for it.
        """
    @property
    def newest_sent_at(self) -> int | None:
        """Time of the transmission that `newest_rtt` measures.

        TACK's RTTs exclude the ACK delay of the receiver.
        """
    @property
    def srtt(self) -> int | None:
        """Smoothed RTT, if there is a sample."""
    @property
    def min_rtt(self) -> int | None:
        """Minimum RTT of the connection."""
    @property
    def rate(self) -> RateSample | None:
        """Sample of the delivery rate, for controllers that request it."""
    @property
    def state(self) -> Literal["open", "disorder", "reduced", "recovery", "loss"]:
        """State of congestion control."""
    @property
    def has_sack(self) -> bool:
        """Whether the receiver sends SACK blocks."""
    @property
    def window_limited(self) -> bool:
        """Whether the window limited sending just before this ACK."""
    @property
    def departure(self) -> int:
        """Time at which pacing permits the next segment; `now` if it permits it at once."""
    @property
    def may_grow(self) -> bool:
        """Whether the window may grow.

        It may not in a fast recovery, and while something else than the window limits sending.
        """

@final
class RateSample:
    """Sample of the delivery rate from one ACK (draft-ietf-ccwg-bbr, section 4.1).

    Sizes are bytes, times nanoseconds.
    """

    @property
    def bits_per_second(self) -> int:
        """Rate, in bits per second."""
    @property
    def delivered(self) -> int:
        """Bytes delivered over the interval."""
    @property
    def interval(self) -> int:
        """Length of the interval."""
    @property
    def volume(self) -> int:
        """Bytes delivered since the newest transmission was sent.

        Differs from `delivered` if the receiver reports the rate, as TACK's does.
        """
    @property
    def send_elapsed(self) -> int:
        """Part of the interval in which the bytes were sent."""
    @property
    def reported_interval(self) -> int | None:
        """Interval that the receiver reports, if it reports the rate."""
    @property
    def since_silence(self) -> int:
        """Time from the application's last silence to the newest transmission.

        2**64 - 1 without a silence.
        """
    @property
    def prior_delivered(self) -> int:
        """Total delivered bytes when the newest transmission was sent."""
    @property
    def tx_in_flight(self) -> int:
        """Bytes in flight when the newest transmission was sent."""
    @property
    def lost(self) -> int:
        """Bytes marked lost since then."""
    @property
    def is_app_limited(self) -> bool:
        """Whether the application may have limited the rate."""
    @property
    def is_retransmission(self) -> bool:
        """Whether the newest transmission was a retransmission."""
    @property
    def rtt(self) -> int:
        """Time since the newest transmission was sent."""

@final
class Sent:
    """A transmission. Sizes are bytes, times nanoseconds."""

    @property
    def now(self) -> int:
        """Time of the transmission."""
    @property
    def bytes(self) -> int:
        """Payload size."""
    @property
    def in_flight(self) -> int:
        """Estimated bytes in flight, including this segment."""
    @property
    def end(self) -> int:
        """Position after its last byte."""
    @property
    def is_retransmission(self) -> bool:
        """Whether it is a retransmission."""
    @property
    def is_app_limited(self) -> bool:
        """Whether the application limits the sending rate at present.

        Known only to controllers that request the delivery rate.
        """

@final
class Lost:
    """A transmission that was marked lost. Sizes are bytes, times nanoseconds."""

    @property
    def now(self) -> int:
        """Time at which it was marked."""
    @property
    def sent_at(self) -> int:
        """Time of the transmission."""
    @property
    def bytes(self) -> int:
        """Payload size."""
    @property
    def start(self) -> int:
        """Position of its first byte."""
    @property
    def end(self) -> int:
        """Position after its last byte."""
    @property
    def total_delivered(self) -> int:
        """Bytes delivered since the connection began, including the present ACK."""
    @property
    def total_lost(self) -> int:
        """Bytes marked lost since the connection began, including this.

        This and the following are known only to controllers that request the delivery rate.
        """
    @property
    def tx_in_flight(self) -> int:
        """Bytes in flight when it was sent, including itself."""
    @property
    def prior_delivered(self) -> int:
        """Total delivered bytes when it was sent."""
    @property
    def prior_lost(self) -> int:
        """Total bytes marked lost when it was sent."""
    @property
    def is_app_limited(self) -> bool:
        """Whether the application had no more data when it was sent."""
    @property
    def delivered_at(self) -> int:
        """Time of the last delivery when it was sent."""
    @property
    def first_sent_at(self) -> int:
        """Time at which the sending began that its rate sample covers."""
    @property
    def received_at(self) -> int | None:
        """Arrival of the last delivery before it, by the receiver's clock, if that is reported."""

@final
class Transmission:
    """A transmission and its outcome, which is not a loss."""

    @property
    def sent_at(self) -> int:
        """Time of the transmission, in nanoseconds."""
    @property
    def outcome(self) -> Literal["delivered", "unknown"]:
        """Outcome. It is unknown if an acknowledgment is ambiguous."""
    @property
    def was_lost(self) -> bool:
        """Whether a delivered transmission counted as lost before."""

VERSION: str
PORT: int
QLOG_VERSIONS: list[str]
PROCESSORS: list[str]
REVISION: str

def load(text: str, name: str, sets: Sequence[str]) -> str: ...
def check(text: str, name: str, sets: Sequence[str], base: _Path) -> str: ...
def check_many(
    text: str, name: str, sets: Sequence[str], points: Sequence[Sequence[str]], base: _Path, threads: int
) -> list[tuple[str, list[str], list[tuple[str, str]]]]: ...
def run_many(
    text: str,
    name: str,
    sets: Sequence[str],
    points: Sequence[Sequence[str]],
    base: _Path,
    cancel: Cancel | None = None,
    strategies: dict[str, Callable[[Any], Any]] | None = None,
    seconds: float | None = None,
) -> BatchResult: ...
def run(
    text: str,
    name: str,
    sets: Sequence[str],
    base: _Path,
    seed: int | None = None,
    captures: _Path | None = None,
    qlog: _Path | None = None,
    qlog_version: str | None = None,
    cancel: Cancel | None = None,
    strategies: dict[str, Callable[[Any], Any]] | None = None,
    watch: Callable[[float], None] | None = None,
) -> RunResult: ...
def emulate(
    text: str,
    name: str,
    sets: Sequence[str],
    base: _Path,
    captures: _Path | None = None,
    outputs: _Path | None = None,
    node: str | None = None,
    words: Sequence[str] | None = None,
    cancel: Cancel | None = None,
    watch: Callable[[str], None] | None = None,
    processors: str = "auto",
    internet: str | None = None,
    takes_time: bool = True,
) -> EmulationResult: ...
def inline(
    text: str,
    name: str,
    sets: Sequence[str],
    base: _Path,
    captures: _Path | None = None,
    cancel: Cancel | None = None,
    stands: Callable[[str, str, str], None] | None = None,
    watch: Callable[[str], None] | None = None,
    processors: str = "auto",
    method: str | None = None,
) -> RunResult: ...
def inspect(
    path: _Path,
    cancel: Cancel | None = None,
    watch: Callable[[float], None] | None = None,
    trace: int | None = None,
) -> tuple[str, str | None]: ...
def packetdrill(
    scripts: Sequence[_Path],
    text: str | None,
    name: str,
    preset: str,
    sets: Sequence[str],
    tolerance: int | None = None,
    strategies: dict[str, Callable[[Any], Any]] | None = None,
) -> str: ...
def serve(
    addresses: Sequence[str],
    port: int,
    ready: Callable[[int, str], None],
    tell: Callable[[str], None] | None = None,
    certificate: _Path | None = None,
    key: _Path | None = None,
    folder: _Path | None = None,
    drain: str = "0s",
    cancel: Cancel | None = None,
) -> None: ...
def perf(
    host: str,
    port: int,
    contenders: str,
    *,
    rounds: int,
    reverse: bool,
    streams: int,
    seconds: float | None,
    octets: int | None,
    bitrate: int | None,
    interval: float,
    fingerprint: str | None = None,
    authorities: _Path | None = None,
    keys: _Path | None = None,
    qlog: _Path | None = None,
    tell: Callable[[str], None] | None = None,
    cancel: Cancel | None = None,
) -> str: ...
def proxy_listen(
    addresses: Sequence[str],
    port: int,
    allow: Sequence[str],
    ready: Callable[[int, str, str], None],
    tell: Callable[[str], None] | None = None,
    certificate: _Path | None = None,
    key: _Path | None = None,
    folder: _Path | None = None,
    drain: str = "0s",
    cancel: Cancel | None = None,
) -> None: ...
def proxy_connect(
    host: str,
    port: int,
    token: str,
    socks: str | None,
    forwards: Sequence[str],
    ready: Callable[[list[str]], None],
    tell: Callable[[str], None] | None = None,
    fingerprint: str | None = None,
    authorities: _Path | None = None,
    keys: _Path | None = None,
    drain: str = "0s",
    cancel: Cancel | None = None,
) -> None: ...
def known_fingerprint(host: str, port: int, file: _Path | None = None) -> str | None: ...
def remember_fingerprint(host: str, port: int, fingerprint: str, file: _Path | None = None) -> None: ...
def offered_fingerprint(host: str, port: int) -> str: ...
def acquire_permission() -> bool: ...
def calibrate(processors: str = "auto") -> str: ...
def schema() -> str: ...
def metrics() -> str: ...
