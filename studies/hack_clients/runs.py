"""Runs of the study, and numbers of the runs."""

import math
from collections.abc import Mapping

import polars as pl

from acklab.result import Result
from acklab.scenario import overrides
from acklab.statistics import Interval, ratio_interval
from acklab.studies import Bench, Runs
from acklab.studies.runs import goodput
from acklab.sweeps import SweepResult, Variants
from acklab.sweeps.grid import Axes

COMMAND = "acklab study hack_clients"
SCENARIO, DATAGRAMS = "../wifi_parity/download.toml", "../wifi_parity/datagrams.toml"
CLIENTS = ("1", "2", "4", "10")
STOCK, OPPORTUNISTIC, MORE_DATA, UDP = "stock", "opportunistic", "MORE DATA", "UDP"
SCHEMES = (STOCK, OPPORTUNISTIC, MORE_DATA)
OF = {"1": "1 client", "2": "2 clients", "4": "4 clients", "10": "10 clients"}

SEEDS = 60
"""Number of seeds for the gain with one client, which has two modes."""

DELAYED, EACH = ACKS = ("delayed", "each segment")
"""ACK policies of clients in ns-3 of 2014."""

SEEDS_2014 = {DELAYED: 10, EACH: 20}
"""Number of seeds by ACK policy.

With an ACK per segment, more seeds are required, because the gain with several clients differs by
seed.
"""

# Numbers of clients with published gains.
ENDS = ("1", "10")
LIMITS = ("1ms", "3ms", "10ms", "30ms", "100ms", "300ms")

# Packets in the access point's queue per client, and settings in which this number differs from the
# paper's 126.
PACKETS = (63, 84, 126, 168, 252)
QUEUES = {"half the queue": 63, "half the queue and linux": 63}
AMONG_QUEUES = ("half the queue", "126 waiting", "in turn and 126 waiting")
"""Settings of the queue alone, which the sweep over its lengths covers."""
SHARED, TURNS = "one queue", "clients in turn"
LINES = (("1", SHARED), ("10", SHARED), ("10", TURNS))

# Ten clients have fewer seeds, because their runs are slower, and because the average of ten flows
# is more precise.
DURATIONS = {"1": {"duration": "12s"}, "10": {"duration": "9s"}}


def by_clients(bench: Bench) -> dict[tuple[str, str], Runs]:
    """Returns UDP and all schemes by number of clients."""
    wanted: dict[tuple[str, str], tuple[str, list[str]]] = {}
    for count in CLIENTS:
        of = f"clients.toml:{count}"
        wanted[count, UDP] = (DATAGRAMS, [of, f"udp_rates.toml:{count}"])
        wanted |= {(count, scheme): (SCENARIO, [of, f"schemes.toml:{scheme}"]) for scheme in SCHEMES}
    return bench.runs(wanted)


def of_2014(bench: Bench, acks: str) -> dict[tuple[str, str], Runs]:
    """Returns all schemes by number of clients with ns-3 of 2014, by ACK timing of clients."""
    wanted = {
        (count, scheme): (SCENARIO, [f"ns3_2014.toml:{count}", f"acks.toml:{acks}", f"schemes.toml:{scheme}"])
        for count in CLIENTS
        for scheme in SCHEMES
    }
    return bench.runs(wanted, at_least=SEEDS_2014[acks])


def turns(bench: Bench) -> dict[tuple[str, str], Runs]:
    """Returns all schemes in the settings of round_robin.toml."""
    wanted = {
        (count, scheme): (SCENARIO, [f"round_robin.toml:{count}", f"schemes.toml:{scheme}"])
        for count in ENDS
        for scheme in SCHEMES
    }
    return bench.runs(wanted)


def settings(bench: Bench, count: str) -> SweepResult:
    """Returns each setting with stock TCP and MORE DATA."""
    laid = {}
    for name, variant in bench.variants("settings.toml").chosen.items():
        apart = "wifi.0.ap.queues=per-station" in variant.set
        laid[name] = [*bench.sets([f"clients.toml:{count}"]), *variant.set, limit(QUEUES.get(name, 126), count, apart)]
    return bench.sweep(SCENARIO, f"settings_{count}", {"setting": laid, "scheme": _ends(bench)}, set=DURATIONS[count])


def queues(bench: Bench, count: str, place: str) -> SweepResult:
    """Returns each length of the access point's queue with stock TCP and MORE DATA."""
    apart = place == TURNS
    laid = {str(packets): [limit(packets, count, apart)] for packets in PACKETS}
    sets = [*bench.sets([f"clients.toml:{count}"]), f"wifi.0.ap.queues={'per-station' if apart else 'shared'}"]
    grid: Axes = {"packets": laid, "scheme": _ends(bench)}
    return bench.sweep(SCENARIO, folder(count, place), grid, set=[*sets, *overrides(DURATIONS[count])])


def folder(count: str, place: str) -> str:
    """Returns the name of the sweep over lengths of the queue."""
    return f"queues_{count}_{'apart' if place == TURNS else 'shared'}"


def limit(packets: int, count: str, apart: bool) -> str:
    """Returns the limit of the access point's queue.

    The limit applies per station if stations have separate queues, otherwise to all stations.
    """
    return f"wifi.0.ap.queue.limit={packets * (1 if apart else int(count))}packets"


def _ends(bench: Bench) -> Variants:
    return bench.variants(f"schemes.toml:{STOCK},{MORE_DATA}")


def timer(bench: Bench, count: str) -> SweepResult:
    """Returns the variant with an explicit timer, by hold time."""
    sets = [*bench.sets([f"clients.toml:{count}"]), "wifi.0.hack.variant=timer"]
    return bench.sweep(SCENARIO, f"timer_{count}", {"wifi.0.hack.hold_limit": LIMITS}, set=sets)


def options(bench: Bench, count: str) -> SweepResult:
    """Returns MORE DATA with each option of options.toml."""
    sets = bench.sets([f"clients.toml:{count}", f"schemes.toml:{MORE_DATA}"])
    return bench.sweep(SCENARIO, f"options_{count}", {"option": bench.variants("options.toml")}, set=sets)


def within_aifs(result: Result) -> float:
    """Returns the share within AIFS of response frames with compressed ACKs, all clients."""
    own = result.table("hack").filter(pl.col("total_augmented_answers_l2") > 0)
    responses = own["total_augmented_answers_l2"]
    return ratio(float((own["share_within_aifs_l2"] * responses).sum()), float(responses.sum()))


def within_aifs_of_many(bench: Bench) -> dict[str, Runs]:
    """Returns MORE DATA with one and ten clients over many seeds."""
    return bench.runs(
        {count: (SCENARIO, [f"clients.toml:{count}", f"schemes.toml:{MORE_DATA}"]) for count in ENDS}, at_least=SEEDS
    )


def ratio(part: float, whole: float) -> float:
    """NaN if the denominator is zero."""
    return part / whole if whole else math.nan


def total(result: Result, column: str) -> float:
    """Returns a column of the table `hack`, all clients together."""
    return float(result.table("hack")[column].sum())


def timeouts_of(sweep: SweepResult, axis: str, scheme: str) -> list[int]:
    """Returns TCP timeouts per run in the settings that no other sweep covers."""
    network = sweep.network.filter(~pl.col(axis).is_in(AMONG_QUEUES), pl.col("scheme") == scheme)
    return network["agg_rtos_l4"].cast(pl.Int64).to_list()


def one_client(bench: Bench) -> dict[str, dict[str, Runs]]:
    """Returns stock TCP and MORE DATA with one client over many seeds, with two queue limits.

    One limit of 126 includes packets on the air, and the other does not.
    """
    wanted = {
        (of, scheme): (SCENARIO, [of, f"schemes.toml:{scheme}"])
        for of in ("clients.toml:1", "round_robin.toml:1")
        for scheme in (STOCK, MORE_DATA)
    }
    drawn = bench.runs(wanted, at_least=SEEDS)
    titles = {"clients.toml:1": "126 packets in all", "round_robin.toml:1": "126 in addition to those on the air"}
    return {title: {scheme: drawn[of, scheme] for scheme in (STOCK, MORE_DATA)} for of, title in titles.items()}


def gains(runs: Mapping[str, Runs], scheme: str = MORE_DATA) -> list[float]:
    """Returns the goodput relative to stock TCP, seed by seed."""
    pairs = zip(runs[scheme].values(goodput), runs[STOCK].values(goodput), strict=True)
    return [ours / theirs for ours, theirs in pairs]


def gain(drawn: Mapping[tuple[str, str], Runs], count: str, scheme: str) -> Interval:
    """Returns the geometric mean of the gains of a scheme with a number of clients."""
    return ratio_interval(drawn[count, scheme].values(goodput), drawn[count, STOCK].values(goodput))


def published(bench: Bench) -> dict[str, float]:
    """Returns gains by number of clients."""
    known = {claim.id: claim.published for claim in bench.study.file.claim}
    return {count: known[f"gain_{count}"] for count in ENDS}


def over(bench: Bench) -> str:
    """Returns the description of shown values for captions."""
    return f"mean over {bench.seeds} seeds with its 95 % confidence interval"
