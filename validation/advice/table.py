"""Sets the choice of `acklab advise` beside that of an exhaustive sweep: `python validation/advice/table.py [POPULATION [FIRST [COUNT]]]`.

The paths are those of the validations of inspection: `wired` (`paths.py`, one flow), `shared` (`competing.py`, one to three flows of others on the bottleneck) and `wifi` (`wifi.py`, one to four
stations that download). Numbers below 1000 are for building; 40000 to 40019, 42000 to 42019, 43000 to 43009 and
44000 to 44009 were looked at; those of `KEPT` are kept aside. Each is asked for one use, in turn. The exhaustive sweep runs every candidate in full, with six seeds.
"""

import math
import sys
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2]))

from acklab.advice import USES, advise, candidates
from acklab.advice.advise import _duration
from acklab.advice.racing import Path as Raced
from acklab.advice.racing import Racer
from acklab.scenario import Source
from validation.inspection import competing, paths, wifi

KEPT = {"wired": (45_000, 20), "shared": (46_000, 10), "wifi": (47_000, 10)}
SEEDS = range(1, 7)
SECONDS = 15.0
"""For one use: the time of a first answer for four uses is a minute."""


def drawn(population: str, number: int) -> tuple[dict[str, Any], str]:
    """A scenario and what to call it."""
    if population == "wifi":
        scenario, _ = wifi.draw(number)
        cell = scenario["wifi"][0]
        stations = len(cell["station"])
        return scenario, f"{cell['standard']}, MCS {cell['rate']['mcs']}, {stations} station{'s' if stations > 1 else ''}"
    path, others = (paths.draw(number), 0) if population == "wired" else competing.shared(number)
    way = next(link for link in path.scenario["link"] if link["name"] == "btl")
    beside = f", {others} other{'s' if others > 1 else ''}" if others else ""
    return path.scenario, f"{way['forward']['rate']} / {way['reverse']['rate']}{beside}"


def judge(population: str, number: int) -> dict[str, Any]:
    """The choice for a path, and how far it is from the best."""
    scenario, path = drawn(population, number)
    scenario = {key: value for key, value in scenario.items() if key != "capture"}
    use = USES[list(USES)[number % len(USES)]]
    began = time.monotonic()
    found = advise(scenario, uses=[use.name], seconds=SECONDS).uses[use.name]
    took = time.monotonic() - began
    source = Source.of(scenario)
    base = source.load([])
    racer = Racer(Raced(base, source.base, (), _duration(base)))
    everyone = candidates(base["flow"][0]["transport"])
    scores = racer.scores(use, everyone, racer.path.duration, SEEDS)

    def mean(name: str) -> float:
        values = list(scores[name].values())
        if any(value is None for value in values):
            return -math.inf if use.is_better_high else math.inf
        return math.fsum(value for value in values if value is not None) / len(values)

    names = [one.name for one in everyone]
    best = max(names, key=mean) if use.is_better_high else min(names, key=mean)
    chosen = found.winner.name
    ratio = mean(chosen) / mean(best) if use.is_better_high else mean(best) / mean(chosen)
    flow = scenario["flow"][0]["transport"]
    today = f"{flow['congestion']['algorithm']}, {flow.get('ack', {'policy': 'linux'})['policy']}"
    return {
        "number": number,
        "use": use.name,
        "path": path,
        "today": today,
        "chosen": chosen,
        "best": best,
        "ratio": ratio,
        "took": took,
    }


def main() -> int:
    """Prints the table; returns 1 if fewer than nine of ten choices are within 2 % of the best."""
    words = sys.argv[1:]
    population = words[0] if words else "wired"
    kept = KEPT[population]
    first, count = int(words[1]) if len(words) > 1 else kept[0], int(words[2]) if len(words) > 2 else kept[1]
    print("| path | use | today | chosen | best by exhaustive sweep | chosen / best |\n|---|---|---|---|---|---|")
    good = 0
    for number in range(first, first + count):
        found = judge(population, number)
        good += found["ratio"] >= 0.98
        cells = [found[key] for key in ("path", "use", "today", "chosen", "best")]
        print(f"| {' | '.join(cells)} | {found['ratio']:.3f} |", flush=True)
        print(f"{number}: {found['took']:.1f} s", file=sys.stderr)
    print(f"\nwithin 2 % of the best: {good} of {count}")
    return int(good < 0.9 * count)


if __name__ == "__main__":
    sys.exit(main())
