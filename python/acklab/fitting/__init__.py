"""From a capture to the scenario of its path.

parameters   what a scenario needs, estimated from an inspection
hypotheses   what the path may be like, by what the capture tells and by chance
link         the scenario as a dict and as TOML, with the ranges of what is uncertain
calibration  the scenario is simulated, captured and inspected like the path, until both agree
"""

from acklab.fitting.calibration import Fit, fit
from acklab.fitting.link import ranges_of, toml_of

__all__ = ["Fit", "fit", "ranges_of", "toml_of"]


def __dir__() -> list[str]:
    return __all__
