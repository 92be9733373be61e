"""Stored emulated points. Each point has a folder, which appears only when it is complete."""

import contextlib
import errno
import shutil
from collections.abc import Mapping
from pathlib import Path

import pyarrow as pa

from acklab.atomic import make_folder, move, reason, sync_all
from acklab.checksums import write_checksums
from acklab.errors import StoreError
from acklab.folders import remove_abandoned, temporary_name
from acklab.places import LocalPlace
from acklab.provenance import Provenance
from acklab.result import files_of
from acklab.store import write_tables


def write_point(directory: Path, tables: Mapping[str, pa.Table], provenance: Provenance) -> None:
    """Writes the tables of a point into a separate folder. Raises StoreError."""
    temporary = temporary_name(directory)
    try:
        make_folder(directory.parent)
        remove_abandoned(directory.parent)
        temporary.mkdir()
        write_tables(temporary, tables, provenance)
        write_checksums(temporary)
        sync_all(temporary)
        _put(temporary, directory)
    except OSError as error:
        raise StoreError(f"{directory}: cannot be written: {reason(error)}") from error
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def is_whole(directory: Path) -> bool:
    """Returns whether a folder has tables, and each matches its checksum."""
    place = LocalPlace(directory)
    try:
        for name, stamp in files_of(place).items():
            if stamp is None:
                place.table(f"{name}.parquet")
            else:
                place.verify(f"{name}.parquet", stamp)
    except StoreError:
        return False
    return True


def _put(temporary: Path, directory: Path) -> None:
    """Renames a folder, unless another process has just written the same folder.

    A damaged folder of that name is replaced.
    """
    for _ in range(3):
        try:
            move(temporary, directory)
            return
        except OSError as error:
            if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
                raise
        if is_whole(directory):
            return
        damaged = temporary_name(directory.with_name(f"{directory.name}.damaged"))
        with contextlib.suppress(FileNotFoundError):  # Another process moved the folder.
            directory.rename(damaged)
        shutil.rmtree(damaged, ignore_errors=True)
    move(temporary, directory)
