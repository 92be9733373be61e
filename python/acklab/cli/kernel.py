"""`acklab kernel`."""

import json
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

from acklab.tables import Table
from acklab.terminal import err, out, show_table
from acklab.virtual.build import build
from acklab.virtual.kernels import BUILD, GuestKernel, kernels, remove


def build_command(version: str | None, source: Path | None, as_json: bool) -> None:
    """Builds a kernel and shows its name."""
    began = time.monotonic()
    with err.status("building") as status:

        def progress(step: str) -> None:
            status.update(f"{step} ({time.monotonic() - began:.0f} s)")

        kernel = build(version, source, progress)
    if as_json:
        print(json.dumps(_described(kernel)))
        return
    out.print(f"{kernel.name} of {kernel.source}, after {time.monotonic() - began:.0f} s", highlight=False)
    err.print("use it with: acklab emulate SCENARIO --clock virtual", highlight=False)


def list_command(as_json: bool) -> None:
    """Shows the kernels."""
    every = kernels()
    if as_json:
        print(json.dumps([_described(kernel) for kernel in every]))
    elif not every:
        err.print(f"no guest kernel; `{BUILD}` makes one", highlight=False)
    else:
        show_table(
            Table(["name", "source", "built"], [[kernel.name, kernel.source, kernel.built] for kernel in every], "Guest kernels")
        )


def remove_command(name: str) -> None:
    """Removes a kernel."""
    kernel = remove(name)
    err.print(f"removed {kernel.name}", highlight=False)


def _described(kernel: GuestKernel) -> dict[str, Any]:
    return {"name": kernel.name, **{key: str(value) for key, value in asdict(kernel).items()}}
