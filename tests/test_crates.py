"""Third-party crates: licences and versions."""

import pytest

from scripts import crates


def package(
    name: str, version: str = "1.0.0", licence: str | None = "MIT", source: str | None = "registry"
) -> dict[str, str | None]:
    return {"name": name, "version": version, "license": licence, "source": source}


SEVERAL = [package(name, version) for name in crates.SEVERAL for version in ("1.0.0", "2.0.0")]


@pytest.mark.parametrize(
    ("expression", "permissive"),
    [
        ("MIT", True),
        ("MIT/Apache-2.0", True),
        ("GPL-3.0-only", False),
        ("GPL-3.0-only OR MIT", True),
        ("GPL-3.0-only AND MIT", False),
        ("(MIT OR GPL-3.0-only) AND Unicode-3.0", True),
        ("(MIT AND GPL-3.0-only) OR (MPL-2.0 AND ISC)", False),
        ("Apache-2.0 WITH LLVM-exception", True),
        ("MIT WITH some-exception", False),
    ],
)
def test_a_licence_is_permissive_if_one_may_choose_permissive_ones(expression, permissive):
    assert crates.is_permissive(expression) is permissive


@pytest.mark.parametrize("expression", ["(MIT", "MIT)"])
def test_half_a_bracket_is_no_licence(expression):
    with pytest.raises(ValueError, match="expected"):
        crates.is_permissive(expression)


def test_what_is_wrong_is_told_by_name():
    assert crates.faults([*SEVERAL, package("own", licence=None, source=None)]) == []
    found = crates.faults([*SEVERAL, package("shut", licence=None), package("twice", "1.0.0"), package("twice", "2.0.0")])
    assert [fault.split(":")[0] for fault in found] == ["shut 1.0.0", "twice"]
    assert "expected one" in found[1]
    assert len(crates.faults([])) == len(crates.SEVERAL), "an unused allowance"
