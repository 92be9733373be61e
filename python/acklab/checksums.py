"""The checksums of the files of a result, in a separate file."""

import hashlib
import json
from pathlib import Path

from acklab.errors import StoreError
from acklab.places import Place, Stamp
from acklab.store import json_text

CHECKSUMS_FILE = "checksums.json"


def write_checksums(folder: Path) -> list[str]:
    """Writes the checksums of all files in a folder. No other process may use the folder yet.

    Returns the names of the files. Raises OSError.
    """
    names = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())
    document = {"format": 1, "files": {name: _stamp(folder / name).to_dict() for name in names}}
    (folder / CHECKSUMS_FILE).write_text(json_text(document), encoding="utf-8")
    return names


def stamps(place: Place) -> dict[str, Stamp]:
    """Returns the stamps (size and checksum) of the files of a result, by name.

    Returns an empty dict for a result of an earlier version.

    Raises StoreError.
    """
    if not place.exists(CHECKSUMS_FILE):
        return {}
    try:
        document = json.loads(place.read(CHECKSUMS_FILE))
        return {str(name): Stamp.from_dict(stamp) for name, stamp in document["files"].items()}
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        path = place.name_of(CHECKSUMS_FILE)
        raise StoreError(f"{path}: found damaged JSON ({error}), expected the checksums of a result that acklab wrote") from error


def _stamp(path: Path) -> Stamp:
    with path.open("rb") as file:
        return Stamp(path.stat().st_size, hashlib.file_digest(file, "sha256").hexdigest())
