"""One look for all figures: it must read on light and dark ground, and without seeing red and green apart."""

import numpy as np
import numpy.typing as npt
import plotly.graph_objects as go

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#8C6BB1", "#7F7F7F")
"""After Okabe and Ito, without the yellow and the black that vanish on light or dark ground."""

OPTIMUM = "#E3008C"
"""The star at the optimal operating point."""

MUTED = "#8A94A6"
"""Reference lines and theory."""

SEQUENTIAL = [
    [0.0, "#F3ECD8"],
    [0.25, "#A9D3C4"],
    [0.5, "#55A9B5"],
    [0.75, "#2C6E9E"],
    [1.0, "#1F2F6B"],
]
"""One hue path from light to dark, so that it survives a grey print."""

DIVERGING = [
    [0.0, "#B24A00"],
    [0.25, "#E8A06A"],
    [0.5, "#F7F5F0"],
    [0.75, "#76B4D6"],
    [1.0, "#00588F"],
]
"""Worse to better around a neutral middle, in two hues that everybody tells apart."""

UNDECIDED = "#D9DDE3"
"""Cells of which the interval says nothing."""

FROM_ZERO = {"rangemode": "tozero", "autorangeoptions": {"minallowed": 0}}
"""An axis of a quantity that is never negative: it begins at zero, also where Student's interval of a small mean reaches below."""

_INK = "#5B6577"
_GRID = "rgba(128, 138, 155, 0.20)"
_FONT = "Inter, system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif"

_AXIS = {
    "gridcolor": _GRID,
    "linecolor": "rgba(128, 138, 155, 0.55)",
    "showline": True,
    "zeroline": False,
    "ticks": "outside",
    "tickcolor": "rgba(128, 138, 155, 0.55)",
    "ticklen": 4,
    "automargin": True,
    "title": {"standoff": 10, "font": {"size": 13}},
}

TEMPLATE = go.layout.Template(
    layout={
        "font": {"family": _FONT, "size": 13, "color": _INK},
        "colorway": COLOURS,
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "margin": {"l": 64, "r": 20, "t": 44, "b": 52},
        "xaxis": _AXIS,
        "yaxis": _AXIS,
        "legend": {"orientation": "h", "x": 0, "xanchor": "left", "y": 1.0, "yanchor": "bottom", "font": {"size": 12}},
        "hoverlabel": {"font": {"family": _FONT, "size": 12}},
        "hovermode": "closest",
        # The ground is transparent, from which Plotly would make a dark box for its buttons.
        "modebar": {"bgcolor": "rgba(0,0,0,0)", "color": "rgba(128, 138, 155, 0.55)", "activecolor": COLOURS[0]},
        "colorscale": {"sequential": SEQUENTIAL},
    }
)


def colour(index: int) -> str:
    """The colour of the flow, or the like, with this index."""
    return COLOURS[index % len(COLOURS)]


_DASHES = ("solid", "dash", "dot", "dashdot")
_SYMBOLS = ("circle", "square", "diamond", "triangle-up", "x", "cross", "star", "hexagon")


def style_of(index: int) -> dict[str, str]:
    """Colour and dash of the line with this index: after the last colour, the next dash tells lines apart."""
    return {"color": colour(index), "dash": _DASHES[index // len(COLOURS) % len(_DASHES)]}


def symbol_of(index: int) -> dict[str, str]:
    """Colour and symbol of the marks with this index: neighbours differ in both, and after the last colour the symbols are others."""
    return {"color": colour(index), "symbol": _SYMBOLS[(index + index // len(COLOURS)) % len(_SYMBOLS)]}


def faded(hexadecimal: str, alpha: float) -> str:
    """A colour with an opacity."""
    red, green, blue = (int(hexadecimal[start : start + 2], 16) for start in (1, 3, 5))
    return f"rgba({red},{green},{blue},{alpha})"


def finish(figure: go.Figure, height: int) -> go.Figure:
    """Gives a figure the house style and a height in pixels; its width follows the page."""
    figure.update_layout(template=TEMPLATE, height=height, autosize=True)
    return figure


def legend_below(figure: go.Figure) -> go.Figure:
    """Moves the legend of a finished figure to its lower edge, clear of the titles of its panels."""
    return figure.update_layout(legend={"yref": "container", "y": 0, "yanchor": "bottom"}, margin={"b": 92})


def widen(figure: go.Figure, pixels: float) -> go.Figure:
    """Says how wide a figure is at least: on a narrower page the report lets it scroll, so that what it writes stays in its place."""
    return figure.update_layout(meta={"least_width": round(pixels)})


def thin(
    x: npt.NDArray[np.float64], y: npt.NDArray[np.float64], buckets: int = 1500
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Leaves out points of a long series that could not be seen: first, least, greatest and last of each bucket stay."""
    if len(x) <= 4 * buckets:
        return x, y
    edges = np.searchsorted(x, np.linspace(x[0], x[-1], buckets + 1)[1:-1])
    keep: list[int] = []
    for part in np.split(np.arange(len(x)), edges):
        if len(part):
            values = y[part]
            finite = np.where(np.isnan(values), 0, values)
            keep += [int(part[0]), int(part[finite.argmin()]), int(part[finite.argmax()]), int(part[-1])]
    chosen = np.unique(np.asarray(keep))
    return x[chosen], y[chosen]
