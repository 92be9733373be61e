"""Refuses third-party crates whose licence is not permissive, and second versions of a crate.

`python scripts/crates.py`.

Checks the crates that Cargo.lock has for Linux, without the network: `cargo fetch` must have run
before.
"""

import json
import re
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
TARGET = "x86_64-unknown-linux-gnu"

LICENCES = frozenset(
    {
        "0BSD",
        "Apache-2.0",
        "Apache-2.0 WITH LLVM-exception",
        "BSD-2-Clause",
        "BSD-3-Clause",
        "BSL-1.0",
        "CC0-1.0",
        "ISC",
        "MIT",
        "NCSA",
        "Unicode-3.0",
        "Unlicense",
        "Zlib",
    }
)
"""SPDX identifiers of licences that require only a notice."""

SEVERAL: Mapping[str, str] = {
    "bit-vec": "proptest has 0.10; 0.9 is an option of yasna (of rcgen) that is not built",
    "getrandom": "ring 0.17 has 0.2, ahash (of arrow) 0.3, rand 0.4",
    "num-bigint": "arrow has 0.5; 0.4 is an option of yasna (of rcgen) that is not built",
    "syn": "macros at build time: derive-into-owned (of pcap-file) has 1, curve25519-dalek and zerocopy 2, serde 3",
}
"""Crates with several permitted versions, and their users."""


def is_permissive(expression: str) -> bool:
    """Returns whether licences of `LICENCES` satisfy an SPDX expression.

    The older form `MIT/Apache-2.0` is accepted.

    Raises:
        ValueError: if the text is not an SPDX expression.

    """
    words = iter(re.findall(r"[()]|[^\s()]+(?: WITH [^\s()]+)?", expression.replace("/", " OR ")))
    met, ended_by = _alternatives(words)
    if ended_by is not None:
        raise ValueError(f"found {expression!r}, expected an SPDX expression")
    return met


def _alternatives(words: Iterator[str]) -> tuple[bool, str | None]:
    """Reads up to the end or a closing bracket, which it returns."""
    met, all_of = False, True
    for word in words:
        if word == ")":
            return met or all_of, word
        if word == "OR":
            met, all_of = met or all_of, True
        elif word == "(":
            inner, ended_by = _alternatives(words)
            if ended_by is None:
                raise ValueError("found an open bracket, expected its end")
            all_of &= inner
        elif word != "AND":
            all_of &= word in LICENCES
    return met or all_of, None


def faults(packages: Iterable[Mapping[str, Any]]) -> list[str]:
    """Returns the faults of the `packages` of `cargo metadata`. Ignores crates of the workspace."""
    found, versions = [], defaultdict(set)
    for package in packages:
        if package["source"] is None:
            continue
        name = f"{package['name']} {package['version']}"
        versions[package["name"]].add(package["version"])
        if package["license"] is None or not is_permissive(package["license"]):
            found.append(f"{name}: found the licence {package['license']}, expected one of {', '.join(sorted(LICENCES))}")
    several = {name for name, known in versions.items() if len(known) > 1}
    found += [
        f"{name}: found the versions {', '.join(sorted(versions[name]))}, expected one"
        for name in sorted(several - SEVERAL.keys())
    ]
    found += [
        f"{name}: SEVERAL of scripts/crates.py allows several versions, and there is one"
        for name in sorted(SEVERAL.keys() - several)
    ]
    return found


def main() -> int:
    """Prints the faults of third-party crates. Returns 1 if there are any."""
    command = ["cargo", "metadata", "--locked", "--offline", "--format-version", "1", "--filter-platform", TARGET]
    tree = json.loads(
        subprocess.run([*command, "--manifest-path", str(ROOT / "Cargo.toml")], check=True, capture_output=True, text=True).stdout
    )
    resolved = {node["id"] for node in tree["resolve"]["nodes"]}
    found = faults(package for package in tree["packages"] if package["id"] in resolved)
    for fault in found:
        print(f"error: {fault}", file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
