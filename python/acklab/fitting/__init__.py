"""Fits the scenarios of a path to a capture.

observed     the fitted transfer, the opposite direction, and concurrent transfers
quantity     a parameter of the path: its interval, evidence and source, or "not known"
given        quantities that the user gives instead of the capture
path         the quantities of the path, from the figures of the inspection
application  what the application did: a bulk transfer, a stream, requests, a page
stack        the transport of the flow, and its possible stacks
timing       delays of single packets that no mechanism explains
scenario     values of the quantities as a scenario
summary      statistics that a simulation must repeat, with intervals
folds        the ACKs of a capture in folds of time
mechanisms   the test of a gate or a filter against the simpler path
ensemble     scenarios that repeat the capture within its uncertainty
document     the fit as TOML
fit          all of it
"""

from acklab.fitting.fit import Fit, fit
from acklab.fitting.quantity import Quantity

__all__ = ["Fit", "Quantity", "fit"]


def __dir__() -> list[str]:
    return __all__
