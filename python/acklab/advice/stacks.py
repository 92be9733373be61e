"""How to switch a choice on in stacks that exist: `stacks.toml`."""

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any


@dataclass(frozen=True)
class Stack:
    """A way to switch something on."""

    name: str
    title: str
    commands: tuple[str, ...]
    limits: str
    source: str

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return {"title": self.title, "commands": list(self.commands), "limits": self.limits, "source": self.source}


@cache
def stacks() -> Mapping[str, Stack]:
    """All entries, by name."""
    text = (resources.files(__package__) / "stacks.toml").read_text(encoding="utf-8")
    return {
        name: Stack(name, entry["title"], tuple(entry["commands"]), entry["limits"], entry["source"])
        for name, entry in tomllib.loads(text).items()
    }


def switches(names: Iterable[str], over_wifi: bool) -> list[Stack]:
    """The entries with these names; what thins ACKs over Wi-Fi has those of drivers as well."""
    wanted = list(dict.fromkeys(names))
    if over_wifi and {"cake-ack-filter", "linux-gro"} & {*wanted}:
        wanted += ["wifi-broadcom", "wifi-qualcomm"]
    return [stacks()[name] for name in wanted]
