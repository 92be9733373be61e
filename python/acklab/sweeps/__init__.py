"""Many runs: a grid of values times a set of seeds, each point run once and kept.

variants   named variants, such as whole paths, and the files they stand in
grid       what is varied: values by key, named variants, values drawn by seed
plan       the points of a sweep, before any of them is run
point      one run of a sweep, and the digest it is kept under
batch      several points in one call of the core
execution  runs points on all cores; stops and fails without losing what is done
on_ray     runs points on a Ray cluster
estimation what points will cost, from a sample of them
pack       tables over several points
packed_store  keeps finished points in few files
unfinished    how far a sweep came that has not ended
units         the units of scenarios
axis_values   the choices of an axis as numbers in one unit
merging    one table over all points
sweep      the whole of it
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
