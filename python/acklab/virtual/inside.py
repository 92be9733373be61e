"""The emulation in the guest: `python -m acklab.virtual.inside REQUEST.json`.

Its results are files beside the request.
"""

import json
import signal
import sys
from pathlib import Path
from typing import Any

from acklab import _core, core
from acklab.errors import AcklabError


def main(file: Path) -> None:
    """Runs the request, and writes the tables, the samples of each second, and the outcome."""
    import pyarrow as pa
    from pyarrow import ipc

    request = json.loads(file.read_text(encoding="utf-8"))
    cancel = core.Cancel()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: cancel.cancel())
    outcome: dict[str, Any] = {}
    with (file.parent / "samples").open("a", encoding="utf-8") as samples:

        def watch(sample: str) -> None:
            samples.write(sample + "\n")
            samples.flush()

        try:
            core.acquire_permission()
            node, words = request["at"] or (None, None)
            done = core.Emulation.of(
                _core.emulate(
                    request["text"], request["name"], request["sets"], request["base"], request["captures"], request["outputs"],
                    node=node, words=words, cancel=cancel, watch=watch, processors="halt",
                    takes_time=False,
                )
            )  # fmt: skip
            for name, table in done.tables.items():
                with pa.OSFile(str(file.parent / f"{name}.arrow"), "wb") as sink, ipc.new_file(sink, table.schema) as writer:
                    writer.write_table(table)
            outcome = {
                "scenario": done.scenario,
                "tables": list(done.tables),
                "reasons": list(done.reasons),
                "exit_status": done.exit_status,
                "stopped": done.stopped,
            }
        except AcklabError as error:
            outcome = {"error": type(error).__name__, "message": str(error)}
    (file.parent / "outcome.json").write_text(json.dumps(outcome), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
