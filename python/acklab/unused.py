"""Remarks on mechanisms of a scenario that had no effect in a run.

The mechanisms are HACK, ACK filters and thinners (drivers that remove ACKs).
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

Row = Mapping[str, Any]
_FILTERS = ("ack-filter", "cake-ack-filter")


def unused(scenario: Mapping[str, Any], links: Sequence[Row], hack: Sequence[Row]) -> list[str]:
    """Returns the mechanisms without effect although packets passed. `scenario` is complete."""
    return [*_filters(scenario, links), *_hack(hack)]


def _filters(scenario: Mapping[str, Any], links: Sequence[Row]) -> Iterator[str]:
    rows = {row["link"]: row for row in links}
    for link in scenario.get("link") or []:
        for direction in ("forward", "reverse"):
            row = rows.get(f"{link['name']}_{direction}")
            if row is None or row.get("total_filtered_acks_l2") or not row.get("total_packets_in_l2"):
                continue
            packets, longest = row["total_packets_in_l2"], row.get("max_qdisc_length_l2") or 0
            queue = link[direction].get("queue") or {}
            waited = f"at most {longest:,} packets waited" if longest > 1 else "its queue never held two packets"
            if queue.get("discipline") in _FILTERS or (
                queue.get("discipline") == "cake" and queue.get("ack_filter", "off") != "off"
            ):
                yield (
                    f"{row['link']}: its ACK filter removed none of {packets:,} packets: {waited}, so that no ACK of a flow waited behind another; "
                    "the link is not where ACKs queue"
                )
            if link[direction].get("thinner") is not None:
                rule = link[direction]["thinner"].get("rule")
                yield f"{row['link']}: its thinner ({rule}) removed none of {packets:,} packets: no two ACKs of a flow met within its bounds"


def _hack(rows: Sequence[Row]) -> Iterator[str]:
    for cell in dict.fromkeys(row["cell"] for row in rows):
        here = [row for row in rows if row["cell"] == cell]
        plain = sum(row.get("total_plain_acks_l2") or 0 for row in here)
        if plain and not any(row.get("total_compressed_acks_l2") for row in here):
            late = sum(row.get("total_missed_answers_l2") or 0 for row in here)
            released = sum(row.get("total_released_acks_l2") or 0 for row in here)
            causes = [
                f"{late:,} came too late for their response" if late else "",
                f"{released:,} waited for `hold_limit`" if released else "",
            ]
            why = (
                ", ".join(filter(None, causes))
                or "none waited for a response: the variant held none, or older ACKs of each flow were still under way"
            )
            yield f"{cell}: TCP/HACK compressed none of {plain:,} ACKs: {why}"
