"""The parameters and the parts of a cycle."""

from dataclasses import dataclass

from acklab.studies.closed_form.modes import US, Mbps, Mode

UDP = 8
"""Bytes of the UDP header (RFC 768)."""

WINDOW = 64  # Frames that a compressed Block ACK covers (9.3.1.8.2)
PPDU_MAX_TIME = 5_484 * US  # aPPDUMaxTime (Tables 19-25, 21-28)


@dataclass(frozen=True)
class Cell:
    """All parameters of a cycle."""

    mode: Mode
    sifs: int
    slot: int
    aifsn: int
    cw_min: int
    basic: tuple[Mode, ...]
    """Modes of control frames."""
    has_qos: bool = False
    extension: int = 0
    """Signal extension after each OFDM PPDU (18.3.2.4, 19.3.2.4)."""
    aggregate: int = 0
    """Maximum bytes of an A-MPDU; 0 without aggregation."""
    always_delimits: bool = False
    """Single frames are sent within an A-MPDU too (10.12.8)."""
    frames: int = WINDOW
    max_time: int = PPDU_MAX_TIME
    a_msdu: int = 0
    """Maximum bytes of an A-MSDU; 0 for one packet per frame."""
    txop: int = 0
    """Limit of a transmission opportunity; 0 for a single exchange."""
    rts: bool = False
    cts_to_self: Mode | None = None
    """Mode of the CTS-to-self for stations that decode only DSSS (10.27.2)."""
    late: int = 0
    """Delay of the response frame after SIFS."""
    payload: int = 1472
    """Bytes of a packet's data."""
    transport: int = UDP
    """Bytes of the transport header."""
    appended: int = 0
    """Bytes appended to the response frame."""

    def air(self, mode: Mode, octets: int) -> int:
        """Returns the duration of a PPDU with its signal extension."""
        return mode.duration(octets) + (self.extension if mode.is_ofdm else 0)

    def response_to(self, mode: Mode) -> Mode:
        """Returns the highest basic rate that is not above the frame's rate or its reference rate.

        Source: 10.6.6.5.2, 10.6.11.
        """
        fitting = [basic for basic in self.basic if basic.mbps <= mode.reference]
        return max(fitting or self.basic, key=lambda basic: basic.mbps if fitting else -basic.mbps)


@dataclass(frozen=True)
class Cycle:
    """Mean time from the end of one exchange to the end of the next, in nanoseconds."""

    aifs: int
    backoff: int
    control: int
    """RTS and CTS, with the SIFS after each."""
    preamble: int
    payload: int
    """Duration of the payload at the rate of the mode."""
    headers: int
    """The rest of the data PPDU: headers, delimiters, padding, tail, signal extension."""
    sifs: int
    response: int
    frames: int
    """MPDUs in the first PPDU."""
    octets: int
    """Bytes of payload."""
    mbps: Mbps
    """Rate of the PHY."""

    @property
    def data(self) -> int:
        """Returns the duration of the data PPDU."""
        return self.preamble + self.payload + self.headers

    @property
    def total(self) -> int:
        """Returns the duration of the cycle."""
        return self.aifs + self.backoff + self.control + self.data + self.sifs + self.response

    @property
    def goodput(self) -> Mbps:
        """Returns payload divided by time."""
        return self.octets * 8 * 1000 / self.total

    @property
    def efficiency(self) -> float:
        """Returns goodput relative to the rate of the PHY."""
        return self.goodput / self.mbps
