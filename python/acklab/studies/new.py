"""A new study from the template."""

import re
from importlib import resources
from pathlib import Path

from acklab.atomic import write_text
from acklab.errors import UsageError
from acklab.files import printable
from acklab.studies.folders import own_folder

_PLACE = "NAME"
"""The text of the template that the name replaces."""


def new_study(name: str) -> list[Path]:
    """Writes a runnable study to the user's folder of studies, and returns its files.

    Raises UsageError for a name with characters other than lower-case letters, digits and
    underscores, and for a folder that exists. Raises StoreError if a file cannot be written.
    """
    if re.fullmatch("[a-z][a-z0-9_]*", name) is None:
        raise UsageError(f"--new: found {name!r}, expected a name of lower-case letters, digits and underscores")
    folder = own_folder() / name
    if folder.exists():
        raise UsageError(f"--new: {printable(folder)} exists, expected a new name")
    template = resources.files("acklab.templates") / "study"
    written = []
    for file in sorted(template.iterdir(), key=lambda one: one.name):
        path = folder / file.name
        write_text(path, file.read_text(encoding="utf-8").replace(_PLACE, name))
        written.append(path)
    return written
