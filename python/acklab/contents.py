"""Kinds of results in folders. Their tables have equal names, so no kind may overwrite another."""

from enum import Enum

from acklab.errors import StoreError
from acklab.places import Place
from acklab.store import STUDY_FILE, SWEEP_FILE


class Contents(Enum):
    """A kind of result, as named in messages."""

    RUN = "the result of a run"
    EMULATION = "the result of an emulation"
    SWEEP = "a sweep"
    STUDY = "a study"
    POINTS = "points of an unfinished sweep or study"
    FOREIGN = "a table that acklab did not write"

    @classmethod
    def of(cls, place: Place) -> "Contents | None":
        """Returns the kind of result in a folder; None for others, and for damaged tables.

        Finishes a replacement that was interrupted. Raises StoreError.
        """
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
        """Returns whether these are points of a grid, finished or unfinished."""
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
    """Raises StoreError for a folder in which this kind of result would overwrite another kind.

    A run replaces a run, and an emulation an emulation. A sweep and a study keep their points, so
    that they resume in their folder.
    """
    found = Contents.of(place)
    resumes = found is Contents.POINTS and kind in (Contents.SWEEP, Contents.STUDY)
    if found not in (None, kind) and not resumes:
        raise StoreError(f"{place}: found {found.value}, expected a folder without results, or with {kind.value}")
