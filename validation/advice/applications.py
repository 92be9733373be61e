"""Draws transfers that their application limits: pages, keystrokes, streams, films, calls.

Such a transfer shows little of the path, so advice must recommend nothing.
"""

import random
from collections.abc import Callable, Mapping
from typing import Any

from validation.inspection.paths import log_uniform

_LONGEST = 40.0
"""Maximum duration of a capture in seconds."""


def _page(chance: random.Random, rate: float) -> dict[str, Any]:
    """Returns a web page: a document, then objects in parallel connections."""
    sizes = [f"{round(log_uniform(chance, 2, 200))}kB" for _ in range(chance.randrange(8, 40))]
    return {"page": {"document": "40kB", "objects": sizes, "think": "30ms", "requests": "parallel"}}


def _session(chance: random.Random, rate: float) -> dict[str, Any]:
    """Returns a web session: sequential objects with reading times between them."""
    sizes = [f"{round(log_uniform(chance, 5, 400))}kB" for _ in range(chance.randrange(6, 15))]
    return {"page": {"document": "40kB", "objects": sizes, "think": f"{chance.uniform(0.6, 3):.2f}s", "requests": "serial"}}


def _keystrokes(chance: random.Random, rate: float) -> dict[str, Any]:
    """Returns keystrokes in a terminal: three to eight per second, with 36 to 100 bytes each."""
    write, often = chance.randrange(36, 101), chance.uniform(3, 8)
    return {"traffic": {"model": "poisson", "rate": f"{round(8 * write * often)}bps", "write": f"{write}B"}}


def _radio(chance: random.Random, rate: float) -> dict[str, Any]:
    """Returns a radio stream of 64 to 320 kbps, in writes of 1 to 16 kB."""
    bits = chance.choice([64, 96, 128, 192, 256, 320])
    return {"traffic": {"model": "constant", "rate": f"{bits}kbps", "write": f"{chance.choice([1, 2, 4, 8, 16])}kB"}}


def _film(chance: random.Random, rate: float) -> dict[str, Any]:
    """Returns a film with a tenth to a half of the path's rate, sent frame by frame."""
    bits = rate * 1e6 * chance.uniform(0.1, 0.5)
    return {"traffic": {"model": "video", "rate": f"{round(bits)}bps", "frame_rate": 25, "group": 50}}


_KINDS: Mapping[str, Callable[[random.Random, float], dict[str, Any]]] = {
    "web page": _page,
    "web session": _session,
    "keystrokes": _keystrokes,
    "radio stream": _radio,
    "film": _film,
}


def kind_of(number: int) -> str:
    """Returns the kind of the application with this number. The kinds alternate."""
    return tuple(_KINDS)[number % len(_KINDS)]


def limited(scenario: Mapping[str, Any], number: int) -> dict[str, Any]:
    """Returns the scenario with an application in place of its bulk transfer."""
    (flow,) = scenario["flow"]
    (rate,) = (link["forward"]["rate"] for link in scenario["link"] if link["name"] == "btl")
    settings = _KINDS[kind_of(number)](random.Random(-1 - number), float(rate.removesuffix("Mbps")))
    return {**scenario, "duration": f"{_LONGEST:g}s", "flow": [{**flow, **settings}]}
