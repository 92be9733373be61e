"""Real hosts: comparison of transports between two of them, and the server for it.

measured = acklab.perf("server.example", fingerprint="sha256:…", repeat=5)
measured.frame                     # Polars, a row for each measurement
print(measured.conclusion)
"""

import dataclasses
import json
import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from acklab import _core, core
from acklab.errors import RunError, UsageError
from acklab.files import path_of
from acklab.statistics import Interval, mean_interval, ratio_interval
from acklab.tables import Table

if TYPE_CHECKING:
    import polars as pl

PORT: int = _core.PORT
"""The default port of the tools. QUIC uses the next port."""
DEFAULT_CONTENDERS = "tack,quic,tcp"
"""The default contenders."""

_SHOWN = (
    ("goodput", "Mbps", 2),
    ("retransmitted_share", "%", 2),
    ("acks", "", 0),
    ("acks_per_second", "1/s", 0),
    ("mean_rtt", "ms", 2),
    ("p95_rtt", "ms", 2),
    ("cpu_per_gigabyte", "s/GB", 2),
)
"""The metrics of the table, with units and decimals."""
_TITLES = {
    "goodput": "goodput",
    "retransmitted_share": "retransmitted",
    "acks": "ACKs",
    "acks_per_second": "ACK rate",
    "mean_rtt": "RTT, mean",
    "p95_rtt": "RTT, p95",
    "cpu_per_gigabyte": "CPU, both ends",
}


@dataclass(frozen=True)
class Measurement:
    """One measurement of one transport."""

    round: int
    """Index from 0."""
    contender: str
    """The contender, as named by the user."""
    transport: str
    """"tack", "quic" or "tcp"."""
    congestion: str | None
    """The sender's congestion controller."""
    reverse: bool
    """`True` if the server sent the data."""
    streams: int
    """Parallel streams, each on its own connection."""
    seconds: float
    """Time from the first byte that arrived to the end [s]."""
    octets: int
    """Bytes that the receiving application read in `seconds`."""
    goodput: float
    """`octets` per `seconds` [Mbps]."""
    data_packets: int
    """Packets with data that the sender sent, including retransmissions."""
    retransmissions: int
    """Retransmitted packets."""
    retransmitted_share: float | None
    """Retransmissions relative to `data_packets` [%]."""
    acks: int
    """Acknowledgments that the receiver sent: packets without data; over QUIC, ACK frames."""
    acks_per_second: float
    """Acknowledgments that the receiver sent, per second."""
    mean_rtt: float | None
    """Mean of the sender's smoothed RTT under load [ms]."""
    p95_rtt: float | None
    """95th percentile of samples of the smoothed RTT, one per 20 ms [ms]."""
    cpu_sender: float
    """CPU time of the sender's process [s]."""
    cpu_receiver: float
    """CPU time of the receiver's process [s]."""
    cpu_per_gigabyte: float | None
    """CPU time of both processes per 10⁹ bytes [s]."""


@dataclass(frozen=True)
class Perf:
    """Measurements of several transports in alternation."""

    host: str
    """The server."""
    rows: tuple[Measurement, ...]
    """Ordered by round, and within a round as the contenders were given."""

    @property
    def contenders(self) -> tuple[str, ...]:
        """Returns the contenders, as named by the user."""
        return tuple(dict.fromkeys(row.contender for row in self.rows))

    @property
    def frame(self) -> "pl.DataFrame":
        """Returns a row per measurement."""
        import polars as pl

        return pl.DataFrame([dataclasses.asdict(row) for row in self.rows], infer_schema_length=None)

    def interval(self, contender: str, metric: str) -> Interval:
        """Returns the mean of a metric over the rounds with its 95 % interval (Student's t).

        Raises UsageError for an unknown name.
        """
        return mean_interval(self._values(contender, metric))

    def ratio(self, contender: str, other: str, metric: str = "goodput") -> Interval:
        """Returns the geometric mean of the ratios of two contenders per round.

        The mean has a 95 % confidence interval.
        """
        return ratio_interval(self._values(contender, metric), self._values(other, metric))

    def _values(self, contender: str, metric: str) -> list[float | None]:
        if contender not in self.contenders:
            raise UsageError(f"contender: found {contender!r}, expected one of {', '.join(self.contenders)}")
        if metric not in {name for name, *_ in _SHOWN}:
            raise UsageError(f"metric: found {metric!r}, expected one of {', '.join(name for name, *_ in _SHOWN)}")
        return [getattr(row, metric) for row in self.rows if row.contender == contender]

    @property
    def table(self) -> Table:
        """Returns contenders side by side, with the intervals of their means."""
        rows, best = [], set()
        for line, (name, unit, decimals) in enumerate(_SHOWN):
            found = [self.interval(contender, name) for contender in self.contenders]
            rows.append((_TITLES[name], unit, *(interval.text(decimals) for interval in found)))
            if len(found) > 1 and name == "goodput":
                best.add((line, 2 + max(range(len(found)), key=lambda place: found[place].mean)))
        return Table(("", "unit", *self.contenders), rows, numeric_from=2, best=frozenset(best))

    @property
    def conclusion(self) -> str:
        """Returns which contender is fastest, by how much, and whether this is significant."""
        ranked = sorted(self.contenders, key=lambda contender: -self.interval(contender, "goodput").mean)
        first = self.interval(ranked[0], "goodput")
        if len(ranked) == 1:
            return f"{ranked[0]}: {first.text()} Mbps."
        others = [ranked[1]]
        if "tcp" in ranked[2:]:
            others.append("tcp")
        sentences = [self._compared(ranked[0], other) for other in others]
        if first.count < 2:
            sentences.append("One round has no interval; add --repeat 5 to test the significance.")
        return f"{ranked[0]} is fastest with {first.mean:.2f} Mbps. " + " ".join(sentences)

    def _compared(self, first: str, other: str) -> str:
        ratio = self.ratio(first, other)
        if math.isnan(ratio.mean):
            return f"{other} delivered nothing."
        text = f"That is {(ratio.mean - 1) * 100:.1f} % more than {other}"
        if math.isnan(ratio.low):
            return text + "."
        within = f"{text} (95 % interval over {ratio.count} rounds: {_percent(ratio.low)} to {_percent(ratio.high)})"
        if ratio.low > 1:
            return within + ", and the interval excludes zero."
        return within + ", but the interval includes zero: not significant."

    def to_dict(self) -> dict[str, Any]:
        """Returns plain values. Intervals have their mean, low and high."""
        summary = [
            {
                "contender": contender,
                **{
                    name: dict(zip(("mean", "low", "high"), self.interval(contender, name).row, strict=True))
                    for name, *_ in _SHOWN
                },
            }
            for contender in self.contenders
        ]
        return {
            "host": self.host,
            "summary": summary,
            "measurements": [dataclasses.asdict(row) for row in self.rows],
            "conclusion": self.conclusion,
            "revision": core.revision(),
        }


def _percent(ratio: float) -> str:
    return f"{(ratio - 1) * 100:+.1f} %"


def perf(
    host: str,
    *,
    contenders: str | Sequence[str] = DEFAULT_CONTENDERS,
    port: int = PORT,
    time: float | None = None,
    bytes: int | None = None,
    reverse: bool = False,
    parallel: int = 1,
    bitrate: int | None = None,
    interval: float = 1.0,
    repeat: int = 1,
    fingerprint: str | None = None,
    authorities: str | Path | None = None,
    known_hosts: str | Path | None = None,
    accept_new: bool = False,
    confirm: Callable[[str], bool] | None = None,
    keys: str | Path | None = None,
    qlog: str | Path | None = None,
    watch: Callable[[dict[str, Any]], None] | None = None,
    cancel: core.Cancel | None = None,
) -> Perf:
    """Measures transports in alternation between this host and one that runs `acklab serve`.

    Each contender is measured in each of `repeat` rounds: for `time` seconds (default: 10), or
    until `bytes` bytes have arrived. With `reverse`, the server sends. Each of the `parallel`
    streams has its own connection, to which the application writes at most `bitrate` bits per
    second.

    The server is trusted by its `fingerprint`, by certificates of `authorities`, or by the file
    `known_hosts` (default: the file in the state folder). An unknown server is refused, unless
    `accept_new` is set, or `confirm` returns True for its fingerprint. The kernel's TCP is neither
    encrypted nor authenticated.

    `watch` is called with the progress. TLS secrets are appended to `keys`. The folder `qlog`
    receives a log of this end of each TACK connection, including those that control measurements.
    Raises UsageError, RunError, and Cancelled once `cancel` is cancelled.
    """
    names = contenders if isinstance(contenders, str) else ",".join(contenders)
    if time is None and bytes is None:
        time = 10.0
    file = None if known_hosts is None else path_of(known_hosts, "known_hosts")
    if fingerprint is None and authorities is None and needs_trust(names):
        fingerprint = trusted_fingerprint(host, port, file=file, accept_new=accept_new, confirm=confirm)
    rows = _core.perf(
        host,
        port,
        names,
        rounds=repeat,
        reverse=reverse,
        streams=parallel,
        seconds=time,
        octets=bytes,
        bitrate=bitrate,
        interval=interval,
        fingerprint=fingerprint,
        authorities=None if authorities is None else path_of(authorities, "authorities"),
        keys=None if keys is None else path_of(keys, "keys"),
        qlog=None if qlog is None else path_of(qlog, "qlog"),
        tell=core.parsed(watch),
        cancel=cancel,
    )
    return Perf(host, tuple(Measurement(**row) for row in json.loads(rows)))


def needs_trust(contenders: str) -> bool:
    """Returns whether a contender is encrypted: TACK or QUIC."""
    return any(name.strip().split(":")[0] in ("tack", "quic") for name in contenders.split(","))


def trusted_fingerprint(
    host: str,
    port: int,
    *,
    file: Path | None = None,
    accept_new: bool = False,
    confirm: Callable[[str], bool] | None = None,
) -> str:
    """Returns the fingerprint of a trusted server.

    An unknown server is trusted from now on if `accept_new` is set, or if `confirm` returns True
    for its fingerprint. Otherwise raises RunError.
    """
    known = _core.known_fingerprint(host, port, file)
    if known is not None:
        return known
    offered = _core.offered_fingerprint(host, port)
    if not accept_new and not (confirm is not None and confirm(offered)):
        raise RunError(
            f"{host}:{port}: the server is unknown and presents {offered}; if the server prints the same, add --fingerprint {offered}; "
            "otherwise --accept-new, or --ca with certificates of authorities"
        )
    _core.remember_fingerprint(host, port, offered, file)
    return offered


def serve(
    *,
    port: int = PORT,
    addresses: Sequence[str] = (),
    certificate: str | Path | None = None,
    key: str | Path | None = None,
    state: str | Path | None = None,
    drain: str = "0s",
    ready: Callable[[int, str], None] | None = None,
    tell: Callable[[str], None] | None = None,
    cancel: core.Cancel | None = None,
) -> None:
    """Serves measurements until Ctrl-C or `cancel`, and then notifies the clients.

    After `cancel`, a running measurement may finish within the time `drain`, such as "10s". Ctrl-C
    stops it immediately.

    Listens on `addresses` (default: all): on UDP and TCP `port`, and on UDP `port` + 1 for QUIC; 0
    selects a free port. Without a `certificate` and a `key` in PEM, creates both on the first run
    and stores them in the folder `state` (default: `$XDG_STATE_HOME/acklab`). `ready` is called
    with the port and the fingerprint once clients may connect, `tell` with a line per measurement.

    Raises UsageError and RunError.
    """
    _core.serve(
        list(addresses),
        port,
        ready or (lambda port, fingerprint: None),
        tell=tell,
        certificate=None if certificate is None else path_of(certificate, "certificate"),
        key=None if key is None else path_of(key, "key"),
        folder=None if state is None else path_of(state, "state"),
        drain=drain,
        cancel=cancel,
    )


_DECIMAL, _BINARY = 1000, 1024


def bits_per_second(text: str) -> int:
    """Returns a rate such as "500K", "10M" or "1G" in bits per second.

    Prefixes are decimal, as in iperf3. Raises UsageError.
    """
    return _amount(text, _DECIMAL, "a rate such as 500K, 10M or 1G")


def octets(text: str) -> int:
    """Returns a size such as "10M" in bytes.

    Prefixes are binary, as in iperf3. Raises UsageError.
    """
    return _amount(text, _BINARY, "a size such as 500K, 10M or 1G")


def _amount(text: str, base: int, expected: str) -> int:
    found = re.fullmatch(r"(\d+(?:\.\d+)?)([KMGT]?)", text.strip(), re.IGNORECASE)
    if found is None:
        raise UsageError(f"found {text!r}, expected {expected}")
    power = "KMGT".index(found[2].upper()) + 1 if found[2] else 0
    factor: int = base**power
    return round(float(found[1]) * factor)
