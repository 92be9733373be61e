from pathlib import Path

import pytest

from scripts import circles
from scripts.python_modules import package_graph
from scripts.rust_modules import crate_graph


def written(folder: Path, files):
    """Returns the folder after writing these files to it."""
    for name, text in files.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return folder


def test_the_workspace_has_no_circle_that_is_not_listed():
    assert circles.faults() == []


LIB = "mod a;\nmod b;\npub use a::A;\npub use b::B;\n"


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("use crate::b::B;\npub struct A(B);\n", "use crate::a::A;\npub enum B {\n    One(Box<A>),\n}\n"),
        # Imports by the names that the root re-exports, in groups, renamed, and by paths in the
        # code.
        ("use super::{B as Other, std};\npub struct A(Other);\n", "pub struct B(Box<crate::A>);\n"),
        ("use crate::b;\npub struct A(b::B);\n", "pub struct B;\nimpl B {\n    fn a() {\n        use super::a::A;\n    }\n}\n"),
        ("use crate::b::*;\npub struct A(B);\n", "use super::a;\npub struct B;\npub fn new() -> a::A {\n    a::new()\n}\n"),
        # A macro defines this name, so the file has no definition.
        ("use crate::b::Made;\npub struct A(Made);\n", "use crate::a::A;\nmake!(Made(A));\n"),
    ],
)
def test_a_circle_of_rust_modules_is_found(tmp_path, a, b):
    graph = crate_graph(written(tmp_path, {"lib.rs": LIB, "a.rs": a, "b.rs": b}))
    assert circles.circles(graph) == [{"a", "b"}]


@pytest.mark.parametrize(
    "b",
    [
        "// use crate::a::A;\n/* crate::a::A */\npub struct B;\n",
        'pub const B: (&str, &str, char) = ("crate::a::A", r#"item "crate::a::A""#, \'"\');\n',
        "pub struct B;\n\n#[cfg(test)]\nmod tests {\n    use crate::a::A;\n\n    fn a() {\n        A;\n    }\n}\n",
        "pub struct B;\n\nimpl B {\n    #[cfg(test)]\n    fn a() -> crate::a::A {\n        crate::a::A\n    }\n}\n",
        "pub struct B;\n#[cfg(test)]\nmod tests;\n",
        "pub use crate::a::A;\npub struct B;\n",  # only re-exported
        "use std::a::A;\npub struct B(A);\n",  # of another crate
    ],
)
def test_what_only_looks_like_an_import_makes_no_circle(tmp_path, b):
    files = {"lib.rs": LIB, "a.rs": "use crate::b::B;\npub struct A(B);\n", "b.rs": b, "b/tests.rs": "use crate::a::A;\n"}
    graph = crate_graph(written(tmp_path, files))
    assert circles.circles(graph) == []
    # If the reader missed an import, it would miss circles.
    assert graph["a"] == {"b"}


def test_modules_within_another_may_use_its_items(tmp_path):
    # One child implements a trait of its parent, and another child has methods of its parent's
    # type.
    files = {
        "lib.rs": "mod link;\n",
        "link.rs": "mod codel;\nmod output;\npub trait Queue {}\npub struct Link(codel::CoDel);\nfn new() {\n    output::MAX;\n}\n",
        "link/codel.rs": "use super::Queue;\npub struct CoDel;\nimpl Queue for CoDel {}\n",
        "link/output.rs": "use super::Link;\npub const MAX: u8 = 1;\nimpl Link {}\n",
    }
    assert circles.circles(crate_graph(written(tmp_path, files))) == []
    # Two files of methods that use each other are a circle.
    files["link/output.rs"] += "use super::codel::CoDel;\nfn take(queue: CoDel) {}\n"
    files["link/codel.rs"] += "use super::output::MAX;\nconst MIN: u8 = MAX;\n"
    assert circles.circles(crate_graph(written(tmp_path, files))) == [{"link::codel", "link::output"}]


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("from house.b import B\n", "from house.a import A\n"),
        # Imports from a package's `__init__`, within a function, only for types, and relative.
        ("from house import B\n", "def b():\n    from .a import A\n"),
        (
            "import house\n\n\ndef a():\n    return house.B\n",
            "from typing import TYPE_CHECKING\n\nif TYPE_CHECKING:\n    from .a import A\n",
        ),
        ("from house import b\n", "import house.a\n\nprint(house.a.A)\n"),
    ],
)
def test_a_circle_of_python_modules_is_found(tmp_path, a, b):
    face = "from house.a import A\nfrom house.b import B\n"
    package = written(tmp_path / "house", {"__init__.py": face, "a.py": a, "b.py": b})
    assert circles.circles(package_graph(package)) == [{"house.a", "house.b"}]


def test_the_face_of_a_package_imports_only_what_it_uses(tmp_path):
    files = {"__init__.py": "from house.a import A\n", "a.py": "from house.b import B\n", "b.py": "from house import unused\n"}
    package = written(tmp_path / "house", files)
    assert circles.circles(package_graph(package)) == []
    (package / "__init__.py").write_text("from house.a import A\n\nunused = A\n")
    # Nevertheless, `b` is within the package, like a child module in Rust.
    assert circles.circles(package_graph(package)) == []


RING = {"a": frozenset("b"), "b": frozenset("c"), "c": frozenset("a"), "d": frozenset("a")}


def test_a_circle_that_is_not_listed_is_refused():
    (fault,) = circles.compare("wire", RING, [])
    assert fault == "wire: found a circle of modules, expected none: a imports b; b imports c; c imports a"
    assert list(circles.compare("wire", RING, [frozenset("abc")])) == []
    # A listed circle may not grow.
    assert len(list(circles.compare("wire", RING, [frozenset("ab")]))) == 2


def test_a_listed_circle_that_became_smaller_is_refused():
    (fault,) = circles.compare("wire", {**RING, "b": frozenset("a")}, [frozenset("abc")])
    assert "found ['a', 'b', 'c'], expected [['a', 'b']]" in fault
    (fault,) = circles.compare("wire", {**RING, "a": frozenset()}, [frozenset("abc")])
    assert "expected no entry" in fault
