"""The figure of the report."""

from acklab.figures import agreement
from acklab.report import Figure, Section
from acklab.studies import Bench


def sections(bench: Bench) -> list[Section]:
    """Ours over those of ns-3 and of Linux."""
    caption = f"Ours over theirs, with intervals of 95 % over {bench.seeds} seeds; what they have as zero is left out"
    return [Section("Ours over theirs", items=[Figure(agreement(bench.findings), caption, [bench.command])])]
