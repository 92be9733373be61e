"""Goodput of a download over TCP by the exchanges of frames that it takes: mean cycles, one behind the other.

With an ACK for every second segment, two PPDUs of data make as many ACKs due as each has segments. A stock station contends for its ACKs
behind each PPDU of data; with TCP/HACK they make response frames to data longer. Nobody contends at the same time, nothing collides and nothing is
lost, so that each access takes AIFS and half of CWmin on average.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from acklab.studies.closed_form.cell import UDP, Cell, Cycle
from acklab.studies.closed_form.exchange import cycle
from acklab.studies.closed_form.modes import Mbps

COMPRESSED = 4
"""Octets of a compressed ACK: "about 4 bytes, or even 3 bytes" (Salameh et al., USENIX ATC 2014, section 3.3.2)."""


@dataclass(frozen=True)
class Download:
    """Two PPDUs of data and what becomes of their ACKs."""

    data: Sequence[Cycle]
    acks: Sequence[Cycle] = ()
    """Exchanges of the station's own."""
    appended: int = 0
    """By how much ACKs make response frames longer, in nanoseconds."""

    @property
    def total(self) -> int:
        """How long all of it takes, in nanoseconds."""
        return sum(one.total for one in (*self.data, *self.acks))

    @property
    def goodput(self) -> Mbps:
        """Payload over time."""
        return sum(one.octets for one in self.data) * 8 * 1000 / self.total

    @property
    def frames(self) -> int:
        """MPDUs of a PPDU of data."""
        return self.data[0].frames


def stock(cell: Cell, station: Cell | None = None) -> Download:
    """ACKs in PPDUs of their own, of a station that contends as the access point does if it is not told otherwise."""
    data = cycle(cell)
    acks = replace(station or cell, payload=0)
    return Download([data, data], [cycle(replace(acks, frames=count)) for count in _due(data) if count])


def hack(cell: Cell, compressed: int = COMPRESSED) -> Download:
    """ACKs of so many octets on the response frames to data."""
    plain = cycle(cell)
    data = [cycle(replace(cell, appended=count * compressed)) for count in _due(plain)]
    return Download(data, appended=sum(one.response - plain.response for one in data))


def datagrams(cell: Cell) -> Cycle:
    """The same octets over UDP, which nobody acknowledges."""
    return cycle(replace(cell, payload=cell.payload + cell.transport - UDP, transport=UDP))


def gain(cell: Cell, compressed: int = COMPRESSED) -> float:
    """By how much TCP/HACK is faster than stock, in per cent."""
    return 100 * (hack(cell, compressed).goodput / stock(cell).goodput - 1)


def _due(data: Cycle) -> tuple[int, int]:
    """ACKs due after the first and after the second of two PPDUs of data."""
    return data.frames // 2, data.frames - data.frames // 2
