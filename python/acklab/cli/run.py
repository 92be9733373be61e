"""`acklab run` and `acklab check`."""

import json
import math
from pathlib import Path
from typing import Any

from acklab import core
from acklab.errors import Cancelled
from acklab.files import printable
from acklab.remarks import remarks
from acklab.result import Result
from acklab.runner import run_source
from acklab.scenario import Source, with_seed
from acklab.strategies import Strategies
from acklab.strategy_files import faults_named
from acklab.tables import tables_of
from acklab.terminal import run_bar, show_table, tell


def run_command(
    file: Path,
    sets: list[str],
    seed: int | None,
    folder: Path | None,
    qlog: Path | None,
    qlog_version: str,
    as_json: bool,
    strategies: Strategies | None = None,
) -> None:
    """Runs a scenario, shows its tables, and keeps them if there is a folder to keep them in."""
    source = Source.of(file)
    scenario = source.load(with_seed(sets, seed))
    # As with a capture program, files go where they are asked for, and else to the current folder.
    captures = folder or Path()
    if folder is not None:
        from acklab.contents import Contents, refuse_others
        from acklab.store import make_folder

        refuse_others(folder, Contents.RUN)
        if scenario.get("capture"):
            make_folder(folder)
    reached = 0.0
    try:
        with run_bar(source.name) as bar:

            def watch(share: float) -> None:
                nonlocal reached
                reached = share
                bar(share)

            with faults_named((strategies or {}).values()):
                result = run_source(source, sets, seed, captures, qlog, qlog_version, strategies=strategies, watch=watch)
    except (KeyboardInterrupt, Cancelled) as error:
        raise Cancelled(f"stopped at {reached:.1%} of the run; nothing of it is kept") from error
    # Shown first, so that a folder that cannot be written does not lose what was computed.
    if as_json:
        print(json.dumps(finite(result.to_dict()), allow_nan=False))
    else:
        show(result)
    if folder is not None:
        result.save(folder)
        tell(f"kept in {printable(folder)}")
    for capture in result.scenario.get("capture") or []:
        tell(f"captured {printable(captures / capture['file'])}")
    if qlog is not None:
        tell(f"logs of the endpoints in {printable(qlog)}")


def check_command(file: Path, sets: list[str], as_json: bool) -> None:
    """Checks a scenario; with `as_json` prints it in full."""
    source = Source.of(file)
    scenario = source.check(sets)
    if as_json:
        print(json.dumps(scenario))
    else:
        counts = {what: len(scenario.get(key) or []) for key, what in (("link", "link"), ("wifi", "cell"), ("flow", "flow"))}
        parts = ", ".join(_count(number, what) for what, number in counts.items() if number or what != "cell")
        print(f"{source.name}: good ({parts})")


def show(result: Result, folder: Path | None = None) -> None:
    """Prints the tables of a run, then what a reader should know of them."""
    from rich.text import Text

    from acklab.terminal import out

    title = result.scenario.get("title")
    revision = result.provenance.revision if folder else core.revision()
    out.print(Text.assemble((str(title or "run"), "bold"), (f"  seed {result.seed}, revision {revision}", "dim")))
    for table in tables_of(result):
        show_table(table, f" (all of them: --json, or {printable(folder)})" if folder else " (all of them: --json, or --out DIR)")
    for remark in remarks(result):
        tell(f"note: {remark}")


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
