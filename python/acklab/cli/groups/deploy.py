"""Commands for TACK between hosts: serve, perf, proxy."""

from pathlib import Path
from typing import Annotated

import typer

from acklab.cli.app import app, examples
from acklab.cli.options import Json


def _port(given: int | None) -> int:
    from acklab import _core

    return _core.PORT if given is None else given


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


@app.command(epilog=examples("serve", "serve --port 5000", "serve --certificate fullchain.pem --key privkey.pem"))
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
    epilog=examples(
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
    """Compare TACK, QUIC and the kernel's TCP between two hosts.

    Measures them in alternation, from this host to one that runs `acklab serve`, or with --reverse
    back. Shows the goodput of each, and its cost.
    """
    from acklab import hosts
    from acklab.cli.hosts import fingerprint_prompt, progress, show_perf
    from acklab.errors import UsageError

    if time is not None and bytes_ is not None:
        raise UsageError("found --time and --bytes, expected one of them")
    measured = hosts.perf(
        host,
        contenders=with_ or hosts.DEFAULT_CONTENDERS,
        port=_port(port),
        time=time,
        bytes=None if bytes_ is None else hosts.octets(bytes_),
        reverse=reverse,
        parallel=parallel,
        bitrate=None if bitrate is None else hosts.bits_per_second(bitrate),
        interval=interval,
        repeat=repeat,
        fingerprint=fingerprint,
        authorities=ca,
        accept_new=accept_new,
        confirm=fingerprint_prompt(host, _port(port)),
        keys=keys,
        qlog=qlog,
        watch=None if json_ else progress(repeat),
    )
    show_perf(measured, json_)


proxy = typer.Typer(help="Carry TCP connections of programs over one TACK connection.", no_args_is_help=True)
app.add_typer(proxy, name="proxy")


@proxy.command(
    epilog=examples(
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
    """Run the far end until Ctrl-C.

    Connects to targets for clients that have the token.
    """
    from acklab.cli.hosts import listen_command

    listen_command(_port(port), bind or [], [*(allow or []), *(to or [])], certificate, key, state, drain, json_)


@proxy.command(
    epilog=examples(
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
    """Run the near end until Ctrl-C.

    Carries local TCP connections to the far end. Reconnects after the connection to the far end is
    lost.
    """
    from acklab.cli.hosts import connect_command

    connect_command(via, token, socks, forward or [], fingerprint, accept_new, ca, keys, drain, json_)
