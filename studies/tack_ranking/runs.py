"""Runs and ranks of the study."""

from collections.abc import Mapping, Sequence

import polars as pl
from scipy.stats import kendalltau

from acklab.scenario import overrides
from acklab.statistics import Interval, mean_interval, ratio_interval
from acklab.studies import Bench
from acklab.sweeps import SweepResult, load_sweep
from acklab.traces import NETWORKS

from .ensemble import CUBIC, NONE, PATHS, POISSON, Path, cross_traffic, draw

COMMAND = "acklab study tack_ranking"
SCENARIO = "path.toml"
DRAWN, EMULATED, CELLULAR, THINNED = "drawn", "emulated", "cellular", "thinned"
"""Names of the sweeps."""

PANTHEON = {"india": 100.42, "korea": 77.72, "california": 114.68, "nepal": 0.57, "mexico": 2.64, "colombia": 3.04}
"""Pantheon's emulators, by their names in ../ack_policies/paths.toml, with their mean rates [Mbps].
"""
CROSS_RATE, CROSS_START = 0.25, 5.0
"""Cross traffic on Pantheon's emulators.

The load, relative to the rate, is the median of the ensemble; the start in seconds is the middle of
the ensemble's range.
"""
CELLULAR_SEEDS = (1, 2, 3)
"""Seeds of the traces of each network in claims.toml."""
CODEL = " + CoDel"
"""Suffix of the names of cellular links with CoDel."""

QUICK_PATHS, QUICK_PANTHEON, QUICK_NETWORKS = 3, ("nepal",), ("verizon-evdo",)
THINNED_PATHS = 60
"""Number of paths of the ensemble for ACK thinning."""

PUBLISHED = {
    "Vegas": 2.0, "TACK": 3.0, "CUBIC": 3.0, "Indigo (trained here)": 4.0, "PCC Vivace": 4.5, "Copa": 5.0, "BBR": 6.0, "PCC Allegro": 8.0,
    "QUIC CUBIC": 8.5, "Verus": 9.0, "Sprout": 11.0,
}  # fmt: skip
"""Median ranks of Figure 14."""

THINNINGS = {
    "TACK with every second ACK": "TACK",
    **{f"{scheme} thinned": scheme for scheme in ("CUBIC", "Copa", "BBR", "Vegas")},
}
"""For each scheme of thinning.toml, the same scheme with its ordinary ACKs."""


def emulators(names: Sequence[str], bench: Bench) -> dict[str, list[str]]:
    """Returns overrides of Pantheon's emulators by name, without and with cross traffic."""
    chosen = bench.variants("../ack_policies/paths.toml:" + ",".join(names)).chosen
    return {
        f"{name} + {kind}" if kind else name: [
            *variant.set,
            *overrides(cross_traffic(kind, CROSS_RATE * PANTHEON[name], CROSS_START)),
        ]
        for name, variant in chosen.items()
        for kind in (NONE, POISSON, CUBIC)
    }


def cellular(networks: Sequence[str]) -> dict[str, dict[str, object]]:
    """Returns cellular links with an unlimited queue, and with CoDel: overrides by name.

    Links have 20 ms in each direction and no loss, as the emulator of Winstein et al. (NSDI 2013,
    section 4.2).
    """
    links: dict[str, dict[str, object]] = {}
    for network in networks:
        for seed in CELLULAR_SEEDS:
            for suffix, discipline in (("", "fifo"), (CODEL, "codel")):
                link = {
                    "trace": {"file": f"{network}_{seed}.trace"},
                    "delay": "20ms",
                    "queue": {"discipline": discipline, "limit": "20000packets"},
                }
                back = {"rate": "10Mbps", "delay": "20ms"}
                links[f"{network} {seed}{suffix}"] = {"duration": "60s", "link.btl.forward": link, "link.btl.reverse": back}
    return links


def run(bench: Bench) -> dict[str, SweepResult]:
    """Returns every scheme over every path."""
    quick = bench.quick
    schemes = bench.variants("schemes.toml")
    drawn = {path.name: path.set for path in draw(QUICK_PATHS if quick else PATHS)}
    thinned = dict(list(drawn.items())[:THINNED_PATHS])
    pantheon = emulators(QUICK_PANTHEON if quick else tuple(PANTHEON), bench)
    cells = cellular(QUICK_NETWORKS if quick else tuple(NETWORKS))
    if quick:
        cells = {name: link for name, link in cells.items() if " 1" in name}
    return {
        DRAWN: bench.sweep(SCENARIO, DRAWN, {"path": drawn, "scheme": schemes}),
        EMULATED: bench.sweep(SCENARIO, EMULATED, {"path": pantheon, "scheme": schemes}),
        CELLULAR: bench.sweep(SCENARIO, CELLULAR, {"path": cells, "scheme": schemes}),
        THINNED: bench.sweep(SCENARIO, THINNED, {"path": thinned, "scheme": bench.variants("thinning.toml")}),
    }


def kept(bench: Bench) -> dict[str, SweepResult]:
    """Returns the stored results of `run`."""
    return {name: load_sweep(bench.folder / name) for name in (DRAWN, EMULATED, CELLULAR, THINNED)}


def ranked(result: SweepResult) -> pl.DataFrame:
    """Returns one row for each run.

    Throughput, delay, utility, and the rank of the scheme among all on the same path with the same
    seed.

    The utility is ln(mean throughput [Mbps] / 95th percentile of the one-way delay [ms]), after
    Kleinrock's power. The best scheme has rank 1. A scheme without deliveries has the last rank.
    """
    flows = result.flows.filter(pl.col("flow") == "ranked")
    throughput, delay = pl.col("mean_throughput_l7"), pl.col("p95_one_way_delay_l4")
    runs = flows.select(
        "seed", path=pl.col(result.columns["path"]), scheme=pl.col(result.columns["scheme"]), throughput=throughput, delay=delay,
        utility=(throughput / delay).log().fill_null(float("-inf")).fill_nan(float("-inf")),
    )  # fmt: skip
    return runs.with_columns(rank=pl.col("utility").rank(descending=True).over("path", "seed"))


def ahead(runs: pl.DataFrame, scheme: str) -> list[float]:
    """Returns the rank of a scheme minus that of TACK per path, mean over seeds."""
    means = runs.group_by("path", "scheme").agg(pl.col("rank").mean()).pivot(on="scheme", index="path", values="rank")
    return means.sort("path").select(pl.col(scheme) - pl.col("TACK")).to_series().to_list()


def ensembles(drawn: pl.DataFrame, emulated: pl.DataFrame, cells: pl.DataFrame, paths: Sequence[Path]) -> dict[str, pl.DataFrame]:
    """Returns the runs of each ensemble, by its name.

    The ensembles are all random paths, parts of them, and other paths.
    """
    parts = {
        "all draws": paths,
        "no random loss": [path for path in paths if not path.loss],
        "no cross traffic": [path for path in paths if path.cross == NONE],
        "neither": [path for path in paths if not path.loss and path.cross == NONE],
        "CUBIC beside": [path for path in paths if path.cross == CUBIC],
        "Poisson beside": [path for path in paths if path.cross == POISSON],
        "below 20 Mbps": [path for path in paths if path.rate < 20],
        "above 200 Mbps": [path for path in paths if path.rate > 200],
        "below 40 ms": [path for path in paths if path.round_trip < 40],
        "above 150 ms": [path for path in paths if path.round_trip > 150],
        "queue below half": [path for path in paths if path.queue < 0.5],
        "queue above two": [path for path in paths if path.queue > 2],
    }
    found = {name: drawn.filter(pl.col("path").is_in([path.name for path in part])) for name, part in parts.items()}
    found["Pantheon's emulators"] = emulated
    found["the same, alone"] = emulated.filter(~pl.col("path").str.contains(" + ", literal=True))
    found["cellular"] = cells.filter(~pl.col("path").str.ends_with(CODEL))
    return {name: runs for name, runs in found.items() if runs.height}


def mean_ranks(runs: pl.DataFrame) -> dict[str, Interval]:
    """Returns the mean rank of each scheme over paths, with its interval."""
    means = runs.group_by("path", "scheme").agg(pl.col("rank").mean())
    return {scheme: mean_interval(means.filter(pl.col("scheme") == scheme)["rank"]) for scheme in PUBLISHED}


def agreement(runs: pl.DataFrame) -> float:
    """Returns Kendall's τ-b between the mean ranks of the schemes and the published medians.

    The result is 1 for the same order, and 0 for no relation.
    """
    means = mean_ranks(runs)
    return float(kendalltau([means[scheme].mean for scheme in PUBLISHED], list(PUBLISHED.values())).statistic)


def surely_ahead(runs: pl.DataFrame, one: str, other: str) -> bool | None:
    """Returns whether `one` has a better mean rank than `other`.

    None if the interval of the difference over paths contains zero.
    """
    means = runs.group_by("path", "scheme").agg(pl.col("rank").mean()).pivot(on="scheme", index="path", values="rank")
    difference = mean_interval(means.select(pl.col(other) - pl.col(one)).to_series())
    return None if not (difference.low > 0 or difference.high < 0) else difference.mean > 0


def cellular_ratio(cells: pl.DataFrame, above: str, below: str, column: str, codel: bool = False) -> Interval:
    """Returns the ratio of a quantity of two schemes over cellular links, as geometric mean.

    With `codel`, the first scheme runs over CoDel.
    """
    links = cells.filter(pl.col("path").str.ends_with(CODEL) == codel).with_columns(pl.col("path").str.strip_suffix(CODEL))
    plain = cells.filter(~pl.col("path").str.ends_with(CODEL))
    one = links.filter(pl.col("scheme") == above).sort("path")[column].to_list()
    return ratio_interval(one, plain.filter(pl.col("scheme") == below).sort("path")[column].to_list())


def decided(drawn: pl.DataFrame, thinned: pl.DataFrame) -> pl.DataFrame:
    """Returns whether ACK thinning decides the order of two schemes.

    There is a row per path and pair of TACK and another scheme of THINNINGS. `decides` is `True` if
    the order of the two schemes changes when `changed` has the ACKs of the other scheme.
    """
    own = {(path, scheme): utility for path, scheme, utility in drawn.select("path", "scheme", "utility").iter_rows()}
    rows = []
    for path, name, utility in thinned.select("path", "scheme", "utility").iter_rows():
        changed = THINNINGS[name]
        others = [scheme for scheme in THINNINGS.values() if scheme != "TACK"] if changed == "TACK" else ["TACK"]
        for other in others:
            before, after = own[path, changed] > own[path, other], utility > own[path, other]
            rows.append(
                {"path": path, "changed": changed, "other": other, "decides": before != after, "better": after and not before}
            )
    return pl.DataFrame(rows)


def classes(paths: Sequence[Path]) -> Mapping[str, list[str]]:
    """Returns kinds of paths on which thinning may have an effect, by name."""
    return {
        "all": [path.name for path in paths],
        "product below 100 packets": [path.name for path in paths if path.rate * path.round_trip / 12 < 100],
        "100 to 1000 packets": [path.name for path in paths if 100 <= path.rate * path.round_trip / 12 < 1000],
        "above 1000 packets": [path.name for path in paths if path.rate * path.round_trip / 12 >= 1000],
        "queue below half a product": [path.name for path in paths if path.queue < 0.5],
        "queue above two products": [path.name for path in paths if path.queue > 2],
        "random loss": [path.name for path in paths if path.loss],
        "no loss, alone": [path.name for path in paths if not path.loss and path.cross == NONE],
        "CUBIC beside": [path.name for path in paths if path.cross == CUBIC],
        "Poisson beside": [path.name for path in paths if path.cross == POISSON],
    }
