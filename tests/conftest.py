import dataclasses
import itertools
from pathlib import Path
from types import FunctionType
from typing import Any

import pytest

from acklab import _core, core
from acklab.studies import Bench, find
from acklab.studies.modules import load_module
from fake_core import FakeCore


def study_code(name: str) -> Any:
    """Returns the `study.py` of one of our studies."""
    module = load_module(find(name))
    assert module is not None, name
    return module


def one_seed(name: str, folder: Path) -> Any:
    """Returns a bench on which one of our studies runs with one seed.

    It is for studies with long runs, whose tests require no interval.
    """
    study = find(name)
    return Bench(
        dataclasses.replace(study, file=study.file.model_copy(update={"quick_seeds": 1})), folder, quick=True, quiet=True
    )


@pytest.fixture
def share_of_ack_policies(monkeypatch):
    """Returns the code of the study `ack_policies` with a part of its grid, which takes seconds."""
    module = study_code("ack_policies")
    for name in ("QUICK_PATHS", "SENDERS_ON"):
        monkeypatch.setattr(module, name, "paths.toml:default,nepal")
    for name in ("CONTROLLERS", "CONTROLLERS_OF_TRANSFERS"):
        monkeypatch.setattr(module, name, ["newreno"])
    monkeypatch.setattr(module, "QUICK_POLICIES", "policies.toml:delayed,L = 16")
    monkeypatch.setattr(module, "CONTROLLERS_OF_QUIC", ["cubic"])
    monkeypatch.setattr(module, "TRANSFERS", "sizes.toml:100 kB,1 MB")
    return module


def load_every_variant(study: str, scenario: str, *layers: tuple[str, ...]) -> Bench:
    """Loads a scenario of a study with every variant.

    Fails unless each combination is valid. A layer is a list of files of variants. Each variant of
    the first layer is combined with each of the second, and so on. Returns the bench of the study.
    """
    bench = Bench(find(study), find(study).folder)
    laid = [[variant.set for file in layer for variant in bench.variants(file).chosen.values()] for layer in layers]
    for sets in itertools.product(*laid):
        bench.source(scenario).load(list(itertools.chain(*sets)))
    return bench


SCENARIO = 'duration = "15s"\nseed = 42\n\n[[flow]]\ncongestion = "newreno"\nstart = "0s"\n'


@pytest.fixture
def fake(monkeypatch):
    """Replaces the real core by the fake one."""
    stand_in = FakeCore()
    for name, value in vars(FakeCore).items():
        if isinstance(value, FunctionType) and not name.startswith("_"):
            # A test may replace a method of the fake core.
            monkeypatch.setattr(_core, name, lambda *given, _name=name, **named: getattr(stand_in, _name)(*given, **named))
    monkeypatch.setattr(_core, "VERSION", stand_in.VERSION)
    monkeypatch.setattr(_core, "REVISION", stand_in.REVISION)
    monkeypatch.setattr(core, "Cancel", stand_in.Cancel)
    core.revision.cache_clear()
    yield stand_in
    core.revision.cache_clear()


@pytest.fixture
def scenario(tmp_path):
    """Returns a scenario file that the fake core accepts."""
    path = tmp_path / "scenario.toml"
    path.write_text(SCENARIO)
    return path
