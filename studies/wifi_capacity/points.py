"""Points of the curves: every rate of a standard, with single frames and with aggregates."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

SINGLE, AGGREGATED = "frames one by one", "aggregates as long as the standard allows"

DSSS_RATES = ("1Mbps", "2Mbps", "5.5Mbps", "11Mbps")
OFDM_RATES = ("6Mbps", "9Mbps", "12Mbps", "18Mbps", "24Mbps", "36Mbps", "48Mbps", "54Mbps")
STREAMS = {"802.11n": (1, 2, 3, 4), "802.11ac": (1, 2, 4)}
# Rates of one stream at 400 ns [Mbps]: Tables 19-31 and 21-39. Sources offer the rate of the PHY.
RATES = {
    "802.11n": (15, 30, 45, 60, 90, 120, 135, 150),
    "802.11ac": (32.5, 65, 97.5, 130, 195, 260, 292.5, 325, 390, 433.4),
}


@dataclass(frozen=True)
class Point:
    """A cell of a curve."""

    name: str
    series: str
    panel: str
    set: dict[str, object]


def points(quick: bool) -> Iterator[Point]:
    """Yields all points, or for a quick run the slowest and the fastest rate of each series."""

    def some(rates: Sequence[str]) -> Sequence[str]:
        return (rates[0], rates[-1]) if quick else rates

    for preamble in ("long", "short"):
        series = f"802.11b, {preamble} preamble"
        for rate in some(DSSS_RATES):
            yield _legacy("802.11b", series, rate, {"wifi.0.short_preamble": preamble == "short"})
    for standard in ("802.11g", "802.11a"):
        for rate in some(OFDM_RATES):
            yield _legacy(standard, standard, rate, {})
    for standard, streams in STREAMS.items():
        for count in streams:
            series = f"{standard}, {count} stream{'s' if count > 1 else ''}"
            mcs = range(len(RATES[standard]))
            for panel in (SINGLE, AGGREGATED):
                for index in (mcs[0], mcs[-1]) if quick else mcs:
                    yield _many(standard, series, count, index, panel)


def _legacy(standard: str, series: str, rate: str, changes: dict[str, object]) -> Point:
    modes = {"wifi.0.standard": standard, "wifi.0.rate": {"control": "fixed", "rate": rate}}
    return Point(f"{series} at {rate}".replace(",", ""), series, SINGLE, modes | changes | {"flow.0.traffic.rate": rate})


def _many(standard: str, series: str, streams: int, mcs: int, panel: str) -> Point:
    changes: dict[str, object] = {
        "wifi.0.standard": standard,
        "wifi.0.streams": streams,
        "wifi.0.rate": {"control": "fixed", "mcs": mcs},
        "flow.0.traffic.rate": f"{RATES[standard][mcs] * streams:.1f}Mbps",
    }
    if panel == SINGLE:
        changes["wifi.0.aggregation.max_bytes"] = "0B"
    name = f"{series} MCS {mcs} {'single' if panel == SINGLE else 'aggregates'}"
    return Point(name.replace(",", ""), series, panel, changes)
