"""Commands with real packets or a kernel: emulate, inline, kernel, packetdrill."""

from pathlib import Path
from typing import Annotated

import typer

from acklab.cli.app import app, examples, limit
from acklab.cli.options import Everything, Json, Kernel, NoQlog, Only, Processors, Sets, StrategyOption, strategies_of
from acklab.errors import UsageError


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
    kernel: Kernel = None,
    qlog: NoQlog = None,
    all_: Everything = False,
    only: Only = None,
    json_: Json = False,
) -> None:
    """Run one scenario in real time, with real packets.

    These are packets of programs and of the kernel's TCP and UDP. Requires root or a user
    namespace. Exit status 3: the run finished, but its results are unreliable, because packets were
    late or lost.
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
    epilog=examples(
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
    """Emulate a path between two interfaces of this host.

    The path carries traffic of other hosts. Requires root and Linux 6.6.

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


kernel_app = typer.Typer(help="Build and list guest kernels for emulations in virtual time.", no_args_is_help=True)
app.add_typer(kernel_app, name="kernel")


@kernel_app.command("build", epilog=examples("kernel build", "kernel build --version 6.1", "kernel build --source ~/linux"))
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
    """Build a guest kernel in some minutes, without root.

    Its source is Debian's or your own tree.
    """
    from acklab.cli.kernel import build_command

    build_command(version, source, json_)


@kernel_app.command("list", epilog=examples("kernel list"))
def kernel_list(json_: Json = False) -> None:
    """List the guest kernels, the newest first."""
    from acklab.cli.kernel import list_command

    list_command(json_)


@kernel_app.command("remove", epilog=examples("kernel remove 6.12.117-0f12"))
def kernel_remove(
    name: Annotated[str, typer.Argument(metavar="NAME", help="A kernel of `acklab kernel list`, or the start of its name.")],
) -> None:
    """Remove a guest kernel."""
    from acklab.cli.kernel import remove_command

    remove_command(name)


@app.command(
    epilog=examples(
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
    limit(context)
    from acklab.cli.packetdrill import packetdrill_command

    packetdrill_command(scripts, preset, scenario, set_ or [], strategies_of(strategy), tolerance_usecs, json_)
