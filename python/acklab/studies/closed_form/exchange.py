"""The mean cycle of a saturated sender, from its frame exchanges."""

from dataclasses import dataclass

from acklab.studies.closed_form.cell import Cell, Cycle

# Bytes (9.3).
ACK = CTS = 14
RTS = 20
BLOCK_ACK = 32  # Compressed, for 64 frames (9.3.1.8.2)
MAC_HEADER, QOS_CONTROL, FCS = 24, 2, 4
LLC = 8  # LLC and SNAP (RFC 1042)
IP = 20
DELIMITER = 4  # Of an A-MPDU (9.7.1)
A_MSDU_HEADER = 14  # Of each MSDU in an A-MSDU (9.3.2.2.2)


@dataclass(frozen=True)
class _Exchange:
    """A PPDU, the frames before it, and its response frame."""

    control: int
    data: int
    response: int
    sifs: int
    frames: int

    @property
    def total(self) -> int:
        return self.control + self.data + self.sifs + self.response


def cycle(cell: Cell) -> Cycle:
    """Returns the mean cycle of a saturated sender."""
    packets, mpdu = _mpdu(cell)
    exchanges = [_exchange(cell, mpdu, cell.txop or None, is_first=True)]
    # The transmission opportunity continues while one more exchange fits, which begins SIFS after
    # the previous exchange (10.23.2.9).
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
        response=sum(one.response for one in sent),
        frames=sent[0].frames,
        octets=octets,
        mbps=cell.mode.mbps,
    )


def _exchange(cell: Cell, mpdu: int, left: int | None, *, is_first: bool) -> _Exchange | None:
    """Returns the exchange of a PPDU within the rest `left` of the transmission opportunity.

    `left` is the remaining time. Returns None if not even one frame fits.
    """
    block_ack, ack = (cell.air(cell.response_to(cell.mode), octets + cell.appended) for octets in (BLOCK_ACK, ACK))
    control = 0
    if cell.rts:
        rts_mode = cell.response_to(cell.mode)
        control += cell.air(rts_mode, RTS) + cell.sifs + cell.air(cell.response_to(rts_mode), CTS) + cell.sifs
    if cell.cts_to_self is not None:
        control += cell.air(cell.cts_to_self, CTS) + cell.sifs
    max_duration = cell.max_time
    if left is not None:
        max_duration = min(max_duration, left - cell.sifs - block_ack - (cell.extension if cell.mode.is_ofdm else 0))
    frames, psdu, is_aggregate = _psdu(cell, mpdu, max_duration)
    response = block_ack if is_aggregate else ack
    exchange = _Exchange(control, cell.air(cell.mode, psdu), response, cell.sifs + cell.late, frames)
    # The first exchange may exceed the limit with a single frame.
    return exchange if is_first or left is None or exchange.total <= left else None


def _mpdu(cell: Cell) -> tuple[int, int]:
    """Returns the packets of an MPDU, and its bytes."""
    header = MAC_HEADER + (QOS_CONTROL if cell.has_qos else 0) + FCS
    msdu = LLC + IP + cell.transport + cell.payload
    subframe = A_MSDU_HEADER + msdu
    padded = -(-subframe // 4) * 4
    # All subframes except the last are padded to a multiple of four (9.3.2.2.2).
    packets = (cell.a_msdu - subframe) // padded + 1 if cell.a_msdu >= subframe else 1
    return packets, header + (msdu if packets == 1 else (packets - 1) * padded + subframe)


def _psdu(cell: Cell, mpdu: int, max_duration: int) -> tuple[int, int, bool]:
    """Returns the frames of a PPDU, its bytes, and whether its response is a Block ACK.

    A single frame gets an ACK (10.25.6.5). An aggregate lasts at most `max_duration`.
    """

    def octets(frames: int) -> int:
        return (frames - 1) * (-(-(DELIMITER + mpdu) // 4) * 4) + DELIMITER + mpdu

    fitting = [
        frames
        for frames in range(2, cell.frames + 1)
        if octets(frames) <= cell.aggregate and cell.mode.duration(octets(frames)) <= max_duration
    ]
    if not fitting:
        return 1, octets(1) if cell.always_delimits else mpdu, False
    return fitting[-1], octets(fitting[-1]), True
