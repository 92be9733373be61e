"""One run in real time, with the packets of real applications and of the kernel's TCP."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from acklab import core
from acklab.errors import UsageError
from acklab.files import path_of
from acklab.provenance import Provenance
from acklab.result import Result
from acklab.scenario import Overrides, Source, overrides, texts_of, with_seed


def idle_processors(name: str) -> str:
    """One of `core.PROCESSORS`. Raises UsageError for another text."""
    if name not in core.PROCESSORS:
        raise UsageError(f"processors: found {name!r}, expected one of: {', '.join(core.PROCESSORS)}")
    return name


@dataclass(frozen=True)
class Emulated(Result):
    """The tables of an emulation, and whether they can be trusted.

    In addition to the tables of a simulation there are the tables `timing` (how late packets were), `kernel` (its release and parameters) and, if the
    scenario has any, `applications` (how each command ended).
    """

    reasons: tuple[str, ...] = ()
    """Reasons why the results cannot be trusted; empty if they can."""
    exit_status: int | None = None
    """The exit status of the command that was run with `at`."""
    stopped: float | None = None
    """When it was stopped before its end, in seconds: the tables are of what was measured by then."""

    @property
    def is_trusted(self) -> bool:
        """Whether all packets were delivered in time."""
        return not self.reasons


def emulate(
    scenario: str | Path | Mapping[str, Any] | Source,
    *,
    seed: int | None = None,
    set: Overrides = (),
    base: str | Path | None = None,
    captures: str | Path | None = None,
    outputs: str | Path | None = None,
    at: tuple[str, Sequence[str]] | None = None,
    cancel: core.Cancel | None = None,
    watch: Callable[[dict[str, Any]], None] | None = None,
    processors: str = "auto",
    internet: str | None = None,
) -> Emulated:
    """Runs a scenario in real time and returns its tables.

    Once `cancel` is cancelled it ends, and returns what was measured by then.

    It takes as long as the scenario's duration, and needs root, or a user namespace that this process has entered by
    `core.acquire_permission`, as the command line does.

    The arguments are those of `acklab.run`. The output of applications is kept in the folder `outputs`, or nowhere. `at` is a node and a
    command that uses the terminal, such as `("sta", ["curl", "http://{server}/"])`; the run ends when it ends. `watch` is given a sample of each second: rates, queues, round trips, ACKs,
    airtime and lateness. `processors` is what idle processors do while it lasts: "awake" keeps them from halting where root may ask for that, "halt" lets them
    halt, which saves power and makes packets later, and "auto" keeps them awake until the hypervisor takes more than 1 % of a second of one of them. `internet` is a node that leads to the networks of this machine: packets of IPv4 to addresses that no node has leave there, with
    their addresses translated. It needs root, `nft`, and a machine that forwards packets.

    Raises ScenarioError for a scenario that is refused or that asks the kernel's TCP for what it cannot do, RunError for a missing
    permission and for a run that fails, Cancelled if `cancel` is cancelled before the window of measurement has begun.
    """
    if at is not None and not (isinstance(at, Sequence) and len(at) == 2 and isinstance(at[0], str)):
        raise UsageError(f'at: found {at!r}, expected a node and a command such as ("client", ["ping", "-c", "3", "{{server}}"])')
    processors = idle_processors(processors)
    source = Source.of(scenario, None if base is None else path_of(base, "base"))
    sets = with_seed(overrides(set), seed)
    foreground = None if at is None else (at[0], texts_of(at[1], "at: the command", "ping"))
    folders = _folder(captures, "captures"), _folder(outputs, "outputs")
    done = core.emulate(
        source.text, source.name, sets, source.base, *folders,
        at=foreground, cancel=cancel, watch=watch, processors=processors, internet=internet,
    )  # fmt: skip
    used = int(done.scenario["seed"])
    command = source.command(overrides(set), used, "emulate")
    provenance = Provenance(done.scenario, used, core.revision(), core.version(), command)
    return Emulated(done.tables, provenance, tuple(done.reasons), done.exit_status, done.stopped)


def _folder(path: str | Path | None, what: str) -> Path | None:
    """The folder, which exists from now on. Raises StoreError."""
    if path is None:
        return None
    from acklab.atomic import make_folder

    return make_folder(path_of(path, what))
