"""One style for all figures, for light and dark backgrounds and for red–green colour blindness."""

import numpy as np
import numpy.typing as npt
import plotly.graph_objects as go

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#8C6BB1", "#7F7F7F")
"""Colours of Okabe and Ito, without yellow and black, which are invisible on light or dark
backgrounds.
"""

OPTIMUM = "#E3008C"
"""The colour of the star at the optimal operating point."""

MUTED = "#8A94A6"
"""The colour of reference lines and of theory."""

SEQUENTIAL = [
    [0.0, "#F3ECD8"],
    [0.25, "#A9D3C4"],
    [0.5, "#55A9B5"],
    [0.75, "#2C6E9E"],
    [1.0, "#1F2F6B"],
]
"""A single hue from light to dark, which remains readable in a grey print."""

DIVERGING = [
    [0.0, "#B24A00"],
    [0.25, "#E8A06A"],
    [0.5, "#F7F5F0"],
    [0.75, "#76B4D6"],
    [1.0, "#00588F"],
]
"""Colours from worse to better around a neutral middle, in two hues that are distinguishable with
colour blindness.
"""

UNDECIDED = "#D9DDE3"
"""The colour of cells whose interval includes 1 or is missing."""

FROM_ZERO = {"rangemode": "tozero", "autorangeoptions": {"minallowed": 0}}
"""An axis of a quantity that is never negative. It begins at zero, even if Student's interval of a
small mean extends below.
"""

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
        # From a transparent background, Plotly would derive a dark box for its buttons.
        "modebar": {"bgcolor": "rgba(0,0,0,0)", "color": "rgba(128, 138, 155, 0.55)", "activecolor": COLOURS[0]},
        "colorscale": {"sequential": SEQUENTIAL},
    }
)


def colour(index: int) -> str:
    """Returns the colour for this index of a flow or another item."""
    return COLOURS[index % len(COLOURS)]


_DASHES = ("solid", "dash", "dot", "dashdot")
_SYMBOLS = ("circle", "square", "diamond", "triangle-up", "x", "cross", "star", "hexagon")


def style_of(index: int) -> dict[str, str]:
    """Returns colour and dash of the line with this index.

    The dash changes after the last colour.
    """
    return {"color": colour(index), "dash": _DASHES[index // len(COLOURS) % len(_DASHES)]}


def symbol_of(index: int) -> dict[str, str]:
    """Returns colour and symbol of the marks with this index.

    Neighbours differ in both, and the symbols change after the last colour.
    """
    return {"color": colour(index), "symbol": _SYMBOLS[(index + index // len(COLOURS)) % len(_SYMBOLS)]}


def faded(hexadecimal: str, alpha: float) -> str:
    """Returns a colour with an opacity."""
    red, green, blue = (int(hexadecimal[start : start + 2], 16) for start in (1, 3, 5))
    return f"rgba({red},{green},{blue},{alpha})"


def finish(figure: go.Figure, height: int) -> go.Figure:
    """Applies the common style and a height in pixels. The width follows the page."""
    figure.update_layout(template=TEMPLATE, height=height, autosize=True)
    return figure


def legend_below(figure: go.Figure) -> go.Figure:
    """Moves the legend of a finished figure to its lower edge, clear of the panels' titles."""
    return figure.update_layout(legend={"yref": "container", "y": 0, "yanchor": "bottom"}, margin={"b": 92})


def widen(figure: go.Figure, pixels: float) -> go.Figure:
    """Sets the minimum width of a figure. On a narrower page, the report makes it scroll."""
    return figure.update_layout(meta={"least_width": round(pixels)})


def thin(
    x: npt.NDArray[np.float64], y: npt.NDArray[np.float64], buckets: int = 1500
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Removes invisible points of a long series.

    Keeps the first, the minimum, the maximum and the last point of each bucket.
    """
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
