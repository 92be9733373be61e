"""Refuses upward imports, modules that import each other in a circle, and impure dependencies.

A crate imports only crates below it. Modules of a crate and of the Python package import in one
direction. A pure crate depends only on crates that use no clock, file or thread.

`python scripts/layers.py`.
"""

import json
import subprocess
import sys
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from scripts import circles

ROOT = Path(__file__).parents[1]
PREFIX = "acklab-"


@dataclass(frozen=True)
class Crate:
    """Permitted imports of a crate of the workspace."""

    imports: frozenset[str]
    """Crates of the workspace, without the prefix."""
    tests: frozenset[str] = frozenset()
    """Further permitted imports of the crate's tests."""
    pure: bool = True
    """`True` if the crate uses no clock, file, thread or hash order.

    `crates/clippy.toml` enforces this.
    """


LAYERS: Mapping[str, Crate] = {
    "base": Crate(frozenset()),
    "wire": Crate(frozenset({"base"})),
    "transport": Crate(frozenset({"base", "wire"}), tests=frozenset({"app"})),
    "app": Crate(frozenset({"base"})),
    "path": Crate(frozenset({"base"})),
    "wifi": Crate(frozenset({"base", "path", "wire"})),
    "net": Crate(frozenset({"base", "path", "wifi"}), tests=frozenset({"drive", "wire"})),
    "drive": Crate(frozenset({"base"})),
    "packetdrill": Crate(frozenset({"base", "wire", "transport"})),
    "inspect": Crate(frozenset({"base", "wire"})),
    # Captures and logs are files.
    "measure": Crate(frozenset({"base", "wire", "app", "path", "wifi", "net"}), tests=frozenset({"transport"}), pure=False),
    # quinn-proto requires the system's `Instant`. Its own clippy.toml permits only that.
    "quinn": Crate(frozenset({"base", "wire", "transport"}), pure=False),
    "live": Crate(frozenset({"base", "wire", "drive"}), tests=frozenset({"transport"}), pure=False),
    "secure": Crate(frozenset({"base", "wire"}), pure=False),
    "deploy": Crate(frozenset({"base", "wire", "transport", "secure", "live", "measure"}), pure=False),
    "lab": Crate(
        frozenset(
            {
                "base",
                "wire",
                "transport",
                "app",
                "path",
                "wifi",
                "net",
                "drive",
                "packetdrill",
                "inspect",
                "measure",
                "quinn",
                "live",
            }
        ),
        pure=False,
    ),
    "py": Crate(frozenset({"base", "transport", "measure", "lab", "deploy"}), pure=False),
}
"""The crates from the lowest to the highest layer.

No crate imports a crate that follows it in this table.
"""

PURE_DEPENDENCIES = frozenset(
    {
        "arrayvec",
        "crc32fast",
        "etherparse",
        "libm",
        "md-5",
        "rand_core",
        "rand_xoshiro",
        "safe_arch",
        "schemars",
        "serde",
        "serde_json",
        "thiserror",
    }
)
"""Third-party crates that pure crates may use: none of these opens a file or starts a thread.

Only `safe_arch` reads a clock, which crates/clippy.toml refuses.
"""


def faults(packages: Iterable[Mapping[str, Any]], layers: Mapping[str, Crate] = LAYERS) -> list[str]:
    """Returns the faults in the dependencies of `packages`, as in `cargo metadata`."""
    return [fault for package in packages for fault in _faults_of(package, layers)]


def _faults_of(package: Mapping[str, Any], layers: Mapping[str, Crate]) -> Iterable[str]:
    name: str = package["name"]
    crate = layers.get(name.removeprefix(PREFIX))
    if crate is None:
        yield f"{name}: found no such crate in LAYERS of scripts/layers.py, expected what it may import"
        return
    for dependency in package["dependencies"]:
        wanted: str = dependency["name"]
        tested = dependency["kind"] == "dev"
        if wanted.startswith(PREFIX):
            allowed = crate.imports | crate.tests if tested else crate.imports
            if wanted.removeprefix(PREFIX) not in allowed:
                expected = ", ".join(PREFIX + other for other in layers if other in allowed) or "none of acklab's"
                yield f"{name}: found the import {wanted}{' (tests)' if tested else ''}, expected {expected}"
        elif crate.pure and not tested and wanted not in PURE_DEPENDENCIES:
            yield f"{name}: found the dependency {wanted} of a pure crate, expected one of {', '.join(sorted(PURE_DEPENDENCIES))}"


def upward(layers: Mapping[str, Crate] = LAYERS) -> list[str]:
    """Returns imports that the table permits, but not of a crate below the importer."""
    order = list(layers)
    return [
        f"{PREFIX}{name}: LAYERS lets it import {PREFIX}{other}, which stands above it"
        for name, crate in layers.items()
        for other in sorted(crate.imports)
        if other not in order[: order.index(name)]
    ]


def unbound(packages: Iterable[Mapping[str, Any]], layers: Mapping[str, Crate] = LAYERS) -> list[str]:
    """Returns pure crates that escape the lints.

    They have a separate clippy.toml, or do not use the lints of the workspace.
    """
    found = []
    for package in packages:
        crate = layers.get(package["name"].removeprefix(PREFIX))
        if crate is None or not crate.pure:
            continue
        manifest = Path(package["manifest_path"])
        found += [
            f"{package['name']}: found {name}, expected none beside crates/clippy.toml"
            for name in ("clippy.toml", ".clippy.toml")
            if (manifest.parent / name).exists()
        ]
        if not tomllib.loads(manifest.read_text(encoding="utf-8")).get("lints", {}).get("workspace"):
            found.append(f"{package['name']}: found no `lints.workspace = true` in its Cargo.toml")
    return found


def main() -> int:
    """Prints the faults of the workspace. Returns 1 if there are any."""
    command = ["cargo", "metadata", "--no-deps", "--format-version", "1", "--manifest-path", str(ROOT / "Cargo.toml")]
    workspace = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    # The other crates are fuzz targets, which may import all crates.
    packages = [package for package in workspace["packages"] if package["id"] in workspace["workspace_default_members"]]
    found = [*upward(), *faults(packages), *unbound(packages), *circles.faults()]
    for fault in found:
        print(f"error: {fault}", file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
