"""What a sweep varies: values by key, and values drawn anew for each seed."""

import hashlib
import itertools
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from acklab.errors import UsageError
from acklab.scenario import literal


@dataclass(frozen=True)
class Grid:
    """Values by key of the scenario, as text; the first key changes slowest."""

    values: Mapping[str, tuple[str, ...]]

    @classmethod
    def of(cls, grid: "Mapping[str, Iterable[object]] | Sequence[str] | Grid") -> "Grid":
        """A grid from {"flow.0.congestion": ["newreno", "cubic"]} or from ["flow.0.congestion=newreno,cubic"].

        Raises UsageError for a key without values, a key given twice, a value given twice.
        """
        if isinstance(grid, Grid):
            return grid
        pairs: list[tuple[str, tuple[str, ...]]]
        if isinstance(grid, Mapping):
            pairs = [(key, tuple(literal(value) for value in values)) for key, values in grid.items()]
        else:
            pairs = [_parse(text) for text in grid]
        seen: dict[str, tuple[str, ...]] = {}
        for key, values in pairs:
            if not values:
                raise UsageError(f"grid {key!r}: found no value, expected at least one")
            if key == "seed":
                raise UsageError("grid 'seed': expected any other key; a number of seeds is an option of its own (--seeds)")
            if key in seen:
                raise UsageError(f"grid {key!r}: found the key twice, expected all its values after one key")
            if len({*values}) < len(values):
                raise UsageError(f"grid {key!r}: found a value twice in {', '.join(values)}")
            seen[key] = values
        return cls(seen)

    def combinations(self) -> Iterator[tuple[str, ...]]:
        """Every combination of values, in the order of the keys."""
        return itertools.product(*self.values.values())

    def columns(self, taken: Iterable[str]) -> dict[str, str]:
        """A short name for each key: the last words of its path that tell it from the others and from the columns `taken`."""
        reserved = set(taken)
        words = {key: key.split(".") for key in self.values}
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


def _parse(text: str) -> tuple[str, tuple[str, ...]]:
    key, equals, values = text.partition("=")
    if not equals or not key.strip():
        raise UsageError(f"grid {text!r}: expected key=value,value,… such as flow.0.congestion=newreno,cubic")
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


@dataclass(frozen=True)
class Variation:
    """A value of the scenario that is drawn anew for each seed, evenly between two bounds with one unit.

    A network without chance gives the same run for every seed. Drawing what an experiment leaves to chance, such as the phase at
    which a flow meets a periodic gate, is what makes an interval over seeds mean something.
    """

    key: str
    low: float
    high: float
    unit: str
    digits: int

    @classmethod
    def parse(cls, key: str, text: str) -> "Variation":
        """Reads bounds such as "0ms..5ms". Raises UsageError."""
        low, dots, high = text.partition("..")
        bounds = [re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([A-Za-zµ]*)\s*", bound) for bound in (low, high)]
        if not dots or bounds[0] is None or bounds[1] is None or bounds[0][2] != bounds[1][2]:
            raise UsageError(f"{key}: found {text!r}, expected two bounds with one unit such as 0ms..5ms")
        first, last, unit = float(bounds[0][1]), float(bounds[1][1]), bounds[0][2]
        if not first < last:
            raise UsageError(f"{key}: found {text!r}, expected the first bound to be less than the second")
        # Times are whole nanoseconds.
        return cls(key, first, last, unit, digits={"ns": 0, "us": 3, "µs": 3, "ms": 6, "s": 9}.get(unit, 6))

    def __str__(self) -> str:
        return f"{self.key}={self.low:g}{self.unit}..{self.high:g}{self.unit}"

    def draw(self, seed: int) -> str:
        """The value for a seed: the same for the same key, bounds and seed, on every machine."""
        octets = hashlib.sha256(f"{self.key}/{seed}".encode()).digest()[:8]
        share = int.from_bytes(octets, "big") / 2**64
        return f"{self.low + (self.high - self.low) * share:.{self.digits}f}{self.unit}"


def variations(given: Mapping[str, str] | Sequence[str]) -> tuple[Variation, ...]:
    """Variations from {"flow.0.start": "0ms..5ms"} or ["flow.0.start=0ms..5ms"]. Raises UsageError."""
    if isinstance(given, Mapping):
        return tuple(Variation.parse(key, text) for key, text in given.items())
    pairs = (text.partition("=") for text in given)
    return tuple(Variation.parse(key, bounds) for key, _, bounds in pairs)
