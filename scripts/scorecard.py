"""Writes docs/scorecard.md: every claim of every study, from results that are there: scripts/scorecard.py OUT."""

import datetime
import sys
from collections.abc import Sequence
from pathlib import Path

from acklab import core
from acklab.metrics import written
from acklab.report import Document
from acklab.verdict import REPRODUCED, VERDICTS, Finding, summary

ROOT = Path(__file__).resolve().parents[1]
HEAD = """# Scorecard

<!-- This page is made by `make scorecard`, which reruns all studies. -->

{summary}, by revision `{revision}` on {date}.

A number is *reproduced* if the whole interval of ours lies within the tolerance that was set beforehand, points in the *same direction* if the whole interval lies on
the claimed side, and is *not reproduced* if none of it does either; otherwise it is *undecided*. Intervals are of 95 % over seeds.

"""


def main(folder: Path) -> None:
    """Reads the documents of all studies in a folder and writes the page."""
    documents = [Document.read(path.parent) for path in sorted(folder.glob("*/report.json"))]
    documents = [document for document in documents if document.findings]
    if not documents:
        sys.exit(f"error: {folder}: found no results of studies, expected those of `acklab study --all --out {folder}`")
    findings = [finding for document in documents for finding in document.findings]
    revisions = ", ".join(dict.fromkeys(document.revision for document in documents)) or core.revision()
    date = datetime.datetime.now(tz=datetime.UTC).date().isoformat()
    parts = [HEAD.format(summary=summary(findings), revision=revisions, date=date), _overview(documents), _sources(documents)]
    parts += [_study(document) for document in documents]
    (ROOT / "docs" / "scorecard.md").write_text("".join(parts), encoding="utf-8")


def _overview(documents: Sequence[Document]) -> str:
    lines = [f"| study | seeds | claims | {' | '.join(VERDICTS)} |", f"|---|---:|---:|{'---:|' * len(VERDICTS)}"]
    for document in documents:
        counts = [sum(finding.verdict == verdict for finding in document.findings) for verdict in VERDICTS]
        link = f"[{document.title}](../studies/{document.name}/README.md)"
        lines.append(f"| {link} | {document.seeds} | {len(document.findings)} | {' | '.join(str(count) for count in counts)} |")
    return "\n".join(lines) + "\n"


def _sources(documents: Sequence[Document]) -> str:
    """The papers with their sections and figures, each with the study that holds it against ours."""
    lines = [f"\n| paper and place | study | claims | {' | '.join(VERDICTS)} |", f"|---|---|---:|{'---:|' * len(VERDICTS)}"]
    rows = []
    for document in documents:
        for source in dict.fromkeys(finding.source for finding in document.findings):
            verdicts = [finding.verdict for finding in document.findings if finding.source == source]
            counts = " | ".join(str(verdicts.count(verdict)) for verdict in VERDICTS)
            rows.append(f"| {source.replace('|', '/')} | {document.title} | {len(verdicts)} | {counts} |")
    return "\n".join([*lines, *sorted(rows)]) + "\n"


def _study(document: Document) -> str:
    lines = [
        f"\n## {document.title}\n",
        "| claim | published | ours | interval | unit | ± | verdict |",
        "|---|---:|---:|---:|---|---:|---|",
    ]
    for finding in document.findings:
        interval = "" if finding.low != finding.low else f"{written(finding.low)} … {written(finding.high)}"
        title = f"{finding.group}: {finding.title}" if finding.group else finding.title
        cells = (title, written(finding.published), written(finding.measured), interval, finding.unit, finding.tolerance)
        lines.append(f"| {' | '.join(cell.replace('|', '/') for cell in cells)} | {finding.verdict_text} |")
    notes = [_note(finding) for finding in document.findings if finding.note and finding.verdict != REPRODUCED]
    return "\n".join([*lines, *(["", *notes] if notes else [])]) + "\n"


def _note(finding: Finding) -> str:
    return f"* *{finding.title}:* {' '.join(finding.note.split())}"


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "out"))
