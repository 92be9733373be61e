"""Runs of the study, and numbers of the runs."""

import polars as pl

from acklab.scenario import overrides
from acklab.studies import Bench, per_seed
from acklab.sweeps import SweepResult, load_sweep

COMMAND = "acklab study tack_controllers"
SCENARIO = "path.toml"
CONTROLLERS = ("newreno", "cubic", "vegas", "copa", "bbr", "bbr3")
TCP, LAW, STARTUP, TACK, NEWEST = "TCP", "law on TCP", "law and start-up on TCP", "TACK", "TACK newest"
FEEDBACKS = (TCP, LAW, STARTUP, TACK, NEWEST)


def run(bench: Bench) -> SweepResult:
    """Returns every controller with every feedback."""
    points = {}
    for controller in ("vegas", "copa") if bench.quick else CONTROLLERS:
        for feedback, variant in bench.variants("feedback.toml").chosen.items():
            table = "flow.0.transport" if feedback in (TACK, NEWEST) else "flow.0"
            points[f"{controller}: {feedback}"] = [*variant.set, *overrides({f"{table}.congestion": controller})]
    return bench.sweep(SCENARIO, "controllers", {"point_of": points})


def again(bench: Bench) -> SweepResult:
    """Returns the stored sweep."""
    return load_sweep(bench.folder / "controllers")


def summary(result: SweepResult) -> pl.DataFrame:
    """Returns one row per run.

    A row has `controller`, `feedback`, `seed`, goodput [Mbps], ACKs sent, smoothed round trip [ms],
    packets retransmitted.
    """
    names = pl.col(result.columns["point_of"]).str.split_exact(": ", 1)
    return result.flows.select(
        names.struct.field("field_0").alias("controller"),
        names.struct.field("field_1").alias("feedback"),
        "seed",
        goodput="mean_throughput_l7",
        acks="total_acks_sent_l4",
        srtt="mean_srtt_l4",
        resent="total_retransmissions_l4",
    )


def values(runs: pl.DataFrame, controller: str, feedback: str) -> list[float]:
    """Returns the goodput of one setting, seed by seed."""
    return per_seed(runs, "goodput", controller=controller, feedback=feedback)
