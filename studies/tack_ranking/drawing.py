"""Figures of the study."""

from collections.abc import Mapping

import plotly.graph_objects as go
import polars as pl

from acklab.figures.theme import COLOURS, OPTIMUM, faded, finish
from acklab.statistics import Interval


def violins(runs: pl.DataFrame, published: dict[str, float]) -> go.Figure:
    """Returns the distribution of ranks over all tests, best median first.

    Stars are published medians.
    """
    order = (
        runs.group_by("scheme").agg(pl.col("rank").median(), mean=pl.col("rank").mean()).sort("rank", "mean")["scheme"].to_list()
    )
    figure = go.Figure()
    for scheme in order:
        own = runs.filter(pl.col("scheme") == scheme)
        ink = COLOURS[0] if scheme == "TACK" else COLOURS[2]
        figure.add_violin(
            x=own["scheme"], y=own["rank"], name=scheme, line={"color": ink, "width": 1.3}, fillcolor=faded(ink, 0.25), box={"visible": True},
            meanline={"visible": False}, points=False, spanmode="hard", showlegend=False, hoverinfo="y",
        )  # fmt: skip
    known = [scheme for scheme in order if scheme in published]
    figure.add_scatter(
        x=known, y=[published[scheme] for scheme in known], mode="markers", name="published median",
        marker={"symbol": "star", "size": 12, "color": OPTIMUM}, hovertemplate="%{x}: %{y}<extra>published</extra>",
    )  # fmt: skip
    figure.update_yaxes(title_text="rank (1 is best)", autorange="reversed", dtick=1)
    return finish(figure, 480)


def by_ensemble(means: Mapping[str, Mapping[str, Interval]], published: Mapping[str, float]) -> go.Figure:
    """Returns a heat map of mean ranks, with a column per scheme in the published order.

    There is a row per ensemble, and a row for the published medians.
    """
    schemes = list(published)
    rows = {"published (medians)": [published[scheme] for scheme in schemes]} | {
        name: [of[scheme].mean for scheme in schemes] for name, of in means.items()
    }
    figure = go.Figure(
        go.Heatmap(
            x=schemes, y=list(rows), z=list(rows.values()), zmin=1, zmax=len(schemes), colorscale=[[0, faded(COLOURS[0], 0.9)], [1, "#FFFFFF"]],
            text=[[f"{rank:.1f}" for rank in row] for row in rows.values()], texttemplate="%{text}", xgap=2, ygap=2,
            colorbar={"title": {"text": "rank"}}, hovertemplate="%{y}, %{x}: %{z:.2f}<extra></extra>",
        )
    )  # fmt: skip
    figure.update_yaxes(autorange="reversed", ticks="")
    figure.update_xaxes(side="top", ticks="", tickangle=-30)
    return finish(figure, 620)
