"""Many runs: every combination of a grid of values and a set of seeds.

Each point is run once and stored.

variants   named variants, such as whole paths, and their files
grid       the axes: values by key, named variants, values drawn per seed
plan       the points of a sweep before they run
point      one run of a sweep, and its digest
batch      several points in one call of the core
execution  runs points on all cores; keeps finished points after a stop or a failure
on_ray     runs points on a Ray cluster
estimation the cost of points, from a sample
pack       tables over several points
packed_store  stores finished points in few files
unfinished    the progress of an unfinished sweep
units         the units of scenarios
axis_values   the choices of an axis as numbers in one unit
merging    one table over all points
sweep      runs and loads sweeps
"""

from acklab.sweeps.execution import Executor, Outcome, Progress, Store, Threads, execute
from acklab.sweeps.grid import Grid, Variation
from acklab.sweeps.packed_store import PackedStore
from acklab.sweeps.plan import Plan
from acklab.sweeps.point import Point
from acklab.sweeps.sweep import SweepResult, estimate, load_sweep, sweep
from acklab.sweeps.variants import Variant, Variants

__all__ = [
    "Executor",
    "Grid",
    "Outcome",
    "PackedStore",
    "Plan",
    "Point",
    "Progress",
    "Store",
    "SweepResult",
    "Threads",
    "Variant",
    "Variants",
    "Variation",
    "estimate",
    "execute",
    "load_sweep",
    "sweep",
]


def __dir__() -> list[str]:
    return __all__
