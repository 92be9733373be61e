"""The network in Rust chooses the same actions as the trained network in Python.

Training is reproducible.
"""

import numpy as np
import pytest

import acklab
from scripts import train_indigo as indigo


def scenario(congestion, loss=0.0):
    forward = {"rate": "20Mbps", "delay": "15ms", "queue": {"discipline": "fifo", "limit": "60packets"}}
    if loss:
        forward["loss"] = {"model": "independent", "probability": loss}
    transport = {"protocol": "tcp", "preset": "linux", "congestion": congestion, "ack": {"policy": "per-packet"}}
    return {
        "duration": "5s",
        "seed": 7,
        "link": [{"name": "btl", "from": "src", "to": "dst", "forward": forward, "reverse": {"delay": "15ms"}}],
        "flow": [{"from": "src", "to": "dst", "transport": transport}],
    }


@pytest.mark.parametrize("loss", [0.0, 0.005])
def test_rust_decides_as_python(loss):
    network = indigo.load()
    strategies = {"mine": lambda start: indigo.Indigo(start, lambda values, _window: network.act(values))}
    here = acklab.run(scenario({"custom": "mine"}, loss), strategies=strategies).flows.to_dicts()[0]
    built_in = acklab.run(scenario("indigo", loss)).flows.to_dicts()[0]
    compared = [name for name in here if name.startswith(("total_", "mean_", "p95_")) and here[name] is not None]
    assert len(compared) > 20
    assert {name: here[name] for name in compared} == {name: built_in[name] for name in compared}
    assert built_in["mean_throughput_l7"] > 10


def test_the_oracle_takes_the_action_that_comes_closest():
    assert [indigo.best_action(window, 100.0) for window in (300.0, 112.0, 103.0, 85.0, 40.0)] == [0, 1, 2, 3, 4]


def test_gradients_are_those_of_finite_differences():
    chance = np.random.default_rng(3)
    network = indigo.Network.random(3)
    x = chance.normal(size=(4, 6, indigo.INPUTS))
    labels, mask = chance.integers(0, len(indigo.ACTIONS), (4, 6)), np.ones((4, 6))
    mask[1, 3:] = 0
    _, d_gates, d_scores = indigo.gradients(network, x, labels, mask)
    for array, slopes in ((network.gates, d_gates), (network.scores, d_scores)):
        for _ in range(10):
            place = tuple(int(chance.integers(0, size)) for size in array.shape)
            kept, losses = array[place], []
            for step in (1e-5, -1e-5):
                array[place] = kept + step
                losses.append(indigo.gradients(network, x, labels, mask)[0])
            array[place] = kept
            found = (losses[0] - losses[1]) / 2e-5 + indigo.REGULARISATION * kept
            assert found == pytest.approx(slopes[place], rel=1e-4, abs=1e-8)


def test_training_repeats_and_its_file_is_read_back(tmp_path, monkeypatch):
    monkeypatch.setattr(indigo, "SECONDS", 1)
    monkeypatch.setattr(indigo, "RATES", (1.0, 5.0))
    files = [tmp_path / "one.rs", tmp_path / "two.rs"]
    for file in files:
        trained = indigo.train(seed=5, iterations=2, paths=3)
        indigo.write(trained, 5, file)
    assert files[0].read_bytes() == files[1].read_bytes()
    assert np.abs(indigo.load(files[0]).gates - trained.gates).max() < 1e-5
    assert indigo.load().gates.shape == (4 * indigo.HIDDEN, indigo.INPUTS + indigo.HIDDEN + 1)
