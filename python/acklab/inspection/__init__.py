"""Inspects the packets of a capture, and reports connections and their path.

    from acklab import inspection

    found = inspection.inspect("download.pcapng")
    found.ways[0]["rate"]                     # {"value": 16.0, "low": 15.9, "high": 16.1}, in Mbps

model     the result, as the core reports it
tables    the tables of the command line
notes     defects of the file
evidence  the table of evidence for each finding
document  the report, with time–sequence plots, which `acklab.report.write` writes
"""

from acklab.inspection.document import document
from acklab.inspection.model import Inspection, Way, inspect
from acklab.inspection.tables import tables

__all__ = ["Inspection", "Way", "document", "inspect", "tables"]


def __dir__() -> list[str]:
    return __all__
