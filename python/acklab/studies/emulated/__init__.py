"""Points of a study in real time, with the kernel's TCP instead of ours.

Published, simulated and emulated numbers are shown side by side.

definition  the content of emulated.toml
deployed    `acklab perf` instead of a flow
runs        emulations, one at a time, stored
comparison  simulates and emulates each point, and reads the metrics of both
report      the numbers side by side
"""

from acklab.studies.emulated.comparison import compare
from acklab.studies.emulated.definition import EmulatedFile, read
from acklab.studies.emulated.report import Comparison, document, name_of

__all__ = ["Comparison", "EmulatedFile", "compare", "document", "name_of", "read"]


def __dir__() -> list[str]:
    return __all__
