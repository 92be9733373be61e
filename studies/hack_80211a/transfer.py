"""What the ACKs of a transfer cost, counted as Tables 2 and 3 of the paper count it."""

from collections.abc import Mapping
from dataclasses import dataclass

import polars as pl

from acklab.result import Result

# IEEE Std 802.11-2020, Table 17-21; DIFS = SIFS + 2 slots.
SLOT, SIFS = 9.0, 16.0
DIFS = SIFS + 2 * SLOT
DATA_RATE, ANSWER_RATE = 54.0, 24.0


def on_answers(row: Mapping[str, int]) -> int:
    """Octets that a node's answers carried, of a row of the table `hack`."""
    return row["total_compressed_bytes_l2"] + row["total_augmented_answers_l2"]


@dataclass(frozen=True)
class Cost:
    """Of one transfer to one client; times in milliseconds."""

    acks: int
    """Ordinary ACKs that the client's TCP or HACK sent as frames."""
    octets: int
    """Of these, as IP packets."""
    compressed: int
    compressed_octets: int
    """By which answers grow: an octet begins what each carries, of the number of its first ACK."""
    frames: int
    """Transmissions of the ordinary ones, repetitions included."""
    answered: int
    backoff: float
    """Mean of the client's backoffs [slots]."""
    late: float
    """By how much link-layer ACKs are late [µs]."""

    @classmethod
    def of(cls, result: Result, late: float) -> "Cost":
        """Reads the tables of a run."""
        flow = result.flows.row(0, named=True)
        access_point, client = result.stations.to_dicts()
        acks, octets, compressed, compressed_octets = flow["total_acks_sent_l4"], flow["total_ack_bytes_l3"], 0, 0
        if "hack" in result.tables:
            own = result.table("hack").filter(pl.col("node") == client["node"]).row(0, named=True)
            acks, octets = own["total_plain_acks_l2"], own["total_plain_ack_bytes_l2"]
            compressed, compressed_octets = own["total_compressed_acks_l2"], on_answers(own)
        return cls(
            acks,
            octets,
            compressed,
            compressed_octets,
            frames=client["total_ppdus_l2"],
            answered=access_point["total_link_acks_l2"],
            backoff=client["mean_backoff_l2"],
            late=late,
        )

    @property
    def ack_time(self) -> float:
        """Their octets at the rate of data."""
        return self.octets * 8 / DATA_RATE / 1000

    @property
    def rohc_time(self) -> float:
        """Octets of compressed ACKs at the rate of link-layer ACKs."""
        return self.compressed_octets * 8 / ANSWER_RATE / 1000

    @property
    def access_time(self) -> float:
        """DIFS and a backoff for each transmission."""
        return self.frames * (DIFS + self.backoff * SLOT) / 1000

    @property
    def answer_time(self) -> float:
        """From the end of each frame to its link-layer ACK."""
        return self.answered * (SIFS + self.late) / 1000

    @property
    def compressed_mean(self) -> float:
        """Octets of a compressed ACK."""
        return self.compressed_octets / self.compressed if self.compressed else 0.0
