"""`acklab study` and `acklab studies`."""

import json
import shlex
import sys
import time
from collections.abc import Sequence

import typer
from rich.table import Table
from rich.text import Text

from acklab.errors import Cancelled, StoreError, UsageError
from acklab.files import printable, visible
from acklab.metrics import written
from acklab.report.document import Document, Section
from acklab.studies import Study, StudyResult, discover, estimate_study, find, run_study
from acklab.studies.new import new_study
from acklab.sweeps.estimation import total
from acklab.sweeps.on_ray import executor_of
from acklab.tables import Table as Drawn
from acklab.terminal import notify, out, show_table
from acklab.verdict import KIND_TITLES, NOT_REPRODUCED, REPRODUCED, SAME_DIRECTION, UNDECIDED, Finding, summary
from acklab.ways import EMULATE, SIMULATE

_STYLES = {REPRODUCED: "green", SAME_DIRECTION: "yellow", NOT_REPRODUCED: "red", UNDECIDED: "magenta"}


def study_command(
    names: list[str],
    everything: bool,
    quick: bool,
    folder: str,
    jobs: int | None,
    as_json: bool,
    way: str,
    on: str | None,
    most_seeds: int | None,
    dry_run: bool,
    processors: str = "auto",
    kernel: str | None = None,
) -> None:
    """Reruns studies. Prints their claims, or for emulated studies the compared numbers."""
    if everything == bool(names):
        raise UsageError("expected names of studies or --all; list them by `acklab studies`")
    if processors != "auto" and way != EMULATE:
        raise UsageError(f"found --processors {processors} without --way emulate: simulations do not run in real time")
    started, began = time.process_time(), time.monotonic()
    broken: list[StoreError] = []
    chosen = discover(broken.append) if everything else [find(name) for name in names]
    for fault in broken:
        notify(f"skipped: {fault}")
    if dry_run:
        if way != SIMULATE:
            raise UsageError(
                f"found --dry-run and --way {way}, expected one of them; an emulation prints its duration when it starts"
            )
        _show_estimates(chosen, folder, quick, jobs, as_json)
        _fail_for(broken)
        return
    results: list[StudyResult] = []
    for study in chosen:
        try:
            results.append(
                run_study(
                    study,
                    folder,
                    quick=quick,
                    jobs=jobs,
                    quiet=as_json,
                    way=way,
                    on=executor_of(on),
                    most_seeds=most_seeds,
                    processors=processors,
                    kernel=kernel,
                )
            )
        except Cancelled as error:
            raise Cancelled(f"{error}\nfinished runs are stored; resume with: {shlex.join(['acklab', *sys.argv[1:]])}") from error
        if not as_json and results[-1].comparisons:
            show_comparisons(results[-1].document)
        elif not as_json:
            show(results[-1].study.file.title, results[-1].findings)
    if as_json and way != SIMULATE:
        print(json.dumps({"emulated": [row.row() for result in results for row in result.comparisons]}, allow_nan=False))
    elif as_json:
        print(json.dumps({"claims": [finding.row() for result in results for finding in result.findings]}, allow_nan=False))
    else:
        spent, passed = time.process_time() - started, time.monotonic() - began
        notify(
            f"kept in {printable(folder)} after {passed:.0f} s ({spent:.0f} s of CPU time); "
            f"next: acklab report {shlex.quote(printable(folder))}"
        )
    _fail_for(broken)


def _fail_for(broken: Sequence[StoreError]) -> None:
    """Ends with exit code 1 if studies were skipped."""
    if broken:
        raise typer.Exit(1)


def new_command(name: str) -> None:
    """Writes a study from the template."""
    for file in new_study(name):
        print(printable(file))
    notify(f"next: acklab study {name}")


def _show_estimates(studies: Sequence[Study], folder: str, quick: bool, jobs: int | None, as_json: bool) -> None:
    """Prints the estimated cost of each study, and of all."""
    found = {study.name: estimate_study(study, folder, quick=quick, jobs=jobs, quiet=as_json) for study in studies}
    if as_json:
        print(json.dumps({name: one.to_dict() for name, one in found.items()}))
        return
    rows = [[name, f"{one.points:,}", f"{one.kept:,}", f"{one.seconds.mean:.0f}"] for name, one in found.items()]
    show_table(
        Drawn(["study", "points", "kept", "CPU time [s]"], rows, "Remaining runs, estimated from the first seed of each setting")
    )
    print(total(list(found.values())).text)


def show_comparisons(document: Document) -> None:
    """Prints the tables of an emulated study."""
    out.print(Text(document.title, style="bold"))
    for section in document.sections:
        if isinstance(section, Section):
            for item in section.items:
                if isinstance(item, Drawn):
                    show_table(item)


def studies_command() -> None:
    """Lists the studies of papers, of parity and of our questions, and names broken studies."""
    table = Table(box=None, pad_edge=False, header_style="dim")
    table.add_column("study")
    table.add_column("folder")
    table.add_column("claims", justify="right")
    table.add_column("question")
    broken: list[StoreError] = []
    studies = discover(broken.append)
    for kind, title in KIND_TITLES.items():
        if own := [study for study in studies if study.kind == kind]:
            table.add_row(Text(title, style="dim italic"))
        for study in own:
            name, folder = Text(study.name, style="bold"), Text(printable(study.origin))
            table.add_row(name, folder, str(len(study.file.claim)), Text(visible(study.file.question)))
    out.print(table)
    for fault in broken:
        notify(f"skipped: {fault}")


def show(title: str, findings: Sequence[Finding]) -> None:
    """Prints the claims of a study, and the notes of those that are not reproduced."""
    out.print(Text.assemble((title, "bold"), (f"  {summary(findings)}", "dim")))
    table = Table(box=None, pad_edge=False, header_style="dim")
    for name in ("claim", "published", "ours", "interval", "unit", "±", "verdict"):
        table.add_column(name, justify="right" if name in ("published", "ours", "interval", "±") else "left")
    group = ""
    for finding in findings:
        if finding.group != group:
            group = finding.group
            table.add_row(Text(group, style="dim italic"))
        table.add_row(
            finding.title,
            written(finding.published),
            written(finding.measured),
            Text(finding.interval_text, style="dim"),
            finding.unit,
            finding.tolerance,
            Text(finding.verdict_text, style=_STYLES[finding.verdict]),
        )
    out.print(table)
    for finding in findings:
        if finding.note and finding.verdict != REPRODUCED:
            out.print(Text(f"  {finding.title}: {finding.note}", style="dim"))
