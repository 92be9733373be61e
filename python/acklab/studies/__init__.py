"""Studies: comparisons of published numbers with ours.

A study is a folder with a README, its scenario files, `claims.toml` (each published number with its
source, unit and the tolerance of our number) and, if it has figures or sweeps,
`study.py`.

claim        one published number
tables       claims of one form, written as a table
definition   the content of claims.toml
folders      the folder of studies
traces       generated trace files
metric       the position of a number in the tables of a run
bench        the interface of study.py
runs         one setting over all seeds
measure      a number that study.py computes from several runs
columns      numbers that study.py computes from one run
seeds        values of settings, one per seed
modules      loads study.py and the modules of its folder
runner       reruns a study and stores its results
closed_form  goodput of a Wi-Fi cell from the mean cycle of its frame exchange
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from acklab.studies.bench import Bench
    from acklab.studies.claim import Claim
    from acklab.studies.columns import acks_per_round_trip
    from acklab.studies.definition import Study, discover, find
    from acklab.studies.measure import Measure
    from acklab.studies.runner import StudyResult, estimate_study, run_study
    from acklab.studies.runs import Runs
    from acklab.studies.seeds import differences, per_seed
    from acklab.verdict import Finding

_NAMES = {
    "Bench": "acklab.studies.bench",
    "Claim": "acklab.studies.claim",
    "Finding": "acklab.verdict",
    "Measure": "acklab.studies.measure",
    "Runs": "acklab.studies.runs",
    "Study": "acklab.studies.definition",
    "StudyResult": "acklab.studies.runner",
    "acks_per_round_trip": "acklab.studies.columns",
    "differences": "acklab.studies.seeds",
    "discover": "acklab.studies.definition",
    "estimate_study": "acklab.studies.runner",
    "find": "acklab.studies.definition",
    "per_seed": "acklab.studies.seeds",
    "run_study": "acklab.studies.runner",
}


def __getattr__(name: str) -> Any:
    # Listing studies must not import modules that only running them requires.
    if name not in _NAMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_NAMES[name]), name)


def __dir__() -> list[str]:
    return __all__


__all__ = [
    "Bench",
    "Claim",
    "Finding",
    "Measure",
    "Runs",
    "Study",
    "StudyResult",
    "acks_per_round_trip",
    "differences",
    "discover",
    "estimate_study",
    "find",
    "per_seed",
    "run_study",
]
