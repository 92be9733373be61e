import pytest

from scripts import layers
from scripts.layers import Crate

MANIFEST = '[package]\nname = "acklab-wire"\n'


def package(name, *dependencies, kind=None):
    """A package as in `cargo metadata`."""
    return {"name": name, "dependencies": [{"name": wanted, "kind": kind} for wanted in dependencies]}


def test_the_workspace_keeps_to_its_layers():
    assert layers.main() == 0


@pytest.mark.parametrize(
    ("crate", "wanted"),
    [
        ("acklab-base", "acklab-wire"),  # upwards
        ("acklab-transport", "acklab-wifi"),  # sideways: an endpoint knows no medium
        ("acklab-wifi", "acklab-transport"),  # nor a medium an endpoint
        ("acklab-measure", "acklab-lab"),  # a deployed endpoint is measured without a scenario
        ("acklab-lab", "acklab-py"),
        ("acklab-drive", "acklab-unheard-of"),
    ],
)
@pytest.mark.parametrize("kind", [None, "build", "dev"])
def test_a_forbidden_import_is_found(crate, wanted, kind):
    (fault,) = layers.faults([package(crate, wanted, kind=kind)])
    assert f"{crate}: found the import {wanted}" in fault


def test_imports_allowed_in_tests_are_refused_elsewhere():
    assert layers.faults([package("acklab-transport", "acklab-app", kind="dev")]) == []
    assert len(layers.faults([package("acklab-transport", "acklab-app")])) == 1


def test_a_pure_crate_imports_only_listed_crates():
    assert layers.faults([package("acklab-path", "libm", "serde")]) == []
    (fault,) = layers.faults([package("acklab-path", "libm", "tokio")])
    assert "found the dependency tokio of a pure crate" in fault
    assert layers.faults([package("acklab-path", "proptest", kind="dev")]) == []
    assert layers.faults([package("acklab-lab", "toml")]) == []


def test_a_crate_without_a_layer_is_found():
    (fault,) = layers.faults([package("acklab-nowhere")])
    assert "acklab-nowhere: found no such crate in LAYERS" in fault


@pytest.mark.parametrize("upper", ["wire", "base"])
def test_the_table_cannot_allow_an_upward_import(upper):
    table = {"base": Crate(frozenset({upper})), "wire": Crate(frozenset({"base"}))}
    (fault,) = layers.upward(table)
    assert f"lets it import acklab-{upper}" in fault


def test_a_pure_crate_cannot_escape_the_lints(tmp_path):
    manifest = tmp_path / "Cargo.toml"
    pure = {**package("acklab-wire"), "manifest_path": str(manifest)}

    manifest.write_text(MANIFEST + "[lints]\nworkspace = true\n")
    assert layers.unbound([pure]) == []
    (tmp_path / "clippy.toml").write_text("disallowed-methods = []\n")
    assert "found clippy.toml" in layers.unbound([pure])[0]
    assert layers.unbound([{**pure, "name": "acklab-lab"}]) == []

    (tmp_path / "clippy.toml").unlink()
    manifest.write_text(MANIFEST)
    assert "lints.workspace" in layers.unbound([pure])[0]
