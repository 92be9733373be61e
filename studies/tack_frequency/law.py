"""The frequencies that the law and its rivals give (Li et al., SIGCOMM 2020, section 4.1)."""

import math

PUBLISHED_PACKET = 1472 + 52
"""What the paper's tool counts for a packet: the payloads of a datagram and of an ACK, in bytes
(fillthepipe/ackemu, utils.py).
"""


def byte_counting(bits_per_second: float, packets: int, mss: int) -> float:
    """ACKs a second of a receiver that counts bytes: f = bw/(L·MSS)."""
    return bits_per_second / (8 * packets * mss)


def tack(bits_per_second: float, rtt: float, mss: int, packets: int = 2, beta: int = 4) -> float:
    """Equation (3), f = min{bw/(L·MSS), β/RTTmin}.

    TACKs a second, where `rtt` is RTTmin in seconds.
    """
    return min(byte_counting(bits_per_second, packets, mss), beta / rtt if rtt else math.inf)


def published_rate(mbps: float) -> float:
    """Returns a UDP baseline in bit/s, in the figure's unit of 1024 kbps."""
    return mbps * 1024 * 1000
