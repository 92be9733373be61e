"""The folder of studies."""

import os
from pathlib import Path

from acklab.errors import UsageError

CLAIMS_FILE = "claims.toml"
_ENVIRONMENT = "ACKLAB_STUDIES"


def studies_folder() -> Path:
    """Returns the folder of studies.

    It is $ACKLAB_STUDIES, else `studies` here or in a folder above, else the one of the package.

    Raises UsageError if there is none.
    """
    given = os.environ.get(_ENVIRONMENT)
    if given:
        return Path(given)
    here = Path.cwd()
    package = Path(__file__).resolve().parents[1]
    for folder in (*(place / "studies" for place in (here, *here.parents)), package.parents[1] / "studies", package / "shipped"):
        if folder.is_dir() and any(folder.glob(f"*/{CLAIMS_FILE}")):
            return folder
    raise UsageError(f"found no folder studies/ here or above; set ${_ENVIRONMENT} to its path")


def names() -> list[str]:
    """Returns the names of all studies. Raises UsageError."""
    return sorted(path.parent.name for path in studies_folder().glob(f"*/{CLAIMS_FILE}"))
