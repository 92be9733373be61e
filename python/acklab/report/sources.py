"""The contents of a folder as documents: studies, the result of a run, a sweep."""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import plotly.graph_objects as go
import polars as pl

from acklab import figures
from acklab.answer import answer_tables
from acklab.contents import Contents
from acklab.contrast import SHORT, contrast_rows
from acklab.errors import StoreError, UsageError
from acklab.files import printable
from acklab.metrics import name_columns
from acklab.places import Place, place_of
from acklab.remarks import remarks
from acklab.report.document import Document, Figure, Section
from acklab.report.render import write
from acklab.result import Result, load_result
from acklab.samples import Within, kinds_of_flow
from acklab.store import STUDY_FILE, SWEEP_FILE
from acklab.sweeps.sweep import SweepResult, load_sweep
from acklab.tables import METRIC_TABLES, Table, plain_table, tables_of

REPORT_FILE = "report.html"


Folder = str | Path | Place
"""The place of results: a folder, or the URL of a store."""


def write_report(folder: Folder | Sequence[Folder], out: str | Path | None = None) -> Path:
    """Writes a report and returns its path.

    Raises StoreError, and UsageError for several folders without `out`.

    For one folder, the report is `report.html` in the folder, or in the current folder for a URL,
    unless `out` names another file. Several folders form one report, which begins with a comparison
    if all have runs.
    """
    given = [folder] if isinstance(folder, str | Path | Place) else folder
    places = [place_of(one, "folder") for one in given]
    if out is None and len(places) != 1:
        raise UsageError(f"found {len(places)} folders, expected --out FILE.html")
    path = (places[0].path or Path()) / REPORT_FILE if out is None else Path(out)
    return write(collect(places[0]) if len(places) == 1 else collect_chosen(places), path)


def collect_chosen(places: Sequence[Place]) -> list[Document]:
    """Returns the documents of several folders.

    A comparison comes first, if there are several runs. Raises StoreError.
    """
    labels = _labels(places)
    runs = {label: load_result(place) for label, place in labels.items() if _holds_run(place)}
    compared = [_comparison(runs)] if len(runs) > 1 else []
    return [*compared, *(document for label, place in labels.items() for document in collect(place, label))]


def _holds_run(place: Place) -> bool:
    return Contents.of(place) in (Contents.RUN, Contents.EMULATION) and place.exists("flows.parquet")


def _labels(places: Sequence[Place]) -> dict[str, Place]:
    """Returns a short name for each folder: the last part of its path.

    If these names are equal, returns whole paths.
    """
    names = [place.name for place in places]
    return {printable(name if names.count(name) == 1 else str(place)): place for name, place in zip(names, places, strict=True)}


def _comparison(runs: Mapping[str, Result]) -> Document:
    """Returns several runs side by side.

    One figure has the flows of all runs. Tables have differences and ratios to the first run.
    """
    first = next(iter(runs.values()))
    tables: list[Figure | Table] = [Figure(figures.runs_plane(runs), "Mean operating point of each flow in each run")]
    for name, caption in METRIC_TABLES.items():
        if not all(name in result.tables for result in runs.values()):
            continue
        rows = {label: {_name_of(row): row for row in result.arrow(name).to_pylist()} for label, result in runs.items()}
        for row in next(iter(rows.values())):
            if all(row in found for found in rows.values()):
                of = {label: found[row] for label, found in rows.items()}
                table = contrast_rows(of, first.units(name), SHORT, f"{caption.split(',')[0]}: {row}" if row else caption)
                tables += [table] if table.rows else []
    return Document(
        name="comparison",
        title="Comparison",
        revision=", ".join(dict.fromkeys(result.provenance.revision for result in runs.values())),
        version=first.provenance.version,
        sections=(Section("Side by side", items=tables[: 1 + _MAX_COMPARED]),),
    )


_MAX_COMPARED = 40
"""Maximum number of tables in a comparison, one per flow, link or node."""


def _name_of(row: Mapping[str, Any]) -> str:
    return " ".join(str(row[column]) for column in name_columns(list(row)) if column != "flows")


def collect(folder: Folder, label: str = "") -> list[Document]:
    """Returns the documents of a folder and its subfolders.

    Raises StoreError if there are no documents, or if one is damaged.

    A run without a title has the name of its folder, or `label`.
    """
    top = place_of(folder, "folder")
    if top.path is not None and not top.path.is_dir():
        raise StoreError(f"{top}: no such folder, expected one with results of acklab")
    # The documents of a study's folder belong to the study.
    is_study = Contents.of(top) is Contents.STUDY
    documents: list[Document] = []
    for place in [top, *(top / name for name in top.folders())]:
        contents = Contents.of(place)
        if contents is Contents.STUDY:
            documents.append(Document.read(place))
        elif is_study and place != top:
            continue
        elif contents is not None and contents.is_sweep:
            documents.append(_of_sweep(load_sweep(place)))
        elif place.exists("flows.parquet"):
            documents.append(_of_run(place.name, load_result(place), label if place == top else ""))
    if not documents:
        raise StoreError(
            f"{top}: found no results, expected the folder of a run, a sweep or a study "
            f"(flows.parquet, {SWEEP_FILE} or {STUDY_FILE}, here or one level below)"
        )
    return _beside(documents)


def _beside(documents: Sequence[Document]) -> list[Document]:
    """Returns documents with emulated studies inside the simulated ones of the same revision."""
    simulated = {(document.name, document.revision) for document in documents}
    emulated: dict[tuple[str, str], list[Any]] = {}
    for document in documents:
        if (whole := (document.part_of, document.revision)) in simulated:
            # The emulations in real time and in virtual time.
            emulated.setdefault(whole, []).extend(document.sections)
    return [
        replace(document, sections=(*emulated.get((document.name, document.revision), ()), *document.sections))
        for document in documents
        if (document.part_of, document.revision) not in simulated
    ]


_SIDE_BY_SIDE = 24
"""Maximum number of flows, links or nodes that a page shows as columns."""
_POINTS = 500
"""Maximum rows of the summary and of the table of points on a page.

The Parquet files have all rows.
"""
_CELLS = 1000
"""Maximum number of points of a grid that figures show separately.

For larger grids, figures show aggregates.
"""


def _of_run(name: str, result: Result, label: str = "") -> Document:
    command = [result.provenance.command]
    drawn = [Figure(figure, caption, command) for _, figure, caption in figures.figures_of(result)]
    title = str(result.scenario.get("title") or name)
    sections = [Section("In short", _remarks(result), answer_tables(result))]
    if drawn:
        sections.append(Section("Figures", items=drawn))
    sections.append(Section("Metrics", items=tables_of(result, command, _SIDE_BY_SIDE)))
    return Document(
        name=name,
        title=f"{label}: {title}" if label and label != title else title,
        revision=result.provenance.revision,
        version=result.provenance.version,
        sections=tuple(sections),
    )


def _remarks(result: Result) -> str:
    """Returns remarks on anomalies of the run, in Markdown."""
    return "\n".join(f"* **Note:** {_plain(remark)}" for remark in remarks(result))


def _plain(text: str) -> str:
    """Returns text that Markdown shows unchanged: names of flows and links are the user's."""
    return re.sub(r"([\\`*_{}\[\]<>#|])", r"\\\1", text)


def _of_sweep(result: SweepResult) -> Document:
    metadata = result.schema("flows").metadata or {}
    titles = {name: result.titled(name) for name in result.columns.values()}
    command = [metadata.get(b"acklab.command", b"").decode()]
    drawn = [Figure(figure, caption, command) for _, figure, caption in figures_of_sweep(result)]
    shown = ["point", *titles, "seed", "flow", "mean_throughput_l4", "mean_srtt_l4", "total_retransmissions_l4"]
    flows = result.table("flows", [name for name in shown if name in result.schema("flows").names])
    points = flows.head(_POINTS).rename(titles).to_dicts()
    table = replace(plain_table(points, "Points", result.units("flows")), left_out=flows.height - len(points))
    summary = result.summary_table(_POINTS)
    # A long summary follows the figures.
    items: list[Figure | Table] = [summary, *drawn] if len(summary.rows) <= _SIDE_BY_SIDE else [*drawn, summary]
    sections = [Section("Sweep", items=[*items, table])]
    if result.failures:
        lines = "\n".join(f"* `{command}`: {message}" for command, message in result.failures)
        sections.append(Section("Points that failed", lines))
    name = result.place.name
    return Document(
        name=name,
        title=name if name.lower().startswith("sweep") else f"Sweep {name}",
        revision=metadata.get(b"acklab.revision", b"").decode(),
        version=metadata.get(b"acklab.version", b"").decode(),
        seeds=len(result.seeds),
        sections=tuple(sections),
    )


_OF_SWEEP = {"mean_throughput_l4": "throughput [Mbps]", "mean_srtt_l4": "sRTT [ms]"}
"""Default metrics in figures of a sweep, with the titles of their axes."""


def figures_of_sweep(result: SweepResult, metrics: Sequence[str] = ()) -> Iterator[tuple[str, go.Figure, str]]:
    """Yields figures of metrics over the axes of a sweep: name, figure and caption.

    Raises UsageError for a metric that flows do not have.
    """
    flows, units = result.flows, result.units("flows")
    names = list(result.columns.values())
    for metric in metrics or _OF_SWEEP:
        if metric not in flows.columns or not flows.schema[metric].is_numeric():
            raise UsageError(f"found the figure {metric!r}, expected a metric of flows such as {', '.join(_OF_SWEEP)}")
        title = _OF_SWEEP.get(metric) or metric + (f" [{units[metric]}]" if units.get(metric) else "")
        for number, (figure, what) in enumerate(_over_grid(flows, names, metric, title)):
            yield (
                metric if number == 0 else f"{metric}-{number + 1}",
                figure,
                what,
            )


def _over_grid(flows: pl.DataFrame, names: Sequence[str], metric: str, title: str) -> Iterator[tuple[go.Figure, str]]:
    """Yields figures of a metric over the axes of a grid, with captions.

    There is one figure per kind of flow, because a mean over different kinds has no meaning.
    """
    what, over = f"Mean {title}", ": mean over seeds with its 95 % confidence interval"
    if len(names) == 1:
        yield figures.profiles(flows, names[0], "flow", metric, title, names[0]), what + over
    if len(names) < 2:
        return
    if math.prod(flows[name].n_unique() for name in names) > _CELLS:
        yield from _over_large_grid(flows, names, metric, title)
        return
    rest = list(names[2:])
    panels = [pl.concat_str([pl.format("{} {}", pl.lit(name), pl.col(name)) for name in rest], separator=", ").alias("panel")]
    kinds = flows.with_columns(kinds_of_flow(flows, ["point"]), *(panels if rest else []))
    for (kind,), part in kinds.group_by("kind", maintain_order=True):
        max_flows = int(part.group_by("point").len()["len"].max())  # type: ignore[arg-type]
        of = f" of the flows {kind}" if kind else ""
        mean = f"{what}{of}" + (f", averaged over up to {max_flows} flows per run" if max_flows > 1 else "")
        panel = "panel" if rest else None
        within: Within | None = "mean" if max_flows > 1 else None
        yield figures.heat_map(part, names[1], names[0], metric, title, panel, within=within), mean + over


def _over_large_grid(flows: pl.DataFrame, names: Sequence[str], metric: str, title: str) -> Iterator[tuple[go.Figure, str]]:
    """Yields aggregates of each kind of flow: along each axis, and over the first two."""
    kinds = flows.with_columns(kinds_of_flow(flows, ["point"]))
    for (kind,), part in kinds.group_by("kind", maintain_order=True):
        what = f"{title[0].upper()}{title[1:]}" + (f" of the flows {kind}" if kind else "")
        for name in names:
            over = f"{what} along {name}: median, and 10th to 90th percentile, of all other settings and seeds"
            yield figures.spread(part, name, metric, title), over
        over = f"{what} over {names[1]} and {names[0]}: median of all other settings and seeds"
        yield figures.median_map(part, names[1], names[0], metric, title), over
