"""Commands that enable a choice in existing stacks: `stacks.toml`."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from importlib import resources
from typing import Any

from acklab.advice.candidates import Candidate


@dataclass(frozen=True)
class Stack:
    """Commands that enable a setting."""

    name: str
    title: str
    commands: tuple[str, ...]
    limits: str
    source: str

    def to_dict(self) -> dict[str, Any]:
        """Returns plain values."""
        return {"title": self.title, "commands": list(self.commands), "limits": self.limits, "source": self.source}


@cache
def stacks() -> Mapping[str, Stack]:
    """Returns all entries, by name."""
    text = (resources.files(__package__) / "stacks.toml").read_text(encoding="utf-8")
    return {
        name: Stack(name, entry["title"], tuple(entry["commands"]), entry["limits"], entry["source"])
        for name, entry in tomllib.loads(text).items()
    }


def switches(candidate: Candidate, over_wifi: bool) -> list[Stack]:
    """Returns the entries of stacks.toml for a candidate, with the candidate's rates.

    For a candidate that removes ACKs over Wi-Fi, also returns the entries of drivers.
    """
    wanted = list(candidate.switches)
    if over_wifi and {"cake-ack-filter", "linux-gro"} & {*wanted}:
        wanted += ["wifi-broadcom", "wifi-qualcomm"]
    return [_with_rates(stacks()[name], candidate.rates) for name in wanted]


def _with_rates(stack: Stack, rates: tuple[tuple[str, str], ...]) -> Stack:
    """Returns an entry whose commands contain the RATE of each direction."""
    commands = [
        f"{command.replace('RATE', rate)}{f'   # {direction}' if len(rates) > 1 else ''}" if "RATE" in command else command
        for command in stack.commands
        for direction, rate in (rates if "RATE" in command and rates else (("", "RATE"),))
    ]
    return replace(stack, commands=tuple(commands))
