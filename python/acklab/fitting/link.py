"""The scenario of fitted parameters, as a dict and as TOML."""

import math
import re
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from acklab.fitting.parameters import Parameters

_RANGE = re.compile(r"^#\s+--vary\s+(\S+)=(\S+\.\.\S+)\s*$", re.MULTILINE)


def scenario_of(parameters: Parameters, seed: int = 1) -> dict[str, Any]:
    """The scenario as a dict."""
    of = parameters
    way = of.propagation / 2
    forward: dict[str, Any] = {
        "rate": f"{of.rate:.5g}Mbps",
        "delay": _delay(way),
        "queue": {"discipline": "fifo", "limit": f"{max(round(of.queue), 1)}packets"},
    }
    if of.loss > 0:
        forward["loss"] = {"model": "independent", "probability": float(f"{of.loss:.3g}")}
    reverse: dict[str, Any] = {"delay": _delay(way)}
    if of.return_rate is not None:
        reverse |= {
            "rate": f"{round(of.return_rate * 1e6)}bps",
            "queue": {"discipline": of.ack_filter, "limit": "100packets"},
        }
    if of.gate is not None:
        acks = of.rate * 1e3 / (of.packet * 8) / of.segments * of.gate
        reverse["gate"] = {"interval": f"{of.gate:.4g}ms", "quota": 2 * math.ceil(acks) + 2}
    transport: dict[str, Any] = {
        "protocol": "tcp",
        "preset": "linux",
        "congestion": {"algorithm": of.controller},
        "ack": _policy(of.segments),
        "send_buffer": "64MiB",
        "receive_buffer": "64MiB",
    }
    if of.receive_window is not None:
        transport |= {"receive_buffer": f"{max(of.receive_window, 2 * of.mss)}B", "receive_window": "whole-buffer"}
    traffic: dict[str, Any] = {"model": "greedy"}
    if of.application_rate is not None:
        traffic = {"model": "constant", "rate": f"{of.application_rate:.5g}Mbps", "write": f"{of.mss}B"}
    return {
        "title": "A fitted path",
        "duration": f"{of.duration:.4g}s",
        "seed": seed,
        "link": [{"name": "path", "from": "sender", "to": "receiver", "forward": forward, "reverse": reverse}],
        "flow": [{"name": "transfer", "from": "sender", "to": "receiver", "transport": transport, "traffic": traffic}],
    }


def _delay(millis: float) -> str:
    """A duration, which a scenario takes to the nanosecond."""
    return f"{round(millis, 6):.5g}ms"


def _plain(value: float) -> str:
    """Three digits without an exponent, which ranges do not have."""
    return f"{Decimal(f'{value:.3g}'):f}"


def _policy(segments: int) -> dict[str, Any]:
    if segments == 1:
        return {"policy": "per-packet"}
    if segments == 2:
        return {"policy": "linux"}
    return {"policy": "byte-counting", "segments": segments, "timer": "25ms"}


def ranges_for(parameters: Parameters, losses: int, packets: int) -> dict[str, str]:
    """The ranges of what is uncertain, by key, as `--vary` takes them.

    Those of the rate and the round trip are the intervals of their estimates, and down to that of the rate where the fit needs a higher one; that of the loss is Poisson's interval of 95 % for the counted losses, in its
    normal approximation; that of the queue is a fifth to either side, because its limit is seen only where packets are dropped.
    """
    of = parameters
    half = max((of.rate_high - of.rate_low) / 2, 0.01 * of.rate)
    way = of.propagation / 2
    ranges = {
        "link.path.forward.rate": f"{min(of.rate - half, of.rate_low):.5g}Mbps..{of.rate + half:.5g}Mbps",
        "link.path.forward.delay": f"{_delay(0.98 * way)}..{_delay(1.02 * way)}",
        "link.path.forward.queue.limit": f"{max(math.floor(0.8 * of.queue), 1)}packets..{math.ceil(1.2 * of.queue)}packets",
    }
    if of.loss > 0:
        spread = 1.96 * math.sqrt(max(losses, 1)) / max(packets, 1)
        low = max(of.loss - spread, of.loss / 10)
        ranges["link.path.forward.loss.probability"] = f"{_plain(low)}..{_plain(min(of.loss + spread, 1.0))}"
    return ranges


def ranges_of(text: str) -> dict[str, str]:
    """The ranges in the comment of a fitted scenario."""
    return dict(_RANGE.findall(text))


def toml_of(scenario: Mapping[str, Any], ranges: Mapping[str, str], notes: list[str]) -> str:
    """The scenario as TOML, with notes and ranges as a comment at its head."""
    lines = [f"# {note}" for note in notes]
    if ranges:
        lines += [
            "# What is uncertain, for acklab sweep and acklab advise:",
            *(f"#   --vary {key}={value}" for key, value in ranges.items()),
        ]
    lines += [f"{key} = {_value(value)}" for key, value in scenario.items() if not isinstance(value, list)]
    for table in ("link", "flow"):
        for entry in scenario[table]:
            lines += ["", f"[[{table}]]"]
            lines += [f"{key} = {_value(value)}" for key, value in entry.items()]
    return "\n".join(lines) + "\n"


def _value(value: object) -> str:
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{key} = {_value(item)}" for key, item in value.items()) + " }"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int | float):
        return f"{value}"
    return '"' + str(value).replace("\\", "\\\\").replace('"', '\\"') + '"'
