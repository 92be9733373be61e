"""The commands and their options.

Each command imports its modules when it is called, so that help and completion are fast.
"""

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from acklab.cli.signals import Interruption, drop_output
from acklab.errors import AcklabError, Cancelled, UsageError

if TYPE_CHECKING:
    from acklab.strategies import Strategies

app = typer.Typer(
    name="acklab",
    help="Simulate, emulate and deploy the acknowledgements of transport protocols.",
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


def _examples(*commands: str) -> str:
    """Returns the examples below the help of a command."""
    # After a line with a single backspace, click does not wrap the paragraph.
    return "\b\n" + "\n".join(["Examples:", *(f"  acklab {command}" for command in commands)])


def _complete_keys(incomplete: str) -> list[str]:
    """Completes keys of the scenario on the command line, for --set and --grid."""
    from acklab.cli.completion import keys

    return keys(incomplete)


def _complete_lists(incomplete: str) -> list[str]:
    """Completes keys and comma-separated values, for --grid."""
    from acklab.cli.completion import lists

    return lists(incomplete)


def _complete_kinds_of_file(incomplete: str) -> list[str]:
    from acklab.figures.saving import KINDS

    return [kind for kind in KINDS if kind.startswith(incomplete)]


def _complete_figures(incomplete: str) -> list[tuple[str, str]]:
    """Completes figures of a run. Figures of studies and sweeps depend on their results."""
    from acklab.figures import FIGURES

    return [(name, caption) for name, (_, caption) in FIGURES.items() if name.startswith(incomplete)]


def _complete_traces(incomplete: str) -> list[tuple[str, str]]:
    """Completes models of traces."""
    from acklab.cli.trace import MODELS

    return [(name, title) for name, title in MODELS.items() if name.startswith(incomplete)]


def _complete_processors(incomplete: str) -> list[str]:
    from acklab.core import PROCESSORS

    return [name for name in PROCESSORS if name.startswith(incomplete)]


def _complete_explained(incomplete: str) -> list[str]:
    """Completes keys of any scenario."""
    from acklab.cli.completion import paths

    return paths(incomplete)


def _complete_columns(incomplete: str) -> list[tuple[str, str]]:
    """Completes columns of the tables of metrics, for --only."""
    from acklab.metrics import metrics

    before, comma, last = incomplete.rpartition(",")
    return [(before + comma + metric.name, metric.meaning) for metric in metrics() if metric.name.startswith(last)]


def _complete_studies(incomplete: str) -> list[str]:
    from acklab.cli.completion import studies

    return studies(incomplete)


def _complete_templates(incomplete: str) -> list[tuple[str, str]]:
    from acklab.templates import templates

    return [(name, title) for name, title in templates().items() if name.startswith(incomplete)]


ScenarioFile = Annotated[
    Path, typer.Argument(metavar="FILE", help="Scenario in TOML, or in JSON with the same keys.", show_default=False)
]
Sets = Annotated[
    list[str] | None,
    typer.Option(
        "--set", metavar="KEY=VALUE", help="Override a value, such as flow.0.congestion=newreno.", autocompletion=_complete_keys
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object on standard output and nothing else.")]
Everything = Annotated[bool, typer.Option("--all", help="Show all tables and metrics instead of the short answer.")]
Only = Annotated[
    list[str] | None,
    typer.Option("--only", metavar="COLUMN,COLUMN", help="Show these columns only.", autocompletion=_complete_columns),
]
# Accepted, so that the error can name the alternative.
NoQlog = Annotated[Path | None, typer.Option("--qlog", hidden=True)]
Jobs = Annotated[
    int | None, typer.Option("--jobs", "-j", min=1, help="Run this many at a time (default: one per core).", show_default=False)
]
On = Annotated[
    str | None,
    typer.Option("--on", metavar="WHERE", help="Run points on a Ray cluster: ray, or ray://HOST:PORT.", show_default=False),
]
Processors = Annotated[
    str,
    typer.Option(
        "--processors",
        metavar="auto|awake|halt",
        help="Keep idle processors awake in real time: always (awake), never (halt: saves power, delays packets), or until the hypervisor takes too much time from them (auto).",
        autocompletion=_complete_processors,
    ),
]
DryRun = Annotated[
    bool,
    typer.Option("--dry-run", help="Print the number of points and an estimate of their cost; store nothing."),
]
StrategyOption = Annotated[
    list[str] | None,
    typer.Option(
        "--strategy",
        metavar="FILE:CLASS",
        help="Add your own ACK policy or congestion controller, which the scenario selects by its class, or by NAME with NAME=FILE:CLASS.",
    ),
]

Port = Annotated[
    int | None,
    typer.Option(
        "--port",
        "-p",
        min=0,
        max=65534,
        help="Use this port (default: 8225) and the next one, which is for QUIC.",
        show_default=False,
    ),
]
Fingerprint = Annotated[
    str | None,
    typer.Option(metavar="sha256:…", help="Trust the server with this fingerprint, as the server prints it.", show_default=False),
]
AcceptNew = Annotated[
    bool, typer.Option("--accept-new", help="Trust a server that is still unknown; refuse one whose certificate has changed.")
]
Bind = Annotated[
    list[str] | None, typer.Option("--bind", "-B", metavar="ADDRESS", help="Listen on this address only; may be repeated.")
]
Certificate = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Use this certificate in PEM, with its chain (default: a self-signed one, created once).",
        show_default=False,
    ),
]
Key = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Use this private key of the certificate, in PEM.", show_default=False)
]
State = Annotated[
    Path | None,
    typer.Option(
        metavar="DIR", help="Store certificate and keys in this folder (default: ~/.local/state/acklab).", show_default=False
    ),
]
Drain = Annotated[
    str,
    typer.Option(
        metavar="TIME",
        help="Wait this time for unfinished transfers after Ctrl-C or SIGTERM, such as 10s; then, or at a second signal, reset them.",
    ),
]
Keys = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Append the TLS secrets to this file, for Wireshark.", show_default=False)
]
Authorities = Annotated[
    Path | None, typer.Option("--ca", metavar="FILE", help="Trust certificates of these authorities (PEM).", show_default=False)
]


@app.command(
    epilog=_examples(
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
    run_command(file, set_ or [], seed, out, qlog, qlog_version, json_, _strategies(strategy), view)


@app.command(name="emulate")
def emulate_(
    file: Annotated[
        Path | None, typer.Argument(metavar="FILE", help="Scenario in TOML, or in JSON with the same keys.", show_default=False)
    ] = None,
    words: Annotated[
        list[str] | None, typer.Argument(metavar="[-- COMMAND…]", help="Command to run, with --at.", show_default=False)
    ] = None,
    set_: Sets = None,
    seed: Annotated[
        int | None, typer.Option(min=0, help="Use this seed (default: that of the scenario).", show_default=False)
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Store the tables and the output of applications in this folder.", show_default=False),
    ] = None,
    at: Annotated[
        str | None, typer.Option(metavar="NODE", help="Run the command after -- on this node.", show_default=False)
    ] = None,
    shell: Annotated[str | None, typer.Option(metavar="NODE", help="Open a shell on this node.", show_default=False)] = None,
    internet: Annotated[
        str | None,
        typer.Option(
            metavar="NODE",
            help="Connect this node to the networks of this machine: packets for addresses outside the scenario leave through it (NAT).",
            show_default=False,
        ),
    ] = None,
    calibrate: Annotated[
        bool, typer.Option("--calibrate", help="Measure the capacity of this machine, without a scenario.")
    ] = False,
    watch: Annotated[bool, typer.Option("--watch", help="Serve a live page of the run on localhost.")] = False,
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="Serve the page of --watch on this port; 0 selects a free one.")
    ] = 0,
    processors: Processors = "auto",
    clock: Annotated[
        str,
        typer.Option(
            metavar="real|virtual",
            help="virtual: run in a guest whose clock moves only when all of it waits; the results are exact and reproducible.",
        ),
    ] = "real",
    kernel: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="With --clock virtual: a kernel of `acklab kernel list` (default: the newest).",
            show_default=False,
        ),
    ] = None,
    qlog: NoQlog = None,
    all_: Everything = False,
    only: Only = None,
    json_: Json = False,
) -> None:
    """Run one scenario in real time, with real packets and the kernel's TCP and UDP.

    Requires root or a user namespace. Exit status 3: the run finished, but its results are
    unreliable, because packets were late or lost.
    """
    from acklab.cli.emulate import calibrate_command, emulate_command

    if qlog is not None:
        raise UsageError("found --qlog, but the kernel writes no qlog; add a [[capture]] to the scenario to store packets")
    if calibrate:
        calibrate_command(json_, processors)
        return
    if file is None:
        raise UsageError("found no scenario, expected FILE or --calibrate")
    from acklab.cli.run import View

    view = View.of(all_, only or [])
    emulate_command(
        file, set_ or [], seed, out, json_, at, shell, words or [], watch, port, processors, internet, view, clock, kernel
    )


@app.command(
    epilog=_examples(
        "inline eth0 eth1 --rate 100Mbps/2Mbps --delay 10ms --queue 100packets --ack-filter news",
        "inline eth0 eth1 --rate 10Mbps/64kbps --ack-filter none/cake --interval 10",
        "inline cell.toml --capture sta --out out/inline",
        "inline path.toml eth0 eth1 --duration 10min --json",
    )
)
def inline(
    words: Annotated[
        list[str],
        typer.Argument(
            metavar="EAST WEST | FILE [EAST WEST]",
            help="Two interfaces; or a scenario with two [[interface]] entries; or a scenario and two interfaces.",
            show_default=False,
        ),
    ],
    rate: Annotated[
        str | None, typer.Option(metavar="A[/B]", help="Limit the rate: A from EAST to WEST, B back.", show_default=False)
    ] = None,
    delay: Annotated[
        str | None, typer.Option(metavar="A[/B]", help="Delay packets by this time in one direction.", show_default=False)
    ] = None,
    loss: Annotated[
        str | None, typer.Option(metavar="A[/B]", help="Drop this share of the packets, such as 0.01.", show_default=False)
    ] = None,
    queue: Annotated[
        str | None, typer.Option(metavar="A[/B]", help="Limit the queue, such as to 100packets.", show_default=False)
    ] = None,
    ack_filter: Annotated[
        str | None,
        typer.Option(
            metavar="A[/B]",
            help="Filter ACKs in the queue: news, duplicates, nothing, cake, cake-aggressive, none.",
            show_default=False,
        ),
    ] = None,
    acks_first: Annotated[bool, typer.Option("--acks-first", help="Dequeue pure ACKs first.")] = False,
    gate: Annotated[
        str | None,
        typer.Option(
            metavar="A[/B]", help="Release packets in bursts, by an interval and a quota, such as 5ms:10.", show_default=False
        ),
    ] = None,
    thinner: Annotated[
        str | None,
        typer.Option(
            metavar="A[/B]",
            help="Thin pure ACKs: scsc, dhd, unisoc, none, or a number of ACKs and a time, such as 4:10ms.",
            show_default=False,
        ),
    ] = None,
    spacer: Annotated[
        str | None,
        typer.Option(
            metavar="A[/B]",
            help="Spread ACKs: reconstruct, none, a data rate such as 16Mbps, or a time such as 1ms.",
            show_default=False,
        ),
    ] = None,
    set_: Sets = None,
    seed: Annotated[
        int | None, typer.Option(min=0, help="Use this seed (default: that of the scenario).", show_default=False)
    ] = None,
    duration: Annotated[
        str | None, typer.Option(metavar="TIME", help="Stop after this time (default: never).", show_default=False)
    ] = None,
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Store the tables in this folder, as Parquet.", show_default=False)
    ] = None,
    capture: Annotated[
        list[str] | None,
        typer.Option(
            "--capture",
            metavar="POINT[=FILE]",
            help="Capture packets at a node, where they enter a direction of a link (line_forward), or where they leave it (line_forward.out).",
        ),
    ] = None,
    interval: Annotated[
        int | None, typer.Option(min=1, metavar="SECONDS", help="Print a line per interval.", show_default=False)
    ] = None,
    watch: Annotated[bool, typer.Option("--watch", help="Serve a live page of the path on localhost.")] = False,
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="Serve the page of --watch on this port; 0 selects a free one.")
    ] = 0,
    processors: Processors = "auto",
    method: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="Read frames by ring or tap (default: the faster one that is available).", show_default=False
        ),
    ] = None,
    json_: Json = False,
) -> None:
    """Emulate a path between two interfaces of this host, for traffic of other hosts.

    Requires root and Linux 6.6.

    The interfaces must be ports of a bridge or of a router, which forwards the traffic if this
    process ends, stalls or is overloaded. Otherwise, this command creates a bridge, and removes it
    at the end.
    """
    from acklab.cli.inline import inline_command

    if method not in (None, "ring", "tap"):
        raise UsageError(f"--method: found {method!r}, expected ring or tap")
    flags = {
        "rate": rate,
        "delay": delay,
        "loss": loss,
        "queue": queue,
        "ack_filter": ack_filter,
        "acks_first": acks_first,
        "gate": gate,
        "thinner": thinner,
        "spacer": spacer,
    }
    inline_command(words, flags, set_ or [], seed, duration, out, capture or [], interval, json_, watch, port, processors, method)


@app.command(
    epilog=_examples(
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
            autocompletion=_complete_keys,
        ),
    ] = None,
    strategy: StrategyOption = None,
    jobs: Jobs = None,
    on: On = None,
    dry_run: DryRun = False,
    qlog: NoQlog = None,
    json_: Json = False,
) -> None:
    """Run all points of a grid for all seeds, on all cores or on a cluster."""
    from acklab.cli.sweep import sweep_command

    if qlog is not None:
        raise UsageError(
            "found --qlog, but a sweep writes no logs; repeat one of its points by acklab run with --set, --seed and --qlog"
        )
    sweep_command(file, grid or [], seeds, set_ or [], vary or [], out, jobs, json_, strategy or [], on, dry_run)


@app.command(epilog=_examples("study ack_compression", "study ack_policies --quick", "study --all --out out"))
def study(
    context: typer.Context,
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="NAME…", help="Names of studies.", show_default=False, autocompletion=_complete_studies),
    ] = None,
    all_: Annotated[bool, typer.Option("--all", help="All studies.")] = False,
    quick: Annotated[bool, typer.Option("--quick", help="Fewer seeds.")] = False,
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
            metavar="WAY",
            help="Run simulated (simulate), or in real time with the kernel's TCP (emulate): the points in the study's emulated.toml; requires root or a user namespace.",
        ),
    ] = "simulate",
    processors: Processors = "auto",
    dry_run: DryRun = False,
    json_: Json = False,
) -> None:
    """Rerun studies and show their results beside the published ones."""
    if way == "emulate":
        from acklab import core

        # Permissions must be acquired before a second thread exists.
        core.acquire_permission()
    _limit(context)
    from acklab.cli.study import study_command

    study_command(names or [], all_, quick, out, jobs, json_, way, on, most_seeds, dry_run, processors)


@app.command(
    epilog=_examples(
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
    """Analyse a capture: bottleneck, round trips, losses and ACKs of each connection."""
    from acklab.cli.inspect import inspect_command

    inspect_command(capture, report, json_, trace)


@app.command(epilog=_examples("fit download.pcapng > link.toml", "fit download.pcapng --json | jq .errors"))
def fit(
    capture: Annotated[Path, typer.Argument(metavar="CAPTURE", help="Capture in pcap or pcapng.", show_default=False)],
    json_: Json = False,
) -> None:
    """Fit the scenario of a path to a capture, with ranges for uncertain values."""
    from acklab.cli.fit import fit_command

    fit_command(capture, json_)


@app.command(
    epilog=_examples(
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
    """Recommend changes of the receiver, sender, router or transport of a path.

    Prints the gain of each, what gets worse, and how to enable it.
    """
    from acklab.cli.advise import advise_command

    advise_command(link, set_ or [], vary or [], use or [], seconds, report, jobs, json_)


@app.command(
    epilog=_examples(
        "packetdrill mine.pkt",
        "packetdrill gtests/net/tcp --json",
        "packetdrill mine.pkt --preset rfc --set flow.0.sack=false",
        "packetdrill mine.pkt --scenario path.toml --strategy mine.py:EveryThird",
    )
)
def packetdrill(
    context: typer.Context,
    scripts: Annotated[
        list[Path], typer.Argument(metavar="SCRIPT…", help="Scripts (*.pkt), or folders with scripts.", show_default=False)
    ],
    preset: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="Test this stack: linux, ns3 or rfc; or kernel, the one of this machine (requires root or a user namespace).",
        ),
    ] = "linux",
    scenario: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Test the first TCP flow of this scenario instead.", show_default=False),
    ] = None,
    set_: Sets = None,
    strategy: StrategyOption = None,
    tolerance_usecs: Annotated[
        int | None,
        typer.Option(
            "--tolerance_usecs", min=0, metavar="N", help="Override the time tolerance of all scripts.", show_default=False
        ),
    ] = None,
    json_: Json = False,
) -> None:
    """Run packetdrill scripts against acklab's TCP.

    Exit status 1: a script failed; 2: a script is malformed. Scripts that are out of scope do not
    count.
    """
    if preset == "kernel":
        from acklab import core

        # Permissions must be acquired before a second thread exists.
        core.acquire_permission()
    _limit(context)
    from acklab.cli.packetdrill import packetdrill_command

    packetdrill_command(scripts, preset, scenario, set_ or [], _strategies(strategy), tolerance_usecs, json_)


@app.command(epilog=_examples("serve", "serve --port 5000", "serve --certificate fullchain.pem --key privkey.pem"))
def serve(
    port: Port = None,
    bind: Bind = None,
    certificate: Certificate = None,
    key: Key = None,
    state: State = None,
    drain: Drain = "0s",
    json_: Json = False,
) -> None:
    """Serve measurements by `acklab perf` until Ctrl-C.

    Uses UDP port 8225 for TACK, TCP port 8225 for the kernel's TCP, and UDP port 8226 for QUIC.
    """
    from acklab.cli.hosts import serve_command

    serve_command(_port(port), bind or [], certificate, key, state, drain, json_)


@app.command(
    epilog=_examples(
        "perf server.example",
        "perf server.example --repeat 5 --with tack,quic,cubic,bbr",
        "perf server.example -R -t 5 -P 4 --with tack:congestion=cubic,ack.beta=8,tcp",
        "perf server.example --json | jq '.summary[] | {contender, goodput}'",
    )
)
def perf(
    host: Annotated[str, typer.Argument(metavar="HOST", help="Host that runs `acklab serve`.", show_default=False)],
    port: Port = None,
    time: Annotated[
        float | None,
        typer.Option("--time", "-t", metavar="SECONDS", help="Measure for this time (default: 10).", show_default=False),
    ] = None,
    bytes_: Annotated[
        str | None,
        typer.Option("--bytes", "-n", metavar="N[KMGT]", help="Transfer this many bytes in all instead.", show_default=False),
    ] = None,
    reverse: Annotated[bool, typer.Option("--reverse", "-R", help="Send from the server to this host.")] = False,
    parallel: Annotated[
        int, typer.Option("--parallel", "-P", min=1, max=128, help="Open this many streams, each on its own connection.")
    ] = 1,
    bitrate: Annotated[
        str | None,
        typer.Option("--bitrate", "-b", metavar="N[KMGT]", help="Limit each stream to this bit rate.", show_default=False),
    ] = None,
    interval: Annotated[float, typer.Option("--interval", "-i", metavar="SECONDS", help="Print a line per this time.")] = 1.0,
    repeat: Annotated[int, typer.Option(min=1, help="Measure each transport this many times: two or more give intervals.")] = 1,
    with_: Annotated[
        list[str] | None,
        typer.Option(
            "--with",
            metavar="LIST",
            help="Measure tack, quic, tcp or a congestion controller of the kernel, with settings after a colon (default: tack,quic,tcp).",
        ),
    ] = None,
    fingerprint: Fingerprint = None,
    accept_new: AcceptNew = False,
    ca: Authorities = None,
    keys: Keys = None,
    qlog: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Write a qlog of each TACK connection to this folder, for qvis.", show_default=False),
    ] = None,
    json_: Json = False,
) -> None:
    """Compare TACK, QUIC and the kernel's TCP between this host and another, in alternation.

    Shows the goodput of each, and its cost.
    """
    from acklab.cli.hosts import perf_command

    perf_command(
        host,
        _port(port),
        time,
        bytes_,
        reverse,
        parallel,
        bitrate,
        interval,
        repeat,
        with_ or [],
        fingerprint,
        accept_new,
        ca,
        keys,
        qlog,
        json_,
    )


kernel_app = typer.Typer(help="Build and list guest kernels for `acklab emulate --clock virtual`.", no_args_is_help=True)
app.add_typer(kernel_app, name="kernel")


@kernel_app.command("build", epilog=_examples("kernel build", "kernel build --version 6.1", "kernel build --source ~/linux"))
def kernel_build(
    version: Annotated[
        str | None,
        typer.Option(metavar="RELEASE", help="Debian's package linux-source-RELEASE (default: 6.12).", show_default=False),
    ] = None,
    source: Annotated[
        Path | None, typer.Option(metavar="DIR", help="A Linux tree of your own; it is not changed.", show_default=False)
    ] = None,
    json_: Json = False,
) -> None:
    """Build a guest kernel from Debian's source or your own tree, in some minutes, without root."""
    from acklab.cli.kernel import build_command

    build_command(version, source, json_)


@kernel_app.command("list", epilog=_examples("kernel list"))
def kernel_list(json_: Json = False) -> None:
    """List the guest kernels, the newest first."""
    from acklab.cli.kernel import list_command

    list_command(json_)


@kernel_app.command("remove", epilog=_examples("kernel remove 6.12.117-0f12"))
def kernel_remove(
    name: Annotated[str, typer.Argument(metavar="NAME", help="A kernel of `acklab kernel list`, or the start of its name.")],
) -> None:
    """Remove a guest kernel."""
    from acklab.cli.kernel import remove_command

    remove_command(name)


proxy = typer.Typer(help="Carry TCP connections of other programs over one TACK connection.", no_args_is_help=True)
app.add_typer(proxy, name="proxy")


@proxy.command(
    epilog=_examples(
        "proxy listen",
        "proxy listen --allow public --allow 10.0.0.0/8:22 --allow '*.example.org:443'",
        "proxy listen --to 127.0.0.1:22",
    )
)
def listen(
    port: Port = None,
    allow: Annotated[
        list[str] | None,
        typer.Option(
            metavar="RULE",
            help="Allow only these targets: public, *, a name, *.NAME, an address or a network, each with an optional :PORT (default: public).",
        ),
    ] = None,
    to: Annotated[
        list[str] | None, typer.Option("--to", metavar="HOST:PORT", help="Allow only this target; may be repeated.")
    ] = None,
    bind: Bind = None,
    certificate: Certificate = None,
    key: Key = None,
    state: State = None,
    drain: Drain = "0s",
    json_: Json = False,
) -> None:
    """Run the far end: connect to targets for clients that have the token, until Ctrl-C."""
    from acklab.cli.hosts import listen_command

    listen_command(_port(port), bind or [], [*(allow or []), *(to or [])], certificate, key, state, drain, json_)


@proxy.command(
    epilog=_examples(
        "proxy connect --via far.example --socks 127.0.0.1:1080",
        "proxy connect --via far.example:8225 --forward 2222:127.0.0.1:22 --forward 8080:intranet.example:80",
    )
)
def connect(
    via: Annotated[str, typer.Option("--via", metavar="HOST[:PORT]", help="Connect to this far end.", show_default=False)],
    token: Annotated[
        str | None,
        typer.Option(
            envvar="ACKLAB_PROXY_TOKEN",
            metavar="TOKEN",
            help="Authenticate by this token, as the far end prints it.",
            show_default=False,
        ),
    ] = None,
    socks: Annotated[
        str | None,
        typer.Option(metavar="ADDRESS:PORT", help="Serve SOCKS5 on this address, such as 127.0.0.1:1080.", show_default=False),
    ] = None,
    forward: Annotated[
        list[str] | None,
        typer.Option(metavar="[ADDRESS:]PORT:HOST:PORT", help="Forward a port, as ssh -L does; may be repeated."),
    ] = None,
    fingerprint: Fingerprint = None,
    accept_new: AcceptNew = False,
    ca: Authorities = None,
    keys: Keys = None,
    drain: Drain = "0s",
    json_: Json = False,
) -> None:
    """Run the near end: carry local TCP connections to the far end, until Ctrl-C.

    Reconnects after the connection to the far end is lost.
    """
    from acklab.cli.hosts import connect_command

    connect_command(via, token, socks, forward or [], fingerprint, accept_new, ca, keys, drain, json_)


@app.command()
def studies() -> None:
    """List the studies."""
    from acklab.cli.study import studies_command

    studies_command()


@app.command(epilog=_examples("show out/first", "show out/sweep --json"))
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
    epilog=_examples(
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
        typer.Option("--only", metavar="COLUMN,COLUMN", help="Show only these metrics.", autocompletion=_complete_columns),
    ] = None,
    all_: Annotated[bool, typer.Option("--all", help="Show all metrics instead of the most important ones.")] = False,
) -> None:
    """Compare results: differing keys of their scenarios, values, differences and ratios.

    For sweeps, differences and ratios are computed per seed and have intervals.
    """
    from acklab.cli.show import compare_command

    compare_command(folders, table, only or [], relative_to, all_)


@app.command(
    epilog=_examples(
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
    """Query stored tables, such as flows, links and points, by SQL (DuckDB)."""
    from acklab.cli.query import query_command

    query_command(sql, folder, json_, csv)


@app.command(epilog=_examples("report out/first", "report out", "report out/newreno out/bbr --out out/both.html"))
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
    """Write a report of one or several results as a single HTML file, which works offline."""
    from acklab.files import printable
    from acklab.report import write_report

    print(printable(write_report(folders, out)))


@app.command(
    epilog=_examples(
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


@app.command(epilog=_examples("new", "new satellite", "new cell --out office.toml"))
def new(
    template: Annotated[
        str,
        typer.Argument(metavar="KIND", help="Template to copy; lists all if omitted.", autocompletion=_complete_templates),
    ] = "",
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write the scenario to this file (default: KIND.toml).", show_default=False),
    ] = None,
) -> None:
    """Create a commented scenario from a template."""
    from acklab.cli.new import new_command

    new_command(template, out)


@app.command(
    epilog=_examples("trace", "trace verizon-lte --seed 2 --out lte.trace", "trace poisson --rate 2.64", "trace lte.trace")
)
def trace(
    what: Annotated[
        str,
        typer.Argument(
            metavar="MODEL|FILE",
            help="Model to generate, or trace to describe; lists the models if omitted.",
            autocompletion=_complete_traces,
        ),
    ] = "",
    rate: Annotated[float | None, typer.Option(metavar="MBPS", help="Set the mean rate of poisson.", show_default=False)] = None,
    seconds: Annotated[int, typer.Option(metavar="S", help="Set the length of the trace, which links repeat.")] = 60,
    seed: Annotated[int, typer.Option(metavar="N", help="Use this seed; the same seed gives the same trace.")] = 1,
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write the trace to this file (default: standard output).", show_default=False),
    ] = None,
) -> None:
    """Generate the trace of a link in mahimahi's format, or print statistics of one."""
    from acklab.cli.trace import trace_command

    trace_command(what, rate, seconds, seed, out)


@app.command(epilog=_examples("check cell.toml", "check cell.toml --json | jq .flow"))
def check(file: ScenarioFile, set_: Sets = None, json_: Json = False) -> None:
    """Check a scenario without running it."""
    from acklab.cli.run import check_command

    check_command(file, set_ or [], json_)


@app.command(epilog=_examples("schema > acklab.schema.json", "schema --for cell.toml"))
def schema(
    scenario: Annotated[
        Path | None,
        typer.Option(
            "--for",
            metavar="FILE",
            help="Write the schema beside this scenario, and refer to it in its first line (#:schema), where editors find it.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Print the JSON Schema of scenarios, for completion in editors."""
    import json

    from acklab import core

    if scenario is not None:
        from acklab.cli.new import name_schema

        name_schema(scenario, core.schema())
        return
    print(json.dumps(core.schema(), indent=2))


@app.command(epilog=_examples("explain", "explain flow.ack", "explain flow.ack.tack.beta", "explain queue.codel.target"))
def explain(
    key: Annotated[
        str,
        typer.Argument(
            metavar="KEY",
            help="Key of a scenario, or its last part; lists the top-level keys if omitted.",
            autocompletion=_complete_explained,
        ),
    ] = "",
) -> None:
    """Explain a key of a scenario: its meaning, values and default."""
    from acklab.keys import explain as explained

    print(explained(key))


def _port(given: int | None) -> int:
    from acklab import core

    return core.PORT if given is None else given


def _strategies(given: list[str] | None) -> "Strategies | None":
    if not given:
        return None
    from acklab.strategy_files import strategy_files

    return {**strategy_files(given)}


def _show_version(value: bool) -> None:
    if value:
        from acklab import core

        print(f"acklab {core.version()} ({core.revision()})")
        raise typer.Exit


_REAL_TIME = ("emulate", "inline", "serve", "perf", "proxy")
"""Commands that run in real time and stop in order: results are shown and stored."""
_WITH_PERMISSION = ("study", "packetdrill")
"""Commands that may acquire a permission, which must precede the second thread."""


@app.callback()
def _root(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version.")] = False,
) -> None:
    if context.invoked_subcommand not in (*_REAL_TIME, *_WITH_PERMISSION):
        _limit(context)


def _limit(context: typer.Context) -> None:
    """Limits the time from Ctrl-C to the end of the process."""
    interruption = context.find_object(Interruption)
    assert interruption is not None
    interruption.limit()


def main() -> None:
    """Runs the command line. Errors of the user are printed as one message, without a traceback."""
    if "_ACKLAB_COMPLETE" in os.environ:
        from acklab.cli.completion import complete

        sys.exit(complete(lambda: _main(Interruption())))
    code = _main(interruption := Interruption())
    if interruption.has_come:
        # Threads that still compute would abort the process during the interpreter's shutdown.
        sys.stderr.flush()
        os._exit(code)
    sys.exit(code)


def _main(interruption: Interruption) -> int:
    try:
        code = _run(interruption)
        sys.stdout.flush()
    except BrokenPipeError:
        code = 141  # the reader of the output has closed it
    except OSError as error:
        _say(f"{error.filename or 'standard output'}: cannot be written: {error.strerror or error}")
        code = 1
    if code in (1, 141):
        # Python would print another error when it closes a stream that cannot be written.
        try:
            sys.stdout.flush()
        except OSError:
            sys.stdout = None
    return code


def _run(interruption: Interruption) -> int:
    with interruption.handled():
        message, code = "stopped: nothing incomplete was stored", Cancelled.exit_code
        try:
            app(standalone_mode=True, obj=interruption)
        except AcklabError as error:
            message, code = str(error), error.exit_code
        except KeyboardInterrupt:
            pass
        except SystemExit as done:
            # Typer converts KeyboardInterrupt to SystemExit.
            if not interruption.has_come:
                return done.code if isinstance(done.code, int) else 0 if done.code is None else 1
        if interruption.has_come:
            # The rest of the output is not needed.
            drop_output((1,), only_if_blocked=False)
            drop_output((2,), only_if_blocked=True)
        _say(message)
        interruption.is_reported = True
        return code


def _say(message: str) -> None:
    from acklab.files import visible

    text = visible(message.encode("utf-8", "backslashreplace").decode(), lines=True)
    if sys.stderr.isatty():
        print(f"\x1b[1;31merror:\x1b[0m {text}", file=sys.stderr)
    else:
        print(f"error: {text}", file=sys.stderr)
