"""Fits scenarios to captures of simulated paths and tells how well they repeat them: `python validation/inspection/fits.py [FIRST [COUNT]]`.

Numbers below 1000 are for building; 20000 to 20039, 21000 to 21039, 22000 to 22059 and 23000 to 23059 were looked at. `--kept` takes the paths that are kept aside, 24000 to 24059.
"""

import sys
import tempfile
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2]))

from acklab.errors import AcklabError
from acklab.fitting import fit
from validation.inspection import paths

KEPT = (24_000, 60)
TOLERANCE = 0.10


def judge(number: int) -> dict[str, Any]:
    """The relative errors of the fit of a path, or why there is none."""
    path = paths.draw(number)
    with tempfile.TemporaryDirectory() as folder:
        _, capture = path.capture(folder)
        try:
            return {"number": number, "position": path.position, "errors": dict(fit(capture).errors)}
        except AcklabError as error:
            return {"number": number, "position": path.position, "refused": str(error)}


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
        if errors and all(abs(error) <= TOLERANCE for error in errors.values()):
            good += 1
            continue
        told = one.get("refused") or ", ".join(f"{name} {100 * error:+.1f} %" for name, error in errors.items())
        print(f"    {one['number']}: {one['position']}: {told}")
    print(f"goodput, RTT and ACK ratio within {TOLERANCE:.0%}: {good} of {len(found)}")
    return int(good < 0.95 * len(found))


if __name__ == "__main__":
    sys.exit(main())
