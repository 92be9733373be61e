"""Reasons for goodput below half of the best controller's over a clean path.

Each reason has controllers, a condition, and the page that documents it.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from .generate import ACTIVE, PAYLOAD
from .invariants import milliseconds

Scenario = Mapping[str, Any]

RARE = ("chrome", "tack", "ack-frequency", "ack-congestion-control", "daass")
"""ACK policies that acknowledge more than two packets per ACK."""
RARE_PRESETS = ("mvfst", "s2n-quic", "chrome")
"""Stacks of QUIC whose receivers send one ACK per ten packets."""
HEADERS = 52
"""Bytes of IPv4 and TCP with timestamps."""
MIN_TIMEOUT = 1.0
"""The minimum retransmission timeout of RFC 6298, §2.4, in seconds."""
TICK = 1e-3
"""The clock of TCP's timestamps, in seconds."""
BETA = 4
"""Segments in the queue above which Vegas shrinks its window."""

GAPS = 1024
"""Maximum number of gaps in a stream that quinn-proto stores (`MAX_CHUNKS` of
`connection/assembler.rs`).
"""


@dataclass(frozen=True)
class Case:
    """The properties of a greedy flow over one link that the reasons depend on."""

    scenario: Scenario

    @property
    def transport(self) -> Mapping[str, Any]:
        """Returns the transport of the flow."""
        transport: Mapping[str, Any] = self.scenario["flow"][0]["transport"]
        return transport

    @property
    def forward(self) -> Mapping[str, Any]:
        """Returns the direction of the data."""
        forward: Mapping[str, Any] = self.scenario["link"][0]["forward"]
        return forward

    @cached_property
    def packet(self) -> float:
        """Returns the transmission time of a full-sized packet in seconds."""
        segment = re.match(r"\d+", self.transport.get("mss", ""))
        octets = int(segment[0]) + HEADERS if segment else PAYLOAD
        return 8 * octets / (float(self.forward["rate"].removesuffix("Mbps")) * 1e6)

    @cached_property
    def round_trip(self) -> float:
        """Returns the RTT of an empty path in seconds, including a packet's transmission."""
        reverse = self.scenario["link"][0]["reverse"]
        return (milliseconds(self.forward["delay"]) + milliseconds(reverse["delay"])) / 1e3 + self.packet

    @property
    def product(self) -> float:
        """Returns the bandwidth-delay product in packets."""
        return self.round_trip / self.packet

    @property
    def queue(self) -> int:
        """Returns the limit of the queue in packets."""
        found = re.match(r"\d+", self.forward["queue"]["limit"])
        assert found is not None
        return int(found[0])

    @property
    def is_long(self) -> bool:
        """Returns whether more packets fill the path than RTTs elapse before the measurement."""
        return self.product > float(self.scenario["duration"].removesuffix("s")) / 2 / self.round_trip

    @property
    def is_thin(self) -> bool:
        """Returns whether the transmission of twenty packets takes longer than two RTTs."""
        return 20 * self.packet > 2 * self.round_trip

    @property
    def is_acknowledged_rarely(self) -> bool:
        """Returns `True` if an ACK covers more than two packets."""
        ack: Mapping[str, Any] | None = self.transport.get("ack")
        if ack is None:
            return self.transport.get("preset") in RARE_PRESETS
        return ack["policy"] in RARE or int(ack.get("segments", 2)) > 2

    @property
    def has_slow_return(self) -> bool:
        """Returns whether long loss lists in ACKs return over a slow link.

        The return link is ten times slower, and its queue has no limit.
        """
        ratio = float(self.scenario["link"][0]["reverse"]["rate"].removesuffix("Mbps")) / float(
            self.forward["rate"].removesuffix("Mbps")
        )
        return self.transport["protocol"] != "tcp" and ratio < 0.2

    @property
    def overflows_quinn(self) -> bool:
        """Returns whether slow start may leave more gaps than quinn-proto's receiver stores.

        The connection then ends.
        """
        return bool(self.transport["protocol"] == "quinn" and self.product + self.queue > GAPS)

    @property
    def is_of_rfcs(self) -> bool:
        """Returns whether TCP has no RACK and measures RTTs by timestamps of a millisecond."""
        return bool(self.transport["protocol"] == "tcp" and self.transport["preset"] != "linux")

    @property
    def is_repaired_by_timeout(self) -> bool:
        """Returns whether only a timeout repairs a lost retransmission.

        The timeout takes a hundred round trips.
        """
        return self.is_of_rfcs and self.round_trip < MIN_TIMEOUT / 100


@dataclass(frozen=True)
class Reason:
    """A reason."""

    controllers: tuple[str, ...]
    holds: Callable[[Case], bool]
    why: str
    ending: str | None = None
    """State in which the connection ends for this reason; None if it does not end."""


REASONS = (
    Reason(
        ("vegas", "newreno"),
        lambda case: case.is_long,
        "a segment a round trip does not fill a long path in time: docs/models/congestion/vegas.md",
    ),
    Reason(
        ("vegas",),
        lambda case: case.is_of_rfcs and TICK / case.packet > BETA,
        "a tick of a clock of a millisecond looks like a queue: docs/models/congestion/vegas.md",
    ),
    Reason(
        ("vegas", "copa", "pcc-vivace"),
        lambda case: case.is_acknowledged_rarely,
        "an ACK for many packets looks like a queue: docs/models/congestion",
    ),
    Reason(
        ("pcc-vivace",),
        lambda case: case.is_thin,
        "an interval of twenty packets takes several round trips: docs/models/congestion/pcc.md",
    ),
    Reason(
        ("pcc-allegro",),
        lambda case: case.is_of_rfcs,
        "what the starting phase retransmits and loses again waits for timeouts: docs/models/congestion/pcc.md",
    ),
    Reason(
        ("pcc-allegro",),
        lambda case: case.has_slow_return,
        "the results of the starting phase wait in the return path, behind ACKs of what it loses: docs/models/congestion/pcc.md",
    ),
    Reason(
        ("pcc-allegro",),
        lambda case: case.queue >= case.product or case.forward["queue"]["discipline"] in ACTIVE,
        "the starting phase overshoots a queue that holds as much as the path: docs/models/congestion/pcc.md",
    ),
    Reason(
        ("bbr", "bbr3"),
        lambda case: case.is_repaired_by_timeout and case.queue < 20,
        "a retransmission that a short queue drops costs a timeout of a second: docs/models/congestion/bbr.md",
    ),
    Reason(
        ("cubic", "newreno", "vegas"),
        lambda case: case.forward["queue"]["discipline"] == "cake",
        "after an overflow BLUE drops packets of a flow that is alone for good: docs/models/queues/cake.md",
    ),
    Reason(
        ("bbr", "cubic", "newreno"),
        lambda case: case.overflows_quinn,
        "quinn ends a connection with more than 1024 gaps: docs/models/quinn.md",
        ending="failed: code 0x1",  # INTERNAL_ERROR of RFC 9000, §20.1
    ),
)
"""All reasons."""


def reason_of(controller: str, scenario: Scenario) -> Reason | None:
    """Returns the reason why this controller may be below half of the best here, if any."""
    case = Case(scenario)
    return next((reason for reason in REASONS if controller in reason.controllers and reason.holds(case)), None)
