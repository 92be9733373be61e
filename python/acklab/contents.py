"""What a folder holds, so that no kind of result takes the place of another: their tables have the same names."""

from enum import Enum

from acklab.errors import StoreError
from acklab.places import Place
from acklab.store import STUDY_FILE, SWEEP_FILE


class Contents(Enum):
    """A kind of result, as messages call it."""

    RUN = "the result of a run"
    EMULATION = "the result of an emulation"
    SWEEP = "a sweep"
    STUDY = "a study"
    POINTS = "points of a sweep or a study that has not ended"
    FOREIGN = "a table that acklab did not write"

    @classmethod
    def of(cls, place: Place) -> "Contents | None":
        """What a folder holds; None for none of these, and for tables that are damaged. Finishes a replacement that was cut off. Raises StoreError."""
        from acklab.replacing import settle

        if place.path is not None:
            settle(place.path)
        if place.exists(STUDY_FILE):
            return cls.STUDY
        if place.exists(SWEEP_FILE):
            return cls.SWEEP
        if place.exists("flows.parquet"):
            return cls._of_tables(place)
        return cls.POINTS if place.names("points") or place.names("unfinished") else None

    @property
    def is_sweep(self) -> bool:
        """Whether these are points of a grid: those of a sweep that has ended, or has not."""
        return self in (Contents.SWEEP, Contents.POINTS)

    @classmethod
    def _of_tables(cls, place: Place) -> "Contents | None":
        try:
            metadata = place.schema("flows.parquet").metadata or {}
        except StoreError:
            return None
        if b"acklab.grid" in metadata:
            return cls.SWEEP
        if b"acklab.scenario" not in metadata:
            return cls.FOREIGN
        return cls.EMULATION if place.exists("timing.parquet") else cls.RUN


def refuse_others(place: Place, kind: Contents) -> None:
    """Refuses a folder in which results of this kind would overwrite others. Raises StoreError.

    A run takes the place of a run, and an emulation that of an emulation. A sweep and a study keep their points, so that they go on in their folder.
    """
    found = Contents.of(place)
    resumes = found is Contents.POINTS and kind in (Contents.SWEEP, Contents.STUDY)
    if found not in (None, kind) and not resumes:
        raise StoreError(f"{place}: found {found.value}, expected a folder without results, or with {kind.value}")
