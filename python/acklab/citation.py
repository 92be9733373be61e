"""How publications cite acklab."""

from acklab import core

TITLE = "acklab: a laboratory for the acknowledgements of transport protocols"
AUTHORS = "The acklab authors"
YEAR = 2026
"""Year of the version."""


def bibtex() -> str:
    """Returns an entry for BibTeX, with the version and the revision of the core."""
    return f"""@software{{acklab,
  title   = {{{TITLE}}},
  author  = {{{{{AUTHORS}}}}},
  year    = {{{YEAR}}},
  version = {{{core.version()}}},
  note    = {{Revision {core.revision()}}}
}}"""
