"""The live view in the terminal: tables that are redrawn each second."""

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.table import Table
from rich.text import Text

Sample = Mapping[str, Any]

_MAX_ROWS = 12
"""Maximum rows of a table, which must fit into a terminal."""


@contextlib.contextmanager
def live_view(console: Console, title: str) -> Iterator[Callable[[Sample], None]]:
    """Yields a function that shows each sample in place of the previous sample.

    Removes the last sample after the run.
    """
    with Live(console=console, transient=True, auto_refresh=False) as live:

        def show(sample: Sample) -> None:
            live.update(drawn(sample, title), refresh=True)

        yield show


def drawn(sample: Sample, title: str) -> RenderableType:
    """Returns one sample as tables."""
    head = Text.assemble((title, "bold"), (f"  {_time(sample)} s", "dim"))
    parts: list[RenderableType] = [head]
    if sample["flows"]:
        parts.append(_flows(sample["flows"]))
    if sample["links"]:
        parts.append(_links(sample["links"]))
    parts += [_cell(cell) for cell in sample["cells"]]
    parts.append(_lateness(sample["lateness"]))
    return Group(*parts)


def _time(sample: Sample) -> str:
    now, duration = f"{sample['time']:.0f}", sample["duration"]
    return now if duration is None else f"{now} of {duration:g}"


def _table(*columns: str) -> Table:
    table = Table(box=None, pad_edge=False, header_style="dim")
    for index, name in enumerate(columns):
        table.add_column(name, justify="left" if index == 0 else "right", min_width=8)
    return table


def _flows(flows: Sequence[Sample]) -> Table:
    table = _table("flow", "Mbps", "RTT [ms]", "delay [ms]", "cwnd", "ACKs/s", "sent again")
    for flow in flows[:_MAX_ROWS]:
        numbers = (flow["throughput"], flow["srtt"], flow["delay"], flow["cwnd"], flow["acks"], flow["retransmissions"])
        table.add_row(flow["flow"], *(_number(value, digits) for value, digits in zip(numbers, (2, 1, 1, 1, 0, 0), strict=True)))
    return _with_rest(table, flows)


def _links(links: Sequence[Sample]) -> Table:
    table = _table("link", "Mbps", "queue", "drops", "filtered")
    for link in links[:_MAX_ROWS]:
        table.add_row(
            link["link"],
            *(_number(link[name], digits) for name, digits in (("rate", 2), ("queue", 0), ("drops", 0), ("filtered", 0))),
        )
    return _with_rest(table, links)


def _cell(cell: Sample) -> Text:
    shares = sorted(cell["airtime"].items(), key=lambda item: -item[1])
    queues = ", ".join(f"{node} {length}" for node, length in cell["queues"].items() if length)
    air = ", ".join(f"{use} {share:.0%}" for use, share in shares if share >= 0.005)
    return Text.assemble(
        (f"{cell['cell']}  ", "dim"), air or "no airtime in this second", (f"  queues: {queues}" if queues else "", "dim")
    )


def _lateness(lateness: Sample | None) -> Text:
    if lateness is None:
        return Text("no packet was delivered in this second", style="dim")
    late = f"p50 {lateness['p50']:.0f}, p99 {lateness['p99']:.0f}, max {lateness['max']:.0f} µs"
    return Text.assemble(("lateness  ", "dim"), late, (f"  of {lateness['deliveries']:,} packets", "dim"))


def _with_rest(table: Table, rows: Sequence[Sample]) -> Table:
    if len(rows) > _MAX_ROWS:
        table.add_row(Text(f"… {len(rows) - _MAX_ROWS} more", style="dim"))
    return table


def _number(value: float | None, digits: int) -> str:
    return "–" if value is None else f"{value:,.{digits}f}"
