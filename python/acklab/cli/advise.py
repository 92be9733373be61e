"""`acklab advise`."""

import json
from pathlib import Path

from acklab.cli.run import finite
from acklab.files import printable
from acklab.terminal import notify, out, run_bar, show_table


def advise_command(
    link: str,
    sets: list[str],
    vary: list[str],
    uses: list[str],
    seconds: float,
    report: Path | None,
    jobs: int | None,
    as_json: bool,
) -> None:
    """Advises and shows the answer with its evidence."""
    from acklab.advice.advise import advise
    from acklab.advice.document import document, lines, table
    from acklab.advice.uses import USES

    ranges = dict(text.partition("=")[::2] for text in vary)
    with run_bar(link) as bar:
        found = advise(link, set=sets, vary=ranges, uses=uses or tuple(USES), seconds=seconds, jobs=jobs, watch=bar)
    if as_json:
        print(json.dumps(finite(found.to_dict()), allow_nan=False))
    else:
        show_table(table(found))
        for line in lines(found):
            out.print(line, highlight=False, soft_wrap=True, markup=False)
    if report is not None:
        from acklab.report import write

        notify(f"the report: {printable(write([document(found)], report))}")
