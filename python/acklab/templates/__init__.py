"""Commented scenarios as templates for `acklab new`."""

from functools import cache
from importlib import resources
from pathlib import Path

from acklab.errors import UsageError

_TRACES = {"lte": "lte.trace"}
"""Templates that require a trace beside them."""


@cache
def templates() -> dict[str, str]:
    """Returns the title of each template, by its name."""
    return {name: text.split('title = "', 1)[1].split('"', 1)[0] for name, text in _texts().items()}


def new(kind: str, path: str | Path) -> list[Path]:
    """Writes the template `kind` as a scenario, with its trace if it needs one.

    Returns the written files.

    Raises UsageError for an unknown kind, StoreError if a file cannot be written.
    """
    from acklab.atomic import write_text

    if kind not in _texts():
        raise UsageError(f"found no template {kind!r}, expected one of: {', '.join(_texts())}")
    target = Path(path)
    text = _texts()[kind].replace(f"{kind}.toml", target.name)
    written = [target]
    if kind in _TRACES:
        from acklab.traces import cellular

        trace = target.with_suffix(".trace")
        write_text(trace, cellular(60, seed=1))
        text = text.replace(_TRACES[kind], trace.name)
        written.append(trace)
    write_text(target, text)
    return written


@cache
def _texts() -> dict[str, str]:
    files = (entry for entry in resources.files(__name__).iterdir() if entry.name.endswith(".toml"))
    return {
        entry.name.removesuffix(".toml"): entry.read_text(encoding="utf-8") for entry in sorted(files, key=lambda one: one.name)
    }
