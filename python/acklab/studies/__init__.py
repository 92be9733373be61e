"""Studies: published numbers, set beside ours.

A study is a folder with a README, its scenario files, `claims.toml` (each published number with its source, unit and the tolerance
that we hold ourselves to) and, if it has figures or sweeps, `study.py`.

claim        one published number
tables       claims of one shape, written as a table
definition   what stands in claims.toml, and where studies are found
traces       trace files that are generated
metric       how a number is read from the tables of a run
bench        what study.py works with
runs         one setting over all seeds
measure      a number that study.py works out from several runs
modules      loads study.py and what lies beside it
runner       reruns a study and writes down what came out
closed_form  goodput of a Wi-Fi cell by the mean cycle of its frame exchange
"""

from acklab.studies.bench import Bench
from acklab.studies.claim import Claim
from acklab.studies.definition import Study, discover, find
from acklab.studies.measure import Measure
from acklab.studies.runner import StudyResult, run_study
from acklab.studies.runs import Runs
from acklab.verdict import Finding

__all__ = ["Bench", "Claim", "Finding", "Measure", "Runs", "Study", "StudyResult", "discover", "find", "run_study"]
