"""`acklab plot`."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import plotly.graph_objects as go

from acklab.contents import Contents
from acklab.errors import UsageError
from acklab.figures.saving import KINDS, on_paper, save
from acklab.files import printable
from acklab.places import Place, place_of


def plot_command(where: str, names: list[str], out: Path | None, kind: str, width: int, lists: bool) -> None:
    """Draws the named figures of a result, or all of them, and prints the paths of the files."""
    place = place_of(where, "DIR")
    found = dict(_figures(place, names))
    if lists:
        for name, (_, caption) in found.items():
            print(f"{name:<24} {caption}")
        return
    if unknown := [name for name in names if name not in found]:
        raise UsageError(f"found the figure {unknown[0]!r}, expected one of: {', '.join(found) or 'none'}")
    chosen = {name: found[name][0] for name in names or found}
    if not chosen:
        raise UsageError(f"{printable(where)}: found no figure")
    is_file = out is not None and out.suffix.removeprefix(".").lower() in KINDS
    if is_file and len(chosen) > 1:
        raise UsageError(
            f"{printable(str(out))}: found {len(chosen)} figures for one file, expected the name of one: {', '.join(chosen)}"
        )
    if not is_file and kind not in KINDS:
        raise UsageError(f"--format: found {kind!r}, expected {', '.join(KINDS)}")
    for name, figure in chosen.items():
        path = out if is_file and out is not None else (out or (place.path or Path()) / "figures") / f"{name}.{kind}"
        print(printable(save(on_paper(figure), path, width)))


def _figures(place: Place, names: list[str]) -> Iterator[tuple[str, tuple[go.Figure, str]]]:
    """Yields the figures of a folder: name, figure and caption."""
    contents = Contents.of(place)
    if contents is not None and contents.is_sweep:
        from acklab.report.sources import figures_of_sweep
        from acklab.sweeps import load_sweep

        for name, figure, caption in figures_of_sweep(load_sweep(place), names):
            yield name, (figure, caption)
    elif contents is Contents.STUDY:
        yield from _of_study(place)
    else:
        from acklab.figures import figures_of
        from acklab.result import load_result

        for name, figure, caption in figures_of(load_result(place)):
            yield name, (figure, caption)


def _of_study(place: Place) -> Iterator[tuple[str, tuple[go.Figure, str]]]:
    from acklab.report import Document

    taken: set[str] = set()
    for section in Document.read(place).sections:
        items = section.get("items", []) if isinstance(section, Mapping) else []
        for item in items:
            if item["kind"] == "figure":
                stem = re.sub(r"[^a-z0-9]+", "-", item["caption"].lower()).strip("-")[:48].strip("-") or "figure"
                name = next(
                    name for number in range(1, 10_000) if (name := stem if number == 1 else f"{stem}-{number}") not in taken
                )
                taken.add(name)
                yield name, (go.Figure(item["figure"]), item["caption"])
