"""Goodput of a saturated sender without contention: the exact mean cycle of a frame exchange.

A cycle is medium access, PPDU, SIFS and response frame, without collisions or losses. The mean
backoff is half of CWmin, and goodput is the payload of a PPDU divided by the mean duration of a
cycle. Clauses and tables are those of IEEE Std 802.11-2020. The simulator's code is not used. Times
are integer nanoseconds.

modes     modes of PPDUs and their durations
cell      the parameters and the parts of a cycle
exchange  the mean cycle of a saturated sender
scenario  the cell of a scenario
download  a download over TCP, with its ACKs in separate frames or in link-layer ACKs
"""

from acklab.studies.closed_form.cell import WINDOW, Cell, Cycle
from acklab.studies.closed_form.download import Download, datagrams, gain, hack, stock
from acklab.studies.closed_form.exchange import cycle
from acklab.studies.closed_form.modes import Mbps, Mode, dsss, ht, ofdm, vht
from acklab.studies.closed_form.scenario import of_scenario

__all__ = [
    "WINDOW",
    "Cell",
    "Cycle",
    "Download",
    "Mbps",
    "Mode",
    "cycle",
    "datagrams",
    "dsss",
    "gain",
    "hack",
    "ht",
    "of_scenario",
    "ofdm",
    "stock",
    "vht",
]


def __dir__() -> list[str]:
    return __all__
