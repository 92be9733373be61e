"""The provenance of a result: everything that is needed to repeat its run."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from acklab.errors import StoreError


@dataclass(frozen=True)
class Provenance:
    """The provenance of a result."""

    scenario: dict[str, Any]
    """The complete scenario, with presets resolved."""
    seed: int
    revision: str
    """The commit from which the core was built."""
    version: str
    command: str
    """The command that repeats the run."""

    def metadata(self) -> dict[str, str]:
        """Returns keys and values of the metadata of a Parquet file."""
        return {
            "acklab.scenario": json.dumps(self.scenario, sort_keys=True),
            "acklab.seed": str(self.seed),
            "acklab.revision": self.revision,
            "acklab.version": self.version,
            "acklab.command": self.command,
        }

    @classmethod
    def of(cls, metadata: Mapping[bytes, bytes] | None, path: str) -> "Provenance":
        """Reads the output of `metadata` from the schema of a table.

        Raises StoreError, naming `path`, if something is missing.
        """
        try:
            found = {key.decode(): value.decode() for key, value in (metadata or {}).items() if key.startswith(b"acklab.")}
            scenario = json.loads(found["acklab.scenario"])
            if not isinstance(scenario, dict):
                raise ValueError(f"the scenario is a value of type {type(scenario).__name__}")
            return cls(
                scenario=scenario,
                seed=int(found["acklab.seed"]),
                revision=found["acklab.revision"],
                version=found["acklab.version"],
                command=found["acklab.command"],
            )
        except KeyError as error:
            raise StoreError(
                f"{path}: found a Parquet file without the key {error.args[0]!r} in its metadata, expected a result that acklab wrote"
            ) from error
        except ValueError as error:
            raise StoreError(f"{path}: found damaged metadata ({error}), expected a result that acklab wrote") from error
