"""Figures of the study."""

from acklab.figures import agreement
from acklab.report import Figure, Section
from acklab.studies import Bench


def sections(bench: Bench) -> list[Section]:
    """Returns the figure of ratios to ns-3 and to Linux."""
    caption = f"Ratio of ours to the other implementation, with 95 % confidence intervals over {bench.seeds} seeds; zeros of the other implementation are omitted"
    return [Section("Ratio to the other implementation", items=[Figure(agreement(bench.findings), caption, [bench.command])])]
