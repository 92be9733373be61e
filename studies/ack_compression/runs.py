"""Runs of the study in addition to the runs of its claims."""

from acklab.studies import Bench
from acklab.sweeps import SweepResult
from acklab.sweeps.grid import Axes

COMMAND = "acklab study ack_compression"
EXPERIMENT, WITHOUT_GATE, GATED = "experiment_55.toml", "without_gate.toml", "interval_by_quota.toml"
CONTROLLERS = "controllers.toml"

NO_GATE = "no gate"
ALGORITHMS = ["newreno", "cubic", "vegas", "bbr", "bbr3", "copa", "pcc-allegro", "pcc-vivace"]
PRESETS = ["linux", "ns3", "rfc"]
QUICK_GATES = f"gates.toml:{NO_GATE},10 per 5 ms,200 per 50 ms"
SOME_GATES = f"{QUICK_GATES},40 per 10 ms"
EQUALS = 4
"""Number of flows with the same controller."""

SEEDS = 5
"""Maximum number of seeds for grids of all controllers."""

PHASE = {"flow.0.start": "0ms..100ms"}
"""Start times of the flow.

The range is a multiple of the interval of every gate, so each seed except the first has another
phase.
"""


def interval_by_quota(bench: Bench) -> SweepResult:
    """Runs NewReno by interval and quota of the gate, with each preset."""
    axes: Axes = {
        "flow.0.preset": PRESETS,
        "flow.0.congestion": ["newreno"],
        "link.btl.reverse.gate.quota": [1, 10, 50, 100],
        "link.btl.reverse.gate.interval": ["1ms", "2ms", "5ms", "10ms", "20ms", "50ms"],
    }
    return bench.sweep(GATED, "interval_by_quota", axes, vary=PHASE)


def controllers(bench: Bench) -> SweepResult:
    """Returns each controller behind each gate, with each preset."""
    gates = bench.variants(QUICK_GATES if bench.quick else "gates.toml")
    axes: Axes = {"flow.0.preset": PRESETS, "flow.0.congestion": ALGORITHMS, "gate": gates}
    return bench.sweep(CONTROLLERS, "controllers", axes, vary=PHASE, seeds=min(SEEDS, bench.seeds))


def equals(bench: Bench) -> SweepResult:
    """Returns several flows of the same controller behind each gate, with the preset linux."""
    axes: Axes = {"flow.0.congestion": ALGORITHMS, "gate": bench.variants(QUICK_GATES if bench.quick else SOME_GATES)}
    together = {"flow.0.count": EQUALS, "flow.0.spacing": "100ms", "duration": "30s", "flow.0.stop": "30s", "measure.from": "5s"}
    return bench.sweep(CONTROLLERS, "equals", axes, set=together, vary=PHASE, seeds=min(SEEDS, bench.seeds))
