"""Keeps the records of judged captures, and counts them."""

import hashlib
import json
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import acklab
from acklab import core
from validation.inspection.apart import Limits
from validation.inspection.corpus import kept

MEASURED = Path(__file__).with_name("measured.json")
"""Last measurements, by population."""
_PACKAGE, _HERE = Path(acklab.__file__).parent, Path(__file__).parent
_JUDGES = ("truth.py", "applications.py", "public.py")

Record = dict[str, Any]


def records(
    out: Path | None, name: str, judge: Callable[[int], Record], numbers: Sequence[int], limits: Limits
) -> Iterator[Record]:
    """Yields the record of each number, in the order of the numbers.

    Uses records in the folder `out` only if they are from the same core and the same sources.
    """
    yield from records_of_items(out, name, lambda item: judge(int(item)), [str(number) for number in numbers], limits)


def records_of_items(
    out: Path | None, name: str, judge: Callable[[str], Record], items: Sequence[str], limits: Limits
) -> Iterator[Record]:
    """Yields the record of each item, in the order of the items."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = out or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        found = kept(folder / f"{name}.jsonl", items, _stamp(), judge, limits)
    for item in items:
        yield {"item": item, **found[item]}


def _stamp() -> str:
    """Returns a digest of the core and of the sources of fits, advice and judges."""
    parts = (file for name in ("fitting", "advice") for file in (_PACKAGE / name).iterdir() if file.is_file())
    digest = hashlib.sha256()
    for file in (_PACKAGE / "_core.abi3.so", *sorted(parts), *(_HERE / name for name in _JUDGES)):
        digest.update(file.read_bytes())
    return digest.hexdigest()[:16]


def counts_of(found: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Returns the numbers of records of paths by outcome."""
    judged = [one for record in found for one in record.get("parameters", [])]
    recommended = [one for record in found for one in record.get("recommended", [])]
    done = [one for one in recommended if "gains" in one]
    fitted = [record for record in found if "parameters" in record]
    reasons = Counter(kind_of_reason(reason) for record in fitted for reason in record["nothing"].values())
    by_key: dict[str, dict[str, int]] = {}
    for one in judged:
        row = by_key.setdefault(one["key"], {"covered": 0, "judged": 0})
        row["judged"] += 1
        row["covered"] += one["is_covered"]
    by_use: dict[str, dict[str, int]] = {}
    for one in done:
        row = by_use.setdefault(one["use"], {"recommended": 0, "gained": 0, "harmed": 0})
        row["recommended"] += 1
        row["gained"] += one["gains"]
        row["harmed"] += bool(one["worse"])
    kinds = Counter(record["kind"] for record in fitted)
    return {
        "failed": sum("failure" in record for record in found),
        "no_fit": sum("no_fit" in record for record in found),
        "fitted": len(fitted),
        "ensembles": sum(record["ensemble"] is not None for record in fitted),
        "repeated": sum(record["ensemble"] is True for record in fitted),
        "covered": sum(one["is_covered"] for one in judged),
        "judged": len(judged),
        "parameters": dict(sorted(by_key.items())),
        "recommended": len(recommended),
        "gained": sum(one["gains"] for one in done),
        "harmed": sum(bool(one["worse"]) for one in done),
        "uses": by_use,
        "nothing": sum(len(record["nothing"]) for record in fitted),
        "reasons": dict(reasons.most_common()),
        "kinds": dict(sorted(kinds.items())),
        "seconds": round(sum(record["seconds"] for record in fitted) / max(len(fitted), 1)),
    }


_KINDS = {
    "the application limited": "the application limited the transfer",
    "link.path.forward": "the rate, delay or queue towards the receiver is not known",
    "link.path.reverse": "the rate or the queue towards the sender is not known",
    "the delay of single packets": "the delay of single packets is not known",
    "one bottleneck does not": "one bottleneck does not repeat the capture",
    "nothing that can act": "no change is better by more than 2 %",
    "may be no better": "the interval of the gain contains no change",
    "wins in": "another change wins in runs of twice the duration",
}


def kind_of_reason(reason: str) -> str:
    """Returns the kind of a reason why there is nothing to recommend."""
    return next((kind for words, kind in _KINDS.items() if words in reason), reason)


def lines_of(record: Mapping[str, Any]) -> Iterator[str]:
    """Yields the notable parts of a record."""
    item = record["item"]
    if "failure" in record:
        yield f"{item}: {record['failure'].strip().splitlines()[-1]}"
    if "no_fit" in record:
        yield f"{item}: no fit: {record['no_fit']}"
    for one in record.get("parameters", []):
        if not one["is_covered"]:
            high = "endless" if one["high"] is None else f"{one['high']:.6g}"
            yield f"{item}: not covered: {one['key']}: {one['truth']:.6g} not in {one['low']:.6g} to {high}"
    if record.get("ensemble") is False:
        yield f"{item}: {record['notes'][-1]}"
    for one in record.get("recommended", []):
        text = f"{item}: {one['use']}: {one['change']}: {one['median']:.2f} ({one['low']:.2f} to {one['high']:.2f})"
        text += f", on the true path {one['true']:.2f}{'' if one['gains'] else ' LESS'}" if "true" in one else ""
        yield text + (f"; worse and not named: {', '.join(one['worse'])}" if one.get("worse") else "")


def keep(name: str, counts: Mapping[str, Any]) -> None:
    """Stores the counts of a population in `measured.json`."""
    measured = json.loads(MEASURED.read_text(encoding="utf-8")) if MEASURED.exists() else {}
    measured[name] = {"revision": core.revision(), **counts}
    MEASURED.write_text(json.dumps(measured, indent=1) + "\n", encoding="utf-8")
