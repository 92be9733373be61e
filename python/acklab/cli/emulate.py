"""`acklab emulate`."""

import contextlib
import json
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import typer
from rich.markup import escape

from acklab import _core, core
from acklab.cli.run import DEFAULT_VIEW, View, finite, show
from acklab.cli.signals import stopped_by_signals
from acklab.emulator import Emulated, emulate, idle_processors
from acklab.errors import Cancelled, UsageError
from acklab.terminal import err, notify, out

NOT_TRUSTED = 3
"""Exit status of an emulation that finished with unreliable results."""


def emulate_command(
    file: Path,
    sets: list[str],
    seed: int | None,
    folder: Path | None,
    as_json: bool,
    at: str | None,
    shell: str | None,
    words: list[str],
    page: bool,
    port: int,
    processors: str,
    internet: str | None = None,
    view: View = DEFAULT_VIEW,
    clock: str = "real",
    kernel: str | None = None,
) -> None:
    """Runs a scenario with real packets and shows the result. Stores its tables in `folder`."""
    foreground = _foreground(at, shell, words)
    with contextlib.ExitStack() as stack:
        replacement = None
        if folder is not None:
            from acklab.contents import Contents
            from acklab.replacing import replacing

            replacement = stack.enter_context(replacing(folder, Contents.EMULATION))
        if clock == "real":
            core.acquire_permission()
        elif shell is not None:
            raise UsageError(
                "--shell: found a virtual clock, expected a real one: the guest's clock does not wait for a keyboard"
            )
        cancel = core.Cancel()
        # The command that uses the terminal handles Ctrl-C itself. A guest has no terminal.
        if foreground is None or clock == "virtual":
            stack.enter_context(stopped_by_signals(cancel))
        staging = None if replacement is None else replacement.staging
        with watched(file.name, page, port, foreground is not None) as watch:
            result = emulate(
                file,
                seed=seed,
                set=sets,
                captures=staging or Path(),
                outputs=staging,
                at=foreground,
                cancel=cancel,
                watch=watch,
                processors=processors,
                internet=internet,
                clock=clock,
                kernel=kernel,
            )
        if as_json:
            print(json.dumps(finite(result.to_dict()), allow_nan=False))
        elif foreground is None:
            # The notes below the tables give the reasons why results are unreliable.
            show(result, view=view)
        if replacement is not None:
            result.complete(replacement)
    if folder is not None:
        err.print(f"kept in {folder}", highlight=False, soft_wrap=True)
    for reason in result.reasons if as_json or foreground is not None else ():
        err.print(f"[bold yellow]results unreliable:[/] {escape(reason)}", highlight=False, soft_wrap=True)
    status = _status(result)
    if status != 0:
        raise typer.Exit(status)


def calibrate_command(as_json: bool, processors: str) -> None:
    """Measures the capacity of this machine."""
    processors = idle_processors(processors)
    core.acquire_permission()
    measured = json.loads(_core.calibrate(processors))
    if as_json:
        print(json.dumps(measured))
        return
    late = measured["lateness_us"]
    out.print(f"{measured['packets_per_second']:,.0f} packets/s of 1500 bytes through one link ({measured['mbps']:,.0f} Mbps)")
    out.print(
        f"{measured['cpu_us_per_packet']:.2f} µs of processor time per packet, {measured['priority']} priority, idle processors {measured['processors']}"
    )
    out.print(f"lateness at 5,000 packets/s: p50 {late['p50']:.0f} µs, p99 {late['p99']:.0f} µs")
    still = measured["standstill_us"]
    out.print(
        f"without load, the processor was stalled for {still['total']:,.0f} µs of 900 ms, for at most {still['longest']:,.0f} µs at a time"
    )
    stolen = measured["worst_second_stolen"]
    if stolen is not None:
        out.print(f"maximum steal time {stolen:.1%} of a processor within a second (limit 1 %)")


@contextlib.contextmanager
def watched(title: str, page: bool, port: int, has_terminal: bool) -> Iterator[Callable[[dict[str, Any]], None] | None]:
    """Yields the function that shows samples on the live page and in the terminal.

    The terminal shows samples only if no command uses it.
    """
    with contextlib.ExitStack() as stack:
        watchers: list[Callable[[dict[str, Any]], None]] = []
        if page:
            from acklab.live.server import served

            address, show = stack.enter_context(served(title, port))
            notify(f"live page: {address}")
            watchers.append(show)
        if sys.stderr.isatty() and not has_terminal:
            from acklab.live.view import live_view

            watchers.append(stack.enter_context(live_view(err, title)))

        def watch(sample: dict[str, Any]) -> None:
            for show in watchers:
                show(sample)

        yield watch if watchers else None


def _foreground(at: str | None, shell: str | None, words: list[str]) -> tuple[str, list[str]] | None:
    """Returns the node and the command that use the terminal."""
    if at is not None and shell is not None:
        raise UsageError("found --at and --shell, expected one of them")
    if shell is not None:
        if words:
            raise UsageError(f"--shell {shell}: found the command {words[0]!r}, expected none; --at runs a command")
        return shell, [os.environ.get("SHELL", "/bin/sh")]
    if at is not None:
        if not words:
            raise UsageError(f"--at {at}: found no command, expected one after --, such as: -- ping -c 3 {{server}}")
        return at, words
    if words:
        raise UsageError(f"found the command {words[0]!r} without a node, expected --at NODE")
    return None


def _status(result: Emulated) -> int:
    """Returns the exit status of the command.

    Without a command, returns the status for an early stop or for unreliable results.
    """
    if result.exit_status is not None:
        return result.exit_status
    if result.stopped is not None:
        return Cancelled.exit_code
    return 0 if result.is_trusted else NOT_TRUSTED
