import re
from pathlib import Path

import pytest

CRATES = Path(__file__).parents[1] / "crates"
ROOTS = sorted(CRATES.glob("*/tests/integration.rs"))


def test_there_are_such_crates():
    assert ROOTS


@pytest.mark.parametrize("root", ROOTS, ids=lambda path: path.parts[-3])
def test_every_file_of_tests_is_compiled(root):
    """A file of tests/ that the root does not name would be silently omitted.

    All files of tests/ are one binary. Modules with a `#[path]` are files of other folders.
    """
    named = re.findall(r"^(?<!\]\n)mod (\w+);", root.read_text(encoding="utf-8"), re.M)
    assert sorted(named) == sorted(path.stem for path in root.parent.glob("*.rs") if path != root)
