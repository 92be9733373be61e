"""The process of the command line: errors, signals and the exit code."""

import os
import sys
from typing import Annotated

import typer

from acklab.cli import groups
from acklab.cli.app import app, limit
from acklab.cli.signals import Interruption, drop_output
from acklab.errors import AcklabError, Cancelled
from acklab.fallback import use_fallback

__all__ = ["app", "groups", "main"]

_REAL_TIME = ("emulate", "inline", "serve", "perf", "proxy")
"""Commands that run in real time.

A signal stops them in an orderly manner: results are shown and stored.
"""
_WITH_PERMISSION = ("study", "packetdrill")
"""Commands that may acquire a permission.

They must acquire it before the process starts a second thread.
"""


@app.callback(invoke_without_command=True)
def _root(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Show the version.")] = False,
    cite: Annotated[bool, typer.Option("--cite", help="Show how to cite acklab, as BibTeX.")] = False,
) -> None:
    if version:
        from acklab import core

        print(f"acklab {core.version()} ({core.revision()})")
    if cite:
        from acklab.citation import bibtex

        print(bibtex())
    if version or cite:
        raise typer.Exit
    if context.invoked_subcommand is None:
        context.fail("Missing command.")
    if context.invoked_subcommand not in (*_REAL_TIME, *_WITH_PERMISSION):
        limit(context)


def main() -> None:
    """Runs the command line. Errors of the user are printed as one message, without a traceback."""
    use_fallback()
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
        code = 141  # The reader of the output has closed the pipe.
    except OSError as error:
        _print_error(f"{error.filename or 'standard output'}: cannot be written: {error.strerror or error}")
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
        _print_error(message)
        interruption.is_reported = True
        return code


def _print_error(message: str) -> None:
    from acklab.files import visible

    text = visible(message.encode("utf-8", "backslashreplace").decode(), lines=True)
    if sys.stderr.isatty():
        print(f"\x1b[1;31merror:\x1b[0m {text}", file=sys.stderr)
    else:
        print(f"error: {text}", file=sys.stderr)
