"""Advice for a path: changes, their owners, and their gains by use.

    from acklab import advice

    found = advice.advise("link.toml")
    found.uses["download"].winner           # a candidate, or None: nothing to recommend

candidates  what may be changed
uses        what a person does over the path, and the score of each use
paths       the possible scenarios of a path, and its known directions
settle      unknown quantities of a fit, and captures that determine them
racing      all candidates over a few scenarios, the better ones over more
harm        what a change costs others, latency, the start of transfers and the other direction
verdicts    a recommendation, or "nothing to recommend"
stacks      commands that enable a change in existing stacks
advise      all of it, from a scenario, a template or a capture
document    the answer as text, tables and a report, which `acklab.report.write` writes
"""

from acklab.advice.advise import Advice, advise
from acklab.advice.candidates import Candidate, candidates
from acklab.advice.document import document
from acklab.advice.uses import USES, Use
from acklab.advice.verdicts import Verdict

__all__ = ["USES", "Advice", "Candidate", "Use", "Verdict", "advise", "candidates", "document"]


def __dir__() -> list[str]:
    return __all__
