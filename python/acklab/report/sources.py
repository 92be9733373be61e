"""The contents of a folder as documents: studies, the result of a run, a sweep."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import plotly.graph_objects as go
import polars as pl

from acklab import figures, store
from acklab.errors import StoreError
from acklab.figures.air import around_first_collision
from acklab.figures.packets import around_first_retransmission
from acklab.remarks import remarks
from acklab.report.document import Document, Figure, Section
from acklab.report.render import render
from acklab.result import Result, load_result
from acklab.samples import kinds_of_flow
from acklab.store import STUDY_FILE, SWEEP_FILE
from acklab.sweeps.sweep import SweepResult, load_sweep
from acklab.tables import plain_table, tables_of

REPORT_FILE = "report.html"


def write_report(folder: str | Path) -> Path:
    """Writes `report.html` into a folder with results; returns its path. Raises StoreError."""
    path = Path(folder) / REPORT_FILE
    store.write_text(path, render(collect(Path(folder))))
    return path


def collect(folder: Path) -> list[Document]:
    """The documents of a folder and of the folders in it. Raises StoreError if there are none, or if one is damaged."""
    if not folder.is_dir():
        raise StoreError(f"{folder}: found no such folder, expected one with results of acklab")
    places = [folder, *sorted(place for place in folder.iterdir() if place.is_dir() and not place.name.startswith("."))]
    documents: list[Document] = []
    for place in places:
        if (place / STUDY_FILE).is_file():
            documents.append(Document.read(place))
        elif (place / SWEEP_FILE).is_file() and _is_own(place, folder):
            documents.append(_of_sweep(load_sweep(place)))
        elif any(place.glob("flows.parquet")) and _is_own(place, folder):
            documents.append(_of_run(place.name, load_result(place)))
    if not documents:
        raise StoreError(
            f"{folder}: found no results, expected the folder of a run, a sweep or a study "
            f"(flows.parquet, {SWEEP_FILE} or {STUDY_FILE}, here or one level below)"
        )
    return documents


def _is_own(place: Path, folder: Path) -> bool:
    """A sweep that belongs to a study is shown by the study."""
    return place == folder or not (folder / STUDY_FILE).is_file()


_SIDE_BY_SIDE = 24
"""Flows, links or nodes that a page shows in columns."""
_POINTS = 500
"""Largest number of rows in the table of points of a page; the Parquet files have all."""


def _of_run(name: str, result: Result) -> Document:
    command = [result.provenance.command]
    tables = tables_of(result, command, _SIDE_BY_SIDE)
    drawn: list[Figure] = []
    if {"operating_point", "throughput"} <= set(result.tables):
        drawn += [
            Figure(figures.operating_point(result), "Operating point over time", command),
            Figure(figures.distribution(result), "Distribution of throughput and smoothed RTT", command),
        ]
    drawn += [
        Figure(figures.in_flight_plane(result), "In flight against the mean operating point", command),
        Figure(figures.mean_plane(result), "Mean operating point", command),
    ]
    if "packets" in result.tables:
        window = around_first_retransmission(result)
        drawn.append(
            Figure(
                figures.packet_numbers(result, window=window), f"Packet number over time of {result.flows['flow'][0]}", command
            )
        )
    if "air" in result.tables and result.air.height:
        drawn.append(Figure(figures.air_timeline(result.air, window=around_first_collision(result.air)), "On the air", command))
    return Document(
        name=name,
        title=str(result.scenario.get("title") or name),
        revision=result.provenance.revision,
        version=result.provenance.version,
        sections=(Section("Metrics", _remarks(result), tables), Section("Figures", items=drawn)),
    )


def _remarks(result: Result) -> str:
    """Remarks on anomalies of the run, in Markdown."""
    return "\n".join(f"* **Note:** {remark}" for remark in remarks(result))


def _of_sweep(result: SweepResult) -> Document:
    metadata = store.read_metadata(result.directory / "flows.parquet")
    flows = result.flows.rename({name: result.titled(name) for name in result.columns.values()})
    names = [result.titled(name) for name in result.columns.values()]
    command = [metadata.get("acklab.command", "")]
    items = [
        Figure(figure, f"{what}: mean over seeds with its interval of 95 %", command)
        for metric, title in (("mean_throughput_l4", "throughput [Mbps]"), ("mean_srtt_l4", "sRTT [ms]"))
        for figure, what in _over_grid(flows, names, metric, title)
    ]
    shown = ["point", *names, "seed", "flow", "mean_throughput_l4", "mean_srtt_l4", "total_retransmissions_l4"]
    points = flows.select(name for name in shown if name in flows.columns)
    table = plain_table(points.to_dicts(), "Points", result.units("flows"), limit=_POINTS)
    sections = [Section("Sweep", items=[result.summary_table(), *items, table])]
    if result.failures:
        lines = "\n".join(f"* `{command}`: {message}" for command, message in result.failures)
        sections.append(Section("Points that failed", lines))
    return Document(
        name=result.directory.name,
        title=result.directory.name if result.directory.name.lower().startswith("sweep") else f"Sweep {result.directory.name}",
        revision=metadata.get("acklab.revision", ""),
        version=metadata.get("acklab.version", ""),
        seeds=len(result.seeds),
        sections=tuple(sections),
    )


def _over_grid(flows: pl.DataFrame, names: Sequence[str], metric: str, title: str) -> Iterator[tuple[go.Figure, str]]:
    """Figures of a metric over the axes of a grid, with captions: one for each kind of flow, because different kinds have no common mean."""
    what = f"Mean {title}"
    if len(names) == 1:
        yield figures.profiles(flows, names[0], "flow", metric, title, names[0]), what
    if len(names) < 2:
        return
    rest = list(names[2:])
    panels = [pl.concat_str([pl.format("{} {}", pl.lit(name), pl.col(name)) for name in rest], separator=", ").alias("panel")]
    kinds = flows.with_columns(kinds_of_flow(flows, ["point"]), *(panels if rest else []))
    for (kind,), part in kinds.group_by("kind", maintain_order=True):
        most = int(part.group_by("point").len()["len"].max())  # type: ignore[arg-type]
        of = f" of the flows {kind}" if kind else ""
        mean = f"{what}{of}" + (f", averaged over up to {most} flows of a run" if most > 1 else "")
        panel = "panel" if rest else None
        yield figures.heat_map(part, names[1], names[0], metric, title, panel, within="mean" if most > 1 else None), mean
