"""The figure of the report."""

from acklab.figures import agreement
from acklab.report import Figure, Section
from acklab.studies import Bench


def sections(bench: Bench) -> list[Section]:
    """Ours over those of ns-3."""
    caption = f"Ours over ns-3's, with 95 % confidence intervals over {bench.seeds} seeds; what ns-3 has as zero is left out"
    return [Section("Ratio to the other implementation", items=[Figure(agreement(bench.findings), caption, [bench.command])])]
