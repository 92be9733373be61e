"""Fits scenarios to captures of simulated paths and tells how well they repeat them: `python validation/inspection/fits.py [FIRST [COUNT]]`.

A fit is simulated again with eight other seeds, and so is the path itself: where its own repetitions miss the capture, no fit can be expected to do better.

Numbers below 1000 are for building; 20000 to 20039, 21000 to 21039, 22000 to 22059, 23000 to 23059, 24000 to 24059 and 25000 to 25059 were looked at.
`--kept` takes the paths that are kept aside, 26000 to 26059.
"""

import sys
import tempfile
from collections.abc import Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2]))

import acklab
from acklab.errors import AcklabError
from acklab.fitting import fit
from acklab.fitting.parameters import Target, largest
from acklab.inspection import inspect
from validation.inspection import paths

KEPT = (26_000, 60)
TOLERANCE = 0.10
SEEDS = range(101, 109)
"""Of repetitions. A fit itself takes the first few."""


def judge(number: int) -> dict[str, Any]:
    """The relative errors of the fit of a path, or why there is none, and those of repetitions of the fit and of the path."""
    path = paths.draw(number)
    found: dict[str, Any] = {"number": number, "position": path.position}
    with tempfile.TemporaryDirectory() as folder:
        _, capture = path.capture(folder)
        try:
            fitted = fit(capture)
        except AcklabError as error:
            return found | {"refused": str(error)}
    target = fitted.measured
    repeated = [
        target.errors(_of_scenario(fitted.scenario, "receiver" if path.position in ("receiver", "behind") else "sender", seed))
        for seed in SEEDS
    ]
    itself = [target.errors(_of_path(replace(path, scenario=path.scenario | {"seed": seed}))) for seed in SEEDS]
    return found | {"errors": dict(fitted.errors), "repeated": repeated, "itself": itself}


def _of_scenario(scenario: Mapping[str, Any], point: str, seed: int) -> Target:
    with tempfile.TemporaryDirectory() as folder:
        acklab.run(dict(scenario) | {"capture": [{"point": point, "file": "path.pcapng"}]}, captures=folder, seed=seed)
        return Target.of(largest(inspect(Path(folder) / "path.pcapng")))


def _of_path(path: paths.Path) -> Target:
    with tempfile.TemporaryDirectory() as folder:
        _, capture = path.capture(folder)
        return Target.of(largest(inspect(capture)))


def within(errors: Mapping[str, float]) -> bool:
    """Whether all errors are within the tolerance."""
    return all(abs(error) <= TOLERANCE for error in errors.values())


def mean(several: list[dict[str, float]]) -> dict[str, float]:
    """The mean errors of repetitions."""
    return {name: sum(one[name] for one in several) / len(several) for name in several[0]}


def told(errors: Mapping[str, float]) -> str:
    """Errors as text."""
    return ", ".join(f"{name} {100 * error:+.1f} %" for name, error in errors.items())


def main() -> int:
    """Prints how many are within 10 %, and those that are not; returns 1 if a twentieth is not."""
    words = [word for word in sys.argv[1:] if word != "--kept"]
    first, count = KEPT if "--kept" in sys.argv else (0, 20)
    first, count = int(words[0]) if words else first, int(words[1]) if len(words) > 1 else count
    with ProcessPoolExecutor() as pool:
        found = list(pool.map(judge, range(first, first + count)))
    good = 0
    for one in found:
        errors: dict[str, float] = one.get("errors", {})
        if errors and within(errors):
            good += 1
            continue
        print(f"    {one['number']}: {one['position']}: {one.get('refused') or told(errors)}")
    print(f"goodput, RTT and ACK ratio within {TOLERANCE:.0%}: {good} of {len(found)}")
    fits = [one for one in found if "errors" in one]
    for name, title in (("repeated", "the fit with other seeds"), ("itself", "the path itself with other seeds")):
        means = [one for one in fits if within(mean(one[name]))]
        runs = sum(within(errors) for one in fits for errors in one[name])
        print(
            f"{title}: the mean of {len(SEEDS)} runs in {len(means)} of {len(fits)}, {runs / len(fits) / len(SEEDS):.0%} of the runs"
        )
        for one in fits:
            if one not in means:
                print(f"    {one['number']}: {one['position']}: {told(mean(one[name]))}")
    return int(good < 0.95 * len(found))


if __name__ == "__main__":
    sys.exit(main())
