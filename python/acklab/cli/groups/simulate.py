"""Commands that simulate: run, sweep, study."""

from pathlib import Path
from typing import Annotated

import typer

from acklab.cli.app import app, examples, limit
from acklab.cli.options import (
    Everything,
    Jobs,
    Json,
    Kernel,
    NoQlog,
    Only,
    Processors,
    ScenarioFile,
    Sets,
    StrategyOption,
    complete_keys,
    strategies_of,
)
from acklab.errors import UsageError


def _complete_lists(incomplete: str) -> list[str]:
    """Completes keys and comma-separated values, for --grid."""
    from acklab.cli.completion import lists

    return lists(incomplete)


def _complete_studies(incomplete: str) -> list[str]:
    from acklab.cli.completion import studies

    return studies(incomplete)


On = Annotated[
    str | None,
    typer.Option("--on", metavar="WHERE", help="Run points on a Ray cluster: ray, or ray://HOST:PORT.", show_default=False),
]
DryRun = Annotated[
    bool,
    typer.Option("--dry-run", help="Print the number of points and an estimate of their cost; store nothing."),
]


@app.command(
    epilog=examples(
        "run studies/ack_compression/experiment_55.toml",
        "run cell.toml --set wifi.0.station.0.count=5 --seed 2 --out out/five",
        "run path.toml --qlog out/qlog",
        "run cell.toml --json | jq '.flows[].mean_throughput_l4'",
        'run path.toml --strategy mine.py:EveryThird --set \'flow.0.ack={policy = "custom", name = "EveryThird"}\'',
    )
)
def run(
    file: ScenarioFile,
    set_: Sets = None,
    seed: Annotated[
        int | None, typer.Option(min=0, help="Use this seed (default: that of the scenario).", show_default=False)
    ] = None,
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Store the tables in this folder, as Parquet.", show_default=False)
    ] = None,
    qlog: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Write a qlog of both ends of each flow to this folder, for qvis.", show_default=False),
    ] = None,
    qlog_version: Annotated[
        str, typer.Option(metavar="VERSION", help="Write this version of qlog: 0.3, which qvis reads, or draft-13.")
    ] = "0.3",
    strategy: StrategyOption = None,
    all_: Everything = False,
    only: Only = None,
    json_: Json = False,
) -> None:
    """Run one scenario and show its results."""
    from acklab.cli.run import View, run_command

    view = View.of(all_, only or [])
    run_command(file, set_ or [], seed, out, qlog, qlog_version, json_, strategies_of(strategy), view)


@app.command(
    epilog=examples(
        "sweep path.toml --grid flow.0.congestion=newreno,cubic,bbr --seeds 5",
        "sweep path.toml --grid link.btl.reverse.gate.interval=1ms,5ms --vary flow.0.start=0ms..5ms --seeds 10 --out out/gate",
        "sweep studies/ack_policies/path.toml --grid path=@studies/ack_policies/paths.toml:geo,vdsl",
    )
)
def sweep(
    file: ScenarioFile,
    out: Annotated[
        str,
        typer.Option(
            metavar="DIR",
            help="Store the results in this folder or URL, such as s3://bucket/folder; skip points that are stored there.",
        ),
    ] = "out/sweep",
    grid: Annotated[
        list[str] | None,
        typer.Option(
            "--grid",
            metavar="KEY=A,B,C",
            help="Vary a key over these values, or over variants from a file: NAME=@FILE; may be repeated.",
            autocompletion=_complete_lists,
        ),
    ] = None,
    seeds: Annotated[int, typer.Option(min=1, help="Run this many seeds, counted up from that of the scenario.")] = 1,
    set_: Sets = None,
    vary: Annotated[
        list[str] | None,
        typer.Option(
            "--vary",
            metavar="KEY=A..B",
            help="Draw a new value for each seed except the first, such as flow.0.start=0ms..5ms.",
            autocompletion=complete_keys,
        ),
    ] = None,
    strategy: StrategyOption = None,
    jobs: Jobs = None,
    on: On = None,
    way: Annotated[
        str,
        typer.Option(metavar="simulate|virtual", help="Simulate, or run the kernel's TCP in virtual time, in a guest per point."),
    ] = "simulate",
    kernel: Kernel = None,
    dry_run: DryRun = False,
    qlog: NoQlog = None,
    all_: Everything = False,
    only: Only = None,
    json_: Json = False,
) -> None:
    """Run all points of a grid for all seeds, on all cores.

    With --on, points run on a cluster.
    """
    from acklab.cli.run import View
    from acklab.cli.sweep import sweep_command

    if qlog is not None:
        raise UsageError(
            "found --qlog, but a sweep writes no logs; repeat one of its points by acklab run with --set, --seed and --qlog"
        )
    view = View.of(all_, only or [])
    sweep_command(
        file, grid or [], seeds, set_ or [], vary or [], out, jobs, json_, strategy or [], on, dry_run, way, kernel, view
    )


@app.command(
    epilog=examples("study ack_compression", "study ack_policies --quick", "study --all --out out", "study --new my_study")
)
def study(
    context: typer.Context,
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="NAME…", help="Names of studies.", show_default=False, autocompletion=_complete_studies),
    ] = None,
    all_: Annotated[bool, typer.Option("--all", help="All studies.")] = False,
    quick: Annotated[bool, typer.Option("--quick", help="Fewer seeds.")] = False,
    new: Annotated[
        str | None,
        typer.Option(
            "--new", metavar="NAME", help="Write a study that runs into studies/NAME, to start from.", show_default=False
        ),
    ] = None,
    out: Annotated[
        str,
        typer.Option(metavar="DIR", help="Store the results in this folder or URL; skip runs that are stored there."),
    ] = "out",
    jobs: Jobs = None,
    on: On = None,
    most_seeds: Annotated[
        int | None,
        typer.Option(
            min=2,
            metavar="N",
            help="Add seeds for undecided claims, up to N, by a sequential rule with an error of 5 % over all looks.",
            show_default=False,
        ),
    ] = None,
    way: Annotated[
        str,
        typer.Option(
            metavar="simulate|emulate|virtual",
            help="Simulate; or run the points in the study's emulated.toml with the kernel's TCP, in real time (emulate; requires root or a user namespace) or in virtual time (virtual; requires a guest kernel).",
        ),
    ] = "simulate",
    processors: Processors = "auto",
    kernel: Kernel = None,
    dry_run: DryRun = False,
    json_: Json = False,
) -> None:
    """Rerun studies and compare them with published numbers."""
    if way == "emulate":
        from acklab import core

        # Permissions must be acquired before a second thread exists.
        core.acquire_permission()
    limit(context)
    from acklab.cli.study import new_command, study_command

    if new is not None:
        if names or all_:
            raise UsageError("found --new and other studies, expected one of them")
        new_command(new)
        return
    study_command(names or [], all_, quick, out, jobs, json_, way, on, most_seeds, dry_run, processors, kernel)


@app.command()
def studies() -> None:
    """List the studies."""
    from acklab.cli.study import studies_command

    studies_command()
