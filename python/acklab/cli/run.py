"""`acklab run` and `acklab check`."""

import json
import math
from pathlib import Path
from typing import Any

import polars as pl
from rich.table import Table
from rich.text import Text

from acklab import core
from acklab.metrics import best, is_metric, name_columns, written
from acklab.result import Result
from acklab.runner import run_source
from acklab.scenario import Source, with_seed
from acklab.statistics import uses_of_air
from acklab.terminal import err, out

_SIDE_BY_SIDE = 6
_SHORT = (
    "mean_throughput_l4",
    "mean_srtt_l4",
    "mean_cwnd_l4",
    "total_retransmissions_l4",
    "total_rtos_l4",
    "total_acks_sent_l4",
    "mean_data_per_ack_l4",
)


def run_command(file: Path, sets: list[str], seed: int | None, folder: Path | None, as_json: bool) -> None:
    """Runs a scenario, shows its tables, and keeps them if there is a folder to keep them in."""
    source = Source.of(file)
    # As with a capture program, files go where they are asked for, and else to the current folder.
    captures = folder or Path()
    if folder is not None and source.load(with_seed(sets, seed)).get("capture"):
        folder.mkdir(parents=True, exist_ok=True)
    result = run_source(source, sets, seed, captures)
    # Shown first, so that a folder that cannot be written does not lose what was computed.
    if as_json:
        print(json.dumps(finite(result.to_dict()), allow_nan=False))
    else:
        show(result)
    if folder is not None:
        result.save(folder)
        err.print(f"kept in {folder}", highlight=False, soft_wrap=True)
    for capture in result.scenario.get("capture") or []:
        err.print(f"captured {captures / capture['file']}", highlight=False, soft_wrap=True)


def check_command(file: Path, sets: list[str], as_json: bool) -> None:
    """Checks a scenario; with `as_json` prints it in full."""
    scenario = Source.of(file).load(sets)
    if as_json:
        print(json.dumps(scenario))
    else:
        counts = {what: len(scenario.get(key) or []) for key, what in (("link", "link"), ("wifi", "cell"), ("flow", "flow"))}
        parts = ", ".join(_count(number, what) for what, number in counts.items() if number or what != "cell")
        out.print(f"{file}: good ({parts})", highlight=False, soft_wrap=True)


def show(result: Result) -> None:
    """Prints the tables of a run."""
    title = result.scenario.get("title")
    out.print(Text.assemble((str(title or "run"), "bold"), (f"  seed {result.seed}, revision {core.revision()}", "dim")))
    for name in ("flows", "links", "stations", "hack", "network"):
        if name in result.tables and result.table(name).height:
            out.print(_turned(result.table(name), result.units(name), name))
    if "airtime" in result.tables:
        out.print(_plain(uses_of_air(result.airtime), "time on the air"))
    if "acks" in result.tables and result.acks.height:
        out.print(_plain(result.acks, "acknowledgements by reason"))


def _turned(frame: pl.DataFrame, units: dict[str, str], caption: str) -> Table:
    """A row for each metric and a column for each flow, link or node; best values in bold. Many flows get a row each instead."""
    names = name_columns(frame.columns)
    if frame.height > _SIDE_BY_SIDE:
        shown = [*names, *(name for name in _SHORT if name in frame.columns)]
        if len(shown) == len(names):
            shown += [name for name in frame.columns if is_metric(name)][:7]
        return _plain(frame.select(shown), caption)
    table = Table(title=caption, title_justify="left", title_style="bold", box=None, pad_edge=False, header_style="dim")
    table.add_column("metric")
    table.add_column("unit", style="dim")
    for row in frame.iter_rows(named=True):
        table.add_column(" ".join(str(row[name]) for name in names), justify="right")
    for metric in (name for name in frame.columns if is_metric(name)):
        values = frame[metric].to_list()
        bold = best(metric, values)
        cells = [Text(written(value), style="bold" if place in bold else "") for place, value in enumerate(values)]
        table.add_row(metric, units.get(metric, ""), *cells)
    return table


def _plain(frame: pl.DataFrame, caption: str) -> Table:
    table = Table(title=caption, title_justify="left", title_style="bold", box=None, pad_edge=False, header_style="dim")
    for name, dtype in frame.schema.items():
        table.add_column(name, justify="right" if dtype.is_numeric() else "left")
    for row in frame.iter_rows():
        table.add_row(*(written(value) for value in row))
    return table


def finite(value: Any) -> Any:
    """The same value with None for every number that JSON cannot write."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {key: finite(item) for key, item in value.items()}
    if isinstance(value, list):
        return [finite(item) for item in value]
    return value


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"
