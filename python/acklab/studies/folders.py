"""The folders of studies: the user's folder and the built-in folder."""

import os
from pathlib import Path

CLAIMS_FILE = "claims.toml"
BUILT_IN = "built-in"
"""The origin of the studies of acklab."""
_ENVIRONMENT = "ACKLAB_STUDIES"
_NAME = "studies"


def own_folder() -> Path:
    """Returns the user's folder of studies.

    It is $ACKLAB_STUDIES if this is set. Otherwise it is the folder `studies` with studies in the
    current folder or in a folder above. Without either, it is `studies` in the current folder,
    which may be missing.
    """
    given = os.environ.get(_ENVIRONMENT)
    if given:
        return Path(given)
    here = Path.cwd()
    above = (place / _NAME for place in (here, *here.parents))
    return next((folder for folder in above if any(folder.glob(f"*/{CLAIMS_FILE}"))), here / _NAME)


def built_in_folder() -> Path:
    """Returns the folder of the studies of acklab, in a checkout or in the package."""
    package = Path(__file__).resolve().parents[1]
    checkout = package.parents[1] / _NAME
    return checkout if any(checkout.glob(f"*/{CLAIMS_FILE}")) else package / "shipped"


def study_folders() -> dict[str, Path]:
    """Returns the folder of each study, in alphabetical order of their names.

    A study of the user replaces the built-in study of the same name.
    """
    found = [path.parent for folder in (built_in_folder(), own_folder()) for path in folder.glob(f"*/{CLAIMS_FILE}")]
    return dict(sorted({folder.name: folder for folder in found}.items()))


def origin(folder: Path) -> str:
    """Returns where a study comes from: "built-in", or the user's folder."""
    above = folder.resolve().parent
    return BUILT_IN if above == built_in_folder().resolve() else os.path.relpath(above)


def names() -> list[str]:
    """Returns the names of all studies."""
    return list(study_folders())
