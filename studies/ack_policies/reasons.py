"""Largest gains and losses of fewer ACKs, and measured differences from the baseline."""

import math
from typing import Any

import polars as pl

from acklab.figures.ratio import is_decided
from acklab.report import Section, Table

from .runs import without_baseline

FULL = 0.9
"""Minimum utilization of a full return link."""
MIN_EFFECT = 0.01
"""Minimum gain or loss in the tables of reasons."""


def why(cells: pl.DataFrame) -> Section:
    """Returns the largest gains and losses with their properties, and how often each occurs."""
    decided = [cell for cell in without_baseline(cells).to_dicts() if is_decided(cell)]
    gains = [cell for cell in decided if cell["mean"] > 1 + MIN_EFFECT]
    harms = [cell for cell in decided if cell["mean"] < 1 - MIN_EFFECT]
    reasons: dict[str, list[int]] = {}
    for index, group in enumerate((gains, harms)):
        for cell in group:
            for reason, _ in _reasons(cell) or [("none of these", "")]:
                reasons.setdefault(reason, [0, 0])[index] += 1
    counted = [[reason, *map(str, numbers)] for reason, numbers in sorted(reasons.items(), key=lambda item: -sum(item[1]))]
    return Section(
        "Largest gains and losses, and their causes",
        "The largest gains and losses, at most two per path and controller. Causes are measured differences from the "
        f"baseline in the same runs: a return link that is busy for {FULL:.0%} of the time or more on one side; if goodput fell, at least one timeout per "
        "run more, or retransmissions more by 0.1 % of the segments and by a fifth (fewer if it rose), with the bursts of ACKs; a "
        "mean window that differs by a fifth; a tenth of the ACKs more or fewer sent by the receiver's timer, because a window below "
        "the count of the receiver cannot reach it; otherwise an sRTT that differs by a twentieth. Cells that differ from 1 by less than "
        f"{MIN_EFFECT:.0%} are omitted.",
        items=[
            _ranking(sorted(gains, key=lambda cell: -cell["mean"]), "Largest gains in goodput"),
            _ranking(sorted(harms, key=lambda cell: cell["mean"]), "Largest losses of goodput"),
            Table(["difference", "cells with a gain", "cells with a loss"], counted, "Differences that accompany gains and losses; a cell may count twice"),
        ],
    )  # fmt: skip


def _ranking(cells: list[dict[str, Any]], caption: str, limit: int = 12, each: int = 2) -> Table:
    seen: dict[tuple[str, str], int] = {}
    chosen = []
    for cell in cells:
        key = (cell["path"], cell["congestion"])
        seen[key] = seen.get(key, 0) + 1
        if seen[key] <= each:
            chosen.append(cell)
    chosen = chosen[:limit]
    rows = []
    for cell in chosen:
        why = "; ".join(text for _, text in _reasons(cell)) or "no such difference"
        ratio = f"{cell['mean']:.2f} ({cell['low']:.2f} … {cell['high']:.2f})".replace(" ", "\N{NO-BREAK SPACE}")
        rows.append([cell["path"], cell["congestion"], cell["policy"], ratio, why])
    head = ["path", "controller", "policy", "goodput ÷ baseline", "difference (baseline in brackets)"]
    return Table(head, rows, caption, commands=[cell["command"] for cell in chosen], numeric_from=5)


def _reasons(cell: dict[str, Any]) -> list[tuple[str, str]]:
    """Returns the measured differences between a cell and its baseline.

    Each difference has a name and numbers.
    """

    def numbers(name: str) -> tuple[float, float]:
        own, below = cell[name], cell[f"{name}_below"]
        return (math.nan if own is None else own), (math.nan if below is None else below)

    found = []
    busy, busy_below = numbers("mean_return_utilization_l1")
    drops, drops_below = numbers("total_ack_drops_l2")
    if (busy >= FULL) != (busy_below >= FULL):
        text = f"return link busy {busy:.0%} ({busy_below:.0%}), {drops:.0f} ({drops_below:.0f}) ACKs dropped"
        found.append(("return link full on one side", text))
    timeouts, timeouts_below = numbers("total_rtos_l4")
    if abs(timeouts - timeouts_below) >= 1 and (timeouts > timeouts_below) == (cell["mean"] < 1):
        name = "more timeouts" if timeouts > timeouts_below else "fewer timeouts"
        found.append((name, f"timeouts {timeouts:.1f} ({timeouts_below:.1f})"))
    again, again_below = numbers("retransmitted")
    if abs(again - again_below) >= max(0.1, 0.2 * min(again, again_below)) and (again > again_below) == (cell["mean"] < 1):
        burst, burst_below = numbers("mean_ack_burst_l4")
        name = "more retransmissions" if again > again_below else "fewer retransmissions"
        per, per_below = (1 / value if value else math.nan for value in numbers("acks_per_packet"))
        text = f"retransmitted {again:.2f} % ({again_below:.2f} %), {per:.1f} ({per_below:.1f}) segments per ACK"
        bursts = f", ACKs in bursts of {burst:.1f} ({burst_below:.1f})" if abs(burst - burst_below) >= 0.1 else ""
        found.append((name, text + bursts))
    window, window_below = numbers("mean_cwnd_l4")
    if not 0.8 < window / window_below < 1.25:
        name = "larger window" if window > window_below else "smaller window"
        found.append((name, f"mean window {window:.0f} ({window_below:.0f}) segments"))
    waited, waited_below = numbers("waited")
    if abs(waited - waited_below) >= 10:
        name = "the receiver's timer, more often" if waited > waited_below else "the receiver's timer, less often"
        found.append(
            (name, f"{waited:.0f} % ({waited_below:.0f} %) of ACKs sent by the timer, mean window {window:.0f} segments")
        )
    srtt, srtt_below = numbers("mean_srtt_l4")
    if not found and abs(srtt / srtt_below - 1) >= 0.05:
        name = "longer round trips" if srtt > srtt_below else "shorter round trips"
        found.append((name, f"sRTT {srtt:.1f} ({srtt_below:.1f}) ms"))
    return found
