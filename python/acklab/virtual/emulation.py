"""An emulation in virtual time, in the view of its caller."""

import json
import os
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TextIO

import acklab
from acklab import _core, core, errors
from acklab.errors import Cancelled, RunError
from acklab.virtual.guest import Command, Tail, Watch, run
from acklab.virtual.kernels import GuestKernel, find


def emulate(
    text: str,
    name: str,
    sets: Sequence[str],
    base: Path,
    captures: Path | None = None,
    outputs: Path | None = None,
    at: tuple[str, Sequence[str]] | None = None,
    cancel: core.Cancel | None = None,
    watch: Callable[[dict[str, Any]], None] | None = None,
    kernel: str | None = None,
) -> core.Emulation:
    """Runs a scenario in a guest whose clock advances only while the whole guest waits.

    The arguments are those of `acklab.emulate`; `kernel` is the name of a guest kernel, by default
    the newest. Random bytes of the guest are a function of the scenario's seed, so that the same
    scenario, seed and kernel give the same tables. Raises ScenarioError, RunError and Cancelled.
    """
    chosen = find(kernel)
    scenario = json.loads(_core.check(text, name, sets, base))
    with tempfile.TemporaryDirectory(prefix="acklab-virtual-") as folder:
        exchange = Path(folder).resolve()
        request = {
            "text": text,
            "name": name,
            "sets": list(sets),
            "base": str(base.resolve()),
            "captures": _whole(captures),
            "outputs": _whole(outputs),
            "at": None if at is None else [at[0], list(at[1])],
        }
        (exchange / "request.json").write_text(json.dumps(request), encoding="utf-8")
        samples = _Samples(exchange / "samples", watch)
        writable = {path.resolve() for path in (captures, outputs) if path is not None}
        command = Command(
            [sys.executable, "-m", "acklab.virtual.inside", str(exchange / "request.json")],
            Path.cwd(),
            _environment(),
            sorted({exchange, *writable}),
        )
        guest = Watch(_writer(sys.stdout), _writer(sys.stderr), lambda: cancel is not None and cancel.cancelled, samples.read)
        status = run(chosen, command, int(scenario["seed"]), guest)
        samples.read()
        return _outcome(exchange, status, chosen, cancel)


def _writer(stream: TextIO) -> Callable[[str], None]:
    def write(text: str) -> None:
        stream.write(text)
        stream.flush()

    return write


def _whole(path: Path | None) -> str | None:
    return None if path is None else str(path.resolve())


def _environment() -> dict[str, str]:
    """Returns the environment of this process, with a fixed seed of Python's hashes."""
    package = str(Path(acklab.__file__).parents[1])
    return {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([package, *filter(None, [os.environ.get("PYTHONPATH")])]),
        "PYTHONHASHSEED": "0",
    }


class _Samples:
    """The samples of each second, as the guest writes them."""

    def __init__(self, path: Path, watch: Callable[[dict[str, Any]], None] | None) -> None:
        self.tail = Tail(path, self._add)
        self.watch = watch
        self.rest = ""
        self.time: float | None = None

    def read(self) -> float | None:
        """Passes new samples to the caller, and returns the time of the last sample."""
        self.tail.read()
        return self.time

    def _add(self, text: str) -> None:
        *lines, self.rest = (self.rest + text).split("\n")
        for line in lines:
            sample = json.loads(line)
            self.time = float(sample["time"])
            if self.watch is not None:
                self.watch(sample)


def _outcome(folder: Path, status: int, kernel: GuestKernel, cancel: core.Cancel | None) -> core.Emulation:
    """Reads the results of the guest. Raises the error with which the emulation ended."""
    file = folder / "outcome.json"
    if not file.exists():
        if cancel is not None and cancel.cancelled:
            raise Cancelled("stopped before the window of measurement began")
        raise RunError(f"the emulation in the guest ended with status {status} and without a result")
    outcome = json.loads(file.read_text(encoding="utf-8"))
    if "error" in outcome:
        kind = getattr(errors, outcome["error"], RunError)
        raise kind(outcome["message"])
    tables = {name: _table(folder / f"{name}.arrow") for name in outcome["tables"]}
    tables["kernel"] = _described(tables["kernel"], kernel)
    return core.Emulation(outcome["scenario"], tables, outcome["reasons"], outcome["exit_status"], outcome["stopped"])


def _table(path: Path) -> Any:
    from pyarrow import ipc

    with path.open("rb") as source:
        return ipc.open_file(source).read_all()


def _described(table: Any, kernel: GuestKernel) -> Any:
    """Returns the table `kernel` with the clock and the origin of the guest's kernel."""
    import pyarrow as pa

    parameters = {"clock": "virtual", "config": kernel.config, "source": kernel.source}
    columns = {"node": [None] * len(parameters), "parameter": list(parameters), "value": list(parameters.values())}
    return pa.concat_tables([table, pa.table(columns, schema=table.schema)])
