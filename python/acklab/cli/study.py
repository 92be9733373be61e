"""`acklab study` and `acklab studies`."""

import json
import math
import shlex
import sys
from pathlib import Path

from rich.table import Table
from rich.text import Text

from acklab.errors import Cancelled, UsageError
from acklab.metrics import written
from acklab.studies import StudyResult, discover, find, run_study
from acklab.terminal import err, out
from acklab.verdict import NOT_REPRODUCED, REPRODUCED, SAME_DIRECTION, UNDECIDED, summary

_STYLES = {REPRODUCED: "green", SAME_DIRECTION: "yellow", NOT_REPRODUCED: "red", UNDECIDED: "magenta"}


def study_command(names: list[str], everything: bool, quick: bool, folder: Path, jobs: int | None, as_json: bool) -> None:
    """Reruns studies; prints their claims."""
    if everything == bool(names):
        raise UsageError("expected the names of studies or --all; `acklab studies` lists them")
    chosen = discover() if everything else [find(name) for name in names]
    results = []
    for study in chosen:
        try:
            results.append(run_study(study, folder, quick=quick, jobs=jobs, quiet=as_json))
        except Cancelled as error:
            raise Cancelled(f"{error}\nwhat is finished is kept; go on with: {shlex.join(['acklab', *sys.argv[1:]])}") from error
        if not as_json:
            _show(results[-1])
    if as_json:
        print(json.dumps({"claims": [finding.row() for result in results for finding in result.findings]}, allow_nan=False))
    else:
        err.print(f"kept in {folder}; next: acklab report {shlex.quote(str(folder))}", highlight=False, soft_wrap=True)


def studies_command() -> None:
    """Lists the studies."""
    table = Table(box=None, pad_edge=False, header_style="dim")
    table.add_column("study")
    table.add_column("claims", justify="right")
    table.add_column("question")
    for study in discover():
        table.add_row(Text(study.name, style="bold"), str(len(study.file.claim)), study.file.question)
    out.print(table)


def _show(result: StudyResult) -> None:
    file = result.study.file
    out.print(Text.assemble((file.title, "bold"), (f"  {summary(result.findings)}", "dim")))
    table = Table(box=None, pad_edge=False, header_style="dim")
    for name in ("claim", "published", "ours", "interval", "unit", "±", "verdict"):
        table.add_column(name, justify="right" if name in ("published", "ours", "interval", "±") else "left")
    group = ""
    for finding in result.findings:
        if finding.group != group:
            group = finding.group
            table.add_row(Text(group, style="dim italic"))
        interval = "" if math.isnan(finding.low) else f"{written(finding.low)} … {written(finding.high)}"
        table.add_row(
            finding.title,
            written(finding.published),
            written(finding.measured),
            Text(interval, style="dim"),
            finding.unit,
            finding.tolerance,
            Text(finding.verdict_text, style=_STYLES[finding.verdict]),
        )
    out.print(table)
    for finding in result.findings:
        if finding.note and finding.verdict != REPRODUCED:
            out.print(Text(f"  {finding.title}: {finding.note}", style="dim"))
