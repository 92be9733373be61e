"""Figure 9, and what any control of the contention window could reach."""

from collections.abc import Mapping

import plotly.graph_objects as go
import polars as pl

from acklab.figures.theme import COLOURS, OPTIMUM, finish
from acklab.report import Figure, Section
from acklab.studies import Bench

from .arms import LARGE, MIMD
from .contention import GOODPUT, lead, pair, tcp_window
from .drawing import PLAIN_DELAYED, Series, leads, over_stations, published_line, star
from .runs import COMMAND, MOST, SCENARIO, STATIONS, summary

MBPS, LEAD = 6, 20
"""What was published: the least goodput with the filter, and its least lead in per cent."""

_ACK_2: dict[str, object] = {"wifi.0.basic_rates": ["1Mbps", "2Mbps"]}
_ACK_11: dict[str, object] = {"wifi.0.basic_rates": ["1Mbps", "2Mbps", "5.5Mbps", "11Mbps"]}
_SHORT: dict[str, object] = {"wifi.0.short_preamble": True}
PHYS: Mapping[str, Mapping[str, object]] = {
    "long preamble and ACK at 1 Mbps": {},
    "long preamble and ACK at 2 Mbps": _ACK_2,
    "long preamble and ACK at 11 Mbps": _ACK_11,
    "short preamble and ACK at 2 Mbps": _SHORT | _ACK_2,
    "short preamble and ACK at 11 Mbps": _SHORT | _ACK_11,
}
TCP_WINDOWS = (20, 44, 100, 1000)
FLOORS = (15, 31, 63)
CW_MINS = (15, 31, 63, 127, 255, 511)
SOME = (2, 10, MOST)
"""Numbers of stations of the combinations."""


def sections(bench: Bench, frame: pl.DataFrame, of: str, commands: list[str]) -> list[Section]:
    """The figure from the runs of the base, then combinations of what the paper does not say."""
    return [_mimd(frame, of, commands), _reach(bench)]


def _mimd(frame: pl.DataFrame, of: str, commands: list[str]) -> Section:
    reference = Series("without the filter, CWmin 31", LARGE.name, PLAIN_DELAYED, "dot")
    figure = over_stations(frame, {"": [*pair(MIMD), reference]}, "mbps", GOODPUT)
    published_line(figure, MBPS, f"published: the filter is above {MBPS} Mbps")
    drawn = leads({"MIMD": (lead(frame, MIMD), COLOURS[0]), "CWmin 31": (lead(frame, LARGE), PLAIN_DELAYED)})
    published_line(drawn, LEAD, f"published: above {LEAD} %")
    text = (
        "A window that is doubled by a failure and halved by a success is larger than one that a success resets. But as long as more frames succeed than fail it drifts "
        "down to its least value, which is far from where the throughput of many stations is best."
    )
    return Section(
        "MIMD contention windows",
        text,
        [
            Figure(figure, f"Goodput by number of stations, q = 250: {of} (the paper's Figure 9)", commands),
            Figure(drawn, f"Lead of the filter, q = 250: {of}", commands),
        ],
    )


def _reach(bench: Bench) -> Section:
    best, its = _best_window(bench)
    combined, repeat = _combinations(bench)
    least, least_of_many = (_least(combined.filter(pl.col("stations").is_in(list(some)))) for some in (SOME, SOME[1:]))
    above, ahead = pl.col("mbps") > MBPS, pl.col("lead") > LEAD
    met, met_by_many = ([one.filter(test).height for test in (above, ahead, above & ahead)] for one in (least, least_of_many))
    enough = [name for name in PHYS if (best.filter(pl.col("phy") == name)["mbps"] >= MBPS).all()]
    text = (
        f"Could what the paper leaves open yield its Figure 9? First, fixed windows with a CWmin of {CW_MINS[0]} to {CW_MINS[-1]}, and for each number of stations the best "
        f"of them, which is about what an ideal control would reach. From 2 stations on that is above {MBPS} Mbps with {', or '.join(enough) or 'none of the PHYs'}.\n\n"
        f"Then MIMD with {least.height} combinations of preamble, rate of link-layer ACKs, window of TCP and least contention window. At 2, 10 and 30 stations {met[0]} are above "
        f"{MBPS} Mbps, {met[1]} lead by more than {LEAD} %, and {met[2]} do both; at 10 and 30 alone it is {met_by_many[0]}, {met_by_many[1]} and {met_by_many[2]}."
    )
    return Section(
        "What a control of the window could reach",
        text,
        [
            Figure(_drawn_best(best), "Goodput with the filter and the best CWmin for each number of stations, by PHY, q = 250", [COMMAND, its]),
            Figure(
                _drawn_combinations(least),
                "MIMD: least goodput with the filter against its least lead over 2, 10 and 30 stations; a dot a combination, and hovering tells which",
                [COMMAND, repeat],
            ),
        ],
    )  # fmt: skip


def _best_window(bench: Bench) -> tuple[pl.DataFrame, str]:
    axes = {
        "phy": PHYS,
        "window": {f"CWmin {least}": {"wifi.0.access.best_effort.cw_min": least} for least in CW_MINS},
        "arm": {LARGE.filtered.name: LARGE.filtered.set},
        STATIONS: list(SOME) if bench.quick else [2, 5, 10, 20, MOST],
    }
    result = bench.sweep(SCENARIO, "best-window", axes, seeds=1)
    return summary(result).sort("mbps").group_by(["phy", "stations"]).last().sort("stations"), result.rerun


def _drawn_best(best: pl.DataFrame) -> go.Figure:
    figure = go.Figure()
    for index, name in enumerate(PHYS):
        own = best.filter(pl.col("phy") == name)
        figure.add_scatter(
            x=own["stations"], y=own["mbps"], mode="lines+markers", name=name, line={"color": COLOURS[index], "width": 1.4},
            customdata=own["window"], hovertemplate="%{x} stations<br>%{y:.2f} Mbps with %{customdata}",
        )  # fmt: skip
    figure.add_hline(MBPS, line={"color": OPTIMUM, "width": 1.4, "dash": "dash"})
    figure.update_xaxes(title_text="stations")
    figure.update_yaxes(title_text=GOODPUT)
    return finish(figure, 430)


_KEYS = ("phy", "window", "least")


def _combinations(bench: Bench) -> tuple[pl.DataFrame, str]:
    """Goodput with the filter and its lead, by combination and number of stations."""
    axes = {
        "phy": PHYS,
        "window": {str(packets): tcp_window(packets) for packets in (TCP_WINDOWS[::3] if bench.quick else TCP_WINDOWS)},
        "least": {str(least): {"wifi.0.access.best_effort.cw_min": least} for least in (FLOORS[1:2] if bench.quick else FLOORS)},
        "arm": {arm.name: arm.set for arm in (MIMD, MIMD.filtered)},
        STATIONS: list(SOME),
    }
    result = bench.sweep(SCENARIO, "combinations", axes, seeds=1)
    both = summary(result).pivot("arm", index=[*_KEYS, "stations"], values="mbps")
    mbps = pl.col(MIMD.filtered.name)
    return both.with_columns(mbps=mbps, lead=100 * (mbps / pl.col(MIMD.name) - 1)), result.rerun


def _least(combined: pl.DataFrame) -> pl.DataFrame:
    """The least of both over the numbers of stations."""
    return combined.group_by(_KEYS, maintain_order=True).agg(pl.col("mbps", "lead").min())


def _drawn_combinations(least: pl.DataFrame) -> go.Figure:
    figure = go.Figure()
    for index, name in enumerate(PHYS):
        own = least.filter(pl.col("phy") == name)
        figure.add_scatter(
            x=own["lead"], y=own["mbps"], mode="markers", name=name, marker={"color": COLOURS[index], "size": 8}, customdata=own.select("window", "least").rows(),
            hovertemplate="%{y:.2f} Mbps, %{x:.1f} % ahead<br>TCP window of %{customdata[0]} packets<br>CWmin %{customdata[1]}",
        )  # fmt: skip
    star(figure, LEAD, MBPS, "published: beyond this", side="top left")
    figure.update_xaxes(title_text="least lead of the filter", ticksuffix=" %")
    figure.update_yaxes(title_text="least goodput with the filter [Mbps]")
    return finish(figure, 460)
