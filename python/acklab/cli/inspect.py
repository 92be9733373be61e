"""`acklab inspect`."""

import json
from pathlib import Path

from acklab.cli.run import finite
from acklab.files import printable
from acklab.inspection.model import inspect
from acklab.inspection.notes import notes
from acklab.inspection.tables import tables
from acklab.inspection.unopened import nothing_followed
from acklab.terminal import notify, run_bar, show_table


def inspect_command(capture: Path, report: Path | None, as_json: bool, trace: int | None) -> None:
    """Analyses a capture or a log and shows the result."""
    with run_bar(capture.name) as bar:
        found = inspect(capture, trace=trace, watch=bar)
    if as_json:
        print(json.dumps(finite(found.to_dict()), allow_nan=False))
    else:
        shown = tables(found)
        for table in shown:
            show_table(table, " (all rows: --json)")
        if not shown:
            notify(nothing_followed(found))
    for note in notes(found):
        notify(f"note: {note}")
    if report is not None:
        from acklab.inspection.document import document
        from acklab.report import write

        notify(f"report: {printable(write([document(found)], report))}")
