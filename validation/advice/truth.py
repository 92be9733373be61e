"""Compares fits and advice with known paths.

Usage: `python validation/advice/truth.py [simulated|kernel] [FIRST [COUNT]]`.

The paths are those of the validation of inspection (`paths.py`), captured during a download, and on
even numbers during an upload after it. Of each capture

* coverage: the truth of each parameter that the fit calls measured or spans with its ensemble lies
  within its interval, or not;
* doing: each change that `advise` recommends is done on the true path, over eight seeds. It must
  gain at least the lower end of its interval, and make nothing worse that it did not name.

Numbers below 1000 are for building; those of `KEPT` are kept aside. `kernel` runs the same paths
with Linux's own TCP in an emulation (root or a user namespace, at most 50 Mbps).
"""

import statistics
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path as File
from typing import Any

sys.path.insert(0, str(File(__file__).parents[2]))

import acklab
from acklab.advice import Verdict, advise, candidates
from acklab.advice.harm import _TESTS
from acklab.advice.paths import Member
from acklab.advice.paths import Path as Advised
from acklab.advice.racing import Racer, gains_of
from acklab.errors import AcklabError
from acklab.fitting import Fit, fit
from acklab.fitting.quantity import MEASURED
from acklab.inspection import inspect
from acklab.scenario import Source
from validation.inspection import paths

KEPT = {"simulated": (60_000, 200), "kernel": (61_000, 30)}
MAX_RATE = {"simulated": 200.0, "kernel": 50.0}
USED = ("download", "upload", "latency", "page", "call")
SEEDS = range(101, 109)
"""Of the runs on the true path, which no fit has seen."""
_HARM = 0.10
"""A quantity that gets worse by more than this without being named is harm: twice what `advise`
names, because eight seeds vary.
"""


@dataclass
class Tally:
    """Counts of what was judged."""

    covered: int = 0
    missed: int = 0
    repeated: int = 0
    fitted: int = 0
    recommended: int = 0
    gained: int = 0
    harmed: int = 0
    nothing: int = 0
    took: float = 0.0


def with_upload(scenario: Mapping[str, Any]) -> dict[str, Any]:
    """The scenario with an upload of the same length after the download."""
    (down,) = scenario["flow"]
    seconds = float(scenario["duration"].removesuffix("s"))
    up = {**down, "name": "up", "from": down["to"], "to": down["from"], "start": f"{seconds + 0.5:.2f}s"}
    flows = [{**down, "stop": f"{seconds:.2f}s"}, up]
    links = [_with_queue(link) if link["name"] == "btl" else link for link in scenario["link"]]
    return {**scenario, "duration": f"{2 * seconds + 0.5:.2f}s", "flow": flows, "link": links}


def _with_queue(link: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the link with a limit of the queue towards the sender.

    Uploads would fill an unlimited queue without end.
    """
    if "queue" in link["reverse"]:
        return dict(link)
    return {**link, "reverse": {**link["reverse"], "queue": {"discipline": "fifo", "limit": "100packets"}}}


def is_upload(fitted: Fit) -> bool:
    """Returns `True` if the fitted transfer is the upload, which follows the download."""
    starts = [one["start"] for one in fitted.observed.inspection.connections]
    return fitted.observed.connection["start"] > min(starts)


def truths(path: paths.Path, upload: bool) -> dict[str, float]:
    """The true values of the parameters of a fit."""
    link = next(link for link in path.scenario["link"] if link["name"] == "btl")
    forward = link["reverse" if upload else "forward"]
    rates = (path.rate_back, path.rate) if upload else (path.rate, path.rate_back)
    found = {
        "link.path.forward.rate": rates[0],
        "link.path.forward.loss.probability": float((forward.get("loss") or {}).get("probability", 0.0)),
    }
    if "limit" in (forward.get("queue") or {}):
        found["link.path.forward.queue.limit"] = float(forward["queue"]["limit"].removesuffix("packets"))
    if path.period is None:
        # Behind a gate no sample is that of the path alone, and the rate is that of the gate.
        found["link.path.forward.delay"] = path.propagation / 2
        found["link.path.reverse.rate"] = rates[1]
    return found


def uncovered(fitted: Fit, path: paths.Path) -> tuple[int, list[str]]:
    """The number of parameters that are covered, and those that are not."""
    covered, missed = 0, []
    for quantity in fitted.parameters:
        truth = truths(path, is_upload(fitted)).get(quantity.key)
        is_judged = quantity.status == MEASURED or "ensemble" in quantity.source
        if truth is None or not is_judged or quantity.low is None:
            continue
        # Values of a scenario have six digits.
        low, high = quantity.low * (1 - 1e-5), (quantity.high if quantity.high is not None else float("inf")) * (1 + 1e-5)
        if low <= truth <= high:
            covered += 1
        else:
            missed.append(f"{quantity.key}: {truth:.6g} not in {low:.6g} to {high:.6g}")
    return covered, missed


def done(found: Verdict, path: paths.Path, upload: bool, seconds: float) -> tuple[float, list[str]]:
    """Returns the median gain of a recommended change on the true path.

    Also returns what the change makes worse without having named it.
    """
    assert found.winner is not None, "a recommendation has a winner"
    source = Source.of({key: value for key, value in path.scenario.items() if key != "capture"})
    base = source.load([])
    (flow,) = base["flow"]
    if upload:
        base = {**base, "flow": [{**flow, "from": flow["to"], "to": flow["from"]}]}
    ways = (
        {"path_forward": "btl_reverse", "path_reverse": "btl_forward"}
        if upload
        else {"path_forward": "btl_forward", "path_reverse": "btl_reverse"}
    )
    members = tuple(Member(base, seed) for seed in SEEDS)
    racer = Racer(Advised(members, source.base, "the true path", {}, {}, None, ""), seconds)
    queues = {ways[name]: queue for name, queue in found.winner.queues.items()}
    winner = replace(found.winner, queues=queues)
    today = candidates(base)[0]
    scores = racer.scores(found.use, [today, winner], len(members), seconds)
    gain = statistics.median(gains_of(found.use, scores[winner.name], scores[today.name]))
    named = {one.what for one in found.harms if one.is_harm}
    worse = []
    for test in _TESTS:
        if test.title in named or test.flows is found.use.flows:
            continue
        scores = racer.scores(test, [today, winner], len(members), seconds)
        ratio = statistics.median(gains_of(test, scores[winner.name], scores[today.name]))
        if ratio < 1 - _HARM:
            worse.append(f"{test.title}: {ratio:.2f}")
    return gain, worse


def judge(population: str, number: int, tally: Tally) -> Iterator[str]:
    """The findings of a path."""
    path = paths.draw(number)
    scenario = with_upload(path.scenario) if number % 2 == 0 else path.scenario
    path = replace(path, scenario={**path.scenario, "link": scenario["link"]})
    with tempfile.TemporaryDirectory() as folder:
        began = time.monotonic()
        if population == "kernel":
            capture = _emulated(path, scenario, folder)
        else:
            _, capture = replace(path, scenario=scenario).capture(folder)
        try:
            fitted = fit(inspect(capture))
        except AcklabError as error:
            yield f"no fit: {error}"
            return
        covered, missed = uncovered(fitted, path)
        tally.fitted += 1
        tally.repeated += bool(fitted.members)
        tally.covered += covered
        tally.missed += len(missed)
        yield from (f"not covered: {one}" for one in missed)
        if fitted.ensemble is not None and not fitted.members:
            yield fitted.notes[-1]
        advised = File(folder) / "link.toml"
        advised.write_text(fitted.toml, encoding="utf-8")
        answer = advise(advised, uses=USED)
        tally.took += time.monotonic() - began
        for found in answer.uses.values():
            if found.winner is None or found.gain is None:
                tally.nothing += 1
                continue
            gain, worse = done(found, path, is_upload(fitted), answer.duration)
            tally.recommended += 1
            tally.gained += gain >= found.gain.low
            tally.harmed += bool(worse)
            told = f"{found.use.name}: {found.winner.name}: {found.gain.median:.2f} ({found.gain.low:.2f} to {found.gain.high:.2f}), on the true path {gain:.2f}"
            yield told + (f"; worse and not named: {', '.join(worse)}" if worse else "")


def _emulated(path: paths.Path, scenario: Mapping[str, Any], folder: str) -> File:
    """A capture at the receiver of the kernel's own TCP over the path."""
    flows = []
    for flow in scenario["flow"]:
        congestion = {"algorithm": flow["transport"]["congestion"]["algorithm"]}
        flows.append({**flow, "stack": "kernel", "transport": {"protocol": "tcp", "preset": "linux", "congestion": congestion}})
    emulated = {**scenario, "flow": flows, "capture": [{"point": "dst", "file": "dst.pcapng"}]}
    acklab.emulate(emulated, captures=folder, processors="halt")
    return File(folder) / "dst.pcapng"


def main(words: Sequence[str]) -> int:
    """Prints what each path shows and the counts; returns 1 if one of the goals is missed."""
    population = words[0] if words else "simulated"
    first, count = KEPT[population]
    first, count = int(words[1]) if len(words) > 1 else first, int(words[2]) if len(words) > 2 else count
    tally, number = Tally(), first
    for _ in range(count):
        while paths.draw(number).rate > MAX_RATE[population]:
            number += 1
        for line in judge(population, number, tally):
            print(f"{number}: {line}", flush=True)
        number += 1
    judged = tally.covered + tally.missed
    print(f"\nparameters within their interval: {tally.covered} of {judged}")
    print(f"fits whose ensemble repeats the capture: {tally.repeated} of {tally.fitted}")
    print(
        f"recommended changes that gain at least the lower end: {tally.gained} of {tally.recommended}; with harm that was not named: {tally.harmed}"
    )
    print(f"nothing to recommend: {tally.nothing}; {tally.took / max(tally.fitted, 1):.0f} s per capture")
    good = tally.covered >= 0.95 * judged and tally.gained >= 0.95 * tally.recommended and not tally.harmed
    return int(not good)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
