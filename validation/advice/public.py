"""Fits third-party captures and advises on them.

Usage: `python validation/advice/public.py FOLDER [SECONDS]`.

For each capture with a transfer, the fit reports what limited it and what is not known. If an
ensemble repeats the capture, `advise` judges a download, an upload, latency and a page. Prints the
counts by reason, and a line for each recommendation. There is no truth to compare them with, but
there must be no recommendation for a transfer that its application limited. A file that takes
longer than SECONDS (default 120) is counted and skipped.
"""

import multiprocessing
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from acklab.advice import advise
from acklab.errors import AcklabError
from acklab.fitting import fit
from acklab.inspection import inspect

USED = ("download", "upload", "latency", "page")
_LEAST = 20
"""Minimum segments of a transfer that is judged."""


def judge(path: Path) -> tuple[str, list[str]]:
    """Why there is no recommendation for a capture, and the recommendations."""
    try:
        found = inspect(path)
        if not found.ways or found.ways[0]["data_segments"] < _LEAST:
            return "no transfer of 20 segments", []
        fitted = fit(found)
    except AcklabError as error:
        return f"refused: {str(error).rpartition(': ')[2][:60]}", []
    if fitted.application.limits:
        reason = f"limited by its application: {fitted.application.kind}"
    elif fitted.ensemble is None:
        reason = "not known: " + ", ".join(sorted(quantity.key.removeprefix("link.path.") for quantity in fitted.path.missing))
    elif not fitted.members:
        reason = "no ensemble: one bottleneck does not repeat it"
    else:
        reason = "an ensemble repeats it"
    answer = advise(_written(path, fitted.toml), uses=USED, seconds=20)
    told = [
        f"{one.use.name}: {one.winner.name} {one.gain.median:.2f} ({one.gain.low:.2f} to {one.gain.high:.2f})"
        for one in answer.uses.values()
        if one.winner is not None and one.gain is not None
    ]
    return reason, told


def _written(path: Path, toml: str) -> Path:
    file = Path(tempfile.mkdtemp()) / f"{path.stem}.toml"
    file.write_text(toml, encoding="utf-8")
    return file


def _into(queue: "multiprocessing.Queue[tuple[str, list[str]]]", path: Path) -> None:
    queue.put(judge(path))


def within(path: Path, seconds: float) -> tuple[str, list[str]]:
    """The findings of a file, in a process of its own that has so many seconds."""
    queue: multiprocessing.Queue[tuple[str, list[str]]] = multiprocessing.Queue()
    process = multiprocessing.Process(target=_into, args=(queue, path))
    process.start()
    process.join(seconds)
    if process.is_alive():
        process.kill()
        return "no time", []
    return queue.get() if process.exitcode == 0 else (f"failed with exit status {process.exitcode}", [])


def main(words: Sequence[str]) -> int:
    """Prints counts and recommendations.

    Returns 1 if a file failed, or if a transfer of an application has a recommendation.
    """
    folder, seconds = Path(words[0]), float(words[1]) if len(words) > 1 else 120.0
    counts: Counter[str] = Counter()
    is_bad = False
    for path in sorted(one for one in folder.rglob("*") if one.is_file()):
        reason, told = within(path, seconds)
        counts[reason] += 1
        for line in told:
            print(f"{path.relative_to(folder)}: {line}", flush=True)
        is_bad |= reason.startswith("failed") or (bool(told) and "application" in reason)
    for reason, count in counts.most_common():
        print(f"| {reason} | {count} |")
    return int(is_bad)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
