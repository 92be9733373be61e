"""Tables for display: rows of results as text, with units and marked best values.

Terminal, notebook and report show the same tables.
"""

import difflib
import math
import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from acklab.airtime import by_use
from acklab.errors import UsageError
from acklab.metrics import best, is_metric, metrics, name_columns, written

if TYPE_CHECKING:
    from acklab.result import Result

METRIC_TABLES = {
    "flows": "Flows",
    "links": "Links, per direction",
    "stations": "Stations",
    "hack": "ACKs in link-layer responses, per station",
    "network": "Network: all flows together",
}
"""Tables of metrics in display order, with their captions."""

_KIND = ("transport_protocol", "traffic_model", "src", "dst")
"""Columns that are equal for competing flows.

Names of nodes of one station entry differ only in their final number.
"""

_OF_INTERFACES = {"interfaces": "Interfaces", "inline": "Between them"}
"""Tables of a path between two interfaces, with their captions."""

_BETWEEN = (
    "mean_sending_rate_l1",
    "total_packets_in_l2",
    "total_packets_out_l2",
    "total_filtered_acks_l2",
    "total_qdisc_drops_l2",
    "mean_qdisc_length_l2",
)
"""Columns of links that describe a path between two interfaces."""

PROGRAM = "program"
"""The traffic of connections of programs in an emulation."""

MANY = 40
"""Maximum number of rows without a preceding table of ranges."""

_FEW = (
    "mean_throughput_l4",
    "mean_srtt_l4",
    "mean_cwnd_l4",
    "total_retransmissions_l4",
    "total_rtos_l4",
    "total_acks_sent_l4",
    "mean_data_per_ack_l4",
)


_TIMING = (
    "deliveries",
    "p50_lateness",
    "p99_lateness",
    "max_lateness",
    "worst_second_p999_lateness",
    "worst_second_waiting",
    "worst_second_stolen",
    "priority",
    "processors",
    "trusted",
)
"""Displayed columns of the table `timing` of an emulation."""


@dataclass(frozen=True)
class Table:
    """A table of text.

    `best` contains the row and the column of each cell that is marked as the best of its row.
    """

    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    caption: str = ""
    best: frozenset[tuple[int, int]] = frozenset()
    commands: Sequence[str] = ()
    numeric_from: int = 1
    """First column of numbers, which are right-aligned, except for those in `text`."""
    text: frozenset[int] = frozenset()
    """Columns of text after `numeric_from`."""
    left_out: int = 0
    """Number of rows that are not shown."""

    def is_number(self, column: int) -> bool:
        """Returns whether a column holds numbers."""
        return column >= self.numeric_from and column not in self.text

    def columns(self, places: Sequence[int]) -> "Table":
        """Returns the table with only these columns. The first `numeric_from` must be included."""
        new = {old: place for place, old in enumerate(places)}
        return replace(
            self,
            head=[self.head[place] for place in places],
            rows=[[row[place] for place in places] for row in self.rows],
            best=frozenset((line, new[place]) for line, place in self.best if place in new),
            text=frozenset(new[place] for place in self.text if place in new),
        )

    def cut(self, limit: int) -> "Table":
        """Returns the first `limit` rows and the number of omitted ones."""
        if len(self.rows) <= limit:
            return self
        return replace(self, rows=self.rows[:limit], left_out=self.left_out + len(self.rows) - limit)


def tables_of(result: "Result", commands: Sequence[str] = (), side_by_side: int = 6) -> list[Table]:
    """Returns the displayed tables of a run: metrics, use of the air, acknowledgements by reason.

    With more than `side_by_side` flows, links or nodes, each has a row with the most important
    metrics. With more than `MANY`, a table with the range of each metric precedes the rows.
    """
    shown: list[Table] = []
    for name, caption in METRIC_TABLES.items():
        rows = result.arrow(name).num_rows if name in result.tables else 0
        if rows > MANY:
            shown.append(range_table(result, name))
        if rows > side_by_side:
            shown.append(_list(result, name, caption))
        elif rows:
            shown.append(metric_table(result, name, caption, commands))
    if "airtime" in result.tables:
        uses = [
            {"cell": row["cell"], "use": row["use"], "time": row["time"] / 1e6, "share": row["share"]}
            for row in by_use(_rows(result, "airtime"))
        ]
        shown.append(plain_table(uses, "Time on the air", {"time": "ms"}))
    if "acks" in result.tables and result.arrow("acks").num_rows:
        shown.append(plain_table(_rows(result, "acks"), "Acknowledgements by reason"))
    if "interfaces" in result.tables:
        for name, caption in _OF_INTERFACES.items():
            shown.append(plain_table(_rows(result, name), caption, result.units(name)))
    if "timing" in result.tables:
        timing = [{name: row[name] for name in _TIMING if name in row} for row in _rows(result, "timing")]
        shown.append(plain_table(timing, "Lateness of deliveries", result.units("timing")))
    if "applications" in result.tables:
        shown.append(plain_table(_rows(result, "applications"), "Commands", result.units("applications")))
    return shown


def tables_between(result: "Result") -> list[Table]:
    """Returns the short answer for a path between two interfaces.

    Its flows belong to other hosts, so the tables cover each link and both interfaces.
    """
    links = chosen_tables(result, [column for column in _BETWEEN if column in result.arrow("links").column_names])
    return [*links, *(table for table in tables_of(result) if table.caption in _OF_INTERFACES.values())]


def metric_table(result: "Result", name: str, caption: str = "", commands: Sequence[str] = ()) -> Table:
    """Returns a transposed table of a run: a row per metric, a column per flow, link or node.

    The best value among competing flows is marked. Flows compete if they have the same transport
    and kind of traffic between nodes of the same kind. Links and nodes do not compete.
    """
    rows = _rows(result, name)
    names = name_columns(result.arrow(name).column_names)
    columns = {_label(row, names): row for row in rows}
    return _turned(columns, result.units(name), caption, commands, competitors(rows) if name == "flows" else ())


def range_table(result: "Result", name: str) -> Table:
    """Returns minimum, median and maximum of each metric of a table.

    Includes the rows of both extremes.
    """
    table = result.arrow(name)
    labels = [table.column(one).to_pylist() for one in name_columns(table.column_names)]
    units, cells = result.units(name), []
    for metric in filter(is_metric, table.column_names):
        values = [
            (value, row)
            for row, value in enumerate(table.column(metric).to_pylist())
            if isinstance(value, int | float) and not math.isnan(value)
        ]
        if not values:
            continue  # Metric of another transport
        values.sort(key=lambda pair: pair[0])
        (minimum, first), (maximum, last) = values[0], values[-1]
        at = ["", ""] if minimum == maximum else [" ".join(str(names[row]) for names in labels) for row in (first, last)]
        median = statistics.median(value for value, _ in values)
        numbers = [written(minimum), at[0], written(median), written(maximum), at[1]]
        cells.append([metric, units.get(metric, ""), *numbers])
    head = ["metric", "unit", "least", "of", "median", "greatest", "of"]
    caption = f"{name.capitalize()}, range over {table.num_rows:,}"
    return Table(head, cells, caption, numeric_from=2, text=frozenset({3, 6}))


def _label(row: Mapping[str, Any], names: Sequence[str]) -> str:
    if "flows" in names:  # The single row of the network is named by its number of flows.
        return f"{row['flows']} flow{'' if row['flows'] == 1 else 's'}"
    return " ".join(str(row[one]) for one in names) or "value"


def refuse_unknown_columns(only: Sequence[str], known: Iterable[str] | None = None) -> None:
    """Raises UsageError for a name that is not among the `known` columns, with similar ones.

    By default, these are the columns of all tables of metrics.
    """
    every = dict.fromkeys((one.name for one in metrics() if one.table in METRIC_TABLES) if known is None else known)
    for column in only:
        if column not in every:
            near = difflib.get_close_matches(column, every, n=3, cutoff=0.5)
            raise UsageError(f"--only: found {column!r}, expected a column such as {', '.join(near or list(every)[-3:])}")


def chosen_document(result: "Result", only: Sequence[str]) -> dict[str, Any]:
    """Returns plain values of the result; with `only`, rows have their names and these columns.

    Raises UsageError for a column that no table has.
    """
    document = result.to_dict()
    if not only:
        return document
    chosen_tables(result, only)
    found = {key: document[key] for key in ("scenario", "seed", "revision", "command")}
    for name in METRIC_TABLES:
        columns = result.arrow(name).column_names if name in result.tables else []
        if own := [column for column in only if column in columns]:
            rows = [{column: row[column] for column in [*name_columns(columns), *own]} for row in _rows(result, name)]
            found[name] = rows[0] if name == "network" and len(rows) == 1 else rows
    return found


def chosen_tables(result: "Result", only: Sequence[str]) -> list[Table]:
    """Returns tables of only these columns, each with a row per flow, link or node.

    Raises UsageError for a column that no table has.
    """
    known = {name: result.arrow(name).column_names for name in METRIC_TABLES if name in result.tables}
    refuse_unknown_columns(only, (column for columns in known.values() for column in columns))
    shown = []
    for name, columns in known.items():
        # A column of several tables, such as a throughput, is shown where rows have names.
        own = [column for column in only if column in columns]
        if own and (name != "network" or not any(set(own) & set(known[other]) for other in known if other != name)):
            rows = [{column: row[column] for column in [*name_columns(columns), *own]} for row in _rows(result, name)]
            shown.append(plain_table(rows, METRIC_TABLES[name], result.units(name)))
    return shown


def compare(
    results: Mapping[str, "Result"], name: str, row: str | None = None, caption: str = "", only: Sequence[str] = ()
) -> Table:
    """Returns the same row of a table in several runs.

    There is a column per run, with the best value marked.

    `row` is the name in the first column of the table, if it has many rows; `only` names the
    metrics to show (default: all).
    """
    columns: dict[str, dict[str, Any]] = {}
    units: dict[str, str] = {}
    for label, result in results.items():
        rows = _rows(result, name)
        columns[label] = next(one for one in rows if row is None or next(iter(one.values())) == row)
        units = result.units(name)
    commands = [result.provenance.command for result in results.values()]
    return _turned(columns, units, caption, commands, [range(len(columns))], only)


def plain_table(
    rows: Sequence[Mapping[str, Any]], caption: str = "", units: Mapping[str, str] | None = None, limit: int | None = None
) -> Table:
    """Returns rows as a table, or the first `limit` of them: a column per key, with its unit."""
    names = list(rows[0]) if rows else []
    head = [f"{name} [{units[name]}]" if units and units.get(name) else name for name in names]
    text = frozenset(place for place, name in enumerate(names) if any(isinstance(row[name], str) for row in rows))
    first = next((place for place in range(len(names)) if place not in text), len(names))
    shown = rows if limit is None else rows[:limit]
    cells = [[written(row[name]) for name in names] for row in shown]
    return Table(head, cells, caption, numeric_from=first, text=text, left_out=len(rows) - len(shown))


def _list(result: "Result", name: str, caption: str) -> Table:
    """Returns a table with a row per flow, link or node, and few metrics."""
    columns = result.arrow(name).column_names
    few = [column for column in _FEW if column in columns] or [column for column in columns if is_metric(column)][:7]
    shown = [*name_columns(columns), *few]
    rows = [{column: row[column] for column in shown} for row in _rows(result, name)]
    return plain_table(rows, caption, result.units(name))


def _turned(
    columns: Mapping[str, Mapping[str, Any]],
    units: Mapping[str, str],
    caption: str,
    commands: Sequence[str],
    competitors: Iterable[Sequence[int]],
    only: Sequence[str] = (),
) -> Table:
    first = next(iter(columns.values()))
    groups = [group for group in competitors if len(group) > 1]
    rows: list[list[str]] = []
    marked: set[tuple[int, int]] = set()
    for metric in only or [column for column in first if is_metric(column)]:
        values = [column.get(metric) for column in columns.values()]
        if all(value is None for value in values):
            continue  # Metric of another transport
        for group in groups:
            marked |= {(len(rows), 2 + group[place]) for place in best(metric, [values[index] for index in group])}
        rows.append([metric, units.get(metric, ""), *(written(value) for value in values)])
    return Table(["metric", "unit", *columns], rows, caption, frozenset(marked), commands, numeric_from=2)


def competitors(flows: Sequence[Mapping[str, Any]]) -> list[list[int]]:
    """Returns groups of competing flows by index.

    Flows of a group differ only in settings of their transport.
    """
    groups: dict[tuple[str, ...], list[int]] = {}
    for place, flow in enumerate(flows):
        kind = tuple(str(flow.get(name, "")).rstrip("0123456789").removesuffix("_") for name in _KIND)
        # Traffic of programs is unknown, so they do not compete.
        if flow.get("traffic_model") == PROGRAM:
            kind = (*kind, str(flow["flow"]))
        groups.setdefault(kind, []).append(place)
    return list(groups.values())


def _rows(result: "Result", name: str) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = result.arrow(name).to_pylist()
    return rows
