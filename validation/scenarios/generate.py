"""Random valid scenarios: chains, forks and cells.

They have all transports, controllers and ACK policies; gates (which release packets in bursts), ACK
filters, jitter, reordering, loss and HACK. A scenario is a function of its number. Scenarios that
the core refuses are counted, and replaced by another draw.
"""

import math
from random import Random
from typing import Any

Scenario = dict[str, Any]

CONTROLLERS = (
    *("newreno", "cubic", "bbr", "bbr3", "vegas", "copa"),
    *("pcc-allegro", "pcc-vivace"),
)
POLICIES = (
    "per-packet",
    "delayed",
    "linux",
    "quic",
    "chrome",
    "daass",
    "tack",
    "ack-frequency",
    "ack-congestion-control",
    "byte-counting",
)
PAYLOAD = 1500
"""Bytes of a packet, from which queue limits are computed."""
ACTIVE = ("fq-codel", "cake", "pie", "dualpi2")
"""Queue disciplines with AQM, which keep the queue short."""


def scenario(number: int) -> Scenario:
    """Returns the scenario of this number."""
    random = Random(number)
    kind = random.choices(("clean", "chain", "fork", "cell"), (3, 4, 2, 2))[0]
    made: Scenario = {"seed": random.randrange(2**32), "title": f"{kind} {number}", "measure": {"from": "0s"}}
    {"clean": _clean, "chain": _chain, "fork": _fork, "cell": _cell}[kind](random, made)
    return made


def _clean(random: Random, made: Scenario) -> None:
    """Draws one greedy flow over one link without faults: the flow has to use the link."""
    rate, delay = _log(random, 0.5, 300.0), _log(random, 0.3, 110.0)
    packets = _queue_packets(random, rate, delay)
    # A separate random stream, so that the other draws are the same as with a FIFO.
    own = Random(f"queue of {made['title']}")
    queue = _active(own, packets, rate) if own.random() < 0.3 else _fifo(packets)
    made["link"] = [
        _link("l0", "n0", "n1", {**_wire(rate, delay), "queue": queue}, _wire(rate / random.choice((1, 2, 10)), delay))
    ]
    made["flow"] = [_flow(random, "f0", "n0", "n1", {"model": "greedy"}, is_plain=True)]
    _last(made, random, rate, delay)


def _chain(random: Random, made: Scenario) -> None:
    hops = random.randint(1, 4)
    rates, delays = [_log(random, 0.5, 100.0) for _ in range(hops)], [_log(random, 0.2, 40.0) for _ in range(hops)]
    made["link"] = [
        _link(
            f"l{hop}", f"n{hop}", f"n{hop + 1}", _direction(random, rate, delay), _direction(random, rate, delay, is_return=True)
        )
        for hop, (rate, delay) in enumerate(zip(rates, delays, strict=True))
    ]
    _flows(random, made, [(f"n{first}", f"n{last}") for first in range(hops + 1) for last in range(hops + 1) if first != last])
    _last(made, random, min(rates), sum(delays))


def _fork(random: Random, made: Scenario) -> None:
    """Draws nodes around a central node, each with a separate link."""
    leaves = random.randint(3, 6)
    rates, delays = [_log(random, 1.0, 100.0) for _ in range(leaves)], [_log(random, 0.2, 30.0) for _ in range(leaves)]
    made["link"] = [
        _link(f"l{leaf}", "middle", f"n{leaf}", _direction(random, rate, delay), _direction(random, rate, delay))
        for leaf, (rate, delay) in enumerate(zip(rates, delays, strict=True))
    ]
    _flows(random, made, [(f"n{one}", f"n{other}") for one in range(leaves) for other in range(leaves) if one != other])
    _last(made, random, min(rates), 2 * max(delays))


def _cell(random: Random, made: Scenario) -> None:
    standard = random.choice(("802.11b", "802.11a", "802.11g", "802.11n", "802.11ac", "802.11ax", "802.11be"))
    stations = random.randint(1, 5)
    has_mcs = standard[6:] not in ("b", "a", "g")
    cell: Scenario = {
        "name": "cell",
        "standard": standard,
        "ap": {"name": "ap", "queue": _fifo(random.choice((20, 126, 1000)))},
        "station": [{"name": "sta", "count": stations, "queue": _fifo(random.choice((20, 126)))}],
    }
    if has_mcs:
        cell["rate"] = {"control": "fixed", "mcs": random.randint(0, 7)}
        cell["aggregation"] = {"a_msdu": random.choice(("0B", "0B", "3839B"))}
    if random.random() < 0.3:
        cell["rts_threshold"] = "500B"
    if random.random() < 0.4 and standard != "802.11b":
        cell["hack"] = {"variant": random.choice(("more-data", "opportunistic"))}
    delay = _log(random, 0.2, 30.0)
    made["wifi"] = [cell]
    made["link"] = [_link("wire", "server", "ap", _wire(500.0, delay), _wire(500.0, delay))]
    ends = [(f"sta_{k}" if stations > 1 else "sta") for k in range(1, stations + 1)]
    _flows(random, made, [("server", end) for end in ends] + [(end, "server") for end in ends])
    made["duration"] = f"{random.choice((1, 2, 4))}s"


def _last(made: Scenario, random: Random, rate: float, delay: float) -> None:
    """Sets a duration that is enough for a controller and still short for thousands of runs."""
    round_trip = 2 * delay / 1e3 + 12 * PAYLOAD / (rate * 1e6)
    made["duration"] = f"{min(40.0, max(4.0, 100 * round_trip)) * random.choice((1, 1, 1.5)):.3f}s"


def _flows(random: Random, made: Scenario, pairs: list[tuple[str, str]]) -> None:
    made["flow"] = []
    for number in range(random.choices((1, 2, 3, 6), (5, 3, 2, 1))[0]):
        start, end = random.choice(pairs)
        traffic: Scenario = random.choice(
            (
                {"model": "greedy"},
                {"model": "greedy"},
                {"model": "fixed", "size": f"{int(_log(random, 100, 3e6))}B"},
                {"model": "constant", "rate": f"{_log(random, 20, 5000):.0f}kbps", "write": f"{random.randint(1, 4000)}B"},
                {"model": "poisson", "rate": f"{_log(random, 20, 5000):.0f}kbps", "write": f"{random.randint(100, 4000)}B"},
            )
        )
        flow = _flow(random, f"f{number}", start, end, traffic)
        if flow["transport"]["protocol"] == "udp" and traffic["model"] in ("greedy", "fixed"):
            # UDP cannot limit an application to the rate of the path.
            flow["traffic"] = {"model": "constant", "rate": f"{_log(random, 20, 20_000):.0f}kbps", "write": "1200B"}
        if random.random() < 0.4:
            flow["start"] = f"{random.randint(0, 900)}ms"
        if random.random() < 0.2:
            flow["stop"] = f"{random.randint(1000, 3000)}ms"
        made["flow"].append(flow)


def _flow(random: Random, name: str, start: str, end: str, traffic: Scenario, is_plain: bool = False) -> Scenario:
    return {"name": name, "from": start, "to": end, "transport": _transport(random, is_plain), "traffic": traffic}


def _transport(random: Random, is_plain: bool) -> Scenario:
    protocols = ("tcp", "tcp", "quic", "quinn", "tack") if is_plain else ("tcp", "tcp", "tcp", "quic", "quinn", "tack", "udp")
    made: Scenario = {"protocol": random.choice(protocols)}
    protocol = made["protocol"]
    if protocol == "udp":
        return made
    if random.random() < 0.8:
        made["congestion"] = random.choice(CONTROLLERS)
    if protocol == "tcp":
        made["preset"] = random.choice(("linux", "rfc", "ns3"))
        if random.random() < 0.2:
            made["mss"] = random.choice(("100B", "536B", "8000B"))
    elif protocol == "quic":
        made["preset"] = random.choice(("quinn", "neqo", "picoquic", "quicly", "chrome", "mvfst", "s2n-quic", "quic-go"))
    if protocol != "quinn" and random.random() < 0.6:
        made["ack"] = {"policy": random.choice(POLICIES)}
        if made["ack"]["policy"] == "byte-counting":
            made["ack"] |= {"segments": random.choice((1, 2, 4, 8)), "timer": f"{random.choice((25, 40, 100))}ms"}
    made["send_buffer"] = "64MiB"
    if protocol in ("tcp", "tack"):
        made["receive_buffer"] = "64MiB"
    elif protocol == "quinn":
        made["stream_window"] = random.choice(("4MiB", "64MiB"))
    return made


def _direction(random: Random, rate: float, delay: float, is_return: bool = False) -> Scenario:
    made: Scenario = _wire(rate, delay)
    packets = _queue_packets(random, rate, delay)
    made["queue"] = random.choice(
        (
            _fifo(packets),
            _fifo(packets),
            {"discipline": "codel", "limit": f"{max(packets, 100)}packets"},
            {"discipline": "fifo", "limit": f"{packets}packets", "mark_above": f"{max(1, packets // 3)}packets"},
            {"discipline": "ack-filter", "limit": f"{packets}packets"},
            {"discipline": "cake-ack-filter", "limit": f"{packets}packets"},
            _active(random, packets, rate),
            _active(random, packets, rate),
        )
    )
    if random.random() < 0.15:
        interval = random.randint(1, 12)
        # The quota is the number of packets that arrive in an interval. So the gate delays packets,
        # but does not limit the rate.
        made["gate"] = {
            "interval": f"{interval}ms",
            "quota": max(2, math.ceil(rate * 1e3 * interval / (8 * 200 if is_return else 8 * PAYLOAD))),
        }
    if random.random() < 0.15:
        made["jitter"] = random.choice(
            ({"model": "uniform", "spread": f"{random.randint(1, 10)}ms"}, {"model": "exponential", "mean": "1ms"})
        )
    if random.random() < 0.1:
        made["reorder"] = {"probability": round(random.uniform(0.001, 0.05), 4), "by": f"{random.randint(1, 15)}ms"}
    if random.random() < 0.1:
        made["duplicate"] = {"probability": round(random.uniform(0.001, 0.05), 4)}
    if random.random() < 0.2:
        made["loss"] = {"model": "independent", "probability": round(random.uniform(0.0001, 0.02), 5)}
    if random.random() < 0.1:
        made["device_queue"] = random.randint(1, 10)
    return made


def _link(name: str, start: str, end: str, forward: Scenario, reverse: Scenario) -> Scenario:
    return {"name": name, "from": start, "to": end, "forward": forward, "reverse": reverse}


def _wire(rate: float, delay: float) -> Scenario:
    return {"rate": f"{max(rate, 0.05):.3f}Mbps", "delay": f"{delay:.3f}ms"}


def _fifo(packets: int) -> Scenario:
    return {"discipline": "fifo", "limit": f"{packets}packets"}


def _active(random: Random, packets: int, rate: float) -> Scenario:
    """Returns a queue with AQM, random settings and a limit of at least a hundred packets."""
    made: Scenario = {"discipline": random.choice(ACTIVE), "limit": f"{max(packets, 100)}packets"}
    if made["discipline"] == "cake":
        made["isolation"] = random.choice(("triple", "dual-source", "dual-destination", "flows"))
        made["tins"] = random.choice(("diffserv3", "best-effort"))
        made["ack_filter"] = random.choice(("off", "on", "aggressive"))
        if random.random() < 0.5:
            made["rate"] = f"{max(0.95 * rate, 0.05):.3f}Mbps"
    elif made["discipline"] == "fq-codel":
        made["flows"] = random.choice((1, 16, 1024))
    return made


def _queue_packets(random: Random, rate: float, delay: float) -> int:
    """Returns a limit of 0.25 to 2 bandwidth-delay products, at least ten packets."""
    product = rate * 1e3 * 2 * delay / (8 * PAYLOAD)
    return max(10, int(product * random.choice((0.25, 0.5, 1, 2))))


def _log(random: Random, least: float, most: float) -> float:
    """Draws a number between two bounds. Its logarithm has a uniform distribution."""
    return math.exp(random.uniform(math.log(least), math.log(most)))
