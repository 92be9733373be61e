"""Draws random paths with their true values.

A path is a scenario. Inspections of its captures are compared with the true values.

The number of a path is the seed of its draw. Numbers below 1000 are for development; numbers from
10000 on are a held-out test set.
"""

import math
import random
import subprocess
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path as File
from typing import Any

import acklab

Exchange = tuple[int, int]
"""Octets of a packet and of its response."""
_ACK, _SYN, FULL = 52, 60, 1500
"""Octets of a pure ACK with timestamps, of a SYN, and of a full-sized segment."""


@dataclass(frozen=True)
class Path:
    """A scenario, the places of its captures, and the true values."""

    scenario: dict[str, Any]
    position: str
    """Position of the capture: sender, receiver, before or behind (the bottleneck)."""
    rate: float
    """Rate of the bottleneck in Mbps of IP bytes."""
    rate_back: float
    """Rate of the return path."""
    propagation: float
    """Round-trip propagation in ms."""
    period: float | None
    """Period of a gate on the return path in ms."""
    is_thinned: bool
    files: tuple[str, ...]
    """Captures, which are merged."""

    @property
    def base(self) -> float:
        """Returns the minimum RTT of TCP in ms: of a handshake, or of data and their ACK."""
        return self.base_of((_SYN, _SYN), (FULL, _ACK))

    def base_of(self, *exchanges: Exchange) -> float:
        """Returns the minimum RTT of these exchanges in ms.

        It consists of propagation, and of the time that packets take on each link.

        Behind a gate there is no minimum, because each packet may wait for the gate.
        """
        if self.period is not None:
            return math.nan
        access = 2 / 1e3  # Mbps
        times = (8e-3 * (ahead / self.rate + back / self.rate_back + access * (ahead + back)) for ahead, back in exchanges)
        return self.propagation + min(times)

    def with_flows(self, *flows: dict[str, Any]) -> "Path":
        """Returns the path with these flows in place of its flows."""
        return replace(self, scenario=self.scenario | {"flow": list(flows)})

    def capture(self, folder: str) -> tuple[acklab.Result, File]:
        """Simulates the path.

        Returns the result, and the capture in `folder`, which mergecap merges from several.
        """
        result = acklab.run(self.scenario, captures=folder)
        files = [File(folder) / file for file in self.files]
        if len(files) == 1:
            return result, files[0]
        both = File(folder) / "both.pcapng"
        subprocess.run(["mergecap", "-w", both, *files], check=True)
        return result, both


def log_uniform(chance: random.Random, low: float, high: float) -> float:
    """Draws a number between two bounds. Its logarithm has a uniform distribution."""
    return math.exp(chance.uniform(math.log(low), math.log(high)))


def draw(number: int) -> Path:
    """Draws the path with this number."""
    chance = random.Random(number)
    between = partial(log_uniform, chance)
    rate = round(between(2, 200), 1)
    propagation = round(between(8, 200), 1)
    controller = chance.choice(["newreno", "cubic", "bbr"])
    policy, ratio = chance.choice(
        [
            ({"policy": "linux"}, 2),
            ({"policy": "linux"}, 2),
            ({"policy": "delayed", "segments": 2, "timer": "200ms"}, 2),
            ({"policy": "per-packet"}, 1),
            ({"policy": "byte-counting", "segments": 8, "timer": "25ms"}, 8),
        ]
    )
    acks = rate * 1e6 / (8 * FULL) / ratio
    kind = chance.choice(["plain", "plain", "gate", "filter"])
    reverse: dict[str, Any] = {"rate": f"{max(rate, 10):g}Mbps"}
    period = None
    if kind == "gate":
        # Several ACKs wait for each release of the gate, and the gate passes all of them.
        period = round(max(chance.uniform(3, 9) / acks * 1e3, 2.0), 1)
        reverse["gate"] = {"interval": f"{period}ms", "quota": math.ceil(acks * period / 1e3 * 3) + 2}
    elif kind == "filter":
        reverse["rate"] = f"{max(acks * 8 * _ACK * chance.uniform(0.15, 0.6) / 1e3, 16):.1f}kbps"
        reverse["queue"] = {
            "discipline": chance.choice(["ack-filter", "cake-ack-filter"]),
            "limit": "100packets",
        }
        chance.random()  # Keeps the random draws of later numbers unchanged.
    shares = [chance.uniform(0.1, 0.4), chance.uniform(0.1, 0.4)]
    delays = [propagation / 2 * shares[0], propagation / 2 * (1 - sum(shares)), propagation / 2 * shares[1]]
    access = {"rate": "1Gbps"}
    bdp = rate * 1e6 * propagation / 1e3 / (8 * FULL)
    queue = max(int(bdp * chance.uniform(0.5, 2.5)), 12)
    forward: dict[str, Any] = {
        "rate": f"{rate}Mbps",
        "delay": f"{delays[1]:.4f}ms",
        "queue": {"discipline": "fifo", "limit": f"{queue}packets"},
    }
    # Losses are so rare that a loss-based controller still fills the bottleneck: a window of W
    # packets corresponds to one loss in 3/8 W² packets (Mathis et al., CCR 27(3), 1997).
    loss = chance.choice([0, 0, 0.0005, 0.002])
    loss = loss if controller == "bbr" else min(loss, 0.2 / max(bdp, 4) ** 2)
    if loss:
        forward["loss"] = {"model": "independent", "probability": loss}
    position = chance.choice(["sender", "sender", "receiver", "before", "behind"])
    if kind == "filter":
        position = chance.choice(["sender", "sender", "before"])
    points = {
        "sender": ("src",),
        "receiver": ("dst",),
        "before": ("btl_forward", "btl_reverse.out"),
        "behind": ("btl_forward.out", "btl_reverse"),
    }[position]
    files = tuple(f"{place}.pcapng" for place in points)
    duration = min(max(6000 * 8 * FULL / rate / 1e6, 30 * propagation / 1e3, 4), 60)
    scenario = {
        "duration": f"{duration:.2f}s",
        "seed": number,
        "link": [
            {"name": "left", "from": "src", "to": "r1", "forward": access | {"delay": f"{delays[0]:.4f}ms"}, "reverse": access | {"delay": f"{delays[0]:.4f}ms"}},
            {"name": "btl", "from": "r1", "to": "r2", "forward": forward, "reverse": reverse | {"delay": f"{delays[1]:.4f}ms"}},
            {"name": "right", "from": "r2", "to": "dst", "forward": access | {"delay": f"{delays[2]:.4f}ms"}, "reverse": access | {"delay": f"{delays[2]:.4f}ms"}},
        ],
        "flow": [
            {
                "name": "down", "from": "src", "to": "dst", "start": f"{chance.uniform(0, 20):.3f}ms",
                "transport": {
                    "protocol": "tcp", "preset": "linux", "congestion": {"algorithm": controller}, "ack": policy,
                    "send_buffer": "64MiB", "receive_buffer": "64MiB",
                },
            }
        ],
        "capture": [{"point": point, "file": file} for point, file in zip(points, files, strict=True)],
    }  # fmt: skip
    back = float(reverse["rate"].removesuffix("Mbps").removesuffix("kbps")) / (1e3 if "kbps" in reverse["rate"] else 1)
    return Path(scenario, position, rate, back, propagation, period, kind == "filter", files)
