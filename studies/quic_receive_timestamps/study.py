"""Gain of receive timestamps for controllers when ACKs are rare or late.

Also measures the accuracy of BBR's samples with and without receive timestamps.
"""

from collections.abc import Mapping

import polars as pl

from acklab import figures
from acklab.report import Figure, Section, Table
from acklab.statistics import mean_rows, ratio_interval, ratios
from acklab.studies import Bench, Measure, acks_per_round_trip, per_seed
from acklab.sweeps import SweepResult, load_sweep

from .sampling import AXES, samples

COMMAND = "acklab study quic_receive_timestamps"
SCENARIO, SWEEP = "path.toml", "runs"
BY = ["return", "controller", "request", "timestamps"]
FILES = {
    "return": "return_paths.toml",
    "controller": "controllers.toml",
    "request": "requests.toml",
    "timestamps": "timestamps.toml",
}
QUICK = {"return": "clean", "controller": "Copa,BBR,CUBIC", "request": "every 2,4,1", "timestamps": "without,with"}
WITHOUT, WITH = "without", "with"
BASELINE = {"timestamps": WITHOUT}
PANEL = "return path"


def run(bench: Bench) -> SweepResult:
    """Returns each controller with each request and return path, with and without timestamps."""
    axes = {axis: bench.variants(f"{file}:{QUICK[axis]}" if bench.quick else file) for axis, file in FILES.items()}
    return bench.sweep(SCENARIO, SWEEP, axes)


def summary(result: SweepResult) -> pl.DataFrame:
    """Returns one row per run: the axes, `point`, `seed`.

    Also has goodput [Mbps], smoothed RTT [ms], ACKs per round trip, bytes per ACK, and bytes of
    ACKs relative to bytes of data [%].
    """
    flows = result.flows
    return flows.select(
        "point",
        "seed",
        *(pl.col(result.columns[axis]).alias(axis) for axis in BY),
        goodput="mean_throughput_l7",
        srtt="mean_srtt_l4",
        acks=acks_per_round_trip(),
        octets=pl.col("total_ack_bytes_l3") / pl.col("total_acks_delivered_l4"),
        share=100 * pl.col("total_ack_bytes_l3") / pl.col("total_delivered_bytes_l7"),
    )


def measures(bench: Bench) -> Mapping[str, Measure]:
    """Returns goodput with timestamps relative to without, and errors of delivery rate samples."""
    result = run(bench)
    runs = summary(result)

    def goodput(controller: str, request: str, timestamps: str) -> list[float]:
        of = {"return": "clean", "controller": controller, "request": request, "timestamps": timestamps}
        return per_seed(runs, "goodput", **of)

    wanted = {"copa_4": ("Copa", "4"), "copa_1": ("Copa", "1"), "bbr_1": ("BBR", "1"), "cubic_4": ("CUBIC", "4")}
    found = {
        name: Measure.of(ratio_interval(goodput(*where, WITH), goodput(*where, WITHOUT)), [result.rerun])
        for name, where in wanted.items()
    }
    sampled = samples(bench).filter(pl.col("request") == "4")
    for back, timestamps in (("clean", WITHOUT), ("bursts", WITHOUT), ("bursts", WITH), ("jitter", WITH)):
        own = sampled.filter(pl.col("return") == back, pl.col("timestamps") == timestamps)
        found[f"{back}_{timestamps}"] = Measure(own["far"].to_list(), [COMMAND])
    return found


def sections(bench: Bench) -> list[Section]:
    """Returns the sections of the report."""
    result = load_sweep(bench.folder / SWEEP)
    runs = summary(result)
    over = f"geometric mean and 95 % confidence interval over {len(result.seeds)} seeds; grey where the interval includes 1"
    commands = [COMMAND, result.rerun]

    def against(value: str) -> pl.DataFrame:
        found = ratios(runs, BY, value, BASELINE).filter(pl.col("timestamps") != WITHOUT)
        return result.with_commands(found, runs, BY).rename({"return": PANEL})

    goodput, delay = (
        figures.ratio_map(
            against(value), "request", "controller", f"{name} ÷ without timestamps", PANEL, wrap=1, most=2.0,
            less_is_better=value == "srtt", commands="command",
        )
        for value, name in (("goodput", "goodput"), ("srtt", "sRTT"))
    )  # fmt: skip
    listed = [
        [axis, name, of.title, of.source] for axis, file in FILES.items() for name, of in bench.variants(file).chosen.items()
    ]
    head = ["samples", "5 %", "median", "95 %", "largest"]
    sampled = samples(bench).group_by(*AXES, maintain_order=True).mean()
    taken = [
        [
            *(str(row[axis]) for axis in AXES),
            f"{row['samples']:.0f}",
            *(f"{row[name]:+.1f}" for name in ("p5", "median", "p95", "max")),
        ]
        for row in sampled.to_dicts()
    ]
    shown = {"goodput": "±2", "srtt": ".1f", "acks": ".1f", "octets": ".0f", "share": ".2f"}
    return [
        Section(
            "Goodput",
            "20 Mbps, a round trip of 40 ms, a queue of one bandwidth-delay product.",
            items=[
                Figure(goodput, f"Goodput with ÷ without receive timestamps, by ACKs per round trip: {over}", commands),
                Figure(delay, f"Smoothed RTT: {over}", commands),
                Table(["", "", "", "source"], listed, "Variants", numeric_from=4),
            ],
        ),
        Section(
            "Errors of delivery rate samples",
            "The sender is paced at nine tenths of the capacity, which each sample should equal. Errors are in per cent of this rate, means over seeds.",
            items=[Table([*AXES, *head], taken, "Errors of samples", commands=[COMMAND], numeric_from=3)],
        ),
        Section(
            "Measured values",
            "ACKs per round trip are those sent per smoothed RTT. The bytes of an ACK include IPv4 and UDP. Their share is relative to the bytes of data.",
            items=[Table([*BY, "goodput [Mbps]", "sRTT [ms]", "ACKs per round trip", "bytes per ACK", "÷ data [%]"], mean_rows(runs, BY, shown), "Runs", commands=[COMMAND], numeric_from=4)],
        ),
    ]  # fmt: skip
