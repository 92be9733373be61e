"""Reduces a failing scenario while it still fails by the same rule."""

import copy
from collections.abc import Callable, Iterator
from typing import Any

Scenario = dict[str, Any]

KEPT = (
    "from",
    "to",
    "name",
    "rate",
    "delay",
    "protocol",
    "preset",
    "model",
    "duration",
    "seed",
    "title",
    "measure",
    "reverse",
    "forward",
)
"""Keys that every scenario requires, so they are not removed."""


def reduce(scenario: Scenario, fails: Callable[[Scenario], bool], tries: int = 300) -> Scenario:
    """Returns the smallest scenario found by removing parts one by one in at most `tries` runs.

    `fails` runs a scenario, and returns `True` if it fails.
    """
    smallest, left = scenario, tries
    is_smaller = True
    while is_smaller:
        is_smaller = False
        for candidate in _candidates(smallest):
            if left == 0:
                return smallest
            left -= 1
            if fails(candidate):
                smallest, is_smaller = candidate, True
                break
    return smallest


def _candidates(scenario: Scenario) -> Iterator[Scenario]:
    """Yields the scenario without a flow, without a setting, or half as long."""
    for number in range(len(scenario["flow"])):
        if len(scenario["flow"]) > 1:
            yield _without(scenario, ("flow", number))
    for path in _settings(scenario):
        yield _without(scenario, path)
    seconds = float(scenario["duration"].removesuffix("s"))
    if seconds > 1:
        yield {**copy.deepcopy(scenario), "duration": f"{seconds / 2:.3f}s"}


def _settings(part: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """Yields the paths of all keys that may be left out, outermost first."""
    items = part.items() if isinstance(part, dict) else enumerate(part) if isinstance(part, list) else ()
    for key, value in items:
        if isinstance(key, str) and key not in KEPT and not isinstance(value, list):
            yield (*path, key)
        yield from _settings(value, (*path, key))


def _without(scenario: Scenario, path: tuple[str | int, ...]) -> Scenario:
    """Returns a copy without the part at this path."""
    made = copy.deepcopy(scenario)
    part: Any = made
    for key in path[:-1]:
        part = part[key]
    del part[path[-1]]
    return made
