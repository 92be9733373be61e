"""Runs random scenarios and checks the invariants of each.

`python validation/scenarios/run.py --count 2000 --out out/scenarios`.

Failures are reduced and written as scenarios into the folder `--out`, with the violated rule in
their title. A flow over a clean path that delivers less than half of the best controller's goodput
requires a documented reason: `reasons.py`. Exits with status 1 if a scenario failed.
"""

import argparse
import copy
import json
import os
import signal
import statistics
import sys
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import acklab
from acklab.errors import AcklabError, ScenarioError
from validation.scenarios.generate import scenario as scenario_of
from validation.scenarios.invariants import below_half, is_clean, violations
from validation.scenarios.reasons import reason_of
from validation.scenarios.reduce import reduce

Scenario = dict[str, Any]

LONGEST = 120
"""Maximum CPU time of a run in seconds; a longer run is regarded as endless."""
COSTLY = 10
"""Maximum CPU time per packet, relative to the median run with the same transports."""
UNCOUNTED = 1.0
"""Minimum CPU time in seconds of a run to which `COSTLY` applies."""
BEST_OF = ("cubic", "bbr")
"""Controllers that a flow over a clean path is compared with."""


@dataclass
class Checked:
    """One scenario with its outcome."""

    number: int
    scenario: Scenario
    refused: str = ""
    failures: list[str] = field(default_factory=list)
    reasons: list[str] = field(default_factory=list)
    seconds: float = 0.0
    packets: int = 0
    transports: str = ""


class TooLong(Exception):
    """A run exceeded the limit of CPU time."""


def _too_long(_signal: int, _frame: object) -> None:
    raise TooLong


def _tables(scenario: Scenario) -> tuple[dict[str, list[dict[str, Any]]], float]:
    """Returns the tables of a run as rows, and its CPU time in seconds."""
    signal.signal(signal.SIGVTALRM, _too_long)
    signal.setitimer(signal.ITIMER_VIRTUAL, LONGEST)
    before = time.process_time()
    try:
        result = acklab.run(scenario)
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    seconds = time.process_time() - before
    return {name: result.arrow(name).to_pylist() for name in ("flows", "links")}, seconds


def check(number: int) -> Checked:
    """Runs the scenario of this number."""
    scenario = scenario_of(number)
    checked = Checked(number, scenario, transports=" ".join(sorted({flow["transport"]["protocol"] for flow in scenario["flow"]})))
    try:
        tables, checked.seconds = _tables(scenario)
    except ScenarioError as refusal:
        checked.refused = str(refusal).splitlines()[0]
        return checked
    except (AcklabError, TooLong) as failure:
        checked.failures.append(f"{type(failure).__name__}: {failure}")
        return checked
    checked.packets = sum(link["total_packets_out_l2"] for link in tables["links"])
    checked.failures += violations(scenario, tables)
    if is_clean(scenario):
        _compare(checked, tables["flows"][0])
    return checked


def _compare(checked: Checked, flow: dict[str, Any]) -> None:
    """Compares a flow over a clean path with the best controller, in the second half of the run."""
    half = f"{float(checked.scenario['duration'].removesuffix('s')) / 2:.3f}s"
    later = {**checked.scenario, "measure": {"from": half}}
    goodput = _tables(later)[0]["flows"][0]["mean_throughput_l7"] or 0.0
    own, best = flow["cca"], 0.0
    for controller in BEST_OF:
        other = copy.deepcopy(later)
        other["flow"][0]["transport"]["congestion"] = controller
        best = max(best, _tables(other)[0]["flows"][0]["mean_throughput_l7"] or 0.0)
    reason = reason_of(own, checked.scenario)
    told = [failure for failure in checked.failures if reason and reason.ending and reason.ending in failure]
    if below_half(goodput, best):
        told = [f"below half: {own} delivers {goodput:.3f} Mbps where the best of {', '.join(BEST_OF)} delivers {best:.3f}"]
    if reason is None:
        checked.failures += told
    elif told:
        checked.reasons += [f"{text} ({reason.why})" for text in told]
        # A failure with a reason is reported once.
        checked.failures = [failure for failure in checked.failures if not failure.startswith("stall")]


def _again(scenario: Scenario, rule: str) -> bool:
    """Returns `True` if the scenario violates this rule."""
    try:
        tables, _ = _tables(scenario)
    except ScenarioError:
        return False
    except (AcklabError, TooLong) as failure:
        return type(failure).__name__ == rule
    return any(failure.split(":")[0] == rule for failure in violations(scenario, tables))


def _costly(all_checked: list[Checked]) -> Iterator[Checked]:
    """Yields runs with excessive cost per packet, with a failure that reports the cost.

    The cost is more than ten times the median of runs with the same transports.
    """
    costs: dict[str, list[float]] = {}
    for checked in all_checked:
        if checked.packets > 1000:
            costs.setdefault(checked.transports, []).append(checked.seconds / checked.packets)
    usual = {transports: statistics.median(each) for transports, each in costs.items()}
    overall = statistics.median([cost for each in costs.values() for cost in each]) if costs else 0.0
    for checked in all_checked:
        expected = usual.get(checked.transports, overall) * max(checked.packets, 1000)
        if checked.seconds > UNCOUNTED and checked.seconds > COSTLY * expected:
            checked.failures.append(
                f"cost: {checked.seconds:.1f} s of CPU for {checked.packets:,} packets, usual are {expected:.2f}"
            )
            yield checked


def _write(out: Path, checked: Checked) -> Path:
    rule = checked.failures[0].split(":")[0]
    smallest = checked.scenario
    if rule in ("conservation", "utilization", "goodput", "round trip", "stall", "RunError"):
        smallest = reduce(checked.scenario, lambda candidate: _again(candidate, rule))
    out.mkdir(parents=True, exist_ok=True)
    path = out / f"{rule.replace(' ', '_')}_{checked.number}.json"
    path.write_text(json.dumps({**smallest, "title": checked.failures[0]}, indent=1) + "\n")
    return path


def _tell(out: Path, checked: Checked) -> None:
    print(f"{_write(out, checked)}: {'; '.join(checked.failures)}", flush=True)


def _warm_up() -> None:
    """Runs one scenario, so that the modules are loaded before the measured runs."""
    check(0)


def _all(first: int, count: int, jobs: int) -> Iterator[Checked]:
    with ProcessPoolExecutor(jobs, initializer=_warm_up) as pool:
        yield from pool.map(check, range(first, first + count), chunksize=4)


def main() -> int:
    """Runs the scenarios of the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--out", type=Path, default=Path("out/scenarios"))
    asked = parser.parse_args()
    everything: list[Checked] = []
    for checked in _all(asked.first, asked.count, asked.jobs):
        everything.append(checked)
        if checked.failures:
            _tell(asked.out, checked)
    for checked in _costly(everything):
        _tell(asked.out, checked)
    failed = [checked for checked in everything if checked.failures]
    refused = Counter(checked.refused for checked in everything if checked.refused)
    reasons = Counter(reason.split("(", 1)[1] for checked in everything for reason in checked.reasons)
    ran = len(everything) - sum(refused.values())
    print(
        f"{ran:,} scenarios ran, {sum(refused.values()):,} were refused, {len(failed):,} failed; {sum(checked.packets for checked in everything):,} packets"
    )
    for reason, times in reasons.most_common():
        print(f"  {times} below half or ended for a reason: {reason.rstrip(')')}")
    for refusal, times in refused.most_common(5):
        print(f"  {times} refused: {refusal}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
