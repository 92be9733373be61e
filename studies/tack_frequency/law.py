"""ACK frequencies by formula, of TACK and of TCP (Li et al., SIGCOMM 2020, section 4.1)."""

import math

PUBLISHED_PACKET = 1472 + 52
"""Bytes per packet in the paper's tool: the payloads of a datagram and of an ACK
(fillthepipe/ackemu, utils.py).
"""


def byte_counting(bits_per_second: float, packets: int, mss: int) -> float:
    """Returns ACKs per second of a receiver that counts bytes: f = bw/(L·MSS)."""
    return bits_per_second / (8 * packets * mss)


def tack(bits_per_second: float, rtt: float, mss: int, packets: int = 2, beta: int = 4) -> float:
    """Returns equation (3), f = min{bw/(L·MSS), β/RTTmin}.

    The result is in TACKs per second; `rtt` is RTTmin in seconds.
    """
    return min(byte_counting(bits_per_second, packets, mss), beta / rtt if rtt else math.inf)


def published_rate(mbps: float) -> float:
    """Returns a UDP baseline in bit/s, in the figure's unit of 1024 kbps."""
    return mbps * 1024 * 1000
