"""Figure 9: MIMD contention windows, by minimum window and by the nodes that use MIMD."""

from collections.abc import Mapping, Sequence

import plotly.graph_objects as go
import polars as pl

from acklab.figures.theme import COLOURS, OPTIMUM, finish
from acklab.report import Figure, Section
from acklab.studies import Bench

from .arms import LARGE, MIMD, MIMD_OF_STATIONS, mimd
from .contention import GOODPUT, lead, pair
from .drawing import PLAIN_DELAYED, Series, leads, over_stations, published_line, star
from .runs import COMMAND, MOST, SCENARIO, STATIONS, summary

MBPS, LEAD = 6, 20
"""Published values: the minimum goodput with the filter, and its minimum gain [%]."""

FLOORS = (1, 2, 7, 15, 31)
"""Minimum windows. With ns-2's rules, 1 means no backoff."""

OF_STATIONS, OF_ACCESS_POINT = "wifi.0.station.0", "wifi.0.ap"
WHO: Mapping[str, Sequence[str]] = {
    "stations only": [OF_STATIONS],
    "all nodes": [OF_STATIONS, OF_ACCESS_POINT],
    "access point only": [OF_ACCESS_POINT],
}
APART = {
    "stations 1; access point 2": (1, 2),
    "stations 2; access point 1": (2, 1),
    "stations 1; access point 3": (1, 3),
    "stations 1; access point 7": (1, 7),
}
"""Different minimum windows for stations and the access point."""
SOME = (2, 10, MOST)
"""Numbers of stations of the combinations."""


def sections(bench: Bench, frame: pl.DataFrame, of: str, commands: list[str]) -> list[Section]:
    """Returns the figure from the runs of the base, then combinations of omitted settings."""
    return [_mimd(frame, of, commands), _floors(bench)]


def _mimd(frame: pl.DataFrame, of: str, commands: list[str]) -> Section:
    reference = Series("without the filter, CWmin 31", LARGE.name, PLAIN_DELAYED, "dot")
    figure = over_stations(frame, {"": [*pair(MIMD), reference]}, "mbps", GOODPUT)
    published_line(figure, MBPS, f"published: above {MBPS} Mbps with the filter")
    drawn = leads(
        {
            "MIMD": (lead(frame, MIMD), COLOURS[0]),
            "MIMD of stations only": (lead(frame, MIMD_OF_STATIONS), COLOURS[2]),
            "CWmin 31": (lead(frame, LARGE), PLAIN_DELAYED),
        }
    )
    published_line(drawn, LEAD, f"published: above {LEAD} %")
    text = (
        "All nodes use MIMD here. Successes halve the window of a station down to no backoff, and that of the access point down to 2. The last sender then "
        "transmits next, as long as it has data. With the filter it has data, because its ACKs do not wait behind those of others. An access point with "
        "short backoff takes the medium from such a station once it has ACKs. This cancels the gain of MIMD at stations only, in the cell without the filter."
    )
    return Section(
        "MIMD contention windows",
        text,
        [
            Figure(figure, f"Goodput by number of stations, q = 250: {of} (the paper's Figure 9)", commands),
            Figure(drawn, f"Goodput gain of the filter, q = 250: {of}", commands),
        ],
    )


def _floors(bench: Bench) -> Section:
    combined, repeat = _combinations(bench)
    least = _least(combined)
    met = least.filter(pl.col("mbps") > MBPS, pl.col("lead") > LEAD * 0.95)
    named = [f"{who}, floor {floor}" for who, floor in met.select("who", "floor").iter_rows()]
    text = (
        "In the paper, a failure doubles the window and a success halves it. The paper omits the nodes, the minimum window, and whether all nodes share it. The figure varies all three, at 2, 10 and 30 stations. "
        f"Above {MBPS} Mbps with a gain of about {LEAD} % or more at all three: {'; '.join(named) or 'none'}."
    )
    return Section(
        "MIMD by node and minimum window",
        text,
        [
            Figure(
                _drawn(least),
                "MIMD: minimum goodput with the filter against minimum gain over 2, 10 and 30 stations, by node and minimum window",
                [COMMAND, repeat],
            )
        ],
    )  # fmt: skip


def floors() -> dict[str, dict[str, object]]:
    """Returns MIMD settings by nodes and minimum window. Minimum windows may differ by node."""
    one = {
        f"{who} / {floor}": {key: value for path in paths for key, value in mimd(path, floor).items()}
        for who, paths in WHO.items()
        for floor in FLOORS
    }
    own = {
        f"different / {name}": {**mimd(OF_STATIONS, of_stations), **mimd(OF_ACCESS_POINT, of_access_point)}
        for name, (of_stations, of_access_point) in APART.items()
    }
    return one | own


def _combinations(bench: Bench) -> tuple[pl.DataFrame, str]:
    """Returns goodput with the filter and its gain, by nodes, minimum window and stations."""
    axes = {
        "who": floors(),
        "arm": {arm.name: arm.set for arm in (LARGE, LARGE.filtered)},
        STATIONS: list(SOME),
    }
    result = bench.sweep(SCENARIO, "floors", axes, seeds=min(3, bench.seeds))
    means = summary(result).group_by(["who", "arm", "stations"], maintain_order=True).agg(pl.col("mbps").mean())
    both = means.pivot("arm", index=["who", "stations"], values="mbps")
    mbps = pl.col(LARGE.filtered.name)
    split = pl.col("who").str.split_exact(" / ", 1)
    return both.with_columns(
        mbps=mbps,
        lead=100 * (mbps / pl.col(LARGE.name) - 1),
        who=split.struct.field("field_0"),
        floor=split.struct.field("field_1"),
    ), result.rerun


def _least(combined: pl.DataFrame) -> pl.DataFrame:
    """Returns the minimum goodput and the minimum gain over the numbers of stations."""
    return combined.group_by(["who", "floor"], maintain_order=True).agg(pl.col("mbps", "lead").min())


def _drawn(least: pl.DataFrame) -> go.Figure:
    figure = go.Figure()
    for index, who in enumerate(least["who"].unique(maintain_order=True)):
        own = least.filter(pl.col("who") == who)
        figure.add_scatter(
            x=own["lead"], y=own["mbps"], mode="markers+text", name=who, marker={"color": COLOURS[index], "size": 9}, text=own["floor"],
            textposition="top center", hovertemplate="%{y:.2f} Mbps, %{x:.1f} % gain<br>floor %{text}",
        )  # fmt: skip
    figure.add_hline(MBPS, line={"color": OPTIMUM, "width": 1.4, "dash": "dash"})
    star(figure, LEAD, MBPS, "published bounds")
    figure.update_xaxes(title_text="minimum gain of the filter", ticksuffix=" %")
    figure.update_yaxes(title_text="minimum goodput with the filter [Mbps]")
    return finish(figure, 460)
