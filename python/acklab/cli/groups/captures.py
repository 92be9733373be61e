"""Commands for captures of other networks: inspect, fit, advise."""

from pathlib import Path
from typing import Annotated

import typer

from acklab.cli.app import app, examples
from acklab.cli.options import Jobs, Json, Sets


@app.command(
    epilog=examples(
        "inspect download.pcapng",
        "inspect download.pcapng --report download.html",
        "inspect download.pcap --json | jq '.connections[0].ways[0].rate'",
        "inspect both_ends.qlog --trace 2",
    )
)
def inspect(
    capture: Annotated[
        Path,
        typer.Argument(
            metavar="CAPTURE",
            help="Capture (pcap, pcapng or snoop) or qlog; may be compressed by gzip or zstd.",
            show_default=False,
        ),
    ],
    report: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write an HTML report with time–sequence plots to this file.", show_default=False),
    ] = None,
    trace: Annotated[
        int | None,
        typer.Option(min=1, metavar="N", help="Read only trace number N of a log (default: all).", show_default=False),
    ] = None,
    json_: Json = False,
) -> None:
    """Analyse a capture: bottleneck, RTTs, losses and ACKs.

    Reports them for each connection.
    """
    from acklab.cli.inspect import inspect_command

    inspect_command(capture, report, json_, trace)


@app.command(epilog=examples("fit download.pcapng > link.toml", "fit download.pcapng --json | jq .errors"))
def fit(
    capture: Annotated[Path, typer.Argument(metavar="CAPTURE", help="Capture in pcap or pcapng.", show_default=False)],
    set_: Sets = None,
    json_: Json = False,
) -> None:
    """Fit the scenario of a path to a capture.

    Uncertain values have ranges.
    """
    from acklab.cli.fit import fit_command

    fit_command(capture, set_ or [], json_)


@app.command(
    epilog=examples(
        "advise link.toml",
        "advise download.pcapng --report advice.html",
        "advise satellite --set link.geo.reverse.rate=256kbps --use download --use page",
        "advise link.toml --time 600",
    )
)
def advise(
    link: Annotated[
        str, typer.Argument(metavar="LINK", help="A scenario, a capture, or the name of a template.", show_default=False)
    ],
    set_: Sets = None,
    vary: Annotated[
        list[str] | None,
        typer.Option("--vary", metavar="KEY=A..B", help="Add the range of an uncertain value to those in the file."),
    ] = None,
    use: Annotated[
        list[str] | None,
        typer.Option(
            "--use",
            metavar="NAME",
            help="download, upload, upload-under-download, download-under-upload, latency, page, video, call or rpc (default: all).",
        ),
    ] = None,
    seconds: Annotated[
        float, typer.Option("--time", min=1, metavar="SECONDS", help="Limit the effort: about the seconds that two cores need.")
    ] = 60.0,
    report: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write an HTML report with the evidence to this file.", show_default=False)
    ] = None,
    jobs: Jobs = None,
    json_: Json = False,
) -> None:
    """Recommend what to change on a path.

    Prints changes of the receiver, sender, router or transport: the gain of each, what gets worse,
    and how to enable it.
    """
    from acklab.cli.advise import advise_command

    advise_command(link, set_ or [], vary or [], use or [], seconds, report, jobs, json_)
