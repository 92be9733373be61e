"""The runs of the study, and one row for each."""

import polars as pl

from acklab.studies import Bench, acks_per_round_trip
from acklab.sweeps import SweepResult, load_sweep

COMMAND = "acklab study quic_ack_rate"
SCENARIO = "path.toml"
RATES, MATRIX = "rates", "matrix"
EVERY_2, PHASES = "every 2", "phase"
BASELINE = {"request": EVERY_2}
BY = ["condition", "controller", "request"]
WHERE = ["grid", "controller", "request"]
FILES = {"condition": "conditions.toml", "controller": "controllers.toml", "request": "requests.toml"}
QUICK = {"condition": "clean,ACKs lost", "controller": "CUBIC,BBR", "request": "every 2,4,1,phase"}
MATRIX_CONTROLLERS, MATRIX_REQUESTS = "controllers.toml:CUBIC,BBR", "requests.toml:every 2,4"
QUICK_GRID = "grid.toml:40 ms 0 %,40 ms 1 %"


def run_rates(bench: Bench) -> SweepResult:
    """Returns each request with each controller and condition."""
    axes = {axis: bench.variants(f"{file}:{QUICK[axis]}" if bench.quick else file) for axis, file in FILES.items()}
    return bench.sweep(SCENARIO, RATES, axes)


def run_matrix(bench: Bench) -> SweepResult:
    """Runs four ACKs per round trip and an ACK per two packets over loss and delay."""
    axes = {
        "grid": bench.variants(QUICK_GRID if bench.quick else "grid.toml"),
        "controller": bench.variants(MATRIX_CONTROLLERS),
        "request": bench.variants(MATRIX_REQUESTS),
    }
    return bench.sweep(SCENARIO, MATRIX, axes, seeds=2 if bench.quick else 6)


def again(bench: Bench, name: str) -> SweepResult:
    """Returns a stored sweep."""
    return load_sweep(bench.folder / name)


def summary(result: SweepResult, axes: list[str]) -> pl.DataFrame:
    """Returns one row per run: the axes, `point`, `seed`.

    Also has goodput [Mbps]; ACKs per round trip; smoothed RTT [ms]; packets retransmitted and
    spuriously lost [%]; ACK_FREQUENCY frames.
    """
    flows = result.flows
    return flows.select(
        "point",
        "seed",
        *(pl.col(result.columns[axis]).alias(axis) for axis in axes),
        goodput="mean_throughput_l7",
        acks=acks_per_round_trip(),
        per_packet=100 * pl.col("total_acks_sent_l4") / pl.col("total_data_packets_l4"),
        srtt="mean_srtt_l4",
        again=100 * pl.col("total_retransmissions_l4") / pl.col("total_data_packets_l4"),
        spurious=100 * pl.col("total_spurious_losses_l4") / pl.col("total_data_packets_l4"),
        frames=pl.col("total_ack_frequency_sent_l4").cast(pl.Float64),
    )
