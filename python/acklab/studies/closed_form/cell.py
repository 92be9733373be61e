"""What a cycle depends on, and what it consists of."""

from dataclasses import dataclass

from acklab.studies.closed_form.modes import US, Mbps, Mode

UDP = 8
"""Octets of its header (RFC 768)."""

WINDOW = 64  # frames that a compressed Block ACK tells of (9.3.1.8.2)
PPDU_MAX_TIME = 5_484 * US  # aPPDUMaxTime (Tables 19-25, 21-28)


@dataclass(frozen=True)
class Cell:
    """All that a cycle depends on."""

    mode: Mode
    sifs: int
    slot: int
    aifsn: int
    cw_min: int
    basic: tuple[Mode, ...]
    """Modes of control frames."""
    has_qos: bool = False
    extension: int = 0
    """Signal extension behind each OFDM PPDU (18.3.2.4, 19.3.2.4)."""
    aggregate: int = 0
    """Octets of an A-MPDU; none for frames one by one."""
    always_delimits: bool = False
    """A frame by itself goes within an A-MPDU too (10.12.8)."""
    frames: int = WINDOW
    max_time: int = PPDU_MAX_TIME
    a_msdu: int = 0
    """Octets of an A-MSDU; none for a packet a frame."""
    txop: int = 0
    """Limit of a transmission opportunity; none for one exchange."""
    rts: bool = False
    cts_to_self: Mode | None = None
    """In which a CTS goes ahead for stations that know DSSS only (10.27.2)."""
    late: int = 0
    """By how much the response frame comes later than SIFS."""
    payload: int = 1472
    """Octets of a packet's data."""
    transport: int = UDP
    """Octets of the header between those and IP's."""
    appended: int = 0
    """Octets that the response frame carries besides."""

    def air(self, mode: Mode, octets: int) -> int:
        """A PPDU with its extension."""
        return mode.duration(octets) + (self.extension if mode.is_ofdm else 0)

    def response_to(self, mode: Mode) -> Mode:
        """The highest basic rate that is not above that of the frame, or its reference rate (10.6.6.5.2, 10.6.11)."""
        fitting = [basic for basic in self.basic if basic.mbps <= mode.reference]
        return max(fitting or self.basic, key=lambda basic: basic.mbps if fitting else -basic.mbps)


@dataclass(frozen=True)
class Cycle:
    """From the end of one exchange to the end of the next, on average, in nanoseconds."""

    aifs: int
    backoff: int
    control: int
    """RTS and CTS, with the SIFS behind each."""
    preamble: int
    payload: int
    """What the payload takes at the rate of the mode."""
    headers: int
    """The rest of the data PPDU: headers, delimiters, padding, tail, signal extension."""
    sifs: int
    response: int
    frames: int
    """MPDUs of the first PPDU."""
    octets: int
    """Of payload."""
    mbps: Mbps
    """The PHY's."""

    @property
    def data(self) -> int:
        """The data PPDU."""
        return self.preamble + self.payload + self.headers

    @property
    def total(self) -> int:
        """All of it."""
        return self.aifs + self.backoff + self.control + self.data + self.sifs + self.response

    @property
    def goodput(self) -> Mbps:
        """Payload over time."""
        return self.octets * 8 * 1000 / self.total

    @property
    def efficiency(self) -> float:
        """Goodput over the rate of the PHY."""
        return self.goodput / self.mbps
