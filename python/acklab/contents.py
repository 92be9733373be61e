"""What a folder holds, so that no kind of result takes the place of another: their tables have the same names."""

from enum import Enum
from pathlib import Path

from acklab.errors import StoreError
from acklab.store import STUDY_FILE, SWEEP_FILE, read_metadata


class Contents(Enum):
    """A kind of result, as messages call it."""

    RUN = "the result of a run"
    EMULATION = "the result of an emulation"
    SWEEP = "a sweep"
    STUDY = "a study"
    POINTS = "points of a sweep or a study that has not ended"
    FOREIGN = "a table that acklab did not write"

    @classmethod
    def of(cls, folder: Path) -> "Contents | None":
        """What a folder holds; None for none of these, and for tables that are damaged."""
        if (folder / STUDY_FILE).is_file():
            return cls.STUDY
        if (folder / SWEEP_FILE).is_file():
            return cls.SWEEP
        if (folder / "flows.parquet").is_file():
            return cls._of_tables(folder)
        return cls.POINTS if any((folder / name).is_dir() for name in ("points", "unfinished")) else None

    @classmethod
    def _of_tables(cls, folder: Path) -> "Contents | None":
        try:
            metadata = read_metadata(folder / "flows.parquet")
        except StoreError:
            return None
        if "acklab.grid" in metadata:
            return cls.SWEEP
        if "acklab.scenario" not in metadata:
            return cls.FOREIGN
        return cls.EMULATION if (folder / "timing.parquet").is_file() else cls.RUN


def refuse_others(folder: Path, kind: Contents) -> None:
    """Refuses a folder in which results of this kind would overwrite others. Raises StoreError.

    A run takes the place of a run, and an emulation that of an emulation. A sweep and a study keep their points, so that they go on in their folder.
    """
    found = Contents.of(folder)
    resumes = found is Contents.POINTS and kind in (Contents.SWEEP, Contents.STUDY)
    if found not in (None, kind) and not resumes:
        raise StoreError(f"{folder}: found {found.value}, expected a folder without results, or with {kind.value}")
