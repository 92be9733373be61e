"""The axes of a sweep: values by key, named variants, and random values for each seed."""

import hashlib
import itertools
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from acklab.errors import UsageError
from acklab.scenario import items_of, literal, plain, texts_of
from acklab.sweeps.units import family_of
from acklab.sweeps.variants import Variants

Axes = Mapping[str, Iterable[object] | Mapping[str, object] | Variants]
"""Choices by axis: values of the key of that name, or named variants."""


_SUCH_AS = "flow.0.congestion=newreno,cubic"


@dataclass(frozen=True)
class Axis:
    """One axis of a grid: its choices by name, each with its overrides."""

    choices: Mapping[str, tuple[str, ...]]
    text: str
    """The axis in the form of `--grid name=`."""

    @property
    def is_of_variants(self) -> bool:
        """Returns `True` if the choices of the axis are named variants, not values of a key."""
        return self.text.startswith("@")

    @classmethod
    def of_values(cls, key: str, values: Sequence[str]) -> "Axis":
        """Returns the axis for values of one key of the scenario."""
        return cls({value: (f"{key}={value}",) for value in values}, ",".join(values))

    @classmethod
    def of_variants(cls, variants: Variants) -> "Axis":
        """Returns the axis for named variants."""
        return cls({name: variant.set for name, variant in variants.chosen.items()}, f"@{variants}")


@dataclass(frozen=True)
class Grid:
    """A grid of values of keys or named variants; the first axis changes slowest."""

    axes: Mapping[str, Axis]

    @classmethod
    def of(cls, grid: "Axes | Sequence[str] | Grid") -> "Grid":
        """Returns a grid from a mapping or from texts.

        Examples are {"flow.0.congestion": ["newreno", "cubic"]} and
        ["flow.0.congestion=newreno,cubic"].

        Variants are given as {"path": {"short": {"link.btl.forward.delay": "1ms"}}}, or as their
        file in ["path=@paths.toml"]. Raises UsageError for an axis without choices, and for an axis
        or a choice that is given twice.
        """
        if isinstance(grid, Grid):
            return grid
        pairs = list(grid.items()) if isinstance(grid, Mapping) else [_parse(text) for text in texts_of(grid, "grid", _SUCH_AS)]
        axes: dict[str, Axis] = {}
        for name, given in pairs:
            if not isinstance(name, str):
                raise UsageError(f"grid: found the key {name!r}, expected text such as 'flow.0.congestion'")
            if name in axes:
                raise UsageError(f"grid {name!r}: found the key twice, expected all its values after one key")
            if name == "seed":
                raise UsageError("grid 'seed': expected another key; set the number of seeds by --seeds")
            axes[name] = _axis(name, given)
            if not axes[name].choices:
                raise UsageError(f"grid {name!r}: found no value, expected at least one")
        return cls(axes)

    @property
    def values(self) -> dict[str, tuple[str, ...]]:
        """Returns names of the choices by axis."""
        return {name: tuple(axis.choices) for name, axis in self.axes.items()}

    def sets(self, combination: Sequence[str]) -> list[str]:
        """Returns the overrides of one combination."""
        axes = zip(self.axes.values(), combination, strict=True)
        return [change for axis, choice in axes for change in axis.choices[choice]]

    @property
    def words(self) -> list[str]:
        """Returns the grid in the form of the command line."""
        return [word for name, axis in self.axes.items() for word in ("--grid", f"{name}={axis.text}")]

    def document(self) -> dict[str, dict[str, object]]:
        """Returns plain values."""
        return {
            name: {"text": axis.text, "choices": {choice: list(sets) for choice, sets in axis.choices.items()}}
            for name, axis in self.axes.items()
        }

    @classmethod
    def from_document(cls, document: Mapping[str, Mapping[str, Any]]) -> "Grid":
        """Reads the result of `document`."""
        axes = {}
        for name, axis in document.items():
            axes[name] = Axis({choice: tuple(sets) for choice, sets in axis["choices"].items()}, axis["text"])
        return cls(axes)

    def combinations(self) -> Iterator[tuple[str, ...]]:
        """Yields every combination of values, in the order of the keys."""
        return itertools.product(*(axis.choices for axis in self.axes.values()))

    def columns(self, taken: Iterable[str]) -> dict[str, str]:
        """Returns a short name for each key.

        The name consists of the last parts of the key's path. It has enough parts to differ from
        the other keys and from the columns `taken`.
        """
        reserved = set(taken)
        words = {key: key.split(".") for key in self.axes}
        names: dict[str, str] = {}
        for key, path in words.items():
            named = [word for word in path if not word.isdigit()]
            candidates = ["_".join(named[-count:]) for count in range(1, len(named) + 1)] + ["_".join(path)]
            others = {
                "_".join(suffix)
                for other, parts in words.items()
                if other != key
                for count in range(1, len(parts) + 1)
                for suffix in ([part for part in parts if not part.isdigit()][-count:], parts[-count:])
            }
            names[key] = next(
                (name for name in candidates if name not in others and name not in reserved), f"set_{'_'.join(path)}"
            )
        return names


def _axis(name: str, given: "Iterable[object] | Mapping[str, object] | Variants") -> Axis:
    if isinstance(given, Variants):
        return Axis.of_variants(given)
    if isinstance(given, Mapping):
        return Axis.of_variants(Variants.of(name, given))
    items = items_of(given)
    if items is None:
        raise UsageError(f"grid {name!r}: found {given!r}, expected a list of values")
    values = [literal(plain(value, name)) for value in items]
    if len({*values}) < len(values):
        raise UsageError(f"grid {name!r}: found a value twice in {', '.join(values)}")
    return Axis.of_values(name, values)


def _parse(text: str) -> tuple[str, Iterable[object] | Variants]:
    key, equals, values = text.partition("=")
    if not equals or not key.strip():
        raise UsageError(f"grid {text!r}: expected key=value,value,… such as {_SUCH_AS}")
    if values.startswith("@"):
        return key.strip(), Variants.parse(values[1:])
    return key.strip(), tuple(value for value in split_values(values) if value)


def split_values(text: str) -> list[str]:
    """Splits at commas, but not within quotes, brackets or braces."""
    parts, depth, quote, current = [], 0, "", ""
    for letter in text:
        if quote:
            quote = "" if letter == quote else quote
        elif letter in "\"'":
            quote = letter
        elif letter in "[{":
            depth += 1
        elif letter in "]}":
            depth -= 1
        elif letter == "," and depth == 0:
            parts.append(current.strip())
            current = ""
            continue
        current += letter
    return [*parts, current.strip()]


_DIGITS = {
    **{"packets": 0, "segments": 0, "B": 0},
    **{"ns": 0, "us": 3, "µs": 3, "ms": 6, "s": 9},
    **{"bps": 0, "kbps": 3, "Mbps": 6, "Gbps": 9},
}
"""Decimals of a drawn value, by unit; a scenario refuses finer values."""


@dataclass(frozen=True)
class Variation:
    """A value of the scenario that is drawn per seed, uniformly between two bounds of one kind.

    A deterministic network gives the same run for every seed. Random values for arbitrary settings,
    such as the phase at which a flow meets a periodic gate, make an interval over seeds meaningful.
    """

    key: str
    low: float
    high: float
    unit: str
    digits: int

    @classmethod
    def parse(cls, key: str, text: str) -> "Variation":
        """Reads bounds such as "0ms..5ms". Raises UsageError."""
        if not isinstance(text, str) or not key:
            raise UsageError(f"vary {key!r}: found {text!r}, expected a key and two bounds such as flow.0.start=0ms..5ms")
        low, dots, high = text.partition("..")
        bounds = [re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([A-Za-zµ]*)\s*", bound) for bound in (low, high)]
        units = [bound[2] for bound in bounds if bound is not None]
        # Unknown units are not checked here, because the scenario refuses them.
        family = family_of(units) or ({units[0]: 1} if len({*units}) == 1 else None)
        if not dots or bounds[0] is None or bounds[1] is None or family is None:
            raise UsageError(f"{key}: found {text!r}, expected two bounds of one kind such as 0ms..5ms or 500us..1s")
        # The smaller of the two units avoids rounding a bound.
        unit = min(units, key=lambda unit: family[unit])
        first, last = (float(Decimal(bound[1]) * family[bound[2]] / family[unit]) for bound in bounds if bound is not None)
        if not first < last:
            raise UsageError(f"{key}: found {text!r}, expected the first bound to be less than the second")
        # Times are whole nanoseconds, rates whole bits per second; packets, segments and bytes are
        # whole. Other draws have a resolution of a thousandth of the range, so that small
        # probabilities differ.
        fine = max(6, 3 - math.floor(math.log10(last - first)))
        return cls(
            key,
            first,
            last,
            unit,
            digits=_DIGITS.get(unit, fine),
        )

    def __str__(self) -> str:
        # Quantities of a scenario have no exponent.
        low, high = (f"{Decimal(repr(bound)):f}".removesuffix(".0") for bound in (self.low, self.high))
        return f"{self.key}={low}{self.unit}..{high}{self.unit}"

    def draw(self, seed: int) -> str:
        """Returns the value for a seed. It depends only on key, bounds and seed."""
        octets = hashlib.sha256(f"{self.key}/{seed}".encode()).digest()[:8]
        share = int.from_bytes(octets, "big") / 2**64
        return f"{self.low + (self.high - self.low) * share:.{self.digits}f}{self.unit}"


def variations(given: Mapping[str, str] | Sequence[str]) -> tuple[Variation, ...]:
    """Returns variations from {"flow.0.start": "0ms..5ms"} or ["flow.0.start=0ms..5ms"].

    Raises UsageError.
    """
    if isinstance(given, Mapping):
        return tuple(Variation.parse(key, text) for key, text in given.items())
    pairs = (text.partition("=") for text in texts_of(given, "vary", "flow.0.start=0ms..5ms"))
    return tuple(Variation.parse(key, bounds) for key, _, bounds in pairs)
