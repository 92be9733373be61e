"""Figures of the study."""

from acklab.figures import agreement
from acklab.report import Figure, Section
from acklab.studies import Bench


def sections(bench: Bench) -> list[Section]:
    """Returns the figure of ratios to ns-3."""
    caption = f"Ratio of ours to ns-3, with 95 % confidence intervals over {bench.seeds} seeds; zeros of ns-3 are omitted"
    return [Section("Ratio to the other implementation", items=[Figure(agreement(bench.findings), caption, [bench.command])])]
