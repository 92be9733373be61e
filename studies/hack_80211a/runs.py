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
"""Lateness of link-layer ACKs after SIFS."""

LATE_SENSING = ("0us", "9us", "18us", "27us")
"""Delay of carrier sensing in addition to 4 µs, in steps of a slot of 9 µs."""

SHORTER = {"duration": "35s"}
"""Duration of runs in sweeps; the measurement window has 30 s."""

# Parts of a compressed ACK, which the paper does not specify.
WITHOUT_TIMESTAMPS = {"flow.0.timestamps": False, "flow.0.mss": "1460B"}
CONTENTS = {
    "timestamps; checksum elided": {},
    "timestamps; checksum carried": {"wifi.0.hack.checksum": "carried"},
    "no timestamps; checksum elided": WITHOUT_TIMESTAMPS,
    "no timestamps; checksum carried": {"wifi.0.hack.checksum": "carried", **WITHOUT_TIMESTAMPS},
}

# Frames to which the loss of 2 % may apply in ns-3.
LOST = {
    "2 % of data": {},
    "2 % of data and of link-layer ACKs": {"wifi.0.reception.channel.control_error_rate": 0.02},
    "2 % of data; no timestamps": WITHOUT_TIMESTAMPS,
}


def throughput(bench: Bench) -> dict[tuple[str, str], Runs]:
    """Returns UDP and both schemes with one and two clients, with the losses of Table 1."""
    return _by_clients(bench, lambda clients, scheme: f"losses.toml:{scheme} {clients}")


def alike(bench: Bench) -> dict[tuple[str, str], Runs]:
    """Returns UDP and both schemes with 1 % of all frames lost."""
    return _by_clients(bench, lambda clients, _: f"clients.toml:{clients}")


def _by_clients(bench: Bench, variant: Callable[[str, str], str]) -> dict[tuple[str, str], Runs]:
    """Returns UDP and both schemes, with a variant per number of clients and scheme."""
    wanted: dict[tuple[str, str], tuple[str, list[str]]] = {}
    for clients in (ONE, BOTH):
        wanted[clients, UDP] = (DATAGRAMS, [f"clients.toml:{clients}"])
        wanted |= {
            (clients, scheme): (SCENARIO, [variant(clients, scheme), f"schemes.toml:{scheme}"]) for scheme in reversed(SCHEMES)
        }
    return bench.runs(wanted)


def transfers(bench: Bench) -> dict[str, Runs]:
    """Returns transfers of 25 MiB to one client, by scheme."""
    return bench.runs({scheme: (SCENARIO, [TRANSFER, f"schemes.toml:{scheme}"]) for scheme in SCHEMES})


def late(bench: Bench) -> SweepResult:
    """Returns both schemes and UDP by lateness of link-layer ACKs."""
    bench.sweep(DATAGRAMS, "late_datagrams", {"wifi.0.late_answers": LATE}, set=SHORTER)
    return bench.sweep(SCENARIO, "late", {"wifi.0.late_answers": LATE, "scheme": bench.variants("schemes.toml")}, set=SHORTER)


def sensed_late(bench: Bench) -> SweepResult:
    """Returns both schemes with one and two clients, and UDP, by delay of carrier sensing."""
    bench.sweep(DATAGRAMS, "sensing_datagrams", {"wifi.0.late_sensing": LATE_SENSING}, set=SHORTER)
    axes: Axes = {
        "wifi.0.late_sensing": LATE_SENSING,
        "clients": bench.variants("clients.toml"),
        "scheme": bench.variants("schemes.toml"),
    }
    return bench.sweep(SCENARIO, "sensing", axes, set=SHORTER)


def sensed_late_by(bench: Bench) -> SweepResult:
    """Returns both schemes with one and two clients, by the nodes with late carrier sensing.

    Runs also differ in the coverage of duration fields.
    """
    axes: Axes = {
        "sensing": bench.variants("sensing.toml"),
        "clients": bench.variants("clients.toml"),
        "scheme": bench.variants("schemes.toml"),
    }
    return bench.sweep(SCENARIO, "sensed_by", axes, set=SHORTER)


def settings(bench: Bench) -> SweepResult:
    """Returns both schemes in each setting of settings.toml."""
    return bench.sweep(
        SCENARIO,
        "settings",
        {"setting": bench.variants("settings.toml"), "scheme": bench.variants("schemes.toml")},
        set=SHORTER,
    )


def contents(bench: Bench) -> SweepResult:
    """Returns transfers with TCP/HACK by the parts of a compressed ACK."""
    return bench.sweep(SCENARIO, "contents", {"contents": CONTENTS}, set=bench.sets([TRANSFER, f"schemes.toml:{HACK}"]))


def simulated(bench: Bench) -> SweepResult:
    """Returns TCP/HACK with ns-3's rules, by the frames that are lost."""
    sets = bench.sets([f"schemes.toml:{HACK}", "crosscheck.toml:losses with HACK,simulated"])
    return bench.sweep(SCENARIO, "simulated", {"losses": LOST}, set=sets)


def sent_again(result: Result) -> float:
    """Returns the share of the sender's frames with more than one transmission [%]."""
    return 100 * (1 - float(result.stations["share_first_try_l2"][0]))


def timeouts_of(sweep: SweepResult, scheme: str) -> list[int]:
    """Returns TCP timeouts per run."""
    own = sweep.flows.filter(pl.col("scheme") == scheme)
    return own.group_by("point", maintain_order=True).agg(pl.col("total_rtos_l4").sum())["total_rtos_l4"].to_list()


def published(bench: Bench, *places: tuple[tuple[str, str], str], scale: float = 1.0) -> dict[tuple[str, str], float]:
    """Returns published numbers by the position of their star in the figure."""
    known = {claim.id: claim.published for claim in bench.study.file.claim}
    return {place: scale * known[claim] for place, claim in places}


def of_seeds(bench: Bench) -> str:
    """Returns the description of shown values for captions."""
    return f"mean over {bench.seeds} seeds of 120 s with its 95 % confidence interval"


def of_sweeps(bench: Bench) -> str:
    """Returns the description of shown values of sweeps, for captions."""
    return f"mean over {bench.seeds} seeds of 30 s with its 95 % confidence interval"
