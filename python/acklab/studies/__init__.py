"""Studies: published numbers, set beside ours.

A study is a folder with a README, its scenario files, `claims.toml` (each published number with its source, unit and the tolerance
that we hold ourselves to) and, if it has figures or sweeps, `study.py`.

definition  what stands in claims.toml, and where studies are found
measure     a number that study.py works out from several runs
metric      how a number is read from the tables of a run
bench       what study.py works with
runner      reruns a study and writes down what came out
"""

from acklab.studies.bench import Bench
from acklab.studies.definition import Claim, Study, discover, find
from acklab.studies.measure import Measure
from acklab.studies.runner import StudyResult, run_study
from acklab.verdict import Finding

__all__ = ["Bench", "Claim", "Finding", "Measure", "Study", "StudyResult", "discover", "find", "run_study"]
