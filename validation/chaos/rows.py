"""A row of the table: the faults of a part of acklab, and the lost data."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field


@dataclass
class Row:
    """Findings of a round of faults."""

    what: str
    load: str = ""
    """Delivered or stored data."""
    faults: int = 0
    """Number of survived faults."""
    inputs: int = 0
    """Number of tested hostile or damaged inputs."""
    lost: int = 0
    """Number of wrong or missing octets that no program or reader detected."""
    broken: list[str] = field(default_factory=list)
    """Unexpected results."""
    seconds: float = 0.0

    @property
    def is_good(self) -> bool:
        """Returns `True` if nothing was lost and all expectations were met."""
        return self.lost == 0 and not self.broken

    def expect(self, holds: bool, otherwise: str) -> None:
        """Records the text `otherwise` if an expectation is not met."""
        if not holds and otherwise not in self.broken:
            self.broken.append(otherwise)


@contextmanager
def timed(row: Row) -> Iterator[Row]:
    """Measures the time of a round."""
    began = time.monotonic()
    try:
        yield row
    finally:
        row.seconds = time.monotonic() - began


def table(rows: list[Row]) -> str:
    """Returns the rows as a table in Markdown."""
    head = "| part and faults | load held | faults survived | inputs tried | octets lost | seconds |\n|---|---|---|---|---|---|"
    lines = [f"| {row.what} | {row.load} | {row.faults:,} | {row.inputs:,} | {row.lost:,} | {row.seconds:.0f} |" for row in rows]
    lost, inputs, faults = (sum(getattr(row, name) for row in rows) for name in ("lost", "inputs", "faults"))
    last = f"| all | | {faults:,} | {inputs:,} | {lost:,} | {sum(row.seconds for row in rows):.0f} |"
    broken = [f"* **{row.what}**: {text}" for row in rows for text in row.broken]
    return "\n".join([head, *lines, last, *([""] if broken else []), *broken])
