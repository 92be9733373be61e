"""Reports: one HTML file each, which works offline.

document  content of a report: sections, figures, tables
sources   contents of a folder: studies, a run, a sweep
page      layout
"""

from acklab.report.document import Document, Figure, Section
from acklab.report.render import render, write
from acklab.report.sources import collect, write_report
from acklab.tables import Table, compare, metric_table

__all__ = ["Document", "Figure", "Section", "Table", "collect", "compare", "metric_table", "render", "write", "write_report"]


def __dir__() -> list[str]:
    return __all__
