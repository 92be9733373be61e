"""ACK frequency of each kind of receiver, computed like the paper's tool does in advance.

Source: fillthepipe/ackemu, utils.py.
"""

from dataclasses import dataclass

ACK = 18
"""Payload of an ACK: 64 bytes of Ethernet with 14 + 4 of Ethernet, 20 of IP and 8 of UDP."""
DATA = 1472
COUNTED = 1472 + 52
"""Bytes of a data packet with its ACK in the tool."""
LINKS = {"802.11b": 7.0, "802.11g": 26.0, "802.11n": 210.0, "802.11ac": 590.0}
"""UDP baselines of Figure 7 [Mbps]."""
PHY = {"802.11b": 11.0, "802.11g": 54.0, "802.11n": 300.0, "802.11ac": 866.7}
"""Rates of the PHY [Mbps]. Data are offered at these rates."""
RTTS = {"10 ms": 10, "80 ms": 80, "200 ms": 200}
NONE = "none"
THINNED = (1, 2, 4, 8, 16)


@dataclass(frozen=True)
class Arm:
    """A receiver with byte counting of `packets`, and for TACK at most 4 ACKs per `rtt` ms."""

    name: str
    packets: int = 2
    rtt: int | None = None

    def frequency(self, mbps: float) -> float:
        """Returns ACKs per second for a UDP baseline of `mbps`, in the tool's unit of 1024 kbps."""
        counting = mbps * 1024 * 1000 / (8 * self.packets * COUNTED)
        return counting if self.rtt is None else min(counting, 4000 / self.rtt)


BY_COUNT = {packets: Arm(f"TCP (L = {packets})", packets) for packets in THINNED}
TACKS = {name: Arm(f"TACK {name}", 2, rtt) for name, rtt in RTTS.items()}


def offered(mbps: float) -> dict[str, object]:
    """Returns the overrides for a rate of data."""
    return {"flow.0.traffic.rate": f"{mbps:g}Mbps"}


def rate(frequency: float) -> dict[str, object]:
    """Returns the overrides for a number of ACKs per second."""
    return {"flow.1.traffic.rate": f"{round(frequency * ACK * 8)}bps"}


SILENT: dict[str, object] = {"flow.1.start": "10.9s", "flow.1.traffic.rate": "1bps"}
"""The UDP baseline: no ACK, except possibly one in the last tenth of a second."""
