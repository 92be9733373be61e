"""`acklab serve`, `acklab perf` and `acklab proxy`."""

import json
import socket
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from acklab import _core, core, hosts
from acklab.cli.signals import drained_by_signals
from acklab.errors import UsageError
from acklab.terminal import notify, out, show_table


def serve_command(
    port: int, addresses: list[str], certificate: Path | None, key: Path | None, state: Path | None, drain: str, as_json: bool
) -> None:
    """Serves measurements until Ctrl-C."""
    cancel = core.Cancel()

    def ready(bound: int, fingerprint: str) -> None:
        if as_json:
            print(json.dumps({"port": bound, "fingerprint": fingerprint}), flush=True)
            return
        at = "" if bound == hosts.PORT else f" --port {bound}"
        print(f"acklab serves on port {bound} (UDP and TCP) and {bound + 1} (UDP). Its fingerprint:\n  {fingerprint}")
        print(f"On the other host:\n  acklab perf {_own_address()}{at} --fingerprint {fingerprint}", flush=True)

    with _until_stopped(cancel):
        hosts.serve(
            port=port,
            addresses=addresses,
            certificate=certificate,
            key=key,
            state=state,
            drain=drain,
            ready=ready,
            tell=None if as_json else notify,
            cancel=cancel,
        )


def show_perf(measured: hosts.Perf, as_json: bool) -> None:
    """Shows transports side by side."""
    if as_json:
        print(json.dumps(measured.to_dict(), allow_nan=False))
        return
    show_table(measured.table)
    out.print(measured.conclusion, highlight=False, markup=False)
    if not hosts.needs_trust(",".join(measured.contenders)):
        notify("note: the kernel's TCP is neither encrypted nor authenticated here")


def listen_command(
    port: int,
    addresses: list[str],
    allow: list[str],
    certificate: Path | None,
    key: Path | None,
    state: Path | None,
    drain: str,
    as_json: bool,
) -> None:
    """Runs the far end of a proxy until Ctrl-C."""
    cancel = core.Cancel()

    def ready(bound: int, fingerprint: str, token: str) -> None:
        if as_json:
            print(json.dumps({"port": bound, "fingerprint": fingerprint, "token": token}), flush=True)
            return
        print(f"acklab proxy listens on UDP port {bound}. Its fingerprint:\n  {fingerprint}")
        print(f"On the near host (the variable hides the token from the process list):\n  export ACKLAB_PROXY_TOKEN={token}")
        command = f"acklab proxy connect --via {_own_address()}:{bound} --fingerprint {fingerprint} --socks 127.0.0.1:1080"
        print(f"  {command}", flush=True)

    with _until_stopped(cancel):
        _core.proxy_listen(
            addresses,
            port,
            allow,
            ready,
            tell=None if as_json else notify,
            certificate=certificate,
            key=key,
            folder=state,
            drain=drain,
            cancel=cancel,
        )


def connect_command(
    via: str,
    token: str | None,
    socks: str | None,
    forwards: list[str],
    fingerprint: str | None,
    accept_new: bool,
    authorities: Path | None,
    keys: Path | None,
    drain: str,
    as_json: bool,
) -> None:
    """Runs the near end of a proxy until Ctrl-C."""
    cancel = core.Cancel()
    host, port = _host_and_port(via)
    if token is None:
        raise UsageError("found no token, expected ACKLAB_PROXY_TOKEN or --token, as printed by `acklab proxy listen`")
    if not socks and not forwards:
        raise UsageError("found no listener, expected --socks or --forward")
    if fingerprint is None and authorities is None:
        fingerprint = hosts.trusted_fingerprint(host, port, accept_new=accept_new, confirm=fingerprint_prompt(host, port))

    def ready(bound: list[str]) -> None:
        speaks = ["SOCKS5"] * bool(socks) + forwards
        if as_json:
            print(json.dumps({"listening": bound}), flush=True)
            return
        for address, what in zip(bound, speaks, strict=True):
            print(f"{address}: {what}", flush=True)

    with _until_stopped(cancel):
        _core.proxy_connect(
            host,
            port,
            token,
            socks,
            forwards,
            ready,
            tell=None if as_json else notify,
            fingerprint=fingerprint,
            authorities=authorities,
            keys=keys,
            drain=drain,
            cancel=cancel,
        )


def _host_and_port(text: str) -> tuple[str, int]:
    host, colon, port = text.rpartition(":")
    if text.endswith("]") or not colon:
        return text, hosts.PORT
    if not port.isdecimal() or not 0 < int(port) < 2**16 or (":" in host and not host.startswith("[")):
        raise UsageError(f"--via: found {text!r}, expected HOST, HOST:PORT or [IPv6]:PORT")
    return host, int(port)


def progress(rounds: int) -> Callable[[dict[str, Any]], None]:
    """Returns a function that prints progress as lines."""

    def show(event: dict[str, Any]) -> None:
        if begins := event.get("begins"):
            of = f" (round {begins['round'] + 1} of {rounds})" if rounds > 1 else ""
            notify(f"{begins['contender']}{of}")
        elif passed := event.get("interval"):
            notify(f"  {passed['from']:7.2f} – {passed['to']:.2f} s  {passed['goodput']:10.2f} Mbps")

    return show


def fingerprint_prompt(host: str, port: int) -> Callable[[str], bool] | None:
    """Returns a function that lets the user confirm an unknown server; None without a terminal."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        return None

    def confirm(fingerprint: str) -> bool:
        notify(f"The server {host}:{port} is unknown. Its fingerprint:\n  {fingerprint}")
        sys.stderr.write("If the server prints the same, type yes to trust it from now on: ")
        sys.stderr.flush()
        return sys.stdin.readline().strip().lower() == "yes"

    return confirm


def _own_address() -> str:
    """Returns the address of this host that its peers most likely reach.

    Sends nothing: connecting a UDP socket only looks up a route.
    """
    try:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
            probe.connect(("192.0.2.1", 9))  # RFC 5737: an address for documentation
            return str(probe.getsockname()[0])
    except OSError:
        return socket.gethostname()


@contextmanager
def _until_stopped(cancel: core.Cancel) -> Iterator[None]:
    """Ends a server at SIGINT or SIGTERM.

    The first signal drains transfers; the second ends the server.
    """
    with drained_by_signals(cancel):
        # A second signal ends the server immediately and is no error.
        with suppress(KeyboardInterrupt):
            yield
        if cancel.cancelled:
            notify("stopped")
