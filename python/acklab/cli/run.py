"""`acklab run` and `acklab check`."""

import contextlib
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from acklab import core
from acklab.answer import BLOCKS, answer_table, answers, left_out, together
from acklab.errors import Cancelled, UsageError
from acklab.files import ensure_writable, printable, visible
from acklab.remarks import remarks, remarks_on_scenario
from acklab.result import Result
from acklab.runner import run_source
from acklab.scenario import Source, with_seed
from acklab.strategies import Strategies
from acklab.strategy_files import faults_named, refuse_unused
from acklab.tables import chosen_document, chosen_tables, refuse_unknown_columns, tables_between, tables_of
from acklab.terminal import notify, run_bar, show_answers, show_table


@dataclass(frozen=True)
class View:
    """Selection of results to show: the short answer, all tables, or some columns."""

    everything: bool = False
    only: tuple[str, ...] = ()

    @classmethod
    def of(cls, everything: bool, only: Sequence[str]) -> "View":
        """Returns the view for the options of the command line.

        An `--only` may name several columns. Raises UsageError if both options are given.
        """
        names = tuple(name.strip() for text in only for name in text.split(",") if name.strip())
        if everything and names:
            raise UsageError("found --all and --only, expected one of them")
        return cls(everything, names)


DEFAULT_VIEW = View()


def run_command(
    file: Path,
    sets: list[str],
    seed: int | None,
    folder: Path | None,
    qlog: Path | None,
    qlog_version: str,
    as_json: bool,
    strategies: Strategies | None = None,
    view: View = DEFAULT_VIEW,
) -> None:
    """Runs a scenario and shows the result. Stores its tables if a folder is given."""
    refuse_unknown_columns(view.only)
    source = Source.of(file)
    scenario = source.load(with_seed(sets, seed))
    refuse_unused(strategies or {}, scenario)
    if qlog is not None:
        ensure_writable(qlog)
    with contextlib.ExitStack() as stack:
        replacement = None
        if folder is not None:
            from acklab.contents import Contents
            from acklab.replacing import replacing

            replacement = stack.enter_context(replacing(folder, Contents.RUN))
            replacement.make_room([capture["file"] for capture in scenario.get("capture") or []])
        # Files go to the folder of `--out`, or else to the current folder, as with a capture
        # program.
        captures = Path() if replacement is None else replacement.staging
        result = _run(source, sets, seed, captures, qlog, qlog_version, strategies)
        # The result is shown before it is stored, so it is not lost if the folder cannot be
        # written.
        if as_json:
            print(json.dumps(finite(chosen_document(result, view.only)), allow_nan=False))
        else:
            show(result, view=view)
        if replacement is not None:
            result.complete(replacement)
    if folder is not None:
        notify(f"kept in {printable(folder)}")
    for capture in result.scenario.get("capture") or []:
        notify(f"captured {printable((folder or Path()) / capture['file'])}")
    if qlog is not None:
        notify(f"logs of the endpoints in {printable(qlog)}")


def _run(
    source: Source,
    sets: list[str],
    seed: int | None,
    captures: Path,
    qlog: Path | None,
    qlog_version: str,
    strategies: Strategies | None,
) -> Result:
    """Runs a scenario with a progress bar. Raises Cancelled after Ctrl-C."""
    reached = 0.0
    try:
        with run_bar(source.name) as bar:

            def watch(share: float) -> None:
                nonlocal reached
                reached = share
                bar(share)

            with faults_named((strategies or {}).values()):
                return run_source(source, sets, seed, captures, qlog, qlog_version, strategies=strategies, watch=watch)
    except (KeyboardInterrupt, Cancelled) as error:
        raise Cancelled(f"stopped at {reached:.1%} of the run; nothing was stored") from error


def check_command(file: Path, sets: list[str], as_json: bool) -> None:
    """Checks a scenario; with `as_json` prints it in full."""
    source = Source.of(file)
    scenario = source.check(sets)
    if as_json:
        print(json.dumps(scenario))
    else:
        counts = {what: len(scenario.get(key) or []) for key, what in (("link", "link"), ("wifi", "cell"), ("flow", "flow"))}
        parts = ", ".join(_count(number, what) for what, number in counts.items() if number or what != "cell")
        print(f"{source.name}: valid ({parts})")
        for remark in remarks_on_scenario(scenario):
            notify(f"note: {remark}")


def show(result: Result, folder: str | None = None, view: View = DEFAULT_VIEW) -> None:
    """Prints the result of a run: short answer, all tables or some columns; then notes."""
    from rich.text import Text

    from acklab.terminal import out

    title = visible(str(result.scenario.get("title") or "run"))
    revision = result.provenance.revision if folder else core.revision()
    if view.only:
        tables = chosen_tables(result, view.only)
    elif view.everything:
        tables = tables_of(result)
    else:
        tables = tables_between(result) if "interfaces" in result.tables else []
    out.print(Text.assemble((title, "bold"), (f"  seed {result.seed}, revision {revision}", "dim")))
    where = f" (all rows: --json, or {printable(folder)})" if folder else " (all rows: --json, or --out DIR)"
    for table in tables:
        show_table(table, where)
    if not tables:
        _show_answers(result, where)
    for remark in remarks(result):
        notify(f"note: {remark}")


def _show_answers(result: Result, where: str) -> None:
    from rich.text import Text

    from acklab.terminal import out

    found = answers(result)
    if len(found) > BLOCKS:
        show_table(answer_table(result), where)
    else:
        show_answers(found)
    nothing = "" if found else "found no flow and no connection of a program"
    for line in filter(None, (nothing, left_out(result), together(result))):
        out.print(Text(line), soft_wrap=True)
    out.print(Text("all metrics: --all; selected metrics: --only NAME,NAME", style="dim"), soft_wrap=True)


def finite(value: Any) -> Any:
    """Returns the value with None for each number that JSON does not support."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {key: finite(item) for key, item in value.items()}
    if isinstance(value, list):
        return [finite(item) for item in value]
    return value


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"
