"""Many runs: a grid of values times a set of seeds, each point run once and kept.

variants   named variants, such as whole paths, and the files they stand in
grid       what is varied: values by key, named variants, values drawn by seed
plan       the points of a sweep, before any of them is run
point      one run of a sweep, and the digest it is kept under
execution  runs points on all cores; stops and fails without losing what is done
merging    one table over all points
sweep      the whole of it
"""

from acklab.sweeps.execution import Outcome, Progress, execute
from acklab.sweeps.grid import Grid, Variation
from acklab.sweeps.plan import Plan
from acklab.sweeps.point import Point
from acklab.sweeps.sweep import SweepResult, load_sweep, sweep
from acklab.sweeps.variants import Variant, Variants

__all__ = [
    "Grid",
    "Outcome",
    "Plan",
    "Point",
    "Progress",
    "SweepResult",
    "Variant",
    "Variants",
    "Variation",
    "execute",
    "load_sweep",
    "sweep",
]


def __dir__() -> list[str]:
    return __all__
