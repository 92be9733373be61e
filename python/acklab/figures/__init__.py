"""Figures of results, by Plotly and in one style.

Every function returns a `plotly.graph_objects.Figure`: show it in Jupyter, change it, or write it
with `save`.

theme            colours, template, thinning of long series
operating_point  over time; against data in flight; throughput over RTT
distribution     empirical distributions of throughput and RTT
packets          packet number over time
time_sequence    bytes over time, of captured connections
acks             ACKs by reason, in total and over time
queues           queues over time
events           events of endpoints over time
limits           limiting factors of flows
of_run           all figures of a run, by name
air              timeline of the PPDUs of a cell
air_shares       shares of airtime by use
sweep            a value over two keys of a grid
overview         aggregates over a large grid
ratio            ratios to a baseline over the axes of a grid
comparison       our numbers compared with published ones
agreement        ratios of ours to another implementation, path by path
bars             means in groups, with intervals and published numbers
error_bars       intervals in the form of Plotly
saving           figures as HTML, SVG, PDF or PNG
"""

from acklab.figures.acks import acks_by_reason, decisions
from acklab.figures.agreement import agreement
from acklab.figures.air import air_timeline
from acklab.figures.air_shares import air_shares
from acklab.figures.bars import bars
from acklab.figures.comparison import comparison
from acklab.figures.distribution import distribution
from acklab.figures.error_bars import error_bars, half_widths
from acklab.figures.events import events
from acklab.figures.limits import limits
from acklab.figures.of_run import FIGURES, figures_of
from acklab.figures.operating_point import in_flight_plane, mean_plane, operating_point, runs_plane
from acklab.figures.overview import median_map, spread
from acklab.figures.packets import packet_numbers
from acklab.figures.queues import queues
from acklab.figures.ratio import ratio_map
from acklab.figures.saving import save
from acklab.figures.sweep import heat_map, profiles
from acklab.figures.time_sequence import time_sequence

__all__ = [
    "FIGURES",
    "acks_by_reason",
    "agreement",
    "air_shares",
    "air_timeline",
    "bars",
    "comparison",
    "decisions",
    "distribution",
    "error_bars",
    "events",
    "figures_of",
    "half_widths",
    "heat_map",
    "in_flight_plane",
    "limits",
    "mean_plane",
    "median_map",
    "operating_point",
    "packet_numbers",
    "profiles",
    "queues",
    "ratio_map",
    "runs_plane",
    "save",
    "spread",
    "time_sequence",
]


def __dir__() -> list[str]:
    return __all__
