"""Claims under each of the settings that the paper omits."""

import math
from collections.abc import Mapping, Sequence

import plotly.graph_objects as go
import polars as pl

from acklab.figures.comparison import VERDICT_COLOURS
from acklab.figures.theme import finish
from acklab.report import Figure, Section, Table
from acklab.studies import Bench, Claim
from acklab.verdict import NOT_REPRODUCED, REPRODUCED, VERDICTS

from .arms import CROSSING, OVER_ALL, OVER_MANY
from .claim_values import Number, measure, numbers
from .runs import BASE, COMMAND, FEW, MANY, MOST, Values, collect, summary, sweep_arms

FILE = "settings.toml"
QUICK = f"{FILE}:window 20,window 100,RTS"
SEEDS = 4
"""Maximum number of seeds.

More seeds would take too many runs; with fewer seeds, most intervals are too wide.
"""


def survey(bench: Bench, base: Values) -> Section:
    """Returns the verdict of every claim under every setting."""
    settings = bench.variants(QUICK if bench.quick else FILE)
    seeds = min(SEEDS, bench.seeds)
    wanted = {
        "settings-crossing": (CROSSING, [2, FEW, MANY, 15, 20, MOST]),
        "settings": (OVER_ALL, [2, MANY, MOST]),
        "settings-many": (OVER_MANY, [MANY, MOST]),
    }
    results = [sweep_arms(bench, name, arms, stations, settings, seeds) for name, (arms, stations) in wanted.items()]
    frames = [summary(result) for result in results]
    found = {BASE: numbers(base)}
    for name in settings.chosen:
        found[name] = numbers(collect(frame.filter(pl.col("setting") == name) for frame in frames))
    claims = [claim for claim in bench.study.file.claim if not claim.reading_of]
    titles = {BASE: "as in upload.toml"} | {name: one.title for name, one in settings.chosen.items()}
    verdicts = {
        name: [claim.verdict(measure(values[claim.id], []).interval) for claim in claims] for name, values in found.items()
    }
    commands = [COMMAND, *(result.rerun for result in results)]
    return Section(
        "Settings that the paper omits",
        f"Each column changes one setting of the base and repeats all runs ({seeds} seeds; 2, {MANY} and {MOST} stations, more for the crossing with q = 250). "
        "Numbers are ours; hover labels have the published ones.",
        [
            Figure(_matrix(claims, found, verdicts, titles), "Claims by setting, with their verdicts", commands),
            _tally(verdicts, titles),
            _fragile(claims, verdicts, titles),
        ],
    )


def _matrix(
    claims: Sequence[Claim],
    found: Mapping[str, Mapping[str, Number]],
    verdicts: Mapping[str, Sequence[str]],
    titles: Mapping[str, str],
) -> go.Figure:
    names = [f"{claim.title} ({claim.group.partition(':')[0]})" for claim in claims]
    means = [[measure(values[claim.id], []).interval.mean for values in found.values()] for claim in claims]
    figure = go.Figure()
    steps = len(VERDICTS)
    scale = [[edge / steps, VERDICT_COLOURS[verdict]] for place, verdict in enumerate(VERDICTS) for edge in (place, place + 1)]
    hover = [
        [f"{titles[name]}<br>ours {value:.3g}, published {claim.published:g} ({claim.tolerance})<br>{verdicts[name][row]}" for name, value in zip(found, means[row], strict=True)]
        for row, claim in enumerate(claims)
    ]  # fmt: skip
    figure.add_heatmap(
        x=list(found), y=names, z=[[VERDICTS.index(verdicts[name][row]) + 0.5 for name in found] for row in range(len(claims))], zmin=0, zmax=steps,
        colorscale=scale, showscale=False, opacity=0.62, xgap=1, ygap=1, text=[[_short(value) for value in row] for row in means], texttemplate="%{text}",
        textfont={"size": 9, "color": "#1F2933"}, customdata=hover, hovertemplate="<b>%{y}</b><br>%{customdata}<extra></extra>",
    )  # fmt: skip
    for verdict in VERDICTS:
        marker = {"symbol": "square", "size": 11, "color": VERDICT_COLOURS[verdict], "opacity": 0.62}
        figure.add_scatter(x=[None], y=[None], mode="markers", name=verdict, marker=marker)
    figure.update_xaxes(side="bottom", tickangle=-45, showgrid=False, ticks="")
    figure.update_yaxes(autorange="reversed", showgrid=False, ticks="", tickfont={"size": 10})
    return finish(figure, 190 + 21 * len(claims))


def _short(value: float) -> str:
    if math.isnan(value):
        return "–"
    return f"{value:.0f}" if abs(value) >= 9.95 else f"{value:.1f}" if abs(value) >= 2 else f"{value:.2f}"


def _tally(verdicts: Mapping[str, Sequence[str]], titles: Mapping[str, str]) -> Table:
    rows = [[name, titles[name], *(str(list(own).count(verdict)) for verdict in VERDICTS)] for name, own in verdicts.items()]
    return Table(["setting", "change", *VERDICTS], rows, "Number of claims per verdict under each setting", numeric_from=2)


def _fragile(claims: Sequence[Claim], verdicts: Mapping[str, Sequence[str]], titles: Mapping[str, str]) -> Table:
    """Returns the claims whose verdicts depend on a setting, by setting."""
    rows = []
    for row, claim in enumerate(claims):
        own = {name: kinds[row] for name, kinds in verdicts.items()}
        good = [name for name, verdict in own.items() if verdict == REPRODUCED]
        bad = [name for name, verdict in own.items() if verdict == NOT_REPRODUCED]
        rows.append([claim.id, claim.title, str(len(good)), _named(good, list(own)), str(len(bad)), _named(bad, list(own))])
    return Table(
        ["claim", "statement", "reproduced", "under", "not reproduced", "under"], rows, f"Claims by the settings, of {len(titles)}, under which they are reproduced", numeric_from=9
    )  # fmt: skip


def _named(names: Sequence[str], every: Sequence[str]) -> str:
    """Returns the names, or the missing names if these are fewer."""
    missing = [name for name in every if name not in names]
    if not names or not missing:
        return "all" if names else "–"
    return ", ".join(names) if len(names) <= len(missing) else f"all but {', '.join(missing)}"
