"""The cell of a scenario."""

from collections.abc import Mapping, Sequence
from typing import Any

from acklab.studies.closed_form.cell import PPDU_MAX_TIME, UDP, WINDOW, Cell
from acklab.studies.closed_form.modes import US, Mbps, Mode, dsss, ht, ofdm, vht

TCP = 20
"""Bytes of the TCP header without options (RFC 9293, section 3.1)."""

TIMESTAMPS = 12  # Of TCP, with the NOPs that align them (RFC 7323, appendix A)
A_MPDU = {"802.11n": 65_535, "802.11ac": 1_048_575}  # Bytes (9.4.2.55.3, 9.4.2.157.2)

MANDATORY = {"802.11b": (1, 2), "ofdm": (6, 12, 24)}
"""Mandatory rates, which are the default basic rates of a cell (16.2.3.3 for DSSS; 17.2.3.5)."""


def of_scenario(scenario: Mapping[str, Any], sender: str = "ap") -> Cell:
    """Returns the cell for the first cell and the first flow of a checked scenario.

    The sender is the access point or the first `station`.
    """
    wifi, flow = scenario["wifi"][0], scenario["flow"][0]
    transport = flow["transport"]
    standard, short = wifi["standard"], wifi.get("short_preamble", False)
    is_2ghz = standard in {"802.11b", "802.11g"} or wifi.get("band") == "2.4GHz"
    has_qos = standard in A_MPDU
    protection = wifi.get("protection", "none")
    node = wifi["ap"] if sender == "ap" else wifi["station"][0]
    category = {key: value for of in (wifi, node) for key, value in of.get("access", {}).get("best_effort", {}).items()}
    aggregation = wifi.get("aggregation", {})
    threshold = wifi.get("rts_threshold")
    is_udp = transport["protocol"] == "udp"
    # Protection implies stations without short slots (18.4.5); 802.11b has slots of 20 µs.
    is_long_slot = is_2ghz and (standard == "802.11b" or wifi.get("long_slot", False) or protection != "none")
    max_aggregate = A_MPDU.get(standard, 0)
    return Cell(
        mode=_mode_of(wifi),
        sifs=(10 if is_2ghz else 16) * US,
        slot=(20 if is_long_slot else 9) * US,
        aifsn=category.get("aifsn", 3 if has_qos else 2),
        cw_min=category.get("cw_min", 31 if standard == "802.11b" else 15),
        basic=_basic_of(standard, short, wifi.get("basic_rates")),
        has_qos=has_qos,
        extension=6 * US if is_2ghz and standard != "802.11b" else 0,
        aggregate=min(max_aggregate, _number(aggregation["max_bytes"], "B")) if "max_bytes" in aggregation else max_aggregate,
        always_delimits=standard == "802.11ac",
        frames=min(aggregation.get("max_frames", WINDOW), WINDOW),
        max_time=_time(aggregation["max_time"]) if "max_time" in aggregation else PPDU_MAX_TIME,
        a_msdu=_number(aggregation.get("a_msdu", "0B"), "B"),
        txop=_time(category.get("txop_limit", "0s")),
        rts=threshold is not None and _number(threshold, "B") < 1500,
        # 2 Mbps is the highest mandatory rate of DSSS.
        cts_to_self=dsss(2, short) if protection == "cts-to-self" and is_2ghz else None,
        late=_time(wifi.get("late_answers", "0s")),
        payload=_number(flow["traffic"]["write"] if is_udp else transport["mss"], "B"),
        transport=UDP if is_udp else TCP + (TIMESTAMPS if transport["timestamps"] else 0),
    )


def _mode_of(wifi: Mapping[str, Any]) -> Mode:
    standard, rate, streams = wifi["standard"], wifi.get("rate", {}), wifi.get("streams", 1)
    if standard == "802.11b":
        return dsss(_mbps(rate.get("rate", "11Mbps")), wifi.get("short_preamble", False))
    if standard in {"802.11a", "802.11g"}:
        return ofdm(int(_mbps(rate.get("rate", "54Mbps"))))
    of, widest, fastest = {"802.11n": (ht, 40, 7), "802.11ac": (vht, 80, 9)}[standard]
    width = _number(wifi["width"], "MHz") if "width" in wifi else widest
    guard = _number(wifi["guard_interval"], "ns") if "guard_interval" in wifi else 400
    return of(rate.get("mcs", fastest), rate.get("streams", streams), width, guard)


def _basic_of(standard: str, short: bool, rates: Sequence[str] | None) -> tuple[Mode, ...]:
    if standard == "802.11b":
        return tuple(dsss(mbps, short) for mbps in (map(_mbps, rates) if rates else MANDATORY[standard]))
    return tuple(ofdm(int(mbps)) for mbps in (map(_mbps, rates) if rates else MANDATORY["ofdm"]))


def _number(text: str, unit: str) -> int:
    return int(text.removesuffix(unit))


def _mbps(text: str) -> Mbps:
    return float(text.removesuffix("Mbps"))


def _time(text: str) -> int:
    for unit, scale in (("ns", 1), ("us", 1000), ("ms", 1_000_000), ("s", 1_000_000_000)):
        if text.endswith(unit) and text.removesuffix(unit).replace(".", "", 1).isdigit():
            return round(float(text.removesuffix(unit)) * scale)
    raise ValueError(f"found the time {text!r}")
