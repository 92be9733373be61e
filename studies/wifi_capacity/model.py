"""Goodput of one sender that always has something to send, and nobody in its way: the exact mean cycle of a frame exchange.

Medium access, PPDU, SIFS, answer: nothing else happens, nothing collides and nothing is lost, so that a mean backoff is half of CWmin and
goodput is the payload of a PPDU over the mean length of a cycle. Clauses and tables are those of IEEE Std 802.11-2020. Nothing
here is taken from the simulator: modes are the tables as the standard prints them. Times are integer nanoseconds.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

US = 1000

# Data bits of a symbol, N_DBPS, by MCS and for one stream: Tables 17-4, 19-27 to 19-34, 21-29 to 21-60.
OFDM = {6: 24, 9: 36, 12: 48, 18: 72, 24: 96, 36: 144, 48: 192, 54: 216}
HT = {20: (26, 52, 78, 104, 156, 208, 234, 260), 40: (54, 108, 162, 216, 324, 432, 486, 540)}
VHT = {
    20: (26, 52, 78, 104, 156, 208, 234, 260, 312),
    40: (54, 108, 162, 216, 324, 432, 486, 540, 648, 720),
    80: (117, 234, 351, 468, 702, 936, 1053, 1170, 1404, 1560),
}
REFERENCE = (6, 12, 18, 24, 36, 48, 54, 54, 54, 54)
"""Non-HT reference rate by MCS, in Mbps (Table 10-10)."""

MANDATORY = {"802.11b": (1, 2), "ofdm": (6, 12, 24)}
"""Mandatory rates, which are the basic ones where a cell names none (16.2.3.3 as DSSS has them; 17.2.3.5)."""

# Octets (9.3).
ACK = CTS = 14
RTS = 20
BLOCK_ACK = 32  # compressed, of 64 frames (9.3.1.8.2)
MAC_HEADER, QOS_CONTROL, FCS = 24, 2, 4
LLC = 8  # LLC and SNAP (RFC 1042)
IP, UDP, TCP = 20, 8, 20
TIMESTAMPS = 12  # of TCP, with the NOPs that align them (RFC 7323, appendix A)
DELIMITER = 4  # of an A-MPDU (9.7.1)
A_MSDU_HEADER = 14  # of each MSDU in an A-MSDU (9.3.2.2.2)
WINDOW = 64  # frames that a compressed Block ACK tells of (9.3.1.8.2)
PPDU_MAX_TIME = 5_484 * US  # aPPDUMaxTime (Tables 19-25, 21-28)
A_MPDU = {"802.11n": 65_535, "802.11ac": 1_048_575}  # octets (9.4.2.55.3, 9.4.2.157.2)

Mbps = float


@dataclass(frozen=True)
class Mode:
    """How a PPDU is sent."""

    preamble: int
    """All in front of the PSDU."""
    mbps: Mbps
    """Rate of the payload."""
    reference: Mbps
    """The rate by which its answer is chosen."""
    bits: int = 0
    """Data bits of a symbol; of DSSS, none."""
    symbol: int = 0
    encoders: int = 1

    @property
    def is_ofdm(self) -> bool:
        """Whether it has symbols and, at 2.4 GHz, a signal extension."""
        return self.bits > 0

    def duration(self, octets: int) -> int:
        """TXTIME without signal extension: 16.3.4, 17.4.3, 19.4.3, 21.4.3."""
        if not self.is_ofdm:
            return self.preamble + math.ceil(8 * octets / self.mbps) * US
        symbols = math.ceil((16 + 8 * octets + 6 * self.encoders) / self.bits)
        # Behind the short guard interval a PPDU ends where symbols of 4 µs would.
        return self.preamble + math.ceil(symbols * self.symbol / (4 * US)) * 4 * US


def dsss(mbps: Mbps, short_preamble: bool = False) -> Mode:
    """DSSS and CCK: 144 + 48 bits at 1 Mbps in front, or 72 at 1 and 48 at 2 Mbps (16.2.2.2, 16.2.2.3); 1 Mbps has the long one only."""
    return Mode((96 if short_preamble and mbps > 1 else 192) * US, mbps, mbps)


def ofdm(mbps: int) -> Mode:
    """Clause 17: training and SIGNAL of 20 µs, symbols of 4 µs."""
    return Mode(20 * US, mbps, mbps, OFDM[mbps], 4 * US)


def ht(mcs: int, streams: int = 1, width: int = 40, guard: int = 400) -> Mode:
    """HT-mixed: 20 µs as OFDM, HT-SIG 8, HT-STF 4, HT-LTFs of 4 (19.3.9); a second encoder above 300 Mbps (19.5, at 800 ns)."""
    bits = HT[width][mcs] * streams
    return _many(bits, 32, streams, guard, REFERENCE[mcs], 2 if bits > 1200 else 1)


def vht(mcs: int, streams: int = 1, width: int = 80, guard: int = 400) -> Mode:
    """VHT: 20 µs as OFDM, VHT-SIG-A 8, VHT-STF 4, VHT-LTFs of 4, VHT-SIG-B 4 (21.3.4); an encoder for each 600 Mbps (21.5, at 400 ns)."""
    bits = VHT[width][mcs] * streams
    return _many(bits, 36, streams, guard, REFERENCE[mcs], math.ceil(bits / 2160))


def _many(bits: int, preamble: int, streams: int, guard: int, reference: int, encoders: int) -> Mode:
    fields = {1: 1, 2: 2, 3: 4, 4: 4}[streams]  # Tables 19-13, 21-13
    symbol = 3_200 + guard
    return Mode((preamble + 4 * fields) * US, bits * 1000 / symbol, reference, bits, symbol, encoders)


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
    """By how much the answer comes later than SIFS."""
    payload: int = 1472
    """Octets of a packet's data."""
    transport: int = UDP
    """Octets of the header between those and IP's."""
    appended: int = 0
    """Octets that the answer carries besides."""

    def air(self, mode: Mode, octets: int) -> int:
        """A PPDU with its extension."""
        return mode.duration(octets) + (self.extension if mode.is_ofdm else 0)

    def answer_to(self, mode: Mode) -> Mode:
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
    answer: int
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
        return self.aifs + self.backoff + self.control + self.data + self.sifs + self.answer

    @property
    def goodput(self) -> Mbps:
        """Payload over time."""
        return self.octets * 8 * 1000 / self.total

    @property
    def efficiency(self) -> float:
        """Goodput over the rate of the PHY."""
        return self.goodput / self.mbps


@dataclass(frozen=True)
class _Exchange:
    """A PPDU, what goes ahead of it, and its answer."""

    control: int
    data: int
    answer: int
    sifs: int
    frames: int

    @property
    def total(self) -> int:
        return self.control + self.data + self.sifs + self.answer


def cycle(cell: Cell) -> Cycle:
    """The mean cycle of a saturated sender."""
    packets, mpdu = _mpdu(cell)
    exchanges = [_exchange(cell, mpdu, cell.txop or None, is_first=True)]
    # The transmission opportunity goes on as long as one more exchange fits, SIFS behind the last (10.23.2.9).
    while exchanges[-1] is not None:
        used = sum(one.total + cell.sifs for one in exchanges if one is not None)
        exchanges.append(_exchange(cell, mpdu, cell.txop - used, is_first=False) if used < cell.txop else None)
    sent = [one for one in exchanges if one is not None]
    octets = sum(one.frames for one in sent) * packets * cell.payload
    preamble = len(sent) * cell.mode.preamble
    payload = round(octets * 8 * 1000 / cell.mode.mbps)
    return Cycle(
        aifs=cell.sifs + cell.aifsn * cell.slot,
        backoff=cell.cw_min * cell.slot // 2,
        control=sum(one.control for one in sent),
        preamble=preamble,
        payload=payload,
        headers=sum(one.data for one in sent) - preamble - payload,
        sifs=sum(one.sifs for one in sent) + (len(sent) - 1) * cell.sifs,
        answer=sum(one.answer for one in sent),
        frames=sent[0].frames,
        octets=octets,
        mbps=cell.mode.mbps,
    )


def _exchange(cell: Cell, mpdu: int, left: int | None, *, is_first: bool) -> _Exchange | None:
    """What a PPDU carries if `left` is left of the transmission opportunity; none if not even one frame fits that must."""
    block_ack, ack = (cell.air(cell.answer_to(cell.mode), octets + cell.appended) for octets in (BLOCK_ACK, ACK))
    control = 0
    if cell.rts:
        asked = cell.answer_to(cell.mode)
        control += cell.air(asked, RTS) + cell.sifs + cell.air(cell.answer_to(asked), CTS) + cell.sifs
    if cell.cts_to_self is not None:
        control += cell.air(cell.cts_to_self, CTS) + cell.sifs
    most = cell.max_time
    if left is not None:
        most = min(most, left - cell.sifs - block_ack - (cell.extension if cell.mode.is_ofdm else 0))
    frames, psdu, is_aggregate = _psdu(cell, mpdu, most)
    answer = block_ack if is_aggregate else ack
    exchange = _Exchange(control, cell.air(cell.mode, psdu), answer, cell.sifs + cell.late, frames)
    # The first may exceed the limit with a single frame.
    return exchange if is_first or left is None or exchange.total <= left else None


def _mpdu(cell: Cell) -> tuple[int, int]:
    """Packets of an MPDU, and its octets."""
    header = MAC_HEADER + (QOS_CONTROL if cell.has_qos else 0) + FCS
    msdu = LLC + IP + cell.transport + cell.payload
    subframe = A_MSDU_HEADER + msdu
    padded = -(-subframe // 4) * 4
    # All subframes but the last are padded to a multiple of four (9.3.2.2.2).
    packets = (cell.a_msdu - subframe) // padded + 1 if cell.a_msdu >= subframe else 1
    return packets, header + (msdu if packets == 1 else (packets - 1) * padded + subframe)


def _psdu(cell: Cell, mpdu: int, most: int) -> tuple[int, int, bool]:
    """Frames of a PPDU, its octets, and whether a Block ACK answers it: a frame by itself gets an ACK (10.25.6.5).

    An aggregate takes no longer than `most`.
    """

    def octets(frames: int) -> int:
        return (frames - 1) * (-(-(DELIMITER + mpdu) // 4) * 4) + DELIMITER + mpdu

    fitting = [
        frames
        for frames in range(2, cell.frames + 1)
        if octets(frames) <= cell.aggregate and cell.mode.duration(octets(frames)) <= most
    ]
    if not fitting:
        return 1, octets(1) if cell.always_delimits else mpdu, False
    return fitting[-1], octets(fitting[-1]), True


def of_scenario(scenario: Mapping[str, Any], sender: str = "ap") -> Cell:
    """What the first cell and the first flow of a checked scenario come to, where the access point sends or the first `station`."""
    wifi, flow = scenario["wifi"][0], scenario["flow"][0]
    transport = flow["transport"]
    standard, short = wifi["standard"], wifi.get("short_preamble", False)
    is_2ghz = standard in {"802.11b", "802.11g"} or wifi.get("band") == "2.4GHz"
    has_qos = standard in A_MPDU
    protection = wifi.get("protection", "none")
    node = wifi["ap"] if sender == "ap" else wifi["station"][0]
    category = {key: value for of in (wifi, node) for key, value in of.get("access", {}).get("best_effort", {}).items()}
    aggregation = wifi.get("aggregation", {})
    threshold = wifi.get("rts_threshold")
    is_udp = transport["protocol"] == "udp"
    # While protection is needed, stations without short slots are about (18.4.5); 802.11b has slots of 20 µs.
    is_long_slot = is_2ghz and (standard == "802.11b" or wifi.get("long_slot", False) or protection != "none")
    most = A_MPDU.get(standard, 0)
    return Cell(
        mode=_mode_of(wifi),
        sifs=(10 if is_2ghz else 16) * US,
        slot=(20 if is_long_slot else 9) * US,
        aifsn=category.get("aifsn", 3 if has_qos else 2),
        cw_min=category.get("cw_min", 31 if standard == "802.11b" else 15),
        basic=_basic_of(standard, short, wifi.get("basic_rates")),
        has_qos=has_qos,
        extension=6 * US if is_2ghz and standard != "802.11b" else 0,
        aggregate=min(most, _number(aggregation["max_bytes"], "B")) if "max_bytes" in aggregation else most,
        always_delimits=standard == "802.11ac",
        frames=min(aggregation.get("max_frames", WINDOW), WINDOW),
        max_time=_time(aggregation["max_time"]) if "max_time" in aggregation else PPDU_MAX_TIME,
        a_msdu=_number(aggregation.get("a_msdu", "0B"), "B"),
        txop=_time(category.get("txop_limit", "0s")),
        rts=threshold is not None and _number(threshold, "B") < 1500,
        # 2 Mbps is the highest mandatory rate of DSSS.
        cts_to_self=dsss(2, short) if protection == "cts-to-self" and is_2ghz else None,
        late=_time(wifi.get("late_answers", "0s")),
        payload=_number(flow["traffic"]["write"] if is_udp else transport["mss"], "B"),
        transport=UDP if is_udp else TCP + (TIMESTAMPS if transport["timestamps"] else 0),
    )


def _mode_of(wifi: Mapping[str, Any]) -> Mode:
    standard, rate, streams = wifi["standard"], wifi.get("rate", {}), wifi.get("streams", 1)
    if standard == "802.11b":
        return dsss(_mbps(rate.get("rate", "11Mbps")), wifi.get("short_preamble", False))
    if standard in {"802.11a", "802.11g"}:
        return ofdm(int(_mbps(rate.get("rate", "54Mbps"))))
    of, widest, fastest = {"802.11n": (ht, 40, 7), "802.11ac": (vht, 80, 9)}[standard]
    width = _number(wifi["width"], "MHz") if "width" in wifi else widest
    guard = _number(wifi["guard_interval"], "ns") if "guard_interval" in wifi else 400
    return of(rate.get("mcs", fastest), rate.get("streams", streams), width, guard)


def _basic_of(standard: str, short: bool, rates: Sequence[str] | None) -> tuple[Mode, ...]:
    if standard == "802.11b":
        return tuple(dsss(mbps, short) for mbps in (map(_mbps, rates) if rates else MANDATORY[standard]))
    return tuple(ofdm(int(mbps)) for mbps in (map(_mbps, rates) if rates else MANDATORY["ofdm"]))


def _number(text: str, unit: str) -> int:
    return int(text.removesuffix(unit))


def _mbps(text: str) -> Mbps:
    return float(text.removesuffix("Mbps"))


def _time(text: str) -> int:
    for unit, scale in (("ns", 1), ("us", 1000), ("ms", 1_000_000), ("s", 1_000_000_000)):
        if text.endswith(unit) and text.removesuffix(unit).replace(".", "", 1).isdigit():
            return round(float(text.removesuffix(unit)) * scale)
    raise ValueError(f"found the time {text!r}")
