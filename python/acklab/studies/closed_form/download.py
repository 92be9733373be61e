"""Goodput of a download over TCP, from the mean cycles of its frame exchanges in sequence.

With an ACK for every second segment, two PPDUs of data trigger as many ACKs as one of them has
segments. A stock station contends for its ACKs after each PPDU of data; with TCP/HACK, the ACKs
lengthen the response frames to data. There are no contention, collisions or losses, so each access
takes AIFS and half of CWmin on average.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from acklab.studies.closed_form.cell import UDP, Cell, Cycle
from acklab.studies.closed_form.exchange import cycle
from acklab.studies.closed_form.modes import Mbps

COMPRESSED = 4
"""Bytes of a compressed ACK: "about 4 bytes, or even 3 bytes".

Source: Salameh et al., USENIX ATC 2014, section 3.3.2.
"""


@dataclass(frozen=True)
class Download:
    """Two PPDUs of data and their ACKs."""

    data: Sequence[Cycle]
    acks: Sequence[Cycle] = ()
    """Exchanges of the station for its ACKs."""
    appended: int = 0
    """Time by which ACKs lengthen response frames, in nanoseconds."""

    @property
    def total(self) -> int:
        """Returns the total duration, in nanoseconds."""
        return sum(one.total for one in (*self.data, *self.acks))

    @property
    def goodput(self) -> Mbps:
        """Returns payload divided by time."""
        return sum(one.octets for one in self.data) * 8 * 1000 / self.total

    @property
    def frames(self) -> int:
        """Returns the MPDUs of a PPDU of data."""
        return self.data[0].frames


def stock(cell: Cell, station: Cell | None = None) -> Download:
    """Returns a download with ACKs in separate PPDUs.

    The station contends as the access point does, unless `station` is given.
    """
    data = cycle(cell)
    acks = replace(station or cell, payload=0)
    return Download([data, data], [cycle(replace(acks, frames=count)) for count in _due(data) if count])


def hack(cell: Cell, compressed: int = COMPRESSED) -> Download:
    """Returns a download with ACKs of this many bytes in the response frames to data."""
    plain = cycle(cell)
    data = [cycle(replace(cell, appended=count * compressed)) for count in _due(plain)]
    return Download(data, appended=sum(one.response - plain.response for one in data))


def datagrams(cell: Cell) -> Cycle:
    """Returns the cycle for the same bytes over UDP, without acknowledgements."""
    return cycle(replace(cell, payload=cell.payload + cell.transport - UDP, transport=UDP))


def gain(cell: Cell, compressed: int = COMPRESSED) -> float:
    """Returns the gain of TCP/HACK over stock, in per cent."""
    return 100 * (hack(cell, compressed).goodput / stock(cell).goodput - 1)


def _due(data: Cycle) -> tuple[int, int]:
    """Returns the ACKs due after the first and after the second of two PPDUs of data."""
    return data.frames // 2, data.frames - data.frames // 2
