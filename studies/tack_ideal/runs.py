"""Runs of the study, and numbers of the runs."""

from collections.abc import Mapping, Sequence

import numpy as np
import polars as pl

from acklab.scenario import overrides
from acklab.studies import Bench, per_seed
from acklab.sweeps import SweepResult, load_sweep

from .arms import BY_COUNT, DATA, LINKS, NONE, PHY, SILENT, TACKS, offered, rate

COMMAND = "acklab study tack_ideal"
SCENARIO = "cell.toml"
FREQUENCIES = (12.5, 25, 50, 100, 200, 400, 800, 1600, 3200, 6400, 12_800, 25_600, 51_200)
CAUSES_ON = "802.11n"


def run_arms(bench: Bench) -> SweepResult:
    """Returns every receiver on every link."""
    links = bench.variants("links.toml").chosen
    points = {}
    for link, variant in links.items():
        arms = {arm.name: rate(arm.frequency(LINKS[link])) for arm in (*BY_COUNT.values(), *TACKS.values())}
        for name, change in {**arms, NONE: SILENT}.items():
            points[f"{link}: {name}"] = [*variant.set, *overrides({**offered(PHY[link]), **change})]
    return bench.sweep(SCENARIO, "arms", {"point_of": points})


def run_causes(bench: Bench) -> SweepResult:
    """Returns the receivers of Figure 9(b), with alternative settings."""
    (link,) = bench.variants(f"links.toml:{CAUSES_ON}").chosen.values()
    points = {}
    for cause, variant in bench.variants("alternatives.toml").chosen.items():
        arms = {arm.name: rate(arm.frequency(LINKS[CAUSES_ON])) for arm in (*BY_COUNT.values(), TACKS["80 ms"])}
        for name, change in {**arms, NONE: SILENT}.items():
            points[f"{cause}: {name}"] = [*link.set, *overrides(offered(PHY[CAUSES_ON])), *variant.set, *overrides(change)]
    return bench.sweep(SCENARIO, "causes", {"point_of": points})


def run_frequencies(bench: Bench) -> SweepResult:
    """Returns goodput by ACK frequency."""
    chosen = FREQUENCIES[::3] if bench.quick else FREQUENCIES
    links = {
        link: [*variant.set, *overrides(offered(PHY[link]))] for link, variant in bench.variants("links.toml").chosen.items()
    }
    return bench.sweep(SCENARIO, "frequencies", {"link": links, "hertz": {f"{hertz:g}": rate(hertz) for hertz in chosen}})


def again(bench: Bench, name: str) -> SweepResult:
    """Returns a stored sweep."""
    return load_sweep(bench.folder / name)


def by_arm(result: SweepResult) -> pl.DataFrame:
    """Goodput [Mbps] and arriving ACKs per second, per run, by both parts of a point's name."""
    names = pl.col(result.columns["point_of"]).str.split_exact(": ", 1)
    frame = _flows(result).with_columns(names.struct.field("field_0").alias("of"), names.struct.field("field_1").alias("arm"))
    return frame.select("of", "arm", "seed", "goodput", "hz")


def by_frequency(result: SweepResult) -> pl.DataFrame:
    """Returns goodput and arriving ACKs per run, by link and by sent ACKs per second."""
    return _flows(result).select(
        pl.col(result.columns["link"]).alias("link"), pl.col(result.columns["hertz"]).cast(pl.Float64).alias("sent"), "seed", "goodput", "hz"
    )  # fmt: skip


def _flows(result: SweepResult) -> pl.DataFrame:
    data = result.flows.filter(pl.col("flow") == "data").with_columns(goodput="mean_throughput_l7")
    acks = result.flows.filter(pl.col("flow") == "acks")
    hertz = acks.select("point", hz=pl.col("mean_throughput_l7").fill_null(0.0) * 1e6 / (8 * 18))
    return data.join(hertz, on="point", maintain_order="left")


def values(runs: pl.DataFrame, of: str, arm: str) -> list[float]:
    """Returns the goodput of a receiver, seed by seed."""
    return per_seed(runs, "goodput", of=of, arm=arm)


def counted(curve: Mapping[float, float], packets: int) -> float:
    """Returns the goodput at a receiver that counts `packets`.

    The receiver's ACKs per second are the point of the curve with this goodput.
    """
    hertz = np.asarray(sorted(curve))
    goodputs = np.asarray([curve[one] for one in hertz])
    excess = np.log(goodputs * 1e6 / (8 * DATA * packets)) - np.log(hertz)
    # The goodput of the curve decreases with the ACK frequency, and the receiver's frequency
    # increases with goodput, so both cross once. The interpolation between two points is
    # logarithmic.
    return float(np.exp(np.interp(0, -excess, np.log(goodputs))))


def counted_values(runs: pl.DataFrame, link: str, packets: int) -> list[float]:
    """Returns the result of `counted` per seed."""
    own = runs.filter(pl.col("link") == link)
    curves: Sequence[pl.DataFrame] = own.partition_by("seed", maintain_order=True)
    return [counted(dict(zip(curve["sent"], curve["goodput"], strict=True)), packets) for curve in curves]
