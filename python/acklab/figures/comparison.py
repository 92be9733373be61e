"""Our numbers compared with published ones."""

import math
from collections.abc import Sequence

import plotly.graph_objects as go

from acklab.figures.theme import COLOURS, MUTED, finish
from acklab.verdict import NOT_REPRODUCED, REPRODUCED, SAME_DIRECTION, UNDECIDED, Finding

VERDICT_COLOURS = {REPRODUCED: COLOURS[2], SAME_DIRECTION: COLOURS[4], NOT_REPRODUCED: COLOURS[1], UNDECIDED: COLOURS[7]}


def comparison(claims: Sequence[Finding]) -> go.Figure:
    """Draws the difference of each number from the published one [%], with its interval.

    The grey bar is the tolerance.

    Numbers published as zero have no ratio and are omitted. If the published number is a bound, its
    grey bar ends at the most distant of our numbers.
    """
    shown = [claim for claim in reversed(claims) if claim.published and not math.isnan(claim.measured)]
    names = [claim.title for claim in shown]
    farthest = max((abs(_off(claim, claim.measured)) for claim in shown), default=0.0)
    bars = [
        [_off(claim, edge) if math.isfinite(edge) else math.copysign(farthest, edge) for edge in claim.tolerated]
        for claim in shown
    ]
    figure = go.Figure()
    figure.add_bar(
        y=names, x=[high - low for low, high in bars], base=[low for low, _ in bars],
        orientation="h", marker={"color": MUTED, "opacity": 0.28}, width=0.62, name="tolerance", hoverinfo="skip",
    )  # fmt: skip
    for verdict, ink in VERDICT_COLOURS.items():
        own = [claim for claim in shown if claim.verdict == verdict]
        if not own:
            continue
        figure.add_scatter(
            y=[claim.title for claim in own], x=[_off(claim, claim.measured) for claim in own], name=verdict, mode="markers",
            marker={"size": 9, "color": ink},
            error_x={
                "type": "data", "symmetric": False, "thickness": 1.6, "width": 4, "color": ink,
                "array": [_span(claim, claim.high) for claim in own], "arrayminus": [-_span(claim, claim.low) for claim in own],
            },
            customdata=[[claim.published, claim.measured] for claim in own],
            hovertemplate="published %{customdata[0]} · ours %{customdata[1]:.4g} · %{x:+.2f} %",
        )  # fmt: skip
    figure.add_vline(0, line={"color": MUTED, "width": 1})
    figure.update_xaxes(title_text="Ours minus published [% of published]", ticksuffix=" %")
    figure.update_yaxes(categoryorder="array", categoryarray=names, showgrid=False)
    return finish(figure, 110 + 26 * max(len(shown), 3))


def _off(claim: Finding, value: float) -> float:
    return 100 * (value - claim.published) / abs(claim.published)


def _span(claim: Finding, value: float) -> float:
    return 0.0 if math.isnan(value) else _off(claim, value) - _off(claim, claim.measured)
