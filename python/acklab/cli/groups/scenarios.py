"""Commands for scenario files: new, check, explain, schema, trace."""

from pathlib import Path
from typing import Annotated

import typer

from acklab.cli.app import app, examples
from acklab.cli.options import Json, ScenarioFile, Sets


def _complete_explained(incomplete: str) -> list[str]:
    """Completes keys of any scenario."""
    from acklab.cli.completion import paths

    return paths(incomplete)


def _complete_templates(incomplete: str) -> list[tuple[str, str]]:
    from acklab.templates import templates

    return [(name, title) for name, title in templates().items() if name.startswith(incomplete)]


def _complete_traces(incomplete: str) -> list[tuple[str, str]]:
    """Completes models of traces."""
    from acklab.cli.trace import MODELS

    return [(name, title) for name, title in MODELS.items() if name.startswith(incomplete)]


@app.command(epilog=examples("new", "new satellite", "new cell --out office.toml"))
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


@app.command(epilog=examples("check cell.toml", "check cell.toml --json | jq .flow"))
def check(file: ScenarioFile, set_: Sets = None, json_: Json = False) -> None:
    """Check a scenario without running it."""
    from acklab.cli.run import check_command

    check_command(file, set_ or [], json_)


@app.command(epilog=examples("explain", "explain flow.ack", "explain flow.ack.tack.beta", "explain queue.codel.target"))
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


@app.command(epilog=examples("schema > acklab.schema.json", "schema --for cell.toml"))
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
    """Print the JSON Schema of scenarios, for editors."""
    import json

    from acklab import core

    if scenario is not None:
        from acklab.cli.new import name_schema

        name_schema(scenario, core.schema())
        return
    print(json.dumps(core.schema(), indent=2))


@app.command(
    epilog=examples("trace", "trace verizon-lte --seed 2 --out lte.trace", "trace poisson --rate 2.64", "trace lte.trace")
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
    """Generate the trace of a link, or print statistics of one.

    Traces have the format of mahimahi.
    """
    from acklab.cli.trace import trace_command

    trace_command(what, rate, seconds, seed, out)
