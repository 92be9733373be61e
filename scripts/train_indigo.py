"""Trains Indigo by imitation of an oracle that has the bandwidth-delay product.

Uses DAgger over random paths (docs/models/congestion/indigo.md).

Writes the weights of the controller, `crates/transport/src/cc/indigo/weights.rs`. The same seed
gives the same file.

    .venv/bin/python scripts/train_indigo.py --seed 1
"""

import argparse
import math
import random
import re
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

import acklab
from acklab.strategies import MILLISECOND, Ack, ControllerStart, Sent, Signal, Window

WEIGHTS = Path(__file__).parents[1] / "crates/transport/src/cc/indigo/weights.rs"

STEP = 10 * MILLISECOND
"""Minimum time between two actions (`step_len_ms` of Indigo's `env/sender.py`)."""
KEEP = 0.875
"""Weight of the old value in the moving averages (`update_state`)."""
MIN_WINDOW = 2.0
"""[packets] (`take_action`)"""
MAX_WINDOW = 100_000.0
"""Maximum window [packets]: four times the largest bandwidth-delay product of
`studies/tack_ranking`.

Indigo has no maximum.
"""
PACKET = 12.0
"""Kilobits of a packet."""
INITIAL_WINDOW = 10.0
"""[packets] (`Sender.__init__`)"""
ACTIONS: tuple[Callable[[float], float], ...] = (
    lambda window: window / 2.0,
    lambda window: window - 10.0,
    lambda window: window,
    lambda window: window + 10.0,
    lambda window: window * 2.0,
)
"""Effects of actions on the window (`action_mapping`)."""
INPUTS = 4 + len(ACTIONS)
HIDDEN = 8
"""Number of LSTM cells. Indigo has 32 cells. With 8 cells, a decision takes 584 multiplications."""

PATHS = 40
"""Number of paths per iteration."""
ITERATIONS = 30
EPOCHS = 8
"""Passes over all episodes so far, per iteration."""
CHUNK = 100
"""Number of steps over which gradients are propagated back.

The initial state of a chunk is zero.
"""
BATCH = 128
"""Number of chunks per step of gradient descent."""
SECONDS = 5
"""Duration of an episode in seconds. An episode of Indigo has 1000 steps."""
LEARNING_RATE = 0.01
"""(`learn_rate` of `dagger/dagger.py`)"""
REGULARISATION = 1e-4
"""(`regularization_lambda`)"""
RATES = (0.5, 120.0)
"""Range of rates [Mbps], as wide as the range of Indigo's calibrated emulators (`dagger/worker.py`:
0.57 to 114.68 Mbps).
"""
ROUND_TRIPS = (20.0, 260.0)
"""Range of RTTs [ms], as in Indigo's emulators (one-way delays of 10 to 130 ms)."""
QUEUES = (0.5, 4.0)
"""Range of queue limits [bandwidth-delay products]."""
LOSSES = (1e-4, 1e-2)
"""Range of the loss on a quarter of the paths."""

Array = npt.NDArray[np.float64]
Act = Callable[[list[float], float], int]
"""Chooses an action from the inputs of the network and the window."""


def inputs(delay: float, delivery_rate: float, send_rate: float, window: float, last: int) -> list[float]:
    """Returns the inputs of the network.

    The arguments are the queueing delay [ms], rates [Mbps], the window [packets], and the index of
    the last action.

    Indigo divides its four states by constants. Here they are combined into numbers without a
    scale, so that one network serves paths whose rates and delays differ by orders of magnitude:
    the packets in the queue, the window, the ratio of the rates and the delay, as logarithms.
    """
    one_hot = [0.0] * len(ACTIONS)
    one_hot[last] = 1.0
    return [
        math.log(1.0 + delay * delivery_rate / PACKET) / 3.0 - 1.0,
        math.log(window) / 3.0 - 1.0,
        math.log((0.001 + delivery_rate) / (0.001 + send_rate)),
        math.log(1.0 + delay) / 3.0 - 1.0,
        *one_hot,
    ]


class Indigo(acklab.CongestionController):
    """The controller with the caller's policy, for the rollouts.

    `crates/transport/src/cc/indigo.rs` is the same controller with the network.
    """

    governs_window = True

    def __init__(self, start: ControllerStart, act: Act) -> None:
        super().__init__(start)
        self.act = act
        self.window = INITIAL_WINDOW
        self.sent = 0
        self.delivered = 0
        self.delivered_at = 0
        self.records: deque[tuple[int, int, int, int]] = deque()
        self.min_rtt = math.inf
        self.means: list[float] | None = None
        self.step_began: int | None = None
        self.last_action = len(ACTIONS) - 1

    def on_established(self, now: int, window: Window, rtt: int | None) -> None:
        """Starts the counts of sent and delivered packets."""
        self.delivered_at = now
        window.cwnd = int(self.window) * window.mss

    def on_sent(self, window: Window, sent: Sent) -> None:
        """Records the packets sent and delivered so far."""
        self.records.append((sent.now, self.sent, self.delivered, self.delivered_at))
        self.sent += sent.bytes

    def on_ack(self, window: Window, ack: Ack) -> None:
        """Updates the moving averages, and acts if the step is over."""
        self.delivered += ack.delivered
        if ack.delivered > 0:
            self.delivered_at = ack.now
        if ack.newest_rtt is not None:
            self.sample(ack.now, ack.newest_rtt)
        if self.step_began is None:
            self.step_began = ack.now
        if self.means is not None and ack.now - self.step_began > STEP:
            delay, delivery_rate, send_rate = self.means
            action = self.act(inputs(delay, delivery_rate, send_rate, self.window, self.last_action), self.window)
            self.window = min(max(MIN_WINDOW, ACTIONS[action](self.window)), MAX_WINDOW)
            self.last_action, self.means, self.step_began = action, None, ack.now
        window.cwnd = int(self.window) * window.mss

    def sample(self, now: int, rtt: int) -> None:
        """Updates the rates at an ACK.

        The newest acknowledged packet was sent a round trip ago (`update_state`).
        """
        sent_at = now - rtt
        while self.records and self.records[0][0] < sent_at:
            self.records.popleft()
        if not self.records or self.records[0][0] != sent_at:
            return
        _, sent, delivered, delivered_at = self.records[0]
        milliseconds = rtt / 1e6
        self.min_rtt = min(self.min_rtt, milliseconds)
        sample = [
            milliseconds - self.min_rtt,
            0.008 * (self.delivered - delivered) / max(1.0, (now - delivered_at) / 1e6),
            0.008 * (self.sent - sent) / max(1.0, milliseconds),
        ]
        if self.means is None:
            self.means = sample
        else:
            self.means = [KEEP * mean + (1.0 - KEEP) * value for mean, value in zip(self.means, sample, strict=True)]

    def ssthresh(self, now: int, window: Window, flight: int, signal: Signal) -> int:
        """There is no step."""
        return 2**62


def best_action(window: float, target: float) -> int:
    """Returns the action that brings the window closest to the target.

    Source: `get_best_action` of `dagger/experts.py`.
    """
    return min(range(len(ACTIONS)), key=lambda action: abs(ACTIONS[action](window) - target))


class Network:
    """One layer of LSTM cells and a linear layer.

    The cells are those of TensorFlow's `BasicLSTMCell` with a forget bias of one
    (`dagger/models.py`).

    `gates` has the rows i, j, f, o of each cell over inputs, hidden state and bias; `scores` a row
    for each action over hidden state and bias.
    """

    def __init__(self, gates: Array, scores: Array) -> None:
        self.gates, self.scores = gates, scores
        self.reset()

    @classmethod
    def random(cls, seed: int) -> "Network":
        """Returns a network with Glorot's uniform initialisation."""
        chance = np.random.default_rng(seed)
        bound, bound_out = math.sqrt(6 / (INPUTS + 5 * HIDDEN)), math.sqrt(6 / (HIDDEN + len(ACTIONS)))
        gates = chance.uniform(-bound, bound, (4 * HIDDEN, INPUTS + HIDDEN + 1))
        scores = chance.uniform(-bound_out, bound_out, (len(ACTIONS), HIDDEN + 1))
        gates[:, -1] = scores[:, -1] = 0.0
        return cls(gates, scores)

    def reset(self) -> None:
        """Resets the state for a new episode."""
        self.cell, self.hidden = [0.0] * HIDDEN, [0.0] * HIDDEN
        self._rows, self._score_rows = self.gates.tolist(), self.scores.tolist()

    def act(self, values: list[float]) -> int:
        """Returns the action with the greatest score.

        Sums are computed in the same order as in Rust, so that both implementations choose the same
        action.
        """
        seen = [*values, *self.hidden, 1.0]
        sums = []
        for row in self._rows:
            total = 0.0
            for weight, value in zip(row, seen, strict=True):
                total += weight * value
            sums.append(total)
        for k in range(HIDDEN):
            i, j, f, o = sums[k], sums[HIDDEN + k], sums[2 * HIDDEN + k], sums[3 * HIDDEN + k]
            self.cell[k] = self.cell[k] * _sigmoid(f + 1.0) + _sigmoid(i) * math.tanh(j)
            self.hidden[k] = math.tanh(self.cell[k]) * _sigmoid(o)
        seen = [*self.hidden, 1.0]
        scores = []
        for row in self._score_rows:
            total = 0.0
            for weight, value in zip(row, seen, strict=True):
                total += weight * value
            scores.append(total)
        return scores.index(max(scores))


def _sigmoid(x: float) -> float:
    return 1.0 / (1.0 + math.exp(-x))


def path(chance: random.Random) -> tuple[dict[str, Any], float]:
    """Returns a random path, and its bandwidth-delay product in packets, which the oracle knows."""
    rate, round_trip, queue = (math.exp(chance.uniform(*map(math.log, bounds))) for bounds in (RATES, ROUND_TRIPS, QUEUES))
    loss, is_lossy, seed = math.exp(chance.uniform(*map(math.log, LOSSES))), chance.random() < 0.25, chance.randrange(2**31)
    product = rate * 1e3 * round_trip / 8 / 1500
    forward: dict[str, Any] = {
        "rate": f"{round(1000 * rate)}kbps",
        "delay": f"{round(500 * round_trip)}us",
        "queue": {"discipline": "fifo", "limit": f"{max(10, round(queue * product))}packets"},
    }
    if is_lossy:
        forward["loss"] = {"model": "independent", "probability": round(loss, 6)}
    transport = {"protocol": "tcp", "preset": "linux", "congestion": {"custom": "indigo"}, "ack": {"policy": "per-packet"}}
    scenario = {
        "duration": f"{SECONDS}s",
        "seed": seed,
        "link": [
            {"name": "btl", "from": "src", "to": "dst", "forward": forward, "reverse": {"delay": f"{round(500 * round_trip)}us"}}
        ],
        "flow": [{"from": "src", "to": "dst", "transport": transport | {"send_buffer": "64MiB", "receive_buffer": "64MiB"}}],
    }
    return scenario, max(MIN_WINDOW, product)


@dataclass(frozen=True)
class Episode:
    """Inputs of each step, the oracle's action, and the distance of the window from the target.

    Distances are factors of two.
    """

    seen: list[list[float]] = field(default_factory=list)
    best: list[int] = field(default_factory=list)
    misses: list[float] = field(default_factory=list)


def rollout(scenario: dict[str, Any], target: float, network: Network | None) -> Episode:
    """Returns an episode. Without a network, the oracle chooses the actions."""
    episode = Episode()
    if network is not None:
        network.reset()

    def act(values: list[float], window: float) -> int:
        episode.seen.append(values)
        episode.best.append(best_action(window, target))
        episode.misses.append(abs(math.log2(window / target)))
        return episode.best[-1] if network is None else network.act(values)

    acklab.run(scenario, strategies={"indigo": lambda start: Indigo(start, act)})
    return episode


def gradients(network: Network, x: Array, labels: npt.NDArray[np.int64], mask: Array) -> tuple[float, Array, Array]:
    """Returns mean cross entropy of a batch and its gradients, by backpropagation through time.

    A batch has the dimensions episodes, steps and inputs.
    """
    batch, steps, _ = x.shape
    gates, scores = network.gates, network.scores
    h, c = np.zeros((batch, HIDDEN)), np.zeros((batch, HIDDEN))
    ones = np.ones((batch, 1))
    trace = []
    total, count = 0.0, float(mask.sum())
    output = np.empty((steps, batch, len(ACTIONS)))
    for t in range(steps):
        seen = np.concatenate([x[:, t], h, ones], axis=1)
        z = seen @ gates.T
        i, j = 1 / (1 + np.exp(-z[:, :HIDDEN])), np.tanh(z[:, HIDDEN : 2 * HIDDEN])
        f, o = 1 / (1 + np.exp(-z[:, 2 * HIDDEN : 3 * HIDDEN] - 1)), 1 / (1 + np.exp(-z[:, 3 * HIDDEN :]))
        before, c = c, c * f + i * j
        squashed = np.tanh(c)
        h = squashed * o
        trace.append((seen, i, j, f, o, before, squashed, h))
        score = h @ scores[:, :-1].T + scores[:, -1]
        exp = np.exp(score - score.max(axis=1, keepdims=True))
        share = exp / exp.sum(axis=1, keepdims=True)
        rows = np.arange(batch)
        total -= float((np.log(share[rows, labels[:, t]] + 1e-12) * mask[:, t]).sum())
        share[rows, labels[:, t]] -= 1
        output[t] = share * (mask[:, t] / count)[:, None]
    d_gates, d_scores = np.zeros_like(gates), np.zeros_like(scores)
    dh, dc = np.zeros((batch, HIDDEN)), np.zeros((batch, HIDDEN))
    for t in reversed(range(steps)):
        seen, i, j, f, o, before, squashed, h = trace[t]
        d_scores += output[t].T @ np.concatenate([h, ones], axis=1)
        dh = dh + output[t] @ scores[:, :-1]
        dc = dc + dh * o * (1 - squashed * squashed)
        dz = np.concatenate(
            [dc * j * i * (1 - i), dc * i * (1 - j * j), dc * before * f * (1 - f), dh * squashed * o * (1 - o)],
            axis=1,
        )
        d_gates += dz.T @ seen
        back = dz @ gates
        dh, dc = back[:, INPUTS : INPUTS + HIDDEN], dc * f
    return total / count, d_gates + REGULARISATION * gates, d_scores + REGULARISATION * scores


class Adam:
    """Adam optimiser with the constants of Kingma and Ba, ICLR 2015."""

    def __init__(self, arrays: list[Array]) -> None:
        self.first, self.second, self.steps = [np.zeros_like(a) for a in arrays], [np.zeros_like(a) for a in arrays], 0

    def step(self, arrays: list[Array], slopes: list[Array], rate: float) -> None:
        """Moves the arrays against their gradients, whose norm is at most one."""
        self.steps += 1
        norm = math.sqrt(sum(float((slope * slope).sum()) for slope in slopes))
        for k, slope in enumerate(slopes):
            bounded = slope / max(1.0, norm)
            self.first[k] = 0.9 * self.first[k] + 0.1 * bounded
            self.second[k] = 0.999 * self.second[k] + 0.001 * bounded * bounded
            first, second = self.first[k] / (1 - 0.9**self.steps), self.second[k] / (1 - 0.999**self.steps)
            arrays[k] -= rate * first / (np.sqrt(second) + 1e-8)


def fit(network: Network, episodes: list[Episode], chance: np.random.Generator, rate: float) -> float:
    """Trains on all episodes. Returns the mean loss of the last epoch."""
    adam, losses = Adam([network.gates, network.scores]), [0.0]
    chunks = [
        (episode.seen[first : first + CHUNK], episode.best[first : first + CHUNK])
        for episode in episodes
        for first in range(0, len(episode.best), CHUNK)
    ]
    x, mask = np.zeros((len(chunks), CHUNK, INPUTS)), np.zeros((len(chunks), CHUNK))
    targets = np.zeros((len(chunks), CHUNK), dtype=np.int64)
    for k, (seen, best) in enumerate(chunks):
        x[k, : len(best)], mask[k, : len(best)], targets[k, : len(best)] = seen, 1.0, best
    for _ in range(EPOCHS):
        order = chance.permutation(len(chunks))
        losses = []
        for first in range(0, len(order), BATCH):
            chosen = order[first : first + BATCH]
            loss, d_gates, d_scores = gradients(network, x[chosen], targets[chosen], mask[chosen])
            adam.step([network.gates, network.scores], [d_gates, d_scores], rate)
            losses.append(loss)
    return sum(losses) / len(losses)


def write(network: Network, seed: int, file: Path) -> None:
    """Writes the weights as a module of Rust."""

    def rows(name: str, meaning: str, array: Array) -> str:
        lines = ["    [" + ", ".join(f"{value:.5f}" for value in row) + "]," for row in array]
        kind = f"[[f64; {array.shape[1]}]; {array.shape[0]}]"
        return f"/// {meaning}\n#[rustfmt::skip]\npub(super) const {name}: {kind} = [\n" + "\n".join(lines) + "\n];\n"

    gates = rows("GATES", "The gates i, j, f and o of each cell, over inputs, hidden state and bias.", network.gates)
    scores = rows("SCORES", "The score of each action, over hidden state and bias.", network.scores)
    head = f"//! The weights of the network. `scripts/train_indigo.py --seed {seed}` has written this file.\n\n"
    file.write_text(head + gates + "\n" + scores)


def load(file: Path = WEIGHTS) -> Network:
    """Returns the network of a file that `write` wrote."""
    rows = [
        [float(value) for value in re.findall(r"-?\d+\.\d+", line)]
        for line in file.read_text().splitlines()
        if line.startswith("    [")
    ]
    return Network(np.array(rows[: 4 * HIDDEN]), np.array(rows[4 * HIDDEN :]))


def train(seed: int, iterations: int, paths: int) -> Network:
    """Runs DAgger: the oracle labels every step.

    The oracle acts in the first iteration, the network in the others.
    """
    draws, chance = random.Random(seed), np.random.default_rng(seed)
    network = Network.random(seed)
    episodes: list[Episode] = []
    for iteration in range(iterations):
        began = time.monotonic()
        fresh = [rollout(*path(draws), None if iteration == 0 else network) for _ in range(paths)]
        misses = [miss for episode in fresh for miss in episode.misses]
        episodes += fresh
        rolled = time.monotonic() - began
        loss = fit(network, episodes, chance, LEARNING_RATE * 0.5 ** (4 * iteration / iterations))
        print(f"{iteration:2d}: {rolled:.0f} s of rollouts, {time.monotonic() - began - rolled:.0f} s of training, "
              f"loss {loss:.3f}, windows off by a factor of {2 ** (sum(misses) / len(misses)):.2f}", flush=True)  # fmt: skip
    return network


def main() -> None:
    """Runs the command line."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--iterations", type=int, default=ITERATIONS)
    options.add_argument("--paths", type=int, default=PATHS, help="of an iteration")
    options.add_argument("--out", type=Path, default=WEIGHTS)
    chosen = options.parse_args()
    write(train(chosen.seed, chosen.iterations, chosen.paths), chosen.seed, chosen.out)


if __name__ == "__main__":
    main()
