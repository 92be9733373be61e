"""Gain and cost of resuming a QUIC connection with the window of an earlier connection.

The cost arises when the path has become slower.
"""

from collections.abc import Mapping

import polars as pl

from acklab import figures
from acklab.report import Figure, Section, Table
from acklab.statistics import mean_rows, ratio_interval, ratios
from acklab.studies import Bench, Measure, per_seed
from acklab.sweeps import SweepResult, load_sweep

COMMAND = "acklab study quic_careful_resume"
SCENARIO = "path.toml"
SATELLITE, VDSL, COMPETING = "satellite", "vdsl", "competing"
ROUND_TRIP = {SATELLITE: 0.630, VDSL: 0.020}
"""RTT of the empty path [s]."""
NOTHING, SAME, QUARTER, SIXTEENTH = "nothing", "1 BDP", "4 BDP", "16 BDP"
SIZE = "1 MB"
ALONE, BESIDE = "alone", ("beside CUBIC", "beside BBR")
BY = ["path", "size", "saved", "competing"]
BASELINE = {"saved": NOTHING}


def run(bench: Bench) -> dict[str, SweepResult]:
    """Returns each size with each saved window, over both paths.

    Also returns a download of 1 MB that competes with another over the satellite.
    """
    sizes = bench.variants(f"sizes.toml:{SIZE}" if bench.quick else "sizes.toml")

    def sweep(name: str, path: str, competing: str) -> SweepResult:
        axes = {
            "path": bench.variants(f"paths.toml:{path}"),
            "saved": bench.variants(f"{path}.toml"),
            "size": sizes if competing == ALONE else bench.variants(f"sizes.toml:{SIZE}"),
            "competing": bench.variants(f"competing.toml:{competing}"),
        }
        return bench.sweep(SCENARIO, name, axes)

    return {
        SATELLITE: sweep(SATELLITE, SATELLITE, ALONE),
        VDSL: sweep(VDSL, VDSL, ALONE),
        COMPETING: sweep(COMPETING, SATELLITE, ",".join(BESIDE)),
    }


def summary(result: SweepResult) -> pl.DataFrame:
    """Returns one row per run: the axes, `point`, `seed`.

    Also has the time until the download is delivered [s], the lost packets of the download, and the
    goodput of the other download [Mbps].
    """
    flows = result.flows
    run = ["point", "seed"]
    other = flows.filter(pl.col("flow") == "company").select(*run, other="mean_throughput_l7")
    own = flows.filter(pl.col("flow") == "down").select(
        *run,
        *(pl.col(result.columns[axis]).alias(axis) for axis in BY),
        time="delivery_time_l7",
        lost=pl.col("total_retransmissions_l4").cast(pl.Float64),
    )
    return own.join(other, on=run, how="left")


def measures(bench: Bench) -> Mapping[str, Measure]:
    """Returns results for 1 MB: gains, costs of a retreat in round trips, losses of other flows."""
    results = run(bench)

    def values(sweep: str, saved: str, column: str = "time", competing: str = ALONE) -> list[float]:
        return per_seed(summary(results[sweep]), column, size=SIZE, saved=saved, competing=competing)

    found = {}
    for path in (SATELLITE, VDSL):
        command = [results[path].rerun]
        found[f"{path}_same"] = Measure.of(ratio_interval(values(path, SAME), values(path, NOTHING)), command)
        for factor, saved in (("4", QUARTER), ("16", SIXTEENTH)):
            pairs = zip(values(path, saved), values(path, NOTHING), strict=True)
            found[f"{path}_{factor}"] = Measure([(own - other) / ROUND_TRIP[path] for own, other in pairs], command)
    for competing in BESIDE:
        for factor, saved in (("1", SAME), ("4", QUARTER), ("16", SIXTEENTH)):
            resumed, fresh = (values(COMPETING, one, "other", competing) for one in (saved, NOTHING))
            name = f"{competing.removeprefix('beside ').lower()}_{factor}"
            found[name] = Measure.of(ratio_interval(resumed, fresh), [results[COMPETING].rerun])
    return found


def sections(bench: Bench) -> list[Section]:
    """Returns the sections of the report."""
    paths = [load_sweep(bench.folder / name) for name in (SATELLITE, VDSL)]
    cells = []
    for result in paths:
        runs = summary(result)
        found = ratios(runs, BY, "time", BASELINE).filter(pl.col("saved") != NOTHING)
        cells.append(result.with_commands(found, runs, BY))
    seeds = len(paths[0].seeds)
    figure = figures.ratio_map(
        pl.concat(cells),
        "size",
        "saved",
        "time ÷ without resuming",
        "path",
        wrap=1,
        less_is_better=True,
        most=2.0,
        commands="command",
    )
    caption = f"Time until a download is delivered ÷ that without resuming: geometric mean and 95 % confidence interval over {seeds} seeds; grey where the interval includes 1"
    head = ["path", "size", "saved", "time [s]", "packets lost"]
    shown = {"time": "±2", "lost": ".0f"}
    rows = [row for result in paths for row in mean_rows(summary(result), head[:3], shown)]
    beside = summary(load_sweep(bench.folder / COMPETING))
    others = mean_rows(beside, ["competing", "saved"], {"other": "±2", "time": ".1f", "lost": ".0f"})
    listed = [
        [path, name, of.title, of.source]
        for path in (SATELLITE, VDSL)
        for name, of in bench.variants(f"{path}.toml").chosen.items()
    ]
    return [
        Section(
            "Time to completion",
            "QUIC with CUBIC, preset rfc. The queue holds one bandwidth-delay product.",
            items=[
                Figure(figure, caption, [COMMAND, *(result.rerun for result in paths)]),
                Table(["path", "saved", "", "source"], listed, "Saved windows, in bandwidth-delay products of the present path", numeric_from=4),
            ],
        ),
        Section("Measured values", "Means over seeds.", items=[Table(head, rows, "Alone", commands=[COMMAND], numeric_from=3)]),
        Section(
            "Beside an established download",
            f"{SIZE} over the satellite, beside a download that started 30 s earlier.",
            items=[Table(["", "saved", "goodput of the other [Mbps]", "time [s]", "packets lost"], others, "Beside a download", commands=[COMMAND], numeric_from=2)],
        ),
    ]  # fmt: skip
