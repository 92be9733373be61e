"""One run in real time, with packets of real applications and of the kernel's TCP."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from acklab import _core, core
from acklab.errors import UsageError
from acklab.files import path_of
from acklab.provenance import Provenance
from acklab.result import Result
from acklab.scenario import Overrides, Source, overrides, texts_of, with_seed

REAL, VIRTUAL = CLOCKS = ("real", "virtual")
"""Clocks of an emulation: the clock of this machine, or the virtual clock of a guest, which waits
while the guest computes.
"""


def idle_processors(name: str) -> str:
    """Returns one of `core.PROCESSORS`. Raises UsageError for another text."""
    if name not in core.PROCESSORS:
        raise UsageError(f"processors: found {name!r}, expected one of: {', '.join(core.PROCESSORS)}")
    return name


@dataclass(frozen=True)
class Emulated(Result):
    """The tables of an emulation, and whether they are reliable.

    In addition to the tables of a simulation, there are `timing` (lateness of packets), `kernel`
    (its release and parameters) and, if the scenario has any, `applications` (the end of each
    command).
    """

    reasons: tuple[str, ...] = ()
    """Reasons why the results are unreliable; empty if they are reliable."""
    exit_status: int | None = None
    """The exit status of the command that was run with `at`."""
    stopped: float | None = None
    """Time of an early stop, in seconds: the tables cover the time until then."""

    @property
    def is_trusted(self) -> bool:
        """Returns whether all packets were delivered on time."""
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
    clock: str = "real",
    kernel: str | None = None,
) -> Emulated:
    """Runs a scenario with real packets and returns its tables.

    Once `cancel` is cancelled, stops and returns the results until then.

    The run lasts as long as the scenario. It requires root, or a user namespace that this process
    has entered by `core.acquire_permission`, as the command line does.

    The arguments are those of `acklab.run`. The output of applications is stored in the folder
    `outputs`, if it is given. `at` is a node and a command that uses the terminal, such as
    `("sta", ["curl", "http://{server}/"])`; the run ends with the command. `watch` receives a
    sample per second: rates, queues, RTTs, ACKs, airtime and lateness. `processors` is the mode of
    idle processors: "awake" keeps them from halting where root permits this; "halt" lets them halt,
    which saves power and delays packets; "auto" keeps them awake until the hypervisor takes more
    than 1 % of the time of a processor in one second. `internet` is a node that connects to the
    networks of this machine: it forwards IPv4 packets whose destination is not a node to these
    networks, with translated addresses. This requires root, `nft`, and a machine that forwards
    packets.

    With `clock="virtual"` the run is in a guest, whose clock advances only while the whole guest
    waits: packets are never late, and the same scenario, seed and `kernel` give the same tables.
    `kernel` names a guest kernel of `acklab kernel list`, by default the newest. No permission is
    needed. `internet` is refused, because other hosts do not wait.

    Raises ScenarioError for a scenario that is refused or requires what the kernel's TCP does not
    support, RunError for a missing permission and for a run that fails, Cancelled if `cancel` is
    cancelled before the window of measurement.
    """
    if at is not None and not (isinstance(at, Sequence) and len(at) == 2 and isinstance(at[0], str)):
        raise UsageError(f'at: found {at!r}, expected a node and a command such as ("client", ["ping", "-c", "3", "{{server}}"])')
    processors = idle_processors(processors)
    source = Source.of(scenario, None if base is None else path_of(base, "base"))
    sets = with_seed(overrides(set), seed)
    foreground = None if at is None else (at[0], texts_of(at[1], "at: the command", "ping"))
    folders = _folder(captures, "captures"), _folder(outputs, "outputs")
    if clock not in CLOCKS:
        raise UsageError(f"clock: found {clock!r}, expected one of: {', '.join(CLOCKS)}")
    if clock == VIRTUAL:
        if internet is not None:
            raise UsageError(
                "internet: found a virtual clock, expected a real one: hosts of other networks do not wait for a guest"
            )
        from acklab.virtual import emulation

        done = emulation.emulate(
            source.text, source.name, sets, source.base, *folders, at=foreground, cancel=cancel, watch=watch, kernel=kernel
        )
    else:
        if kernel is not None:
            raise UsageError("kernel: found a guest kernel with a real clock, expected clock='virtual'")
        node, words = foreground or (None, None)
        done = core.Emulation.of(
            _core.emulate(
                source.text, source.name, sets, source.base, *folders,
                node=node, words=words, cancel=cancel, watch=core.parsed(watch), processors=processors, internet=internet,
            )
        )  # fmt: skip
    used = int(done.scenario["seed"])
    command = source.command(overrides(set), used, "emulate" if clock == REAL else "emulate --clock virtual")
    provenance = Provenance(done.scenario, used, core.revision(), core.version(), command)
    return Emulated(done.tables, provenance, tuple(done.reasons), done.exit_status, done.stopped)


def _folder(path: str | Path | None, what: str) -> Path | None:
    """Returns the folder, and creates it if it is missing. Raises StoreError."""
    if path is None:
        return None
    from acklab.atomic import make_folder

    return make_folder(path_of(path, what))
