"""Runs of the study: both schemes with one and two clients, transfers, and varied settings."""

from collections.abc import Callable

import polars as pl

from acklab.result import Result
from acklab.studies import Bench, Runs
from acklab.sweeps import SweepResult
from acklab.sweeps.grid import Axes

COMMAND = "acklab study hack_80211a"
SCENARIO, DATAGRAMS = "testbed.toml", "datagrams.toml"
STOCK, HACK, UDP = "stock", "HACK", "UDP"
SCHEMES = (STOCK, HACK)
ONE, BOTH = "one client", "both clients"
TRANSFER = "traffic.toml:transfer"

LATE = ("0us", "10.4us", "13.4us", "37us")
"""By how much link-layer ACKs come after SIFS."""

LATE_SENSING = ("0us", "9us", "18us", "27us")
"""By how much the medium is sensed later than in 4 µs, in slots of 9."""

SHORTER = {"duration": "35s"}
"""For sweeps: 30 s."""

# Parts of a compressed ACK, which the paper omits.
WITHOUT_TIMESTAMPS = {"flow.0.timestamps": False, "flow.0.mss": "1460B"}
CONTENTS = {
    "timestamps; checksum elided": {},
    "timestamps; checksum carried": {"wifi.0.hack.checksum": "carried"},
    "no timestamps; checksum elided": WITHOUT_TIMESTAMPS,
    "no timestamps; checksum carried": {"wifi.0.hack.checksum": "carried", **WITHOUT_TIMESTAMPS},
}

# What the loss of 2 % may have been of in ns-3.
LOST = {
    "2 % of data": {},
    "2 % of data and of link-layer ACKs": {"wifi.0.reception.channel.control_error_rate": 0.02},
    "2 % of data; no timestamps": WITHOUT_TIMESTAMPS,
}


def throughput(bench: Bench) -> dict[tuple[str, str], Runs]:
    """UDP and both schemes, with one client and with both, with the losses of Table 1."""
    return _by_clients(bench, lambda clients, scheme: f"losses.toml:{scheme} {clients}")


def alike(bench: Bench) -> dict[tuple[str, str], Runs]:
    """Returns the same with 1 % of all frames lost."""
    return _by_clients(bench, lambda clients, _: f"clients.toml:{clients}")


def _by_clients(bench: Bench, variant: Callable[[str, str], str]) -> dict[tuple[str, str], Runs]:
    """UDP and both schemes, with a variant for each number of clients and scheme."""
    wanted: dict[tuple[str, str], tuple[str, list[str]]] = {}
    for clients in (ONE, BOTH):
        wanted[clients, UDP] = (DATAGRAMS, [f"clients.toml:{clients}"])
        wanted |= {
            (clients, scheme): (SCENARIO, [variant(clients, scheme), f"schemes.toml:{scheme}"]) for scheme in reversed(SCHEMES)
        }
    return bench.runs(wanted)


def transfers(bench: Bench) -> dict[str, Runs]:
    """25 MiB to one client, by scheme."""
    return bench.runs({scheme: (SCENARIO, [TRANSFER, f"schemes.toml:{scheme}"]) for scheme in SCHEMES})


def late(bench: Bench) -> SweepResult:
    """Both schemes, and UDP beside them, by the lateness of link-layer ACKs."""
    bench.sweep(DATAGRAMS, "late_datagrams", {"wifi.0.late_answers": LATE}, set=SHORTER)
    return bench.sweep(SCENARIO, "late", {"wifi.0.late_answers": LATE, "scheme": bench.variants("schemes.toml")}, set=SHORTER)


def sensed_late(bench: Bench) -> SweepResult:
    """Both schemes with one and two clients, and UDP, by the delay of carrier sensing."""
    bench.sweep(DATAGRAMS, "sensing_datagrams", {"wifi.0.late_sensing": LATE_SENSING}, set=SHORTER)
    axes: Axes = {
        "wifi.0.late_sensing": LATE_SENSING,
        "clients": bench.variants("clients.toml"),
        "scheme": bench.variants("schemes.toml"),
    }
    return bench.sweep(SCENARIO, "sensing", axes, set=SHORTER)


def sensed_late_by(bench: Bench) -> SweepResult:
    """Both schemes with one and two clients, by the nodes with late carrier sensing.

    Also by the coverage of duration fields.
    """
    axes: Axes = {
        "sensing": bench.variants("sensing.toml"),
        "clients": bench.variants("clients.toml"),
        "scheme": bench.variants("schemes.toml"),
    }
    return bench.sweep(SCENARIO, "sensed_by", axes, set=SHORTER)


def settings(bench: Bench) -> SweepResult:
    """Both schemes in each of settings.toml."""
    return bench.sweep(
        SCENARIO,
        "settings",
        {"setting": bench.variants("settings.toml"), "scheme": bench.variants("schemes.toml")},
        set=SHORTER,
    )


def contents(bench: Bench) -> SweepResult:
    """Transfers with TCP/HACK by what a compressed ACK consists of."""
    return bench.sweep(SCENARIO, "contents", {"contents": CONTENTS}, set=bench.sets([TRANSFER, f"schemes.toml:{HACK}"]))


def simulated(bench: Bench) -> SweepResult:
    """TCP/HACK by ns-3's rules and by what its losses are of."""
    sets = bench.sets([f"schemes.toml:{HACK}", "crosscheck.toml:losses with HACK,simulated"])
    return bench.sweep(SCENARIO, "simulated", {"losses": LOST}, set=sets)


def sent_again(result: Result) -> float:
    """Share of the sender's frames that needed more than one transmission [%]."""
    return 100 * (1 - float(result.stations["share_first_try_l2"][0]))


def timeouts_of(sweep: SweepResult, scheme: str) -> list[int]:
    """Timeouts of TCP, run by run."""
    own = sweep.flows.filter(pl.col("scheme") == scheme)
    return own.group_by("point", maintain_order=True).agg(pl.col("total_rtos_l4").sum())["total_rtos_l4"].to_list()


def published(bench: Bench, *places: tuple[tuple[str, str], str], scale: float = 1.0) -> dict[tuple[str, str], float]:
    """Published numbers by the place of their star."""
    known = {claim.id: claim.published for claim in bench.study.file.claim}
    return {place: scale * known[claim] for place, claim in places}


def of_seeds(bench: Bench) -> str:
    """How a caption names what is shown."""
    return f"mean over {bench.seeds} seeds of 120 s with its 95 % confidence interval"


def of_sweeps(bench: Bench) -> str:
    """Returns the same of sweeps."""
    return f"mean over {bench.seeds} seeds of 30 s with its 95 % confidence interval"
