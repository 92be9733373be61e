"""Unknown quantities of a fit, and captures that would determine them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from acklab.advice.paths import MEMBERS
from acklab.advice.uses import BACK, FORWARD, TIMING

DOWNLOAD = "record a download of half a minute: tcpdump -i IFACE -s 128 -w download.pcap & curl -o /dev/null URL"
UPLOAD = "record a download and then an upload in one capture: tcpdump -i IFACE -s 128 -w both.pcap & curl -o /dev/null URL; curl -T FILE URL"
CHANGES = "the rate changes, as over radio or beside others: advise a scenario with a trace or a cell (acklab new lte, acklab new office)"
OTHER = "describe the path as a scenario of several links, such as a template (acklab new lists them), and advise that"
_CHANGING = "trains differ in rate"
"""Words by which `inspect` describes a changing rate in its evidence."""
_GATE = ".gate.interval"
_KEYS = {FORWARD: "link.path.forward.", BACK: "link.path.reverse."}


@dataclass(frozen=True)
class Known:
    """Describes which directions of a fitted path are known."""

    unknown: Mapping[str, str]
    """Returns the reason why a direction is not known."""
    settles: Mapping[str, str]
    blocked: str | None
    settled_by: str


def known_of_fit(table: Mapping[str, Any], changes: Sequence[str]) -> Known:
    """Returns the known directions by the table `fit` and the changes of the user."""
    given = {change.partition("=")[0].strip() for change in changes}
    missing = [
        one for one in table.get("parameter", []) if one["status"] == "unknown" and "give" in one and one["key"] not in given
    ]
    unknown: dict[str, str] = {}
    settles: dict[str, str] = {}
    for direction, prefix in _KEYS.items():
        for one in missing:
            if one["key"].startswith(prefix) and direction not in unknown:
                unknown[direction] = f"{one['key']} is not known: {one['evidence']}"
                advice = DOWNLOAD if direction == FORWARD else UPLOAD
                # If the rate changes, another capture does not show more.
                advice = CHANGES if _CHANGING in one["evidence"] else advice
                settles[direction] = f"{advice}; or {one['give']}"
    for one in table.get("parameter", []):
        if one["status"] == "unknown" and one["key"].endswith(_GATE):
            unknown[TIMING] = f"the delay of single packets is not known: {one['evidence']}"
            settles[TIMING] = (
                "describe the link that releases them, such as a cell (acklab new office) or grants (acklab new cable)"
            )
    # A fit already includes the quantities that the user gave to it. Other changes describe another
    # path.
    fitted = {one["key"] for one in table.get("parameter", []) if one["status"] == "given"}
    changed = any(key.startswith(tuple(_KEYS.values())) for key in given - fitted)
    blocked, settled_by = None, ""
    if "application" in table:
        blocked, settled_by = f"the application limited the transfer ({table['application']})", DOWNLOAD
    elif FORWARD in unknown:
        blocked, settled_by = unknown[FORWARD], settles[FORWARD]
    elif (count := len(table.get("member", []))) < MEMBERS and not changed:
        repeat = "1 scenario does" if count == 1 else f"{count} scenarios do"
        blocked = f"one bottleneck does not repeat the capture within its uncertainty: {repeat}, {MEMBERS} are needed"
        settled_by = OTHER
    return Known(unknown, settles, blocked, settled_by)
