"""`acklab packetdrill`."""

import json
import os
from pathlib import Path

import typer

from acklab.files import printable
from acklab.packetdrill import Verdict, by_folder, play
from acklab.strategies import Strategies
from acklab.strategy_files import faults_named
from acklab.tables import Table
from acklab.terminal import notify, out, show_table

FAILED = 1
MALFORMED = 2


def packetdrill_command(
    scripts: list[Path],
    preset: str,
    scenario: Path | None,
    sets: list[str],
    strategies: Strategies | None,
    tolerance_usecs: int | None,
    as_json: bool,
) -> None:
    """Runs scripts and shows the results by script and by folder."""
    with faults_named((strategies or {}).values()):
        verdicts = play(
            scripts, preset=preset, scenario=scenario, set=sets, strategies=strategies, tolerance_usecs=tolerance_usecs
        )
    if as_json:
        print(json.dumps([verdict.to_dict() for verdict in verdicts]))
    else:
        show(verdicts)
    found = {verdict.verdict for verdict in verdicts}
    if "malformed" in found:
        raise typer.Exit(MALFORMED)
    if "failed" in found:
        raise typer.Exit(FAILED)


def show(verdicts: list[Verdict]) -> None:
    """Prints failures and skipped scripts with their lines, then the counts of each folder."""
    for verdict in verdicts:
        name = printable(verdict.script)
        for failure in verdict.failures:
            _line(f"{name}:{failure.line}: expected {failure.expected}\n    found {failure.found}")
        if verdict.line is not None:
            _line(f"{name}:{verdict.line}: {verdict.verdict}: {verdict.reason}")
    counts = by_folder(verdicts)
    common = Path(os.path.commonpath(counts)) if len(counts) > 1 else Path()
    rows = [
        (printable(folder.relative_to(common) if len(counts) > 1 else folder), *map(str, of_folder.values()))
        for folder, of_folder in counts.items()
    ]
    show_table(Table(("folder", "passed", "failed", "out of scope", "malformed"), rows))
    passed = sum(verdict.verdict == "passed" for verdict in verdicts)
    failed = sum(verdict.verdict == "failed" for verdict in verdicts)
    notify(f"{passed} of {passed + failed} scripts in scope passed")


def _line(text: str) -> None:
    out.print(text, highlight=False, soft_wrap=True, markup=False)
