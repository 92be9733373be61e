"""Runs of the study, and numbers of the runs."""

from collections.abc import Mapping, Sequence

import polars as pl

from acklab.studies import Bench
from acklab.sweeps import SweepResult, load_sweep

COMMAND = "acklab study tack_wan"
SCENARIO = "path.toml"
LINKS: Mapping[str, str] = {"case 1": "802.11g", "case 2": "802.11g", "case 3": "802.11n", "case 4": "802.11n"}
"""The Wi-Fi link of each case."""
TACK, BBR, RFC, LINUX, CUBIC = "TACK", "TCP BBR", "TCP BBR RFC 5681", "TCP BBR Linux", "TCP CUBIC"
SENDERS = (TACK, BBR, RFC, LINUX, CUBIC)
CAUSES: Mapping[str, Sequence[str]] = {
    "1000 packets": ("case 3", "case 4"),
    "4000 packets": ("case 3", "case 4"),
    "start-up": ("case 1", "case 3"),
    "CWmin 15": ("case 1", "case 2"),
    "protection": ("case 1", "case 2"),
    "uplink": ("case 1", "case 2"),
    "losses": ("case 1", "case 2"),
    "uplink and losses": ("case 1", "case 2"),
}
"""Cases of each alternative setting."""
ONLY_TACK = ("start-up",)
"""Alternative settings that only TACK has."""


def run_cases(bench: Bench) -> SweepResult:
    """Returns every transport in every case."""
    return bench.sweep(SCENARIO, "cases", {"case": _cases(bench), "sender": bench.variants("senders.toml")})


def run_causes(bench: Bench) -> SweepResult:
    """Returns TACK and TCP BBR with alternative settings."""
    cases, points = _cases(bench), {}
    for cause, on in CAUSES.items():
        changes = bench.sets([f"alternatives.toml:{cause}"])
        for case in on:
            for sender in (TACK,) if cause in ONLY_TACK else (TACK, BBR):
                points[f"{cause}: {case}: {sender}"] = [*cases[case], *bench.sets([f"senders.toml:{sender}"]), *changes]
    return bench.sweep(SCENARIO, "causes", {"point_of": points}, seeds=1 if bench.quick else min(3, bench.seeds))


def _cases(bench: Bench) -> dict[str, list[str]]:
    return {case: bench.sets([f"../tack_ideal/links.toml:{link}", f"cases.toml:{case}"]) for case, link in LINKS.items()}


def again(bench: Bench, name: str) -> SweepResult:
    """Returns a stored sweep."""
    return load_sweep(bench.folder / name)


def by_case(result: SweepResult) -> pl.DataFrame:
    """Returns one row per run, by `case` and `sender`."""
    return _flows(result, *(pl.col(result.columns[axis]).alias(axis) for axis in ("case", "sender")))


def by_cause(result: SweepResult) -> pl.DataFrame:
    """Returns one row per run, by `cause`, `case` and `sender`."""
    names = pl.col(result.columns["point_of"]).str.split_exact(": ", 2)
    fields = (names.struct.field(f"field_{place}").alias(name) for place, name in enumerate(("cause", "case", "sender")))
    return _flows(result, *fields)


def _flows(result: SweepResult, *names: pl.Expr) -> pl.DataFrame:
    return result.flows.select(
        *names,
        "seed",
        goodput="mean_throughput_l7",
        acks="total_acks_sent_l4",
        data="total_data_packets_l4",
        resent="total_retransmissions_l4",
        srtt="mean_srtt_l4",
    )
