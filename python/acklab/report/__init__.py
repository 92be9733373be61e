"""Reports: one HTML file each, which opens from disk and needs no network.

document  what a report shows: sections, figures, tables
tables    tables of metrics, best values marked
sources   what lies in a folder: studies, a run, a sweep
page      how it looks
"""

from acklab.report.document import Document, Figure, Section, Table
from acklab.report.render import render
from acklab.report.sources import collect, write_report
from acklab.report.tables import compare, metric_table

__all__ = ["Document", "Figure", "Section", "Table", "collect", "compare", "metric_table", "render", "write_report"]
