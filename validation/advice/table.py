"""Fills the numbers of `measured.json` into docs/validation/advice.md.

Usage: `python validation/advice/table.py`, after `truth.py` and `public.py` with `--keep`.
"""

import json
import math
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2]))

from scripts.places import fill
from validation.advice.records import MEASURED

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "validation" / "advice.md"
PATHS = ("simulated", "kernel")
_MEASURED, _SPANNED = 0.95, 19 / 21
"""Expected coverage of the intervals of an inspection, and of the range of 20 members (Wilks,
Annals of Mathematical Statistics 12, 1941).
"""
_NAMES = {
    "link.path.forward.rate": ("rate towards the receiver", _MEASURED),
    "link.path.reverse.rate": ("rate towards the sender", _MEASURED),
    "link.path.forward.delay": ("propagation", _MEASURED),
    "link.path.forward.queue.limit": ("queue towards the receiver", _SPANNED),
    "link.path.forward.loss.probability": ("random loss", _SPANNED),
}
_CHANCE = 0.05
"""A coverage is significantly below its level if so few intervals would contain the truth with at
most this probability.
"""


def holds(covered: int, judged: int, level: float) -> bool:
    """Returns `False` if the coverage is significantly below its level (binomial test)."""
    return (
        math.fsum(math.comb(judged, count) * level**count * (1 - level) ** (judged - count) for count in range(covered + 1))
        > _CHANCE
    )


def places(measured: Mapping[str, Any]) -> dict[str, str]:
    """Returns the text for each place in the page."""
    known = {name: measured[name] for name in PATHS if name in measured}
    return {
        "paths": _table(
            ("", *known),
            [
                (
                    "paths, a random sample of those that are kept aside",
                    *(f"{one['paths']} of {one['of']} from {one['first']} on" for one in known.values()),
                ),
                ("captures with a fit", *(str(one["fitted"]) for one in known.values())),
                (
                    "of these, rate, delay and queue towards the receiver are known",
                    *(str(one["ensembles"]) for one in known.values()),
                ),
                ("of these, 20 scenarios repeat the capture", *(str(one["repeated"]) for one in known.values())),
                ("parameters within their interval", *(_of(one["covered"], one["judged"]) for one in known.values())),
                ("recommendations", *(str(one["recommended"]) for one in known.values())),
                (
                    "that gain at least the lower end on the true path",
                    *(_of(one["gained"], one["recommended"]) for one in known.values()),
                ),
                ("with harm that was not named", *(str(one["harmed"]) for one in known.values())),
                ("nothing to recommend", *(str(one["nothing"]) for one in known.values())),
            ],
        ),
        "coverage": _table(
            ("parameter", "level", *known),
            [
                (title, f"{100 * level:.0f} %", *(_covered(one["parameters"].get(key), level) for one in known.values()))
                for key, (title, level) in _NAMES.items()
            ],
        ),
        "uses": _table(
            ("use", *known),
            [
                (use, *(_use(one["uses"].get(use)) for one in known.values()))
                for use in sorted({use for one in known.values() for use in one["uses"]})
            ],
        ),
        "reasons": _table(
            ("reason", *known),
            [
                (reason, *(str(one["reasons"].get(reason, 0)) for one in known.values()))
                for reason in dict.fromkeys(reason for one in known.values() for reason in one["reasons"])
            ],
        ),
        **({"applications": _applications(measured["applications"])} if "applications" in measured else {}),
        **({"public": _public(measured["public"])} if "public" in measured else {}),
    }


def _applications(one: Mapping[str, Any]) -> str:
    return _table(("application", "captures"), [(kind, str(count)) for kind, count in one["kinds"].items()]) + (
        f"\nOf these {one['fitted']} captures, {one['recommended']} have a recommendation.\n"
    )


def _public(one: Mapping[str, Any]) -> str:
    head = (
        f"Of {one['files']:,} files {one['suitable']:,} have a transfer of 20 segments. Of these, {one['limited']:,} are limited by their\n"
        f"application, of which {one['recommended_limited']} have a recommendation. In all, {one['recommended']} have one.\n"
    )
    return head + _table(("verdict", "captures"), [(reason, str(count)) for reason, count in one["reasons"].items()])


def _of(count: int, total: int) -> str:
    return f"{count} of {total}" + (f" ({100 * count / total:.1f} %)" if total else "")


def _covered(row: Mapping[str, int] | None, level: float) -> str:
    if row is None:
        return "–"
    return _of(row["covered"], row["judged"]) + ("" if holds(row["covered"], row["judged"], level) else ", below its level")


def _use(row: Mapping[str, int] | None) -> str:
    return "–" if row is None else f"{row['gained']} of {row['recommended']}"


def _table(head: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    lines = [head, tuple("---" for _ in head), *rows]
    return "\n" + "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


def main() -> None:
    """Fills the page."""
    for name, text in places(json.loads(MEASURED.read_text(encoding="utf-8"))).items():
        fill(PAGE, name, text)


if __name__ == "__main__":
    main()
