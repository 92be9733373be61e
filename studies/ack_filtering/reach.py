"""Figure 9, and what any control of the contention window could reach."""

import itertools
from collections.abc import Mapping

import plotly.graph_objects as go
import polars as pl

from acklab.figures.theme import COLOURS, OPTIMUM, finish
from acklab.report import Figure, Section
from acklab.studies import Bench

from .arms import LARGE, MIMD
from .contention import GOODPUT, lead, pair
from .drawing import PLAIN_DELAYED, Series, leads, over_stations, published_line
from .runs import COMMAND, MOST, SCENARIO, STATIONS, command, summary

MBPS, LEAD = 6, 20
"""What was published: the least goodput with the filter, and its least lead in per cent."""

_B2: Mapping[str, object] = {"wifi.0.basic_rates": ["1Mbps", "2Mbps"]}
_B11: Mapping[str, object] = {"wifi.0.basic_rates": ["1Mbps", "2Mbps", "5.5Mbps", "11Mbps"]}
_SHORT: Mapping[str, object] = {"wifi.0.short_preamble": True}
PHYS: Mapping[str, Mapping[str, object]] = {
    "long preamble, ACK 1 Mbps": {},
    "long preamble, ACK 2 Mbps": _B2,
    "long preamble, ACK 11 Mbps": _B11,
    "short preamble, ACK 2 Mbps": _SHORT | _B2,
    "short preamble, ACK 11 Mbps": _SHORT | _B11,
}
TCP_WINDOWS = (20, 44, 100, 1000)
FLOORS = (15, 31, 63)
CW_MINS = (15, 31, 63, 127, 255, 511)


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
        "Doubled by a failure and halved by a success, a window goes back and forth above its least value: with 30 stations that takes a tenth off the collisions, "
        "but it never settles where the throughput is best."
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
    figure, met, combinations, repeat = _combinations(bench)
    text = (
        f"Could something that the paper leaves open yield its Figure 9? First, the best of fixed windows with a CWmin of {CW_MINS[0]} to {CW_MINS[-1]}, chosen anew for each number of "
        f"stations as no control could do better on average: the line of {MBPS} Mbps at all numbers of stations takes the short preamble. Then MIMD with {combinations} combinations of preamble, "
        f"rate of link-layer ACKs, window of TCP and least contention window: {met['mbps']} are above {MBPS} Mbps at 2, 10 and 30 stations, {met['lead']} lead by more than {LEAD} % there, {met['both']} do both."
    )
    return Section(
        "What MIMD could reach",
        text,
        [
            Figure(best, "Goodput with the filter and the best CWmin for each number of stations, by what the PHY is", [COMMAND, its]),
            Figure(figure, "Least goodput with the filter against its least lead, over 2, 10 and 30 stations; a dot a combination, and hovering tells which", [COMMAND, repeat]),
        ],
    )  # fmt: skip


def _best_window(bench: Bench) -> tuple[go.Figure, str]:
    windows = {f"CW {least}": {"wifi.0.access.best_effort.cw_min": least} for least in CW_MINS}
    stations = [2, 10, 30] if bench.quick else [2, 5, 10, 20, 30]
    phys = _plain(PHYS)
    result = bench.sweep(
        SCENARIO,
        "best-window",
        {"phy": phys, "window": windows, "arm": {LARGE.filtered.name: LARGE.filtered.set}, STATIONS: stations},
        seeds=1,
    )
    best = summary(result).sort("mbps").group_by(["phy", "stations"]).last()
    figure = go.Figure()
    for index, name in enumerate(phys):
        own = best.filter(pl.col("phy") == name).sort("stations")
        figure.add_scatter(
            x=own["stations"], y=own["mbps"], mode="lines+markers", name=name, line={"color": COLOURS[index], "width": 1.4},
            customdata=own["window"], hovertemplate="%{x} stations<br>%{y:.2f} Mbps with %{customdata}",
        )  # fmt: skip
    figure.add_hline(MBPS, line={"color": OPTIMUM, "width": 1.4, "dash": "dash"})
    figure.update_xaxes(title_text="stations")
    figure.update_yaxes(title_text=GOODPUT)
    return finish(figure, 400), command(result)


def _plain(phys: Mapping[str, Mapping[str, object]]) -> dict[str, Mapping[str, object]]:
    """By names without commas, as those of variants are."""
    return {name.replace(",", ";"): changes for name, changes in phys.items()}


def _combinations(bench: Bench) -> tuple[go.Figure, dict[str, int], int, str]:
    windows = {
        str(packets): {"flow.0.receive_buffer": f"{1460 * packets}B", "flow.0.send_buffer": f"{1460 * packets}B", "flow.0.window_scaling": 1460 * packets > 65_535}
        for packets in (TCP_WINDOWS[::3] if bench.quick else TCP_WINDOWS)
    }  # fmt: skip
    floors = {str(least): {"wifi.0.access.best_effort.cw_min": least} for least in (FLOORS[1:2] if bench.quick else FLOORS)}
    axes = {
        "phy": _plain(PHYS),
        "window": windows,
        "floor": floors,
        "arm": {arm.name: arm.set for arm in (MIMD, MIMD.filtered)},
        STATIONS: [2, 10, MOST],
    }
    result = bench.sweep(SCENARIO, "combinations", axes, seeds=1)
    keys = ["phy", "window", "floor"]
    wide = summary(result).pivot("arm", index=[*keys, "stations"], values="mbps")
    wide = wide.with_columns(lead=100 * (pl.col(MIMD.filtered.name) / pl.col(MIMD.name) - 1))
    least = wide.group_by(keys, maintain_order=True).agg(mbps=pl.col(MIMD.filtered.name).min(), lead=pl.col("lead").min())
    figure = go.Figure()
    for index, (name, symbol) in enumerate(itertools.product(axes["phy"], ["circle"])):
        own = least.filter(pl.col("phy") == name)
        figure.add_scatter(
            x=own["lead"], y=own["mbps"], mode="markers", name=name, marker={"color": COLOURS[index], "size": 8, "symbol": symbol},
            customdata=own.select("window", "floor").rows(), hovertemplate="%{y:.2f} Mbps, %{x:.1f} % ahead<br>window of %{customdata[0]} packets, least contention window %{customdata[1]}",
        )  # fmt: skip
    figure.add_scatter(
        x=[LEAD],
        y=[MBPS],
        mode="markers+text",
        text=["published: beyond"],
        textposition="top right",
        name="published",
        showlegend=False,
        marker={"symbol": "star", "size": 13, "color": OPTIMUM},
        textfont={"size": 11, "color": OPTIMUM},
        hoverinfo="skip",
    )
    figure.update_xaxes(title_text="least lead of the filter", ticksuffix=" %")
    figure.update_yaxes(title_text="least goodput with the filter [Mbps]")
    above, ahead = pl.col("mbps") > MBPS, pl.col("lead") > LEAD
    met = {name: least.filter(test).height for name, test in (("mbps", above), ("lead", ahead), ("both", above & ahead))}
    return finish(figure, 460), met, least.height, command(result)
