"""The compiled core: text in, Arrow tables out, calls back to strategies."""

import os
from collections.abc import Callable
from typing import Any, Literal, final

@final
class Table:
    """A table, as the Arrow PyCapsule interface hands it over."""

    def __arrow_c_schema__(self) -> object: ...
    def __arrow_c_array__(self, requested_schema: object | None = None) -> tuple[object, object]: ...

@final
class Cancel:
    """A token that stops the runs it was given to."""

    def __init__(self) -> None: ...
    def cancel(self) -> None: ...
    @property
    def cancelled(self) -> bool: ...

@final
class RunResult:
    """What one run yields."""

    @property
    def scenario(self) -> str: ...
    @property
    def seed(self) -> int: ...
    @property
    def tables(self) -> dict[str, Table]: ...

@final
class BatchResult:
    """What many runs yield."""

    @property
    def outcomes(self) -> list[str | Exception]: ...
    @property
    def names(self) -> list[list[str]]: ...
    @property
    def tables(self) -> dict[str, Table]: ...

@final
class EmulationResult:
    """What one emulation yields."""

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
    """What an ACK policy is given at its birth."""

    @property
    def mss(self) -> int:
        """Payload of a full-sized segment, in octets."""
    @property
    def seed(self) -> int:
        """A number for chance of its own: a function of the scenario's seed and the flow's name."""

@final
class AskStart:
    """What a rule of asking for ACKs is given at its birth."""

    @property
    def mss(self) -> int:
        """A full-sized packet, in octets."""
    @property
    def seed(self) -> int:
        """A number for chance of its own: a function of the scenario's seed and the flow's name."""

@final
class AskPath:
    """What a sender knows of its path."""

    @property
    def mss(self) -> int:
        """A full-sized packet, in octets."""
    @property
    def cwnd(self) -> int:
        """The congestion window, in octets."""
    @property
    def in_slow_start(self) -> bool:
        """Whether the window is below the slow-start threshold."""
    @property
    def srtt(self) -> int:
        """Smoothed round-trip time, in nanoseconds."""
    @property
    def min_rtt(self) -> int:
        """The shortest round-trip time, in nanoseconds."""
    @property
    def delivery_rate(self) -> int | None:
        """The rate of delivery over the last round trips, in bits per second, if it is known."""
    @property
    def recoveries(self) -> int:
        """Recoveries so far."""
    @property
    def lost_acks(self) -> int:
        """Packets of the peer that did not arrive, so far."""

@final
class AckRequest:
    """What is asked of the peer: the fields of an `ACK_FREQUENCY` frame."""

    def __new__(cls, threshold: int, max_ack_delay: int, reordering: int = 1) -> AckRequest:
        """Asks for an ACK of more than `threshold` packets, or after `max_ack_delay` nanoseconds."""
    @property
    def threshold(self) -> int:
        """Packets that may be unacknowledged."""
    @property
    def max_ack_delay(self) -> int:
        """How long an ACK may wait, in nanoseconds."""
    @property
    def reordering(self) -> int:
        """A gap is reported at once if it lies back by so many packets; 0 for never."""

@final
class Arrival:
    """What one segment meant to the receiver."""

    @property
    def kind(self) -> Literal["in-order", "out-of-order", "fills-gap", "duplicate"]:
        """It continued the stream; lies beyond a gap; continued the stream with a gap beyond it; brought nothing new."""
    @property
    def closes_gap(self) -> bool:
        """For "fills-gap": whether all that waited is in order now."""

@final
class Ledger:
    """What has arrived, and what of it is not yet acknowledged. Ranges are stream offsets: the first octet, and the one behind the last.

    Over QUIC and TACK a segment is a packet that must be acknowledged, with octets of a stream or without, and ranges are packet numbers: each packet
    continues the line of numbers. Octets are those of streams, over QUIC those of whole packets.
    """

    @property
    def segments(self) -> int:
        """Segments that continued the stream since the last ACK."""
    @property
    def bytes(self) -> int:
        """Octets that continued the stream since the last ACK."""
    @property
    def since(self) -> int | None:
        """Arrival of the first of these segments, in nanoseconds; None if there are none. After an arrival "in-order" there is one."""
    @property
    def newest(self) -> int:
        """Arrival of the newest data of all, in nanoseconds."""
    @property
    def full_size(self) -> int:
        """Payload of the largest segment so far, in octets."""
    @property
    def arrived_segments(self) -> int:
        """Segments with data that have arrived since the last ACK, in order or not."""
    @property
    def arrived_bytes(self) -> int:
        """Octets of these."""
    @property
    def total_segments(self) -> int:
        """Segments with data that have ever arrived."""
    @property
    def total_bytes(self) -> int:
        """Octets of these."""
    @property
    def last(self) -> tuple[int, int]:
        """The segment that arrived last."""
    @property
    def highest(self) -> tuple[int, int]:
        """The segment that lies highest in the stream."""
    @property
    def reported(self) -> tuple[int, int]:
        """The one that did so when the last ACK left."""
    @property
    def next(self) -> int:
        """Stream offset of the next octet expected: rcv.nxt."""
    @property
    def beyond(self) -> list[tuple[int, int]]:
        """What lies beyond gaps: ranges that do not touch, in order, all above `next`."""
    @property
    def has_sack(self) -> bool:
        """Whether ACKs report what lies beyond gaps (RFC 2018)."""
    @property
    def handshake_rtt(self) -> int | None:
        """The round trip of the handshake, in nanoseconds. This and the next two are measured for policies with an `rtt_window`."""
    @property
    def srtt(self) -> int | None:
        """The receiver's running estimate of the round trip, in nanoseconds: shorter samples at once, longer ones by an eighth."""
    @property
    def min_rtt(self) -> int | None:
        """The shortest round trip of the last `rtt_window`, in nanoseconds."""
    @property
    def delivery_rate(self) -> int | None:
        """The largest rate at which data arrived in the last `bandwidth_window` round trips, in bits per second."""

@final
class Now:
    """Acknowledge at once."""

    def __init__(self, why: str) -> None: ...
    @property
    def why(self) -> str:
        """The reason, as the table `acks` will have it."""

@final
class At:
    """Acknowledge at a time, in nanoseconds since the start of the run, if nothing has made it happen before."""

    def __init__(self, at: int, why: str) -> None: ...
    @property
    def at(self) -> int:
        """The time, in nanoseconds since the start of the run."""
    @property
    def why(self) -> str:
        """The reason, as the table `acks` will have it."""

@final
class Hold:
    """Acknowledge with what follows."""

    def __init__(self) -> None: ...

@final
class ControllerStart:
    """What a congestion controller is given at its birth."""

    @property
    def mss(self) -> int:
        """Payload of a full-sized segment, in octets."""
    @property
    def initial_window(self) -> int:
        """Initial window, in octets."""
    @property
    def growth(self) -> Literal["per-ack", "per-segment", "byte-counting"]:
        """What a window grows by in the stack that the scenario describes."""
    @property
    def paced(self) -> bool:
        """Whether sending is paced even if the controller names no rate."""
    @property
    def seed(self) -> int:
        """A number for chance of its own: a function of the scenario's seed and the flow's name."""

@final
class Window:
    """The congestion window, in octets."""

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
    """One ACK. Sizes are octets, times nanoseconds."""

    @property
    def now(self) -> int:
        """When it came."""
    @property
    def acked_bytes(self) -> int:
        """What it acknowledged cumulatively, as far as it counts for growth."""
    @property
    def acked_segments(self) -> int:
        """The same in full-sized segments; what is left of a segment is carried to the next ACK."""
    @property
    def delivered(self) -> int:
        """What it newly acknowledged, cumulatively or selectively."""
    @property
    def total_delivered(self) -> int:
        """Delivered since the connection began, this included."""
    @property
    def lost(self) -> int:
        """What it made count as lost."""
    @property
    def marked(self) -> int:
        """Of what it delivered, what the network had marked Congestion Experienced, if the receiver tells that."""
    @property
    def in_flight(self) -> int:
        """Believed in flight after it."""
    @property
    def prior_in_flight(self) -> int:
        """Believed in flight before it."""
    @property
    def acked_to(self) -> int:
        """The position up to which all is acknowledged: snd.una as a stream offset, for TCP. Positions are there to be compared."""
    @property
    def sent_to(self) -> int:
        """The position up to which all was sent: snd.nxt as a stream offset, for TCP. A round trip that begins here is over once `acked_to` reaches it."""
    @property
    def una(self) -> int:
        """`acked_to`, by its name in TCP (RFC 9293, §3.3.1)."""
    @property
    def nxt(self) -> int:
        """`sent_to`, by its name in TCP (RFC 9293, §3.3.1)."""
    @property
    def rtt(self) -> int | None:
        """Its round-trip time, if it gave one."""
    @property
    def newest_rtt(self) -> int | None:
        """Since the newest transmission left that it delivers, unless that is one of something sent before. Not counted is what earlier segments waited for it."""
    @property
    def newest_sent_at(self) -> int | None:
        """When the transmission left of which newest_rtt is the round trip. TACK's round trips are without the time for which the receiver waited."""
    @property
    def srtt(self) -> int | None:
        """Smoothed round-trip time, if there was a measurement."""
    @property
    def min_rtt(self) -> int | None:
        """The shortest round-trip time of the connection."""
    @property
    def rate(self) -> RateSample | None:
        """What it tells of the rate of delivery, for controllers that want it."""
    @property
    def state(self) -> Literal["open", "disorder", "reduced", "recovery", "loss"]:
        """Where congestion control stands."""
    @property
    def has_sack(self) -> bool:
        """Whether the receiver acknowledges selectively."""
    @property
    def window_limited(self) -> bool:
        """Whether the window held back sending just before it came."""
    @property
    def departure(self) -> int:
        """When pacing lets the next segment leave: `now`, if it does not hold it."""
    @property
    def may_grow(self) -> bool:
        """Whether the window may grow by it: not in a fast recovery, and not while something else than the window holds back sending."""

@final
class RateSample:
    """What one ACK tells of the rate of delivery (draft-ietf-ccwg-bbr, section 4.1). Sizes are octets, times nanoseconds."""

    @property
    def bits_per_second(self) -> int:
        """The rate, in bits per second."""
    @property
    def delivered(self) -> int:
        """Delivered over the interval."""
    @property
    def interval(self) -> int:
        """The interval."""
    @property
    def volume(self) -> int:
        """Delivered since the newest transmission left. What is delivered over the interval differs if the receiver reports the rate, as TACK's does."""
    @property
    def prior_delivered(self) -> int:
        """Delivered in all when the newest transmission left."""
    @property
    def tx_in_flight(self) -> int:
        """In flight when the newest transmission left."""
    @property
    def lost(self) -> int:
        """Marked lost since it left."""
    @property
    def is_app_limited(self) -> bool:
        """The rate may have been the application's."""
    @property
    def is_retransmission(self) -> bool:
        """Whether the newest transmission was one of something sent before."""
    @property
    def rtt(self) -> int:
        """From the newest transmission's departure to now."""

@final
class Sent:
    """A transmission. Sizes are octets, times nanoseconds."""

    @property
    def now(self) -> int:
        """When it left."""
    @property
    def bytes(self) -> int:
        """Its payload."""
    @property
    def in_flight(self) -> int:
        """Believed in flight, this included."""
    @property
    def end(self) -> int:
        """The position behind it."""
    @property
    def is_retransmission(self) -> bool:
        """Whether it has left before."""
    @property
    def is_app_limited(self) -> bool:
        """Whether the rate of sending is the application's at present. Known only to controllers that want the delivery rate."""

@final
class Lost:
    """A transmission that was marked lost. Sizes are octets, times nanoseconds."""

    @property
    def now(self) -> int:
        """When it was marked."""
    @property
    def sent_at(self) -> int:
        """When it left."""
    @property
    def bytes(self) -> int:
        """Its payload."""
    @property
    def start(self) -> int:
        """The position at which it begins."""
    @property
    def end(self) -> int:
        """The position behind it."""
    @property
    def total_delivered(self) -> int:
        """Delivered since the connection began, the present ACK included."""
    @property
    def total_lost(self) -> int:
        """Marked lost since the connection began, this included. This and what follows only for controllers that want the delivery rate."""
    @property
    def tx_in_flight(self) -> int:
        """In flight when it left, itself included."""
    @property
    def prior_delivered(self) -> int:
        """Delivered in all when it left."""
    @property
    def prior_lost(self) -> int:
        """Marked lost in all when it left."""
    @property
    def is_app_limited(self) -> bool:
        """Whether the application had nothing more to send when it left."""

VERSION: str
PORT: int
QLOG_VERSIONS: list[str]
PROCESSORS: list[str]
REVISION: str

def load(text: str, name: str, sets: list[str]) -> str: ...
def check(text: str, name: str, sets: list[str], base: str) -> str: ...
def check_many(
    text: str, name: str, sets: list[str], points: list[list[str]], base: str, threads: int
) -> list[tuple[str, list[str], list[tuple[str, str]]]]: ...
def run_many(
    text: str,
    name: str,
    sets: list[str],
    points: list[list[str]],
    base: str,
    cancel: Cancel | None = None,
    strategies: dict[str, Callable[[Any], Any]] | None = None,
    seconds: float | None = None,
) -> BatchResult: ...
def run(
    text: str,
    name: str,
    sets: list[str],
    base: str,
    seed: int | None = None,
    captures: str | None = None,
    qlog: str | None = None,
    qlog_version: str | None = None,
    cancel: Cancel | None = None,
    strategies: dict[str, Callable[[Any], Any]] | None = None,
    watch: Callable[[float], None] | None = None,
) -> RunResult: ...
def emulate(
    text: str,
    name: str,
    sets: list[str],
    base: str,
    captures: str | None = None,
    outputs: str | None = None,
    node: str | None = None,
    words: list[str] | None = None,
    cancel: Cancel | None = None,
    watch: Callable[[str], None] | None = None,
    processors: str = "auto",
    internet: str | None = None,
) -> EmulationResult: ...
def inline(
    text: str,
    name: str,
    sets: list[str],
    base: str,
    captures: str | None = None,
    cancel: Cancel | None = None,
    stands: Callable[[str, str, str], None] | None = None,
    watch: Callable[[str], None] | None = None,
    processors: str = "auto",
    method: str | None = None,
) -> RunResult: ...
def inspect(
    path: str | os.PathLike[str],
    cancel: Cancel | None = None,
    watch: Callable[[float], None] | None = None,
    trace: int | None = None,
) -> tuple[str, str | None]: ...
def packetdrill(
    scripts: list[str],
    text: str | None,
    name: str,
    preset: str,
    sets: list[str],
    tolerance: int | None = None,
    strategies: dict[str, Callable[[Any], Any]] | None = None,
) -> str: ...
def serve(
    addresses: list[str],
    port: int,
    ready: Callable[[int, str], None],
    tell: Callable[[str], None] | None = None,
    certificate: str | None = None,
    key: str | None = None,
    folder: str | None = None,
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
    authorities: str | None = None,
    keys: str | None = None,
    qlog: str | None = None,
    tell: Callable[[str], None] | None = None,
    cancel: Cancel | None = None,
) -> str: ...
def proxy_listen(
    addresses: list[str],
    port: int,
    allow: list[str],
    ready: Callable[[int, str, str], None],
    tell: Callable[[str], None] | None = None,
    certificate: str | None = None,
    key: str | None = None,
    folder: str | None = None,
    drain: str = "0s",
    cancel: Cancel | None = None,
) -> None: ...
def proxy_connect(
    host: str,
    port: int,
    token: str,
    socks: str | None,
    forwards: list[str],
    ready: Callable[[list[str]], None],
    tell: Callable[[str], None] | None = None,
    fingerprint: str | None = None,
    authorities: str | None = None,
    keys: str | None = None,
    drain: str = "0s",
    cancel: Cancel | None = None,
) -> None: ...
def known_fingerprint(host: str, port: int, file: str | None = None) -> str | None: ...
def remember_fingerprint(host: str, port: int, fingerprint: str, file: str | None = None) -> None: ...
def offered_fingerprint(host: str, port: int) -> str: ...
def acquire_permission() -> bool: ...
def calibrate(processors: str = "auto") -> str: ...
def schema() -> str: ...
def metrics() -> str: ...
