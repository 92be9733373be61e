"""Inspects a folder of third-party captures and logs, and compares with tshark and tcptrace.

Usage: `python validation/inspection/corpus.py FOLDER [--out FOLDER] [--pages] [--again]`.

Each file is inspected in a separate process with limits of time and memory, two at a time. Prints
the number of agreements by quantity, statements without support, and the worst disagreements with
file and direction. With `--out`, all rows and the results of the other tools are stored as JSON. A
stopped run resumes from these records. With another build of acklab, only acklab's inspections are
repeated. `--pages` also writes the report of each file. `--again` repeats all inspections of
acklab.
"""

import argparse
import hashlib
import json
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2]))

from acklab import core
from validation.inspection import agreement, tcptrace
from validation.inspection.apart import Limits, run_apart
from validation.inspection.attempt import attempt
from validation.inspection.dissection import dissect
from validation.inspection.refutation import refutations
from validation.inspection.summary import show

_CORE = Path(core.__file__).parent / "_core.abi3.so"
_LOGS = (".qlog", ".sqlog", ".qlog.gz", ".sqlog.gz", ".qlog.zst", ".qlog.js")


def is_log(name: str) -> bool:
    """Returns whether a file is the log of an endpoint, which tshark does not read."""
    return name.endswith(_LOGS)


def truth_of(path: str) -> dict[str, Any]:
    """Returns the findings of tshark and tcptrace in a capture."""
    if is_log(path):
        return {"tshark": None, "tcptrace": {}}
    return {"tshark": dissect(path).summary(), "tcptrace": tcptrace.read(path) if tcptrace.is_installed() else {}}


def kept(
    records: Path, files: Sequence[str], stamp: str, function: Callable[[str], dict[str, Any]], limits: Limits
) -> dict[str, dict[str, Any]]:
    """Returns the results of `function` for all files.

    Results with this stamp are read from `records`. New results are appended to `records`
    immediately, one per line.
    """
    results: dict[str, dict[str, Any]] = {}
    if records.exists():
        for line in records.read_text(encoding="utf-8").splitlines():
            # The last line of a stopped run may be incomplete.
            try:
                record = json.loads(line)
            except ValueError:
                continue
            if record["stamp"] == stamp:
                results[record["file"]] = record["result"]
    # Files are inspected in the order of their digests, so that a stopped run is a random sample of
    # all files.
    left = sorted((file for file in files if file not in results), key=digest)
    if len(left) == len(files):
        records.unlink(missing_ok=True)
    with records.open("a", encoding="utf-8") as stream:
        for number, (file, result) in enumerate(run_apart(function, left, limits), 1):
            results[file] = result
            print(json.dumps({"stamp": stamp, "file": file, "result": result}), file=stream, flush=True)
            if number % 100 == 0:
                print(f"{records.stem}: {number} of {len(left)}", file=sys.stderr)
    return results


def compared(file: str, found: Mapping[str, Any], truth: Mapping[str, Any]) -> dict[str, Any]:
    """Returns all results on a file and its directions."""
    one: dict[str, Any] = {"file": file, "is_log": is_log(file)} | {
        key: found.get(key) for key in ("failure", "error", "tracebacks", "seconds", "page_octets")
    }
    report, tshark = found.get("report"), truth.get("tshark")
    one["table"] = found.get("table")
    one["truth_failure"] = truth.get("failure")
    one["counts"] = None if report is None else report["counts"]
    one["tshark"] = tshark and {key: value for key, value in tshark.items() if key != "directions"}
    if report is None:
        return one
    one["connections"] = {
        name: sum(each["protocol"] == name for each in report["connections"]) for name in ("tcp", "quic", "log")
    }
    one["directions_with_data"] = sum(len(each["ways"]) for each in report["connections"])
    one["report_keys"] = {key: report[key] for key in report if key not in ("connections", "counts")}
    one |= agreement.statements(report)
    if tshark is not None:
        one["rows"] = agreement.rows(report, tshark, truth.get("tcptrace") or {})
        one["not_quic"] = agreement.not_quic(report, tshark)
    return one


def refute(files: Sequence[dict[str, Any]], limits: Limits) -> None:
    """Adds the reasons that rule out removed ACKs to each direction that reports them."""
    ways = {one["file"]: [claim["way"] for claim in one["thinned"]] for one in files if one.get("thinned") and not one["is_log"]}

    def checked(file: str) -> dict[str, Any]:
        dissection = dissect(file)
        return {"reasons": [refutations(dissection, way) for way in ways[file]]}

    for file, result in run_apart(checked, list(ways), limits):
        (one,) = (one for one in files if one["file"] == file)
        for claim, reasons in zip(one["thinned"], result.get("reasons", [[]] * len(one["thinned"])), strict=True):
            claim["refuted"] = reasons


def digest(file: str) -> str:
    """Returns a digest of the name, by which files are sorted in a fixed random order."""
    return hashlib.sha256(file.encode()).hexdigest()


def files_of(folder: Path) -> Iterator[Path]:
    """Yields the captures and logs of a folder and of the folders in it."""
    for path in sorted(folder.rglob("*")):
        if path.is_file() and path.suffix not in (".txt", ".tsv", ".md"):
            yield path


def main() -> int:
    """Prints the table; returns 1 if a file has a traceback or a thinner is refuted."""
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--pages", action="store_true")
    parser.add_argument("--again", action="store_true")
    parser.add_argument("--seconds", type=float, default=Limits.seconds)
    parser.add_argument("--sample", type=int, help="only so many files, the same ones each time")
    parser.add_argument("--at-once", type=int, default=Limits.at_once)
    options = parser.parse_args()
    limits = Limits(seconds=options.seconds, at_once=options.at_once)
    files = sorted(sorted((str(path) for path in files_of(options.folder)), key=digest)[: options.sample])
    with tempfile.TemporaryDirectory() as temporary:
        out = options.out or Path(temporary)
        out.mkdir(parents=True, exist_ok=True)
        if options.again:
            (out / "acklab.jsonl").unlink(missing_ok=True)
        truths = kept(out / "truth.jsonl", files, "2", truth_of, limits)
        stamp = hashlib.sha256(_CORE.read_bytes()).hexdigest()[:16] + (" with pages" if options.pages else "")
        found = kept(out / "acklab.jsonl", files, stamp, lambda path: attempt(path, options.pages), limits)
        rows = [compared(file, found[file], truths[file]) for file in files]
        refute(rows, limits)
        (out / "rows.json").write_text(json.dumps(rows, indent=1), encoding="utf-8")
    return show(rows, str(options.folder))


if __name__ == "__main__":
    sys.exit(main())
