"""Which acknowledgments, controller and transport serve a path best, and for which use.

    from acklab import advice

    found = advice.advise("link.toml")
    found.uses["bulk"].winner               # "TCP BBR"

candidates  what is compared
uses        what a person does over the path, and how that is scored
racing      all candidates first, then fewer with more seeds
harm        what a choice costs others, at the start, on the return path, and under loss
stacks      how to switch a choice on in stacks that exist
advise      all of it, from a scenario, a template or a capture
document    the evidence as a report, which `acklab.report.write` writes
"""

from acklab.advice.advise import Advice, advise
from acklab.advice.candidates import Candidate, candidates
from acklab.advice.document import document
from acklab.advice.uses import USES, Use

__all__ = ["USES", "Advice", "Candidate", "Use", "advise", "candidates", "document"]


def __dir__() -> list[str]:
    return __all__
