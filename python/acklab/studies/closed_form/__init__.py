"""Goodput of one sender that always has something to send, and nobody in its way: the exact mean cycle of a frame exchange.

Medium access, PPDU, SIFS, response frame: nothing else happens, nothing collides and nothing is lost, so that a mean backoff is half of
CWmin and goodput is the payload of a PPDU over the mean length of a cycle. Clauses and tables are those of IEEE Std 802.11-2020. Nothing
here is taken from the simulator. Times are integer nanoseconds.

modes     how a PPDU is sent, and how long it lasts
cell      what a cycle depends on, and what it consists of
exchange  the mean cycle of a saturated sender
scenario  the cell of a scenario
download  a download over TCP, with its ACKs in frames of their own or on link-layer ACKs
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
