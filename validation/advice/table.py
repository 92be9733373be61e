"""Sets the choice of `acklab advise` beside that of an exhaustive sweep, on twenty paths: `python validation/advice/table.py [FIRST [COUNT]]`.

The paths are those of `validation/inspection/paths.py`; numbers 40000 to 40019 are kept aside. Each is asked for one use, in turn. The exhaustive sweep runs every
candidate in full, with the seeds of the last round of the race.
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
from validation.inspection import paths

KEPT = (40_000, 20)
SEEDS = (1, 2, 3)
SECONDS = 15.0
"""For one use: the time of a first answer for four uses is a minute."""


def judge(number: int) -> dict[str, Any]:
    """The choice for a path, and how far it is from the best."""
    scenario = {key: value for key, value in paths.draw(number).scenario.items() if key != "capture"}
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
    way = scenario["link"][1]
    path = f"{way['forward']['rate']} / {way['reverse']['rate']}, {flow['congestion']['algorithm']}, {flow['ack']['policy']}"
    return {"number": number, "use": use.name, "path": path, "chosen": chosen, "best": best, "ratio": ratio, "took": took}


def main() -> int:
    """Prints the table; returns 1 if fewer than nine of ten choices are within 2 % of the best."""
    words = sys.argv[1:]
    first, count = int(words[0]) if words else KEPT[0], int(words[1]) if len(words) > 1 else KEPT[1]
    print("| path | use | today | chosen | best by exhaustive sweep | chosen / best |\n|---|---|---|---|---|---|")
    good = 0
    for number in range(first, first + count):
        found = judge(number)
        good += found["ratio"] >= 0.98
        link, _, today = found["path"].partition(", ")
        print(f"| {link} | {found['use']} | {today} | {found['chosen']} | {found['best']} | {found['ratio']:.3f} |", flush=True)
    print(f"\nwithin 2 % of the best: {good} of {count}")
    return int(good < 0.9 * count)


if __name__ == "__main__":
    sys.exit(main())
