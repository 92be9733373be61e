"""The sections of the report."""

from acklab.report import Section
from acklab.studies import Bench

from . import controllers, experiment, fairness, gates, unspecified


def sections(bench: Bench) -> list[Section]:
    """Returns the sections of the report."""
    return [
        experiment.section(bench),
        experiment.stacks_section(bench),
        unspecified.section(bench),
        gates.section(bench),
        *controllers.sections(bench),
        fairness.section(bench),
    ]
