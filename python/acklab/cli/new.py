"""`acklab new`, and what an editor needs to know of a scenario."""

import json
import sys
from pathlib import Path
from typing import Any

from acklab.errors import UsageError
from acklab.files import printable, read_text
from acklab.templates import new, templates


def new_command(kind: str, path: Path | None) -> None:
    """Writes a commented scenario; without a kind lists those that there are."""
    if not kind:
        width = max(len(name) for name in templates())
        for name, title in templates().items():
            print(f"{name:<{width}}  {title}")
        return
    target = path or Path(f"{kind}.toml")
    if target.exists():
        raise UsageError(f"{printable(target)}: is there already, expected a new name (--out FILE)")
    for written in new(kind, target):
        print(printable(written))
    print(f"next: acklab run {printable(target)}", file=sys.stderr)


SCHEMA = "acklab.schema.json"
"""The schema beside a scenario."""


def name_schema(scenario: Path, schema: dict[str, Any]) -> None:
    """Writes the schema beside a scenario, and names it in the first line of the scenario unless that names one.

    Raises UsageError for another form than TOML, whose comments tell editors the schema.
    """
    from acklab.atomic import write_text
    from acklab.editors import for_editors

    if scenario.suffix != ".toml":
        raise UsageError(f"{printable(scenario)}: found another form than TOML, expected a file that ends with .toml")
    text = read_text(scenario, "scenario", "a scenario as TOML text", UsageError)
    target = scenario.with_name(SCHEMA)
    write_text(target, json.dumps(for_editors(schema), ensure_ascii=False) + "\n")
    if not text.startswith("#:schema"):
        write_text(scenario, f"#:schema ./{SCHEMA}\n{text}")
    print(printable(target))
