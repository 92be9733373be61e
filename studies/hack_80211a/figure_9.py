"""Figure 9 and Table 1.

They show throughput with one client and with both, retransmitted frames, and uses of the airtime.
"""

from collections.abc import Mapping

from acklab import figures
from acklab.report import Figure, Section, Table
from acklab.statistics import mean_interval, ratio_interval
from acklab.studies import Bench, Runs
from acklab.studies.runs import cells, goodput

from . import drawing
from .runs import BOTH, COMMAND, HACK, ONE, STOCK, UDP, of_seeds, published, sent_again

SENT_AGAIN = {(ONE, UDP): 1.0, (BOTH, UDP): 1.0, (ONE, HACK): 2.5, (BOTH, HACK): 2.0}
"""Table 1 [%], without contention.

These numbers are not claims, because the configured losses determine them.
"""


def _over_stock(drawn: Mapping[tuple[str, str], Runs], caption: str) -> Table:
    """Returns throughput by number of clients and scheme, and its ratio to stock TCP."""
    rows = []
    for clients in (ONE, BOTH):
        for scheme in (UDP, HACK, STOCK):
            own = drawn[clients, scheme]
            parts = zip(*(result.flows["mean_throughput_l7"] for result in own.results), strict=True)
            each = [mean_interval(values) for values in parts]
            gain = ratio_interval(own.values(goodput), drawn[clients, STOCK].values(goodput))
            of_stock = "" if scheme == STOCK else gain.text(3)
            rows.append([clients, scheme, own.interval(goodput).text(), ", ".join(one.text() for one in each), of_stock])
    head = ["", "scheme", "throughput [Mbps]", "per client", "÷ stock"]
    return Table(head, rows, caption, commands=[own.command for own in drawn.values()], numeric_from=2)


def goodput_section(bench: Bench, drawn: Mapping[tuple[str, str], Runs], even: Mapping[tuple[str, str], Runs]) -> Section:
    """Returns throughput by scheme, and the gain over stock TCP.

    The losses are those of Table 1, or 1 % of all frames.
    """
    stars = published(bench, ((ONE, UDP), "udp"), ((BOTH, UDP), "udp"), ((ONE, HACK), "hack"), ((ONE, STOCK), "stock"))
    return Section(
        "Throughput: Figure 9",
        "Frame losses are those of Table 1. UDP has no contention, and TCP/HACK sends few ACKs as frames. Stars are values in the text of the paper. For both clients it has "
        "only the gain, 1.322.",
        items=[
            Figure(
                figures.bars(cells(drawn, ("clients", "scheme"), goodput), "clients", "scheme", "Mbps", published=stars, inks=drawing.INKS),
                f"Total throughput: {of_seeds(bench)}",
                [COMMAND],
            ),
            _over_stock(drawn, "The same, with ratios to stock TCP seed by seed"),
            _over_stock(even, "With 1 % of all frames lost, and collisions"),
        ],
    )  # fmt: skip


def sent_again_section(bench: Bench, drawn: Mapping[tuple[str, str], Runs]) -> Section:
    """Returns frames with more than one transmission."""
    once = published(bench, ((ONE, STOCK), "once_stock"), ((BOTH, STOCK), "once_stock_both"), scale=100)
    stars = {place: 100 - share for place, share in once.items()} | SENT_AGAIN
    return Section(
        "Retransmitted frames: Table 1",
        "Frames of the sender with more than one transmission. The channel loses 1 % of all frames, as UDP on SoRa. All further losses are collisions with TCP ACKs.",
        items=[
            Figure(
                figures.bars(
                    cells(drawn, ("clients", "scheme"), sent_again), "clients", "scheme", "retransmitted frames [%]", published=stars, inks=drawing.INKS,
                ),
                f"Share of retransmitted frames: {of_seeds(bench)}",
                [COMMAND],
            )
        ],
    )  # fmt: skip


def air_section(drawn: Mapping[tuple[str, str], Runs]) -> Section:
    """Returns the uses of the airtime."""
    shares = {f"{scheme}, {clients}": own.uses for (clients, scheme), own in drawn.items()}
    return Section(
        "Use of the time",
        "Shares of the time on the air. Waiting is attributed to the next sender. SIFS includes the lateness of response frames.",
        items=[Figure(figures.air_shares(shares), "Uses of the air, mean over seeds", [COMMAND])],
    )
