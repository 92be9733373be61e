"""The commands and their options."""

import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from acklab.errors import AcklabError, UsageError
from acklab.terminal import err

app = typer.Typer(
    name="acklab",
    help="A laboratory for the acknowledgements of transport protocols.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)

ScenarioFile = Annotated[
    Path, typer.Argument(metavar="FILE", help="Scenario: TOML, or JSON of the same shape.", show_default=False)
]
Sets = Annotated[
    list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="Override a value, such as flow.0.congestion=newreno.")
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object on standard output and nothing else.")]
Jobs = Annotated[
    int | None, typer.Option("--jobs", "-j", min=1, help="Runs at a time (default: one a core).", show_default=False)
]


@app.command()
def run(
    file: ScenarioFile,
    set_: Sets = None,
    seed: Annotated[int | None, typer.Option(min=0, help="Seed (default: that of the scenario).", show_default=False)] = None,
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Keep the tables there, as Parquet.", show_default=False)
    ] = None,
    json_: Json = False,
) -> None:
    """Run one scenario and show its tables."""
    from acklab.cli.run import run_command

    run_command(file, set_ or [], seed, out, json_)


@app.command(name="emulate")
def emulate_(
    file: Annotated[
        Path | None, typer.Argument(metavar="FILE", help="Scenario: TOML, or JSON of the same shape.", show_default=False)
    ] = None,
    words: Annotated[
        list[str] | None, typer.Argument(metavar="[-- COMMAND…]", help="With --at: the command.", show_default=False)
    ] = None,
    set_: Sets = None,
    seed: Annotated[int | None, typer.Option(min=0, help="Seed (default: that of the scenario).", show_default=False)] = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Keep the tables and the output of applications there.", show_default=False),
    ] = None,
    at: Annotated[
        str | None, typer.Option(metavar="NODE", help="Run the command behind -- on this node.", show_default=False)
    ] = None,
    shell: Annotated[str | None, typer.Option(metavar="NODE", help="Open a shell on this node.", show_default=False)] = None,
    calibrate: Annotated[
        bool, typer.Option("--calibrate", help="Measure what this machine can carry, without a scenario.")
    ] = False,
    json_: Json = False,
) -> None:
    """Run one scenario in real time, with real packets and the kernel's TCP. Needs root.

    Exit status 3: it has finished, but packets were late or lost, so that its results may not be trusted.
    """
    from acklab.cli.emulate import calibrate_command, emulate_command

    if calibrate:
        calibrate_command(json_)
        return
    if file is None:
        raise UsageError("found no scenario, expected a file, or --calibrate")
    emulate_command(file, set_ or [], seed, out, json_, at, shell, words or [])


@app.command()
def sweep(
    file: ScenarioFile,
    out: Annotated[
        Path, typer.Option(metavar="DIR", help="Keep the results there; points that are there are not run again.")
    ] = Path("out/sweep"),
    grid: Annotated[
        list[str] | None,
        typer.Option(
            "--grid", metavar="KEY=A,B,C", help="Values of a key, or variants from a file: NAME=@FILE; repeat it for more."
        ),
    ] = None,
    seeds: Annotated[int, typer.Option(min=1, help="How many seeds, counted up from that of the scenario.")] = 1,
    set_: Sets = None,
    vary: Annotated[
        list[str] | None,
        typer.Option(
            "--vary", metavar="KEY=A..B", help="Draw a value anew for each seed but the first, such as flow.0.start=0ms..5ms."
        ),
    ] = None,
    jobs: Jobs = None,
) -> None:
    """Run all points of a grid, for all seeds, on all cores."""
    from acklab.cli.sweep import sweep_command

    sweep_command(file, grid or [], seeds, set_ or [], vary or [], out, jobs)


@app.command()
def study(
    names: Annotated[list[str] | None, typer.Argument(metavar="NAME…", help="Studies, by name.", show_default=False)] = None,
    all_: Annotated[bool, typer.Option("--all", help="All studies.")] = False,
    quick: Annotated[bool, typer.Option("--quick", help="Fewer seeds.")] = False,
    out: Annotated[
        Path, typer.Option(metavar="DIR", help="Keep the results there; runs that are there are not repeated.")
    ] = Path("out"),
    jobs: Jobs = None,
    json_: Json = False,
) -> None:
    """Rerun studies and set their results beside the published ones."""
    from acklab.cli.study import study_command

    study_command(names or [], all_, quick, out, jobs, json_)


@app.command()
def studies() -> None:
    """List the studies."""
    from acklab.cli.study import studies_command

    studies_command()


@app.command()
def report(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A folder with results.", show_default=False)],
) -> None:
    """Write DIR/report.html, which opens from disk and needs no network."""
    from acklab.report import write_report
    from acklab.terminal import out

    out.print(write_report(folder), highlight=False, soft_wrap=True)


@app.command()
def check(file: ScenarioFile, set_: Sets = None, json_: Json = False) -> None:
    """Check a scenario without running it."""
    from acklab.cli.run import check_command

    check_command(file, set_ or [], json_)


@app.command()
def schema() -> None:
    """Print the JSON Schema of scenarios, for editors to complete from."""
    import json

    from acklab import core

    print(json.dumps(core.schema(), indent=2))


def _show_version(value: bool) -> None:
    if value:
        from acklab import core

        print(f"acklab {core.version()} ({core.revision()})")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version.")] = False,
) -> None:
    pass


def main() -> None:
    """Runs the command line; what a person did wrong is told in one message, never as a traceback."""
    try:
        app(standalone_mode=True)
    except AcklabError as error:
        _say(str(error))
        sys.exit(error.exit_code)
    except KeyboardInterrupt:
        _say("stopped")
        sys.exit(130)
    except BrokenPipeError:
        # The reader of our output has gone: there is nobody left to tell. Python would complain once more when it closes it.
        sys.stdout = None
        sys.exit(141)


def _say(message: str) -> None:
    err.print(f"[bold red]error:[/] {escape(message)}", highlight=False, soft_wrap=True)
