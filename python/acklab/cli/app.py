"""The application of the command line, to which each group adds its commands."""

import typer

from acklab.cli.signals import Interruption

app = typer.Typer(
    name="acklab",
    help="Simulate, emulate and deploy the acknowledgements of transport protocols.",
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


def examples(*commands: str) -> str:
    """Returns the examples below the help of a command."""
    # After a line with a single backspace, click does not wrap the paragraph.
    return "\b\n" + "\n".join(["Examples:", *(f"  acklab {command}" for command in commands)])


def limit(context: typer.Context) -> None:
    """Limits the time from Ctrl-C to the end of the process."""
    interruption = context.find_object(Interruption)
    assert interruption is not None
    interruption.limit()
