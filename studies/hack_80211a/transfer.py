"""Tables 2 and 3: cost of the ACKs of a transfer, computed as in the paper."""

from collections.abc import Mapping
from dataclasses import dataclass

import polars as pl

from acklab.report import Section, Table
from acklab.result import Result
from acklab.statistics import mean_interval
from acklab.studies import Bench, Runs
from acklab.sweeps import load_sweep

from .runs import CONTENTS, HACK, SCENARIO, SCHEMES, STOCK, transfers

# IEEE Std 802.11-2020, Table 17-21; DIFS = SIFS + 2 slots.
SLOT, SIFS = 9.0, 16.0
DIFS = SIFS + 2 * SLOT
DATA_RATE, ANSWER_RATE = 54.0, 24.0


def on_answers(row: Mapping[str, int]) -> int:
    """Returns the bytes in a node's response frames, from a row of the table `hack`."""
    return row["total_compressed_bytes_l2"] + row["total_augmented_answers_l2"]


def headers_alone(row: Mapping[str, int]) -> int:
    """Returns the bytes of compressed headers in a node's response frames.

    The profile of TCP/HACK begins each header with one byte that identifies its context.
    """
    return row["total_compressed_bytes_l2"] - row["total_compressed_acks_l2"]


@dataclass(frozen=True)
class Cost:
    """Costs of a transfer to one client. Times are in milliseconds."""

    acks: int
    """Ordinary ACKs that the client's TCP or HACK sent as frames."""
    octets: int
    """Bytes of the ordinary ACKs as IP packets."""
    compressed: int
    compressed_octets: int
    """Bytes of compressed headers, without the context byte of each header."""
    carried_octets: int
    """Additional bytes of response frames.

    They include context bytes, and the first byte of each frame, which has the number of the
    frame's first ACK.
"""
    frames: int
    """Transmissions of the ordinary ACKs, including repetitions."""
    answered: int
    backoff: float
    """Mean of the client's backoffs [slots]."""
    late: float
    """Lateness of link-layer ACKs [µs]."""

    @classmethod
    def of(cls, result: Result, late: float) -> "Cost":
        """Reads the tables of a run."""
        flow = result.flows.row(0, named=True)
        access_point, client = result.stations.to_dicts()
        acks, octets, compressed, headers, carried = flow["total_acks_sent_l4"], flow["total_ack_bytes_l3"], 0, 0, 0
        if "hack" in result.tables:
            own = result.table("hack").filter(pl.col("node") == client["node"]).row(0, named=True)
            acks, octets = own["total_plain_acks_l2"], own["total_plain_ack_bytes_l2"]
            compressed, headers, carried = own["total_compressed_acks_l2"], headers_alone(own), on_answers(own)
        return cls(
            acks,
            octets,
            compressed,
            headers,
            carried,
            frames=client["total_ppdus_l2"],
            answered=access_point["total_link_acks_l2"],
            backoff=client["mean_backoff_l2"],
            late=late,
        )

    @property
    def ack_time(self) -> float:
        """Returns the transmission time of the bytes of ordinary ACKs at the data rate."""
        return self.octets * 8 / DATA_RATE / 1000

    @property
    def rohc_time(self) -> float:
        """Returns the transmission time of compressed ACKs at the rate of link-layer ACKs."""
        return self.compressed_octets * 8 / ANSWER_RATE / 1000

    @property
    def access_time(self) -> float:
        """Returns the time of a DIFS and a backoff per transmission."""
        return self.frames * (DIFS + self.backoff * SLOT) / 1000

    @property
    def answer_time(self) -> float:
        """Time from the end of each frame to its link-layer ACK."""
        return self.answered * (SIFS + self.late) / 1000

    @property
    def compressed_mean(self) -> float:
        """Returns the mean bytes of the header of a compressed ACK."""
        return self.compressed_octets / self.compressed if self.compressed else 0.0

    @property
    def carried_mean(self) -> float:
        """Returns the mean additional bytes of a response frame per compressed ACK."""
        return self.carried_octets / self.compressed if self.compressed else 0.0


# Numbers of Tables 2 and 3, each with the field of `Cost` and the scheme.
COSTS = {
    "acks": ("acks", STOCK),
    "ack_octets": ("octets", STOCK),
    "plain": ("acks", HACK),
    "plain_octets": ("octets", HACK),
    "compressed": ("compressed", HACK),
    "compressed_octets": ("compressed_octets", HACK),
    "compressed_mean": ("compressed_mean", HACK),
    "carried_octets": ("carried_octets", HACK),
    "carried_mean": ("carried_mean", HACK),
    "ack_time": ("ack_time", STOCK),
    "access_time": ("access_time", STOCK),
    "answer_time": ("answer_time", STOCK),
    "ack_time_hack": ("ack_time", HACK),
    "rohc_time": ("rohc_time", HACK),
    "access_time_hack": ("access_time", HACK),
    "answer_time_hack": ("answer_time", HACK),
}


def costs(bench: Bench, own: Runs) -> list[Cost]:
    """Returns the cost of the ACKs of each run."""
    late = float(bench.source(SCENARIO).load()["wifi"][0]["late_answers"].removesuffix("us"))
    return [Cost.of(result, late) for result in own.results]


def of_constant_size(bench: Bench) -> list[float]:
    """Returns the bytes of a compressed ACK with its context, for each seed.

    Without timestamps a download's ACKs differ by one constant step.
    """
    acks = load_sweep(bench.folder / "contents").table("hack")
    own = acks.filter(pl.col("node") == "client", pl.col("contents") == "no timestamps; checksum elided")
    return [row["total_compressed_bytes_l2"] / row["total_compressed_acks_l2"] for row in own.to_dicts()]


def section(bench: Bench) -> Section:
    """Returns both tables, and the contents of a compressed ACK."""
    sent = transfers(bench)
    by_scheme = {scheme: costs(bench, own) for scheme, own in sent.items()}
    known = {claim.metric.removeprefix("study."): claim.published for claim in bench.study.file.claim}
    titles = {
        "acks": "ordinary ACKs", "octets": "their bytes", "compressed": "compressed ACKs", "compressed_octets": "bytes of their headers",
        "carried_octets": "their bytes on response frames",
        "ack_time": "TCP ACKs [ms]", "rohc_time": "ROHC [ms]", "access_time": "acquire channel [ms]", "answer_time": "LL ACK overhead [ms]",
    }  # fmt: skip
    rows = []
    for part, title in titles.items():
        row = [title]
        for scheme in SCHEMES:
            interval = mean_interval([float(getattr(cost, part)) for cost in by_scheme[scheme]])
            name = next((name for name, place in COSTS.items() if place == (part, scheme)), "")
            row += [f"{known[name]:g}" if name else "–", interval.text(2 if "time" in part else 0)]
        rows.append(row)
    head = ["", "stock, published", "ours", "HACK, published", "ours"]
    return Section(
        "A transfer of 25 MiB: Tables 2 and 3",
        "Times are computed by the method that reproduces the paper's numbers: bytes of ACKs at 54 Mbps and of compressed ones at 24, without preambles; DIFS and a "
        "backoff per transmission; SIFS and lateness per awaited link-layer ACK. They are costs of ACKs, not saved time: "
        "while a client counts down its backoff, the sender does so as well.",
        items=[
            Table(head, rows, f"Mean over {bench.seeds} seeds", commands=[own.command for own in sent.values()]),
            _contents_of_acks(bench),
        ],
    )


def _contents_of_acks(bench: Bench) -> Table:
    """Returns the headers that would give 4.36 bytes and a ratio of 12."""
    swept = load_sweep(bench.folder / "contents")
    acks = swept.table("hack").filter(pl.col("node") == "client")
    rows = []
    for name in CONTENTS:
        of = acks.filter(pl.col("contents") == name)
        flow = swept.flows.filter(pl.col("contents") == name)
        plain = (flow["total_ack_bytes_l3"] / flow["total_acks_sent_l4"]).to_list()
        headers, carried = (
            [count(row) / row["total_compressed_acks_l2"] for row in of.to_dicts()] for count in (headers_alone, on_answers)
        )
        ratio = [large / little for large, little in zip(plain, headers, strict=True)]
        numbers = [mean_interval(headers).text(), mean_interval(carried).text(), mean_interval(ratio).text(1)]
        rows.append([name, f"{mean_interval(plain).mean:.1f}", *numbers])
    head = ["header", "ordinary ACK [B]", "compressed header [B]", "on a response frame [B]", "ordinary ÷ compressed header"]
    return Table(
        head,
        rows,
        "Parts of a compressed ACK, which the paper omits. It has 52 bytes for the ordinary ACK, 4.36 for the compressed one, and 12 for the ratio",
        commands=[swept.rerun],
    )
