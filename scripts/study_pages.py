"""Fills the marked places of pages with results of studies.

`python -m scripts.study_pages OUT` stores the results of the studies in OUT beside each study
(`studies/NAME/results.json`) and fills all pages; without OUT it fills them from what is stored.

A place is `<!-- NAME -->text<!-- end -->`. On the page of a study NAME is one of

    CLAIM                           our number for the claim
    CLAIM interval                  its 95 % confidence interval
    CLAIM verdict                   its verdict
    counts                          the claims by verdict
    claims GROUP                    a table of the claims of a group
    table SECTION | COLUMN | …      the table of a section, or some of its columns
    SECTION | ROW | … | COLUMN      a cell of a table: the mean, without its half-width
    SECTION | ROW | … | COLUMN ±    the same with its half-width

SECTION is the title of a section of the report, with ` #2` for its second table. ROW is a label or
its beginning; the labels of a row, from the left, identify it. An empty ROW matches any label.
Other pages name the study first: `tack_wan: gain_1`. The places of `studies/README.md`, such as
`list paper`, are the lists of studies.
"""

import json
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from acklab.metrics import written
from acklab.report import Document
from acklab.studies import Study, discover
from acklab.verdict import KIND_TITLES, NOT_REPRODUCED, REPRODUCED, SAME_DIRECTION, UNDECIDED, counted

ROOT = Path(__file__).resolve().parents[1]
STORE = "results.json"
_PLACE = re.compile(r"^```.*?^```|<!-- ([^>]*?) -->(.*?)<!-- end -->", re.DOTALL | re.MULTILINE)
"""A place, or a block of code, in which places are not filled."""
_FIELDS = ("interval", "verdict")
_PAGES = ("studies/README.md", "docs/models/**/*.md", "docs/guide/**/*.md", "docs/decisions/**/*.md", "docs/validation/**/*.md")

Results = Mapping[str, Any]


class PlaceError(Exception):
    """A place does not name a stored result."""


def store(documents: Sequence[Document]) -> None:
    """Writes the results of studies into their folders."""
    for document in documents:
        path = ROOT / "studies" / document.name / STORE
        path.write_text(json.dumps(_results(document), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def _results(document: Document) -> Results:
    counts = {finding.id for finding in counted(document.findings)}
    findings = {
        finding.id.removeprefix(f"{document.name}."): {
            "group": finding.group,
            "title": finding.title,
            "published": written(finding.published),
            "measured": written(finding.measured),
            "interval": finding.interval_text,
            "unit": finding.unit,
            "verdict": finding.verdict,
            "counts": finding.id in counts,
        }
        for finding in document.findings
    }
    tables = {}
    for section in document.to_dict()["sections"]:
        own = [item for item in section["items"] if item["kind"] == "table"]
        for number, table in enumerate(own, start=1):
            tables[section["title"] if number == 1 else f"{section['title']} #{number}"] = _table(table)
    return {"revision": document.revision, "seeds": document.seeds, "findings": findings, "tables": tables}


def _table(table: Mapping[str, Any]) -> Mapping[str, Any]:
    # Labels of studies contain unbreakable spaces; names of places contain ordinary spaces.
    rows = [[str(cell).replace("\xa0", " ") for cell in row] for row in table["rows"]]
    return {"head": table["head"], "labels": table["numeric_from"], "rows": rows}


def stored(study: str) -> Results:
    """Returns the stored results of a study. Raises PlaceError."""
    path = ROOT / "studies" / study / STORE
    try:
        return json.loads(path.read_text(encoding="utf-8"))  # type: ignore[no-any-return]
    except (OSError, ValueError) as error:
        raise PlaceError(f"{path.relative_to(ROOT)}: cannot be read: {error}") from error


def pages() -> Iterator[Path]:
    """Yields the pages that may have places."""
    yield from sorted(ROOT.glob("studies/*/README.md"))
    for pattern in _PAGES:
        yield from sorted(ROOT.glob(pattern))


def filled(page: Path) -> str:
    """Returns the text of a page with its places filled. Raises PlaceError with each error."""
    text = page.read_text(encoding="utf-8")
    own = page.parent.name if page.parent.parent == ROOT / "studies" else ""
    errors = []

    def replaced(match: re.Match[str]) -> str:
        if match[1] is None or not _is_ours(name := " ".join(match[1].split()), own):
            return match[0]
        try:
            return f"<!-- {match[1]} -->{place(name, own)}<!-- end -->"
        except PlaceError as error:
            errors.append(f"{page.relative_to(ROOT)}: <!-- {name} -->: {error}")
            return match[0]

    found = _PLACE.sub(replaced, text)
    if errors:
        raise PlaceError("\n".join(errors))
    return found


def _is_ours(name: str, own: str) -> bool:
    """Returns whether a place has results of a study. Other scripts fill other places."""
    return bool(own) or name.startswith("list ") or _study(name) is not None


def _study(name: str) -> str | None:
    """Returns the study that a place names first, or None."""
    study, colon, _ = name.partition(": ")
    return study if colon and (ROOT / "studies" / study).is_dir() else None


def place(name: str, own: str) -> str:
    """Returns the text of a place. `own` is the study of the page. Raises PlaceError."""
    if name.startswith("list "):
        return _list(name.removeprefix("list "), discover())
    study = _study(name) or own
    rest = name.removeprefix(f"{study}: ")
    if not study:
        raise PlaceError("expected `STUDY: PLACE`")
    results = stored(study)
    if rest == "counts":
        return _counts(results)
    if rest.startswith("claims "):
        return _claims(results, rest.removeprefix("claims "))
    if rest.startswith("table "):
        title, *columns = _parts(rest.removeprefix("table "))
        return _markdown(_found(results["tables"], title, "table"), columns)
    if "|" in rest:
        title, *labels, column = _parts(rest)
        return _cell(_found(results["tables"], title, "table"), labels, column)
    claim, _, field = rest.partition(" ")
    if field and field not in _FIELDS:
        raise PlaceError(f"found the field {field!r}, expected one of {', '.join(_FIELDS)}")
    return str(_found(results["findings"], claim, "claim")[field or "measured"])


def _parts(text: str) -> list[str]:
    return [part.strip() for part in text.split("|")]


def _found(table: Mapping[str, Any], name: str, what: str) -> Any:
    if name not in table:
        raise PlaceError(f"found no {what} {name!r}, expected one of: {', '.join(table)}")
    return table[name]


def _cell(table: Mapping[str, Any], labels: Sequence[str], column: str) -> str:
    name = column.removesuffix("±").strip()
    rows = [row for row in table["rows"] if row[: len(labels)] == list(labels)]
    rows = rows or [row for row in table["rows"] if all(row[at].startswith(label) for at, label in enumerate(labels))]
    if len(rows) != 1:
        known = "; ".join(" | ".join(row[: max(table["labels"], 1)]) for row in table["rows"])
        raise PlaceError(f"found {len(rows)} rows for {' | '.join(labels)!r}, expected one of: {known}")
    text = rows[0][_column(table, name)]
    return _grouped(text if column != name else text.split(" ± ")[0])


def _column(table: Mapping[str, Any], name: str) -> int:
    found = [at for at, title in enumerate(table["head"]) if title == name or title.startswith(f"{name} [")]
    if len(found) != 1:
        raise PlaceError(f"found {len(found)} columns {name!r}, expected one of: {', '.join(table['head'])}")
    return found[0]


def _grouped(text: str) -> str:
    """Returns a cell with commas between the thousands of its numbers."""
    return re.sub(r"(?<![\d.,])\d{4,}(?![\d,])", lambda match: f"{int(match[0]):,}", text)


def _markdown(table: Mapping[str, Any], columns: Sequence[str]) -> str:
    labels = table["labels"]
    chosen = [*range(labels), *(_column(table, name) for name in columns)] if columns else list(range(len(table["head"])))
    head = [table["head"][at] for at in chosen]
    rows = [[row[at] if at < labels else _grouped(row[at]) for at in chosen] for row in table["rows"]]
    return _lines(head, sum(at < labels for at in chosen), rows)


def _claims(results: Results, group: str) -> str:
    own = [finding for finding in results["findings"].values() if finding["group"] == group]
    if not own:
        groups = dict.fromkeys(finding["group"] for finding in results["findings"].values())
        raise PlaceError(f"found no group {group!r}, expected one of: {', '.join(groups)}")
    fields = ("title", "published", "measured", "interval", "unit", "verdict")
    rows = [[finding[field] for field in fields] for finding in own]
    return _lines(["claim", "published", "measured", "interval", "unit", "verdict"], 1, rows, text=(4, 5))


def _lines(head: Sequence[str], labels: int, rows: Sequence[Sequence[str]], text: Sequence[int] = ()) -> str:
    rule = ["---" if at < labels or at in text else "---:" for at in range(len(head))]
    lines = [f"| {' | '.join(head)} |", f"|{'|'.join(rule)}|", *(f"| {' | '.join(row)} |" for row in rows)]
    return "\n\n" + "\n".join(lines) + "\n\n"


def _counts(results: Results) -> str:
    own = [finding["verdict"] for finding in results["findings"].values() if finding["counts"]]
    words = {SAME_DIRECTION: "in the same direction", UNDECIDED: "undecided", NOT_REPRODUCED: "not reproduced"}
    parts = [f"{own.count(REPRODUCED)} of {len(own)} claims are reproduced"]
    parts += [f"{count} {text}" for verdict, text in words.items() if (count := own.count(verdict))]
    return ", ".join(parts)


def _list(kind: str, studies: Sequence[Study]) -> str:
    if kind not in KIND_TITLES:
        raise PlaceError(f"found the list {kind!r}, expected one of {', '.join(KIND_TITLES)}")
    rows = [
        [f"[{study.file.title}]({study.name}/README.md)", study.file.question, str(len(study.file.claim))]
        for study in studies
        if study.kind == kind
    ]
    return _lines(["study", "question", "claims"], 2, rows)


def main(out: Path | None) -> None:
    """Stores results if there are new ones, and fills all pages. Exits with each error."""
    if out is not None:
        seeds = {study.name: study.file.seeds for study in discover()}
        documents = [Document.read(path.parent) for path in sorted(out.glob("*/report.json"))]
        # Pages must not state results of `--quick`.
        store([document for document in documents if (document.seeds or 0) >= seeds.get(document.name, 1)])
    errors = []
    for page in pages():
        try:
            text = filled(page)
        except PlaceError as error:
            errors.append(str(error))
        else:
            if text != page.read_text(encoding="utf-8"):
                page.write_text(text, encoding="utf-8")
    if errors:
        sys.exit("error: " + "\n".join(errors))


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else None)
