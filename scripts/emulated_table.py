"""Prints the numbers of an emulated study as rows of Markdown, for its page.

`scripts/emulated_table.py out/tack_wan_emulated/emulated.json`.

There is a row for each point and each ratio. It has the published, simulated and emulated numbers
with the half-widths of their 95 % intervals. It also has the difference of the emulated from the
simulated number in percent, and the number of reliable runs.
"""

import json
import math
import sys
from pathlib import Path
from typing import Any

from acklab.metrics import written


def main(path: str) -> None:
    """Prints the table."""
    rows = json.loads(Path(path).read_text(encoding="utf-8"))["emulated"]
    print("| point | metric | published | simulated | emulated | difference [%] | trusted |\n|---|---|---|---|---|---|---|")
    for row in rows:
        published = "" if row["published"] is None else written(row["published"])
        difference = "" if row["difference"]["mean"] is None else f"{row['difference']['mean']:+.1f}"
        trusted = f"{row['trusted']} of {row['emulated']['count']}"
        cells = [row["point"], row["title"], published, _of(row["simulated"]), _of(row["emulated"]), difference, trusted]
        print(f"| {' | '.join(cells)} |")


def _of(interval: dict[str, Any]) -> str:
    mean, low, high = (math.nan if interval[name] is None else interval[name] for name in ("mean", "low", "high"))
    return written(mean) + ("" if math.isnan(low) else f" ± {written((high - low) / 2)}")


if __name__ == "__main__":
    main(sys.argv[1])
