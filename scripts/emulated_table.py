"""Prints the numbers of an emulated study as rows of Markdown, for its page.

`scripts/emulated_table.py out/tack_wan_emulated/emulated.json`.

A row for each point and each ratio: published, simulated and emulated, with half of the 95 %
intervals, the difference of the two in percent, and how many runs may be trusted.
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
