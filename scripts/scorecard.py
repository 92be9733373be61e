"""Writes docs/scorecard.md and the README's count.

Usage: python -m scripts.scorecard OUT. The page lists every claim of every study with results in
OUT. It names studies without results, and studies that ran with fewer seeds than they require.

Numbers and verdicts are from the results. Notes, fits, readings and sources of claims are from the
current claims.toml.
"""

import datetime
import sys
import textwrap
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import replace
from pathlib import Path

from acklab.metrics import written
from acklab.report import Document
from acklab.studies import Claim, Study, discover
from acklab.verdict import KINDS, OWN, PAPER, PARITY, REPRODUCED, VERDICTS, Finding, counted, published, statements, summary
from scripts.language import MAX_PROSE_COLUMNS
from scripts.places import fill

ROOT = Path(__file__).resolve().parents[1]
HEAD = """# Scorecard

<!-- This page is made by `make scorecard`, which reruns all studies. -->

{summary}

A claim is *reproduced* if the whole confidence interval lies within the tolerance, which was set beforehand. It has the *same direction* if the whole interval
lies on the claimed side of its limit. It is *not reproduced* if no part of the interval does either, and *undecided* otherwise. Intervals are 95 % confidence
intervals over seeds.

A statement counts once. Other readings of it are marked (↳) and not counted: those with other choices for settings that a paper omits, and those of other
studies. A claim is *fitted* if its settings were chosen after the published numbers had been seen.
"""
KIND_TITLES = {
    PAPER: "Published statements",
    PARITY: "Parity with other implementations",
    OWN: "Rules and checks of our own",
}
COUNT = "scorecard"
"""The place of the README's count."""


def main(folder: Path) -> None:
    """Reads the documents of all studies in a folder and writes the page and the README's count."""
    documents = [Document.read(path.parent) for path in sorted(folder.glob("*/report.json"))]
    documents = [document for document in documents if document.findings]
    if not documents:
        sys.exit(f"error: {folder}: found no results of studies, expected those of `acklab study --all --out {folder}`")
    revision = _one_revision(documents)
    studies = discover()
    claims = {study.name: {claim.id: claim for claim in study.file.claim} for study in studies}
    documents = [_as_claimed(document, claims.get(document.name)) for document in documents]
    every = [finding for document in documents for finding in document.findings]
    counts, ids = summary(every), {finding.id for finding in counted(every)}
    left = _left_out(documents, studies)
    date = datetime.datetime.now(tz=datetime.UTC).date().isoformat()
    parts = [
        HEAD.format(summary=_wrapped(f"{counts}, by revision `{revision}` on {date}.")),
        *(f"\n{_wrapped(text)}\n" for text in left),
    ]
    parts += [_overview(documents, ids, kind) for kind in KINDS]
    parts += [_study(document) for document in documents]
    (ROOT / "docs" / "scorecard.md").write_text("".join(parts), encoding="utf-8")
    partial = f" ({len(documents)} of {len(studies)} studies)" if len(documents) < len(studies) else ""
    fill(ROOT / "README.md", COUNT, published(every) + partial)


def _one_revision(documents: Sequence[Document]) -> str:
    """Returns the revision of the core of all results.

    Exits if there are several revisions, because the page states one revision for all results.
    """
    studies: dict[str, list[str]] = {}
    for document in documents:
        studies.setdefault(document.revision, []).append(document.name)
    if len(studies) > 1:
        found = "; ".join(f"{revision} in {', '.join(names)}" for revision, names in studies.items())
        sys.exit(f"error: found results of {len(studies)} revisions of the core ({found}), expected one: run `make scorecard`")
    return documents[0].revision


def _left_out(documents: Sequence[Document], studies: Sequence[Study]) -> list[str]:
    """Returns the note on studies that are missing or ran with fewer seeds than they require."""
    found = {document.name: document for document in documents}
    missing = [_link(study.name, study.file.title) for study in studies if study.name not in found]
    short = [
        f"{_link(study.name, study.file.title)} ({document.seeds} of {study.file.seeds})"
        for study in studies
        if (document := found.get(study.name)) is not None and (document.seeds or 0) < study.file.seeds
    ]
    texts = []
    if missing:
        texts.append(
            f"**Some studies are missing.** They have no results of this revision, and no count includes them: {', '.join(missing)}."
        )
    if short:
        texts.append(
            f"These studies ran with fewer seeds than they require, so more of their claims are undecided: {', '.join(short)}. "
            "The column *seeds* has the number of seeds of each claim."
        )
    return texts


def _link(name: str, title: str) -> str:
    return f"[{title}](../studies/{name}/README.md)"


def _as_claimed(document: Document, claims: Mapping[str, Claim] | None) -> Document:
    """Returns the document with the current fields of claims.toml.

    Exits if a claim was changed since the study ran.
    """
    if claims is None:
        return document
    found = {finding.id.removeprefix(f"{document.name}."): finding for finding in document.findings}
    changed = [name for name in {**found, **claims} if not _is_the_same(found.get(name), claims.get(name))]
    if changed:
        sys.exit(
            f"error: {document.name}: found results of other claims than claims.toml has ({', '.join(sorted(changed)[:5])}), "
            f"expected those of `acklab study {document.name}`"
        )
    return replace(document, findings=tuple(_with_claim(document.name, finding, claims[name]) for name, finding in found.items()))


def _is_the_same(finding: Finding | None, claim: Claim | None) -> bool:
    """Returns whether the finding is of this claim, with the same conditions of the verdict."""
    return (
        finding is not None
        and claim is not None
        and (finding.published, finding.tolerance, finding.metric) == (claim.published, claim.tolerance, claim.metric)
    )


def _with_claim(study: str, finding: Finding, claim: Claim) -> Finding:
    missing = finding.note.removeprefix(claim.note).strip() if finding.missing else ""
    return replace(
        finding,
        title=claim.title,
        group=claim.group,
        source=claim.source,
        note=" ".join(part for part in (claim.note, missing) if part),
        fitted=claim.fitted,
        kind=claim.origin,
        reading_of=claim.statement(study),
        side=claim.side,
    )


def _overview(documents: Sequence[Document], ids: Set[str], kind: str) -> str:
    """Returns the statements of a kind by study.

    Published statements are also listed by section or figure of the paper.

    `ids` are the ids of the counted claims, one per statement.
    """
    parts = [
        (document, own)
        for document in documents
        if (own := [finding for finding in document.findings if finding.id in ids and finding.origin == kind])
    ]
    if not parts:
        return ""
    head = f"| study | seeds | statements | {' | '.join(VERDICTS)} | fitted of reproduced |"
    lines = [f"\n## {KIND_TITLES[kind]}\n", head, f"|---|---:|---:|{'---:|' * (len(VERDICTS) + 1)}"]
    for document, own in parts:
        lines.append(
            f"| {_link(document.name, document.title)} | {_seeds(own)} | {len(own)} | {_verdicts(own)} | {_fitted(own)} |"
        )
    every = [finding for _, own in parts for finding in own]
    lines.append(f"| **all** | | {len(every)} | {_verdicts(every)} | {_fitted(every)} |")
    if kind == PAPER:
        lines += [
            f"\n| paper and place | study | statements | {' | '.join(VERDICTS)} |",
            f"|---|---|---:|{'---:|' * len(VERDICTS)}",
        ]
        lines += sorted(_places(parts))
    return "\n".join(lines) + "\n"


def _places(parts: Iterable[tuple[Document, Sequence[Finding]]]) -> Iterable[str]:
    """Returns the sections and figures of papers, each with the study that reproduces it."""
    for document, every in parts:
        for source in dict.fromkeys(finding.source for finding in every):
            own = [finding for finding in every if finding.source == source]
            yield f"| {source.replace('|', '/')} | {document.title} | {len(own)} | {_verdicts(own)} |"


def _verdicts(findings: Sequence[Finding]) -> str:
    return " | ".join(str(sum(finding.verdict == verdict for finding in findings)) for verdict in VERDICTS)


def _fitted(findings: Sequence[Finding]) -> int:
    return sum(bool(finding.fitted) and finding.verdict == REPRODUCED for finding in findings)


def _seeds(findings: Sequence[Finding]) -> str:
    """Returns the minimum and maximum number of seeds of the judged claims."""
    seeds = [finding.seeds for finding in findings]
    return str(min(seeds)) if min(seeds) == max(seeds) else f"{min(seeds)} to {max(seeds)}"


def _study(document: Document) -> str:
    lines = [
        f"\n## {document.title}\n",
        "| claim | published | ours | interval | seeds | unit | ± | same direction | verdict |",
        "|---|---:|---:|---:|---:|---|---:|---|---|",
    ]
    ordered = [finding for own in statements(document.findings).values() for finding in own]
    for finding in ordered:
        title = f"{finding.group}: {finding.title}" if finding.group else finding.title
        cells = (
            f"↳ {title}" if finding.reading_of else title,
            written(finding.published),
            written(finding.measured),
            finding.interval_text,
            str(finding.seeds),
            finding.unit,
            finding.tolerance,
            finding.side,
        )
        lines.append(f"| {' | '.join(cell.replace('|', '/') for cell in cells)} | {finding.verdict_text} |")
    notes = [_note(finding) for finding in ordered if finding.note and finding.verdict != REPRODUCED]
    fits: dict[str, list[str]] = {}
    for finding in ordered:
        if finding.fitted:
            fits.setdefault(" ".join(finding.fitted.split()), []).append(finding.title)
    notes += [f"* *fitted ({len(titles)}: {titles[0]}{' …' if len(titles) > 1 else ''}):* {fit}" for fit, titles in fits.items()]
    return "\n".join([*lines, *(["", *map(_wrapped, notes)] if notes else [])]) + "\n"


def _wrapped(text: str) -> str:
    """Returns a paragraph or a list item, wrapped into lines."""
    hang = "  " if text.startswith("* ") else ""
    return textwrap.fill(text, MAX_PROSE_COLUMNS, subsequent_indent=hang, break_long_words=False, break_on_hyphens=False)


def _note(finding: Finding) -> str:
    return f"* *{finding.title}:* {' '.join(finding.note.split())}"


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "out"))
