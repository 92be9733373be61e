"""Commands for stored results: show, compare, query, report, plot."""

from pathlib import Path
from typing import Annotated

import typer

from acklab.cli.app import app, examples
from acklab.cli.options import Everything, Json, Only, complete_columns


def _complete_kinds_of_file(incomplete: str) -> list[str]:
    from acklab.figures.saving import KINDS

    return [kind for kind in KINDS if kind.startswith(incomplete)]


def _complete_figures(incomplete: str) -> list[tuple[str, str]]:
    """Completes figures of a run. Figures of studies and sweeps depend on their results."""
    from acklab.figures import FIGURES

    return [(name, caption) for name, (_, caption) in FIGURES.items() if name.startswith(incomplete)]


@app.command(epilog=examples("show out/first", "show out/sweep --json"))
def show(
    folder: Annotated[
        str,
        typer.Argument(
            metavar="DIR", help="A folder or a URL with the results of a run, a sweep or a study.", show_default=False
        ),
    ],
    all_: Everything = False,
    only: Only = None,
    json_: Json = False,
) -> None:
    """Show stored results, as the command that produced them did."""
    from acklab.cli.run import View
    from acklab.cli.show import show_command

    show_command(folder, json_, View.of(all_, only or []))


@app.command(
    epilog=examples(
        "compare out/newreno out/bbr",
        "compare out/a out/b out/c --relative-to out/b --only mean_throughput_l7,mean_srtt_l4",
        "compare out/sweep --relative-to congestion=newreno",
        "compare out/sweep_before out/sweep_after",
    )
)
def compare(
    folders: Annotated[
        list[str], typer.Argument(metavar="DIR…", help="Folders or URLs with results of runs, or of sweeps.", show_default=False)
    ],
    relative_to: Annotated[
        str,
        typer.Option(
            "--relative-to",
            metavar="DIR|AXIS=VALUE",
            help="Compare with this folder (default: the first), or, within one sweep, with this value of an axis.",
            show_default=False,
        ),
    ] = "",
    table: Annotated[
        str, typer.Option(metavar="NAME", help="Show only this table, such as flows or links.", show_default=False)
    ] = "",
    only: Annotated[
        list[str] | None,
        typer.Option("--only", metavar="COLUMN,COLUMN", help="Show only these metrics.", autocompletion=complete_columns),
    ] = None,
    all_: Annotated[bool, typer.Option("--all", help="Show all metrics instead of the most important ones.")] = False,
) -> None:
    """Compare results of runs or of sweeps.

    Shows differing keys of their scenarios, values, differences and ratios. For sweeps, differences
    and ratios are computed per seed and have intervals.
    """
    from acklab.cli.show import compare_command

    compare_command(folders, table, only or [], relative_to, all_)


@app.command(
    epilog=examples(
        "query 'select congestion, avg(mean_srtt_l4) from flows group by all'",
        "query 'select * from points where not done' out/sweep --csv",
    )
)
def query(
    sql: Annotated[str, typer.Argument(metavar="SQL", help="SQL query; tables have their names.", show_default=False)],
    folder: Annotated[
        str, typer.Argument(metavar="DIR", help="A folder or a URL with the results of a sweep or a run.")
    ] = "out/sweep",
    csv: Annotated[bool, typer.Option("--csv", help="Print CSV.")] = False,
    json_: Json = False,
) -> None:
    """Query stored tables by SQL (DuckDB).

    Tables are flows, links and points, for example.
    """
    from acklab.cli.query import query_command

    query_command(sql, folder, json_, csv)


@app.command(epilog=examples("report out/first", "report out", "report out/newreno out/bbr --out out/both.html"))
def report(
    folders: Annotated[list[str], typer.Argument(metavar="DIR…", help="Folders or URLs with results.", show_default=False)],
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Write the report to this file (default: DIR/report.html; for a URL, report.html in this folder).",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Write results as a single HTML file, which works offline."""
    from acklab.files import printable
    from acklab.report import write_report

    print(printable(write_report(folders, out)))


@app.command(
    epilog=examples(
        "plot out/first",
        "plot out/first queues --out queues.svg",
        "plot out/sweep mean_throughput_l7 --out throughput.png",
        "plot out/ack_policies --out figures",
    )
)
def plot(
    folder: Annotated[
        str,
        typer.Argument(
            metavar="DIR", help="A folder or a URL with the results of a run, a sweep or a study.", show_default=False
        ),
    ],
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[FIGURE…]",
            help="Figures by name, or a metric of a sweep (default: all).",
            show_default=False,
            autocompletion=_complete_figures,
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE|DIR",
            help="Write one figure to FILE.png, .svg, .pdf or .html, or all to a folder (default: DIR/figures; for a URL, figures in this folder).",
            show_default=False,
        ),
    ] = None,
    format_: Annotated[
        str,
        typer.Option(
            "--format",
            metavar="KIND",
            help="Write figures in a folder as png, svg, pdf or html.",
            autocompletion=_complete_kinds_of_file,
        ),
    ] = "svg",
    width: Annotated[int, typer.Option(min=200, max=4000, metavar="PIXELS", help="Set the width of the figures.")] = 900,
    list_: Annotated[bool, typer.Option("--list", help="List the available figures.")] = False,
) -> None:
    """Draw figures of a run, a sweep or a study to files.

    PNG, SVG and PDF require Kaleido (pip install acklab[images]) and Chromium.
    """
    from acklab.cli.plot import plot_command

    plot_command(folder, names or [], out, format_, width, list_)
