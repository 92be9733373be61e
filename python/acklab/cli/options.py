"""Arguments and options that several commands share."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from acklab.strategies import Strategies


def complete_keys(incomplete: str) -> list[str]:
    """Completes keys of the scenario on the command line, for --set and --grid."""
    from acklab.cli.completion import keys

    return keys(incomplete)


def complete_columns(incomplete: str) -> list[tuple[str, str]]:
    """Completes columns of the tables of metrics, for --only."""
    from acklab.metrics import metrics

    before, comma, last = incomplete.rpartition(",")
    return [(before + comma + metric.name, metric.meaning) for metric in metrics() if metric.name.startswith(last)]


def complete_kernels(incomplete: str) -> list[str]:
    """Completes names of guest kernels."""
    from acklab.virtual.kernels import kernels

    return [kernel.name for kernel in kernels() if kernel.name.startswith(incomplete)]


def complete_processors(incomplete: str) -> list[str]:
    """Completes the values of --processors."""
    from acklab.core import PROCESSORS

    return [name for name in PROCESSORS if name.startswith(incomplete)]


ScenarioFile = Annotated[
    Path, typer.Argument(metavar="FILE", help="Scenario in TOML, or in JSON with the same keys.", show_default=False)
]
Sets = Annotated[
    list[str] | None,
    typer.Option(
        "--set", metavar="KEY=VALUE", help="Override a value, such as flow.0.congestion=newreno.", autocompletion=complete_keys
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object on standard output and nothing else.")]
Everything = Annotated[bool, typer.Option("--all", help="Show all tables and metrics instead of the short answer.")]
Only = Annotated[
    list[str] | None,
    typer.Option("--only", metavar="COLUMN,COLUMN", help="Show these columns only.", autocompletion=complete_columns),
]
# Accepted, so that the error can name the alternative.
NoQlog = Annotated[Path | None, typer.Option("--qlog", hidden=True)]
Jobs = Annotated[
    int | None, typer.Option("--jobs", "-j", min=1, help="Run this many at a time (default: one per core).", show_default=False)
]
Processors = Annotated[
    str,
    typer.Option(
        "--processors",
        metavar="auto|awake|halt",
        help="Keep idle processors awake in real time: always (awake), never (halt: saves power, delays packets), or until the hypervisor takes too much time from them (auto).",
        autocompletion=complete_processors,
    ),
]
Kernel = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="In virtual time: a guest kernel of `acklab kernel list` (default: the newest).",
        show_default=False,
        autocompletion=complete_kernels,
    ),
]
StrategyOption = Annotated[
    list[str] | None,
    typer.Option(
        "--strategy",
        metavar="FILE:CLASS",
        help="Add your own ACK policy or congestion controller, which the scenario selects by its class, or by NAME with NAME=FILE:CLASS.",
    ),
]


def strategies_of(given: list[str] | None) -> "Strategies | None":
    """Returns the strategies of `--strategy`, or None without any."""
    if not given:
        return None
    from acklab.strategy_files import strategy_files

    return {**strategy_files(given)}
