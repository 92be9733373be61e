"""`acklab new`."""

import sys
from pathlib import Path

from acklab.errors import UsageError
from acklab.files import printable
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
