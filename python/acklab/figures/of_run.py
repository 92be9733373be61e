"""All figures of a run, by name, as reports and `acklab plot` show them."""

from collections.abc import Callable, Iterator, Mapping

import plotly.graph_objects as go
import polars as pl

from acklab.airtime import by_use
from acklab.figures.acks import acks_by_reason, decisions
from acklab.figures.air import air_timeline, around_first_collision
from acklab.figures.air_shares import air_shares
from acklab.figures.distribution import distribution
from acklab.figures.events import events
from acklab.figures.limits import limits
from acklab.figures.operating_point import drawn_flows, in_flight_plane, mean_plane, operating_point
from acklab.figures.packets import around_first_retransmission, packet_numbers
from acklab.figures.queues import queues
from acklab.result import Result

_SERIES = frozenset({"operating_point", "throughput"})


def _operating_point(result: Result) -> go.Figure | None:
    has_points = set(result.tables) >= _SERIES and not (result.operating_point.is_empty() and result.throughput.is_empty())
    return operating_point(result) if has_points else None


def _distribution(result: Result) -> go.Figure | None:
    has_points = set(result.tables) >= _SERIES and not result.throughput.is_empty()
    return distribution(result) if has_points else None


def _in_flight_plane(result: Result) -> go.Figure | None:
    return in_flight_plane(result) if _has(result, "mean_in_flight_l4") else None


def _mean_plane(result: Result) -> go.Figure | None:
    return mean_plane(result) if _has(result, "mean_srtt_l4") else None


def _packet_numbers(result: Result) -> go.Figure | None:
    if "packets" not in result.tables or result.packets.is_empty():
        return None
    return packet_numbers(result, result.packets["flow"][0], around_first_retransmission(result))


def _air(result: Result) -> go.Figure | None:
    if "air" not in result.tables or result.air.is_empty():
        return None
    return air_timeline(result.air, window=around_first_collision(result.air))


def _air_shares(result: Result) -> go.Figure | None:
    if "airtime" not in result.tables or result.airtime.is_empty():
        return None
    shares: dict[str, dict[str, float]] = {}
    for row in by_use(result.airtime.iter_rows(named=True)):
        shares.setdefault(row["cell"], {})[row["use"]] = row["share"]
    return air_shares(shares)


def _has(result: Result, column: str) -> bool:
    flows = result.flows
    return column in flows.columns and not flows.filter(pl.col(column).is_not_null()).is_empty()


FIGURES: Mapping[str, tuple[Callable[[Result], go.Figure | None], str]] = {
    "operating-point": (_operating_point, "Operating point over time"),
    "limits": (limits, "Limiting factors of each flow by share of time, with the conclusion beside the name"),
    "queues": (queues, "Queues over time"),
    "acks": (acks_by_reason, "ACKs by the receiver's reason"),
    "decisions": (decisions, "Decisions of the ACK policy over time, by reason"),
    "events": (events, "Events of the endpoints over time"),
    "packets": (_packet_numbers, "Packet number over time"),
    "airtime": (_air_shares, "Airtime by use"),
    "air": (_air, "PPDUs on the air"),
    "means": (_mean_plane, "Mean operating point: throughput over smoothed RTT"),
    "in-flight": (_in_flight_plane, "Throughput and smoothed RTT over data in flight"),
    "distribution": (_distribution, "Distribution of throughput and smoothed RTT"),
}
"""The figures by name, with their captions. A function returns None if a run has no data for it."""


def figures_of(result: Result) -> Iterator[tuple[str, go.Figure, str]]:
    """Yields the figures of a run that have data: name, figure and caption."""
    many = result.flows.height
    for name, (draw, caption) in FIGURES.items():
        figure = draw(result)
        if figure is not None:
            drawn = len(drawn_flows(result))
            left_out = name in ("operating-point", "distribution") and drawn < many
            note = f" of {drawn} of {many:,} flows: those with the highest and the lowest throughput" if left_out else ""
            yield name, figure, caption + note
