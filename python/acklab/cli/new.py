"""`acklab new`, and the schema for editors."""

import json
import sys
from pathlib import Path
from typing import Any

from acklab.errors import UsageError
from acklab.files import printable, read_text
from acklab.templates import new, templates


def new_command(kind: str, path: Path | None) -> None:
    """Writes a commented scenario; without a kind, lists the templates."""
    if not kind:
        width = max(len(name) for name in templates())
        for name, title in templates().items():
            print(f"{name:<{width}}  {title}")
        return
    target = path or Path(f"{kind}.toml")
    if target.exists():
        raise UsageError(f"{printable(target)}: exists already, expected a new name (--out FILE)")
    for written in new(kind, target):
        print(printable(written))
    print(f"next: acklab run {printable(target)}", file=sys.stderr)


SCHEMA = "acklab.schema.json"
"""Name of the schema's file, beside a scenario."""


def name_schema(scenario: Path, schema: dict[str, Any]) -> None:
    """Writes the schema beside a scenario and refers to it in the scenario's first line.

    An existing reference is not changed. Raises UsageError for files other than TOML: only comments
    of TOML can refer to a schema.
    """
    from acklab.atomic import write_text
    from acklab.editors import for_editors

    if scenario.suffix != ".toml":
        raise UsageError(f"{printable(scenario)}: expected a file in TOML that ends with .toml")
    text = read_text(scenario, "scenario", "a scenario as TOML text", UsageError)
    target = scenario.with_name(SCHEMA)
    write_text(target, json.dumps(for_editors(schema), ensure_ascii=False) + "\n")
    if not text.startswith("#:schema"):
        write_text(scenario, f"#:schema ./{SCHEMA}\n{text}")
    print(printable(target))
