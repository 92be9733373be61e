"""Points of a study in real time, with the kernel's TCP in place of ours: published, simulated and emulated side by side.

definition  what stands in emulated.toml
deployed    `acklab perf` in the place of a flow
runs        one emulation after another, kept
comparison  simulates and emulates each point, and reads the metrics of both
report      the numbers side by side
"""

from acklab.studies.emulated.comparison import compare
from acklab.studies.emulated.definition import EmulatedFile, read
from acklab.studies.emulated.report import Comparison, document, name_of

__all__ = ["Comparison", "EmulatedFile", "compare", "document", "name_of", "read"]


def __dir__() -> list[str]:
    return __all__
