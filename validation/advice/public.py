"""Fits third-party captures and advises on them.

Usage: `python validation/advice/public.py FOLDER [--sample N] [--out FOLDER] [--keep]`.

A capture is suitable if its largest transfer has at least 20 segments. For each capture, the fit
reports the limit of the transfer and the unknown quantities. If an ensemble repeats the capture,
`advise` judges a download, an upload, latency and a page. The true gains are not known. But if the
application limited the transfer, there must be no recommendation. Prints the counts by reason, and
a line for each recommendation. `--keep` writes the list of suitable captures with the reason of
each to `public.tsv`, and the counts to `measured.json`.
"""

import argparse
import sys
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2]))

from acklab.advice import advise
from acklab.errors import AcklabError
from acklab.fitting import fit
from acklab.inspection import inspect
from validation.advice.records import keep, records_of_items
from validation.inspection.apart import Limits
from validation.inspection.corpus import digest, files_of

LIST = Path(__file__).with_name("public.tsv")
USED = ("download", "upload", "latency", "page")
_LEAST = 20
"""Minimum segments of a judged transfer."""
_EFFORT = 20.0
"""Effort of an answer in seconds."""
_LIMITS = Limits(seconds=300.0)
UNSUITABLE = "no transfer of 20 segments"


def judge(name: str) -> dict[str, Any]:
    """Returns the record of a capture: the reason of its verdict, and the recommendations."""
    path = Path(name)
    try:
        found = inspect(path)
        if not found.ways or found.ways[0]["data_segments"] < _LEAST:
            return {"reason": UNSUITABLE}
        fitted = fit(found)
    except AcklabError as error:
        return {"reason": UNSUITABLE, "refused": str(error)}
    if fitted.application.limits:
        reason = f"limited by its application: {fitted.application.kind}"
    elif fitted.ensemble is None:
        missing = sorted(quantity.key.removeprefix("link.path.") for quantity in fitted.path.missing)
        reason = f"not known: {', '.join(missing)}"
    elif not fitted.ensemble.repeats:
        reason = "one bottleneck does not repeat it"
    else:
        reason = "an ensemble repeats it"
    with tempfile.TemporaryDirectory() as folder:
        link = Path(folder) / "link.toml"
        link.write_text(fitted.toml, encoding="utf-8")
        answer = advise(link, uses=USED, seconds=_EFFORT)
    recommended = [
        f"{one.use.name}: {one.winner.name} {one.gain.median:.2f} ({one.gain.low:.2f} to {one.gain.high:.2f})"
        for one in answer.uses.values()
        if one.winner is not None and one.gain is not None
    ]
    return {"reason": reason, "recommended": recommended, "is_limited": fitted.application.limits}


def counts_of(found: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Returns the numbers of records of captures by outcome."""
    suitable = [record for record in found if record.get("reason", UNSUITABLE) != UNSUITABLE]
    return {
        "files": len(found),
        "failed": sum("failure" in record for record in found),
        "suitable": len(suitable),
        "limited": sum(record["is_limited"] for record in suitable),
        "recommended": sum(bool(record["recommended"]) for record in suitable),
        "recommended_limited": sum(record["is_limited"] and bool(record["recommended"]) for record in suitable),
        "reasons": dict(Counter(record["reason"] for record in suitable).most_common()),
    }


def main(words: Sequence[str]) -> int:
    """Prints counts and recommendations.

    Returns 1 if a file failed, or if a transfer of an application has a recommendation.
    """
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--sample", type=int, help="only so many files, the same ones each time")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--keep", action="store_true")
    parser.add_argument("--at-once", type=int, default=Limits.at_once, help="captures judged at a time")
    options = parser.parse_args(words)
    files = sorted((str(path) for path in files_of(options.folder)), key=digest)[: options.sample]
    found = sorted(
        records_of_items(options.out, "public", judge, files, replace(_LIMITS, at_once=options.at_once)),
        key=lambda record: str(record["item"]),
    )
    rows = []
    for record in found:
        name = Path(record["item"]).relative_to(options.folder)
        if "failure" in record:
            print(f"{name}: {record['failure'].strip().splitlines()[-1]}")
        elif record["reason"] != UNSUITABLE:
            rows.append("\t".join((str(name), record["reason"], "; ".join(record["recommended"]) or "nothing to recommend")))
            if record["recommended"]:
                print(rows[-1])
    counts = counts_of(found)
    for reason, count in counts["reasons"].items():
        print(f"| {reason} | {count} |")
    if options.keep:
        LIST.write_text("\n".join(("capture\treason\tadvice", *rows)) + "\n", encoding="utf-8")
        keep("public", counts)
    return int(counts["failed"] > 0 or counts["recommended_limited"] > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
