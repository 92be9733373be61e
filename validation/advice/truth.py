"""Compares fits and advice with known paths.

Usage: `python validation/advice/truth.py [simulated|kernel|applications] [FIRST [COUNT]]
[--sample N] [--out FOLDER] [--keep]`.

`simulated` captures a download over the paths of the validation of inspection (`paths.py`), and for
even numbers also an upload after the download. `kernel` runs the same paths with Linux's TCP in an
emulation with a virtual clock (`acklab kernel build`, at most 50 Mbps). `applications` captures
transfers with an application as the limit (`applications.py`). Two properties of each capture are
measured:

* coverage: whether the interval of each measured parameter, or of each parameter that the ensemble
  varies, contains the true value;
* effect: each recommended change is applied to the true path, over eight seeds. The gain must be at
  least the lower end of the predicted interval. Only quantities that `advise` named may get worse.

Numbers below 1000 are for development; the numbers of `KEPT` are a held-out test set. Each path is
judged in a separate process. With `--out`, records are stored, and a stopped run resumes from them.
Records of another core or other sources are computed again. `--keep` stores the counts in
`measured.json`, from which `table.py` fills the page.
"""

import argparse
import statistics
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path as File
from typing import Any

sys.path.insert(0, str(File(__file__).parents[2]))

import acklab
from acklab.advice import Verdict, advise, candidates
from acklab.advice.harm import TESTS
from acklab.advice.paths import Member
from acklab.advice.paths import Path as Advised
from acklab.advice.racing import Racer, gains_of
from acklab.errors import AcklabError
from acklab.fitting import Fit, fit
from acklab.fitting.quantity import MEASURED
from acklab.inspection import inspect
from acklab.scenario import Source
from validation.advice import applications
from validation.advice.records import counts_of, keep, lines_of, records
from validation.inspection import paths
from validation.inspection.apart import Limits
from validation.inspection.corpus import digest

KEPT = {"simulated": (60_000, 200), "kernel": (61_000, 30), "applications": (62_000, 60)}
MAX_RATE = {"simulated": 200.0, "kernel": 50.0, "applications": 200.0}
USED = ("download", "upload", "latency", "page", "call")
EFFORT = 30.0
"""Effort of an answer in seconds: half of the default, because there are hundreds of answers."""
SEEDS = range(101, 109)
"""Seeds of the runs on the true path, which no fit uses."""
_HARM = 0.10
"""A quantity that `advise` did not name must not get worse by more than this share.

It is twice the minimum harm that `advise` names, because results over eight seeds vary.
"""
_LIMITS = Limits(seconds=900.0)

Record = dict[str, Any]


def with_upload(scenario: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the scenario with an upload of the same length after the download."""
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
    """Returns the true values of the parameters of a fit."""
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
        # Behind a gate, which releases packets in bursts, no RTT sample is of the path alone, and
        # the rate is that of the gate.
        found["link.path.forward.delay"] = path.propagation / 2
        found["link.path.reverse.rate"] = rates[1]
    return found


def coverage(fitted: Fit, path: paths.Path) -> list[Record]:
    """Returns the parameters to judge, each with its true value and its interval."""
    found = []
    for quantity in fitted.parameters:
        truth = truths(path, is_upload(fitted)).get(quantity.key)
        is_judged = quantity.status == MEASURED or "ensemble" in quantity.source
        if truth is None or not is_judged or quantity.low is None:
            continue
        # Values in a scenario are rounded to six digits.
        high = None if quantity.high is None else quantity.high * (1 + 1e-5)
        is_covered = quantity.low * (1 - 1e-5) <= truth and (high is None or truth <= high)
        found.append({"key": quantity.key, "truth": truth, "low": quantity.low, "high": quantity.high, "is_covered": is_covered})
    return found


def done(found: Verdict, path: paths.Path, upload: bool, seconds: float) -> tuple[float, list[str]]:
    """Returns the median gain of a recommended change on the true path.

    Also returns the quantities that get worse although `advise` did not name them.
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
    for test in TESTS:
        if test.title in named or test.flows is found.use.flows:
            continue
        scores = racer.scores(test, [today, winner], len(members), seconds)
        ratio = statistics.median(gains_of(test, scores[winner.name], scores[today.name]))
        if ratio < 1 - _HARM:
            worse.append(f"{test.title}: {ratio:.2f}")
    return gain, worse


def judge(population: str, number: int) -> Record:
    """Returns the record of a path."""
    path = paths.draw(number)
    if population == "applications":
        path = replace(path, scenario=applications.limited(path.scenario, number))
        scenario = path.scenario
    else:
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
            return {"number": number, "no_fit": str(error)}
        advised = File(folder) / "link.toml"
        advised.write_text(fitted.toml, encoding="utf-8")
        answer = advise(advised, uses=USED, seconds=EFFORT)
        took = time.monotonic() - began
        recommended, nothing = [], {}
        for found in answer.uses.values():
            if found.winner is None or found.gain is None:
                nothing[found.use.name] = found.reason
            elif population == "applications":
                recommended.append(_row(found))
            else:
                gain, worse = done(found, path, is_upload(fitted), answer.duration)
                recommended.append(_row(found) | {"true": gain, "gains": gain >= found.gain.low, "worse": worse})
    return {
        "number": number,
        "kind": applications.kind_of(number) if population == "applications" else path.position,
        "application": fitted.application.kind,
        "parameters": [] if population == "applications" else coverage(fitted, path),
        "ensemble": None if fitted.ensemble is None else bool(fitted.members),
        "notes": fitted.notes[1:],
        "recommended": recommended,
        "nothing": nothing,
        "seconds": round(took, 1),
    }


def _row(found: Verdict) -> Record:
    assert found.winner is not None, "a recommendation has a winner"
    assert found.gain is not None, "a recommendation has a gain"
    return {
        "use": found.use.name,
        "change": found.winner.name,
        "median": found.gain.median,
        "low": found.gain.low,
        "high": found.gain.high,
        "named": [one.what for one in found.harms if one.is_harm],
    }


def _emulated(path: paths.Path, scenario: Mapping[str, Any], folder: str) -> File:
    """Runs the kernel's TCP over the path. Returns a capture made at the receiver."""
    flows = []
    for flow in scenario["flow"]:
        congestion = {"algorithm": flow["transport"]["congestion"]["algorithm"]}
        flows.append({**flow, "stack": "kernel", "transport": {"protocol": "tcp", "preset": "linux", "congestion": congestion}})
    emulated = {**scenario, "flow": flows, "capture": [{"point": "dst", "file": "dst.pcapng"}]}
    # With the virtual clock, packets are on time under any load.
    acklab.emulate(emulated, captures=folder, clock="virtual")
    return File(folder) / "dst.pcapng"


def numbers_of(population: str, first: int, count: int) -> list[int]:
    """Returns the numbers of `count` paths that are not too fast for the population."""
    found: list[int] = []
    number = first
    while len(found) < count:
        if paths.draw(number).rate <= MAX_RATE[population]:
            found.append(number)
        number += 1
    return found


def main(words: Sequence[str]) -> int:
    """Prints the result of each path and the counts; returns 1 if a goal is missed."""
    parser = argparse.ArgumentParser()
    parser.add_argument("population", choices=tuple(KEPT), nargs="?", default="simulated")
    parser.add_argument("first", type=int, nargs="?")
    parser.add_argument("count", type=int, nargs="?")
    parser.add_argument("--sample", type=int, help="only so many of them, the same ones each time")
    parser.add_argument("--out", type=File)
    parser.add_argument("--keep", action="store_true")
    parser.add_argument("--at-once", type=int, default=Limits.at_once, help="paths judged at a time")
    options = parser.parse_args(words)
    population = options.population
    first, count = KEPT[population]
    first, count = first if options.first is None else options.first, count if options.count is None else options.count
    drawn = numbers_of(population, first, count)
    # Paths are judged in this order, so that a stopped run is a random sample of all paths.
    numbers = sorted(sorted(drawn, key=lambda number: digest(str(number)))[: options.sample])
    found = list(records(options.out, population, partial(judge, population), numbers, replace(_LIMITS, at_once=options.at_once)))
    for record in found:
        for line in lines_of(record):
            print(line)
    counts = counts_of(found)
    print(counts)
    if options.keep:
        keep(population, {"first": first, "paths": len(found), "of": count, **counts})
    covered, judged = counts["covered"], counts["judged"]
    return int(
        covered < 0.95 * judged
        or counts["gained"] < 0.95 * counts["recommended"]
        or counts["harmed"] > 0
        or counts["failed"] > 0
        or (population == "applications" and counts["recommended"] > 0)
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
