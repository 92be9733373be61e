"""packetdrill scripts, run against acklab's TCP."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from acklab import _core
from acklab.errors import UsageError
from acklab.files import path_of, printable
from acklab.scenario import Overrides, Source, overrides
from acklab.strategies import Strategies

PRESETS = ("linux", "ns3", "rfc")
KERNEL = "kernel"
"""Name of the TCP of this machine's kernel, instead of a preset."""


@dataclass(frozen=True)
class Failure:
    """A failed expectation of a script."""

    line: int
    expected: str
    found: str


@dataclass(frozen=True)
class Verdict:
    """The outcome of a script."""

    script: Path
    verdict: str
    """"passed", "failed", "out of scope" or "malformed"."""
    failures: tuple[Failure, ...]
    line: int | None
    """The line because of which the script was skipped; None if it was not skipped."""
    reason: str | None
    """The reason why the script was skipped; None if it was not skipped."""

    def to_dict(self) -> dict[str, Any]:
        """Returns values that JSON supports."""
        failures = [{"line": failure.line, "expected": failure.expected, "found": failure.found} for failure in self.failures]
        refusal = None if self.line is None else {"line": self.line, "message": self.reason}
        return {"script": printable(self.script), "verdict": self.verdict, "failures": failures, "refusal": refusal}


def play(
    scripts: Iterable[str | Path],
    *,
    preset: str = "linux",
    scenario: str | Path | Source | None = None,
    set: Overrides = (),
    strategies: Strategies | None = None,
    tolerance_usecs: int | None = None,
) -> list[Verdict]:
    """Runs scripts against the TCP of `preset`, or of the first TCP flow of `scenario`.

    A folder represents all scripts (`*.pkt`) in and below it. `set` changes the scenario, such as
    `{"flow.0.congestion": "bbr"}`. The default scenario has one flow, with the preset. Its settings
    override the variables of scripts. `tolerance_usecs` overrides the tolerances of scripts.

    With the preset "kernel", scripts run against the TCP of this machine's kernel, in real time,
    over a device in a network namespace. This requires root or a user namespace
    (`core.acquire_permission`), and accepts no settings.

    Raises ScenarioError for a scenario that is refused, UsageError for a missing script, RunError
    for a script that cannot be read.
    """
    if preset not in (*PRESETS, KERNEL):
        raise UsageError(f'preset: found "{preset}", expected {", ".join(PRESETS)} or {KERNEL}')
    if preset == KERNEL and (scenario is not None or set or strategies):
        raise UsageError("preset: found kernel beside a scenario, settings or strategies, which a kernel does not support")
    source = None if scenario is None else Source.of(scenario)
    files = list(_files(scripts))
    if not files:
        raise UsageError("found no script, expected packetdrill files, *.pkt, or folders with them")
    text, name = (None, f"preset {preset}") if source is None else (source.text, source.name)
    played = _core.packetdrill(
        files,
        text,
        name,
        preset,
        overrides(set),
        tolerance=tolerance_usecs,
        strategies=None if strategies is None else dict(strategies),
    )
    return [
        Verdict(
            Path(one["script"]),
            one["verdict"],
            tuple(Failure(**failure) for failure in one["failures"]),
            *((None, None) if one["refusal"] is None else (one["refusal"]["line"], one["refusal"]["message"])),
        )
        for one in json.loads(played)
    ]


def _files(scripts: Iterable[str | Path]) -> Iterable[Path]:
    for script in scripts:
        path = path_of(script, "script")
        if path.is_dir():
            yield from sorted(path.rglob("*.pkt"))
        elif path.exists():
            yield path
        else:
            raise UsageError(f"{printable(path)}: no such file, expected a packetdrill script or a folder with scripts")


def by_folder(verdicts: Sequence[Verdict]) -> dict[Path, dict[str, int]]:
    """Returns the number of scripts per verdict by folder, in alphabetical order."""
    counts: dict[Path, dict[str, int]] = {}
    for verdict in sorted(verdicts, key=lambda verdict: verdict.script.parent):
        of_folder = counts.setdefault(verdict.script.parent, dict.fromkeys(("passed", "failed", "out of scope", "malformed"), 0))
        of_folder[verdict.verdict] += 1
    return counts


__all__ = ["KERNEL", "PRESETS", "Failure", "Verdict", "by_folder", "play"]


def __dir__() -> list[str]:
    return __all__
