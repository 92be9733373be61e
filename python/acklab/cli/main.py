"""The commands and their options. Each imports what it needs when it is called, so that help and completion wait for nothing."""

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
    help="A laboratory for the acknowledgements of transport protocols.",
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


def _examples(*commands: str) -> str:
    """Examples as they stand below the help of a command."""
    # A line with nothing but a backspace keeps what follows from being folded into one paragraph.
    return "\b\n" + "\n".join(["Examples:", *(f"  acklab {command}" for command in commands)])


def _complete_keys(incomplete: str) -> list[str]:
    """Keys of the scenario on the command line, for --set and --grid."""
    from acklab.cli.completion import keys

    return keys(incomplete)


def _complete_lists(incomplete: str) -> list[str]:
    """Keys with values behind commas, for --grid."""
    from acklab.cli.completion import lists

    return lists(incomplete)


def _complete_kinds_of_file(incomplete: str) -> list[str]:
    from acklab.figures.saving import KINDS

    return [kind for kind in KINDS if kind.startswith(incomplete)]


def _complete_figures(incomplete: str) -> list[tuple[str, str]]:
    """Figures of a run; those of a study and of a sweep depend on it."""
    from acklab.figures import FIGURES

    return [(name, caption) for name, (_, caption) in FIGURES.items() if name.startswith(incomplete)]


def _complete_traces(incomplete: str) -> list[tuple[str, str]]:
    """Models of traces."""
    from acklab.cli.trace import MODELS

    return [(name, title) for name, title in MODELS.items() if name.startswith(incomplete)]


def _complete_processors(incomplete: str) -> list[str]:
    from acklab.core import PROCESSORS

    return [name for name in PROCESSORS if name.startswith(incomplete)]


def _complete_explained(incomplete: str) -> list[str]:
    """Keys of any scenario."""
    from acklab.cli.completion import paths

    return paths(incomplete)


def _complete_columns(incomplete: str) -> list[tuple[str, str]]:
    """Columns of the tables of metrics, for --only."""
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
    Path, typer.Argument(metavar="FILE", help="Scenario: TOML, or JSON of the same shape.", show_default=False)
]
Sets = Annotated[
    list[str] | None,
    typer.Option(
        "--set", metavar="KEY=VALUE", help="Override a value, such as flow.0.congestion=newreno.", autocompletion=_complete_keys
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object on standard output and nothing else.")]
Everything = Annotated[bool, typer.Option("--all", help="Show every table and metric, not the short answer.")]
Only = Annotated[
    list[str] | None,
    typer.Option("--only", metavar="COLUMN,COLUMN", help="Show these columns only.", autocompletion=_complete_columns),
]
# Known, so that the error can say what to do instead.
NoQlog = Annotated[Path | None, typer.Option("--qlog", hidden=True)]
Jobs = Annotated[
    int | None, typer.Option("--jobs", "-j", min=1, help="Runs at a time (default: one a core).", show_default=False)
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
        help="In real time, idle processors stay awake until the hypervisor takes too much of them (auto), stay awake, or halt: it saves power, and packets are later.",
        autocompletion=_complete_processors,
    ),
]
DryRun = Annotated[
    bool,
    typer.Option("--dry-run", help="Say how many points there are, and what they will cost by a sample of them; keep nothing."),
]
StrategyOption = Annotated[
    list[str] | None,
    typer.Option(
        "--strategy",
        metavar="FILE:CLASS",
        help="An ACK policy or congestion controller of yours, which the scenario names by its class; NAME=FILE:CLASS for another name.",
    ),
]

Port = Annotated[
    int | None,
    typer.Option("--port", "-p", min=0, max=65534, help="Port (default: 8225); QUIC has the next one.", show_default=False),
]
Fingerprint = Annotated[
    str | None, typer.Option(metavar="sha256:…", help="The fingerprint that the server has printed.", show_default=False)
]
AcceptNew = Annotated[
    bool, typer.Option("--accept-new", help="Believe a server that is not known yet; one that has changed is refused.")
]
Bind = Annotated[
    list[str] | None, typer.Option("--bind", "-B", metavar="ADDRESS", help="Listen at this address only; repeat it for more.")
]
Certificate = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Certificate in PEM, with its chain (default: one that is made here).", show_default=False),
]
Key = Annotated[Path | None, typer.Option(metavar="FILE", help="Its private key in PEM.", show_default=False)]
State = Annotated[
    Path | None,
    typer.Option(metavar="DIR", help="Keep certificate and keys there (default: ~/.local/state/acklab).", show_default=False),
]
Drain = Annotated[
    str,
    typer.Option(
        metavar="TIME",
        help="Time for unfinished transfers after Ctrl-C or SIGTERM, such as 10s; then, or at a second signal, they are reset.",
    ),
]
Keys = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Append the secrets of TLS there, for Wireshark.", show_default=False)
]
Authorities = Annotated[
    Path | None, typer.Option("--ca", metavar="FILE", help="Believe certificates of these authorities (PEM).", show_default=False)
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
    seed: Annotated[int | None, typer.Option(min=0, help="Seed (default: that of the scenario).", show_default=False)] = None,
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Keep the tables there, as Parquet.", show_default=False)
    ] = None,
    qlog: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Write what happens at both ends of each flow there, for qvis.", show_default=False),
    ] = None,
    qlog_version: Annotated[
        str, typer.Option(metavar="VERSION", help="Version of these logs: 0.3, which qvis reads, or draft-13.")
    ] = "0.3",
    strategy: StrategyOption = None,
    all_: Everything = False,
    only: Only = None,
    json_: Json = False,
) -> None:
    """Run one scenario and show what became of it."""
    from acklab.cli.run import View, run_command

    view = View.of(all_, only or [])
    run_command(file, set_ or [], seed, out, qlog, qlog_version, json_, _strategies(strategy), view)


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
    internet: Annotated[
        str | None,
        typer.Option(
            metavar="NODE",
            help="This node leads to the networks of this machine: what goes to no other node leaves there (NAT).",
            show_default=False,
        ),
    ] = None,
    calibrate: Annotated[
        bool, typer.Option("--calibrate", help="Measure what this machine can carry, without a scenario.")
    ] = False,
    watch: Annotated[bool, typer.Option("--watch", help="Serve a page on localhost that shows the run while it lasts.")] = False,
    port: Annotated[int, typer.Option(min=0, max=65535, help="With --watch: the port of the page; 0 is a free one.")] = 0,
    processors: Processors = "auto",
    qlog: NoQlog = None,
    all_: Everything = False,
    only: Only = None,
    json_: Json = False,
) -> None:
    """Run one scenario in real time, with real packets and the kernel's TCP and UDP. Needs root or a user namespace.

    Exit status 3: it has finished, but packets were late or lost, so that its results may not be trusted.
    """
    from acklab.cli.emulate import calibrate_command, emulate_command

    if qlog is not None:
        raise UsageError(
            "found --qlog, but the kernel's endpoints write no logs; a [[capture]] in the scenario keeps their packets"
        )
    if calibrate:
        calibrate_command(json_, processors)
        return
    if file is None:
        raise UsageError("found no scenario, expected a file, or --calibrate")
    from acklab.cli.run import View

    view = View.of(all_, only or [])
    emulate_command(file, set_ or [], seed, out, json_, at, shell, words or [], watch, port, processors, internet, view)


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
            help="Two interfaces; or a scenario with two entries [[interface]], or with the interfaces behind it.",
            show_default=False,
        ),
    ],
    rate: Annotated[
        str | None, typer.Option(metavar="A[/B]", help="Rate from EAST to WEST, and back.", show_default=False)
    ] = None,
    delay: Annotated[str | None, typer.Option(metavar="A[/B]", help="Delay, one way.", show_default=False)] = None,
    loss: Annotated[
        str | None, typer.Option(metavar="A[/B]", help="Share of packets that are lost, such as 0.01.", show_default=False)
    ] = None,
    queue: Annotated[
        str | None, typer.Option(metavar="A[/B]", help="Limit of the queue, such as 100packets.", show_default=False)
    ] = None,
    ack_filter: Annotated[
        str | None,
        typer.Option(
            metavar="A[/B]",
            help="ACK filter of the queue: news, duplicates, nothing, cake, cake-aggressive, none.",
            show_default=False,
        ),
    ] = None,
    acks_first: Annotated[bool, typer.Option("--acks-first", help="Queues from which pure ACKs leave first.")] = False,
    gate: Annotated[
        str | None,
        typer.Option(
            metavar="A[/B]", help="Release packets in bursts: an interval and a quota, such as 5ms:10.", show_default=False
        ),
    ] = None,
    thinner: Annotated[
        str | None,
        typer.Option(
            metavar="A[/B]",
            help="Hold pure ACKs back: scsc, dhd, unisoc, none, or a number of ACKs and a time, such as 4:10ms.",
            show_default=False,
        ),
    ] = None,
    spacer: Annotated[
        str | None,
        typer.Option(
            metavar="A[/B]",
            help="Spread ACKs: reconstruct, none, a rate of data such as 16Mbps, or a time such as 1ms.",
            show_default=False,
        ),
    ] = None,
    set_: Sets = None,
    seed: Annotated[int | None, typer.Option(min=0, help="Seed (default: that of the scenario).", show_default=False)] = None,
    duration: Annotated[
        str | None, typer.Option(metavar="TIME", help="End after this time (default: never).", show_default=False)
    ] = None,
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Keep the tables there, as Parquet.", show_default=False)
    ] = None,
    capture: Annotated[
        list[str] | None,
        typer.Option(
            "--capture",
            metavar="POINT[=FILE]",
            help="Capture packets: a node, or a direction of a link (line_forward) where they enter it, or leave it (line_forward.out).",
        ),
    ] = None,
    interval: Annotated[
        int | None, typer.Option(min=1, metavar="SECONDS", help="Print a line for each interval.", show_default=False)
    ] = None,
    watch: Annotated[bool, typer.Option("--watch", help="Serve a page on localhost that shows it while it lasts.")] = False,
    port: Annotated[int, typer.Option(min=0, max=65535, help="With --watch: the port of the page; 0 is a free one.")] = 0,
    processors: Processors = "auto",
    method: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="How frames come from the kernel: ring or tap (default: the best).", show_default=False
        ),
    ] = None,
    json_: Json = False,
) -> None:
    """Put a path between two interfaces of this host, for the traffic of others. Needs root and Linux 6.6.

    The interfaces are ports of a bridge, or of a router, which carries the traffic on if this process ends, stalls or is overloaded. Without either,
    it makes a bridge and removes it at the end.
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
            help="Keep the results there, a folder or a URL such as s3://bucket/folder; points that are there are not run again.",
        ),
    ] = "out/sweep",
    grid: Annotated[
        list[str] | None,
        typer.Option(
            "--grid",
            metavar="KEY=A,B,C",
            help="Values of a key, or variants from a file: NAME=@FILE; repeat it for more.",
            autocompletion=_complete_lists,
        ),
    ] = None,
    seeds: Annotated[int, typer.Option(min=1, help="How many seeds, counted up from that of the scenario.")] = 1,
    set_: Sets = None,
    vary: Annotated[
        list[str] | None,
        typer.Option(
            "--vary",
            metavar="KEY=A..B",
            help="Draw a value anew for each seed but the first, such as flow.0.start=0ms..5ms.",
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
    """Run all points of a grid, for all seeds, on all cores or on a cluster."""
    from acklab.cli.sweep import sweep_command

    if qlog is not None:
        raise UsageError(
            "found --qlog, but a sweep writes no logs; acklab run repeats one of its points, with --set, --seed and --qlog"
        )
    sweep_command(file, grid or [], seeds, set_ or [], vary or [], out, jobs, json_, strategy or [], on, dry_run)


@app.command(epilog=_examples("study ack_compression", "study ack_policies --quick", "study --all --out out"))
def study(
    context: typer.Context,
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="NAME…", help="Studies, by name.", show_default=False, autocompletion=_complete_studies),
    ] = None,
    all_: Annotated[bool, typer.Option("--all", help="All studies.")] = False,
    quick: Annotated[bool, typer.Option("--quick", help="Fewer seeds.")] = False,
    out: Annotated[
        str,
        typer.Option(metavar="DIR", help="Keep the results there, a folder or a URL; runs that are there are not repeated."),
    ] = "out",
    jobs: Jobs = None,
    on: On = None,
    most_seeds: Annotated[
        int | None,
        typer.Option(
            min=2,
            metavar="N",
            help="Give undecided claims more seeds, up to N, by a sequential rule with an error of 5 % over all looks.",
            show_default=False,
        ),
    ] = None,
    way: Annotated[
        str,
        typer.Option(
            metavar="WAY",
            help="simulate, or emulate: real time and the kernel's TCP, for the points in the study's emulated.toml; needs root or a user namespace.",
        ),
    ] = "simulate",
    processors: Processors = "auto",
    dry_run: DryRun = False,
    json_: Json = False,
) -> None:
    """Rerun studies and set their results beside the published ones."""
    if way == "emulate":
        from acklab import core

        # Before anything starts a thread.
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
            help="Packets: pcap, pcapng or snoop; or the log of an endpoint: qlog. Either may be compressed by gzip or zstd.",
            show_default=False,
        ),
    ],
    report: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write a report with time–sequence plots there, as HTML.", show_default=False),
    ] = None,
    trace: Annotated[
        int | None,
        typer.Option(
            min=1, metavar="N", help="Of a log with several traces, read only number N; all by default.", show_default=False
        ),
    ] = None,
    json_: Json = False,
) -> None:
    """Read a capture: the bottleneck, round trips, losses and ACKs of each connection."""
    from acklab.cli.inspect import inspect_command

    inspect_command(capture, report, json_, trace)


@app.command(epilog=_examples("fit download.pcapng > link.toml", "fit download.pcapng --json | jq .errors"))
def fit(
    capture: Annotated[Path, typer.Argument(metavar="CAPTURE", help="Packets: pcap or pcapng.", show_default=False)],
    json_: Json = False,
) -> None:
    """Fit the scenario of a path to a capture, with the ranges of what is uncertain."""
    from acklab.cli.fit import fit_command

    fit_command(capture, json_)


@app.command(
    epilog=_examples(
        "advise link.toml",
        "advise download.pcapng --report advice.html",
        "advise satellite --set link.geo.reverse.rate=256kbps --use bulk --use page",
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
        typer.Option("--vary", metavar="KEY=A..B", help="A range of what is uncertain, besides those in the file."),
    ] = None,
    use: Annotated[
        list[str] | None, typer.Option("--use", metavar="NAME", help="bulk, page, call or upload (default: all).")
    ] = None,
    seconds: Annotated[float, typer.Option("--time", min=1, metavar="SECONDS", help="When an answer is wanted.")] = 60.0,
    report: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the evidence there, as HTML.", show_default=False)
    ] = None,
    jobs: Jobs = None,
    json_: Json = False,
) -> None:
    """Say which ACKs, controller and transport serve a path best, by how much, and how to switch them on."""
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
            help="The stack that is tested: linux, ns3 or rfc; or kernel, that of this machine (needs root or a user namespace).",
        ),
    ] = "linux",
    scenario: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Test the first flow over TCP of this scenario instead.", show_default=False),
    ] = None,
    set_: Sets = None,
    strategy: StrategyOption = None,
    tolerance_usecs: Annotated[
        int | None,
        typer.Option(
            "--tolerance_usecs", min=0, metavar="N", help="The tolerance of times, whatever scripts say.", show_default=False
        ),
    ] = None,
    json_: Json = False,
) -> None:
    """Play scripts of packetdrill at acklab's TCP.

    Exit status 1: something was not as a script expects it; 2: a script is malformed. What is out of scope is not counted.
    """
    if preset == "kernel":
        from acklab import core

        # Before anything starts a thread.
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
    """Serve measurements of `acklab perf`, until Ctrl-C.

    TACK has UDP port 8225, the kernel's TCP has TCP port 8225, and QUIC has UDP port 8226.
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
    host: Annotated[str, typer.Argument(metavar="HOST", help="Where `acklab serve` runs.", show_default=False)],
    port: Port = None,
    time: Annotated[
        float | None,
        typer.Option("--time", "-t", metavar="SECONDS", help="Length of a measurement (default: 10).", show_default=False),
    ] = None,
    bytes_: Annotated[
        str | None,
        typer.Option("--bytes", "-n", metavar="N[KMGT]", help="Octets to carry instead, in all.", show_default=False),
    ] = None,
    reverse: Annotated[bool, typer.Option("--reverse", "-R", help="The server sends.")] = False,
    parallel: Annotated[int, typer.Option("--parallel", "-P", min=1, max=128, help="Streams, each a connection of its own.")] = 1,
    bitrate: Annotated[
        str | None,
        typer.Option("--bitrate", "-b", metavar="N[KMGT]", help="What is written to a stream, in bits/s.", show_default=False),
    ] = None,
    interval: Annotated[float, typer.Option("--interval", "-i", metavar="SECONDS", help="Time between lines.")] = 1.0,
    repeat: Annotated[int, typer.Option(min=1, help="Rounds in which each is measured: two or more give intervals.")] = 1,
    with_: Annotated[
        list[str] | None,
        typer.Option(
            "--with",
            metavar="LIST",
            help="tack, quic, tcp or a congestion controller of the kernel, with settings behind a colon (default: tack,quic,tcp).",
        ),
    ] = None,
    fingerprint: Fingerprint = None,
    accept_new: AcceptNew = False,
    ca: Authorities = None,
    keys: Keys = None,
    qlog: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Write a log of each connection of TACK there, for qvis.", show_default=False),
    ] = None,
    json_: Json = False,
) -> None:
    """Measure TACK, QUIC and the kernel's TCP in turns between this host and another: which is fastest there, and at what cost."""
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


proxy = typer.Typer(help="Carry TCP connections of other programs over one connection of TACK.", no_args_is_help=True)
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
            help="Allow these targets only: public, *, a name, *.NAME, an address or a network, with :PORT if you like (default: public).",
        ),
    ] = None,
    to: Annotated[
        list[str] | None, typer.Option("--to", metavar="HOST:PORT", help="Allow this target only; repeat it for more.")
    ] = None,
    bind: Bind = None,
    certificate: Certificate = None,
    key: Key = None,
    state: State = None,
    drain: Drain = "0s",
    json_: Json = False,
) -> None:
    """The far side: connect to targets for those who have the token, until Ctrl-C."""
    from acklab.cli.hosts import listen_command

    listen_command(_port(port), bind or [], [*(allow or []), *(to or [])], certificate, key, state, drain, json_)


@proxy.command(
    epilog=_examples(
        "proxy connect --via far.example --socks 127.0.0.1:1080",
        "proxy connect --via far.example:8225 --forward 2222:127.0.0.1:22 --forward 8080:intranet.example:80",
    )
)
def connect(
    via: Annotated[str, typer.Option("--via", metavar="HOST[:PORT]", help="The far side.", show_default=False)],
    token: Annotated[
        str | None,
        typer.Option(envvar="ACKLAB_PROXY_TOKEN", metavar="TOKEN", help="What the far side has printed.", show_default=False),
    ] = None,
    socks: Annotated[
        str | None, typer.Option(metavar="ADDRESS:PORT", help="Speak SOCKS5 there, such as 127.0.0.1:1080.", show_default=False)
    ] = None,
    forward: Annotated[
        list[str] | None,
        typer.Option(metavar="[ADDRESS:]PORT:HOST:PORT", help="Forward a port, as ssh -L does; repeat it for more."),
    ] = None,
    fingerprint: Fingerprint = None,
    accept_new: AcceptNew = False,
    ca: Authorities = None,
    keys: Keys = None,
    drain: Drain = "0s",
    json_: Json = False,
) -> None:
    """The near side: what connects here, leaves the far side. A connection that is lost is made anew. Until Ctrl-C."""
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
    """Show results that were kept, as they were shown when they were new."""
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
            help="What the others are compared with: a folder (default: the first), or within one sweep a value of an axis.",
            show_default=False,
        ),
    ] = "",
    table: Annotated[str, typer.Option(metavar="NAME", help="One table only, such as flows or links.", show_default=False)] = "",
    only: Annotated[
        list[str] | None,
        typer.Option("--only", metavar="COLUMN,COLUMN", help="These metrics only.", autocompletion=_complete_columns),
    ] = None,
    all_: Annotated[bool, typer.Option("--all", help="All metrics, not the most important ones.")] = False,
) -> None:
    """Set results side by side: what differs between their scenarios, then values, differences and ratios.

    Of sweeps, differences and ratios are taken seed by seed and have intervals.
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
    sql: Annotated[str, typer.Argument(metavar="SQL", help="A question; each table is called by its name.", show_default=False)],
    folder: Annotated[
        str, typer.Argument(metavar="DIR", help="A folder or a URL with the results of a sweep or a run.")
    ] = "out/sweep",
    csv: Annotated[bool, typer.Option("--csv", help="Print CSV.")] = False,
    json_: Json = False,
) -> None:
    """Ask DuckDB about kept tables, such as flows, links and points."""
    from acklab.cli.query import query_command

    query_command(sql, folder, json_, csv)


@app.command(epilog=_examples("report out/first", "report out", "report out/newreno out/bbr --out out/both.html"))
def report(
    folders: Annotated[list[str], typer.Argument(metavar="DIR…", help="Folders or URLs with results.", show_default=False)],
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Write it there (default: DIR/report.html, and report.html here for a URL).", show_default=False
        ),
    ] = None,
) -> None:
    """Write a report as one HTML file, which opens from disk and needs no network: of one folder, or of several side by side."""
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
            help="FILE.png, .svg, .pdf or .html for one figure; else a folder (default: DIR/figures, and figures here for a URL).",
            show_default=False,
        ),
    ] = None,
    format_: Annotated[
        str,
        typer.Option(
            "--format", metavar="KIND", help="In a folder: png, svg, pdf or html.", autocompletion=_complete_kinds_of_file
        ),
    ] = "svg",
    width: Annotated[int, typer.Option(min=200, max=4000, metavar="PIXELS", help="Width of the figures.")] = 900,
    list_: Annotated[bool, typer.Option("--list", help="List the figures that there are.")] = False,
) -> None:
    """Draw figures as files: of a run, a sweep or a study. PNG, SVG and PDF need Kaleido (pip install acklab[images]) and a Chromium."""
    from acklab.cli.plot import plot_command

    plot_command(folder, names or [], out, format_, width, list_)


@app.command(epilog=_examples("new", "new satellite", "new cell --out office.toml"))
def new(
    template: Annotated[
        str,
        typer.Argument(metavar="KIND", help="What to begin with; none lists them.", autocompletion=_complete_templates),
    ] = "",
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write it there (default: KIND.toml).", show_default=False)
    ] = None,
) -> None:
    """Write a commented scenario to begin with."""
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
            help="What to generate, or a trace to describe; none lists the models.",
            autocompletion=_complete_traces,
        ),
    ] = "",
    rate: Annotated[float | None, typer.Option(metavar="MBPS", help="Mean rate of poisson.", show_default=False)] = None,
    seconds: Annotated[int, typer.Option(metavar="S", help="Length of the trace, which links repeat.")] = 60,
    seed: Annotated[int, typer.Option(metavar="N", help="The same seed gives the same trace.")] = 1,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write it there (default: standard output).", show_default=False)
    ] = None,
) -> None:
    """Generate the trace of a link in mahimahi's format, or tell how the rate of one varies."""
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
            help="Write the schema beside this scenario, and name it in its first line (#:schema), where editors look for it.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Print the JSON Schema of scenarios, for editors to complete from."""
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
            help="A key of a scenario, or the end of one; none lists the first ones.",
            autocompletion=_complete_explained,
        ),
    ] = "",
) -> None:
    """Say what a key of a scenario means, which values it takes, and what holds without it."""
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


_END_THEMSELVES = ("emulate", "inline", "serve", "perf", "proxy")
"""Commands that run in real time, and end in an orderly way."""
_LATER = ("study", "packetdrill")
"""Commands that may need a permission before they have a second thread."""


@app.callback()
def _root(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version.")] = False,
) -> None:
    if context.invoked_subcommand not in (*_END_THEMSELVES, *_LATER):
        _limit(context)


def _limit(context: typer.Context) -> None:
    """Bounds the time from Ctrl-C to the end of the process."""
    interruption = context.find_object(Interruption)
    assert interruption is not None
    interruption.limit()


def main() -> None:
    """Runs the command line; what a person did wrong is told in one message, never as a traceback."""
    if "_ACKLAB_COMPLETE" in os.environ:
        from acklab.cli.completion import complete

        sys.exit(complete(lambda: _main(Interruption())))
    code = _main(interruption := Interruption())
    if interruption.has_come:
        # Threads that still compute would abort the process while the interpreter ends.
        sys.stderr.flush()
        os._exit(code)
    sys.exit(code)


def _main(interruption: Interruption) -> int:
    try:
        code = _run(interruption)
        sys.stdout.flush()
    except BrokenPipeError:
        code = 141  # the reader of our output has gone: there is nobody left to tell
    except OSError as error:
        _say(f"{error.filename or 'standard output'}: cannot write it: {error.strerror or error}")
        code = 1
    if code in (1, 141):
        # Python would complain once more when it closes what cannot be written.
        try:
            sys.stdout.flush()
        except OSError:
            sys.stdout = None
    return code


def _run(interruption: Interruption) -> int:
    with interruption.heeded():
        message, code = "stopped", Cancelled.exit_code
        try:
            app(standalone_mode=True, obj=interruption)
        except AcklabError as error:
            message, code = str(error), error.exit_code
        except KeyboardInterrupt:
            pass
        except SystemExit as done:
            # Typer turns KeyboardInterrupt into this.
            if not interruption.has_come:
                return done.code if isinstance(done.code, int) else 0 if done.code is None else 1
        if interruption.has_come:
            # Nobody waits for the rest of what was printed.
            drop_output((1,), only_if_blocked=False)
            drop_output((2,), only_if_blocked=True)
        _say(message)
        interruption.is_told = True
        return code


def _say(message: str) -> None:
    from acklab.files import visible

    text = visible(message.encode("utf-8", "backslashreplace").decode(), lines=True)
    if sys.stderr.isatty():
        print(f"\x1b[1;31merror:\x1b[0m {text}", file=sys.stderr)
    else:
        print(f"error: {text}", file=sys.stderr)
