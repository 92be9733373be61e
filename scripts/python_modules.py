"""Reads which modules of a Python package import each other.

An import is attributed to the module that defines the imported name, as in `rust_modules`.
"""

import ast
from collections.abc import Iterator, Mapping
from pathlib import Path

MAX_STEPS = 16
"""Maximum number of re-exports that are followed from an import to its name.

Chosen: the limit stops circular re-exports.
"""


def package_graph(package: Path) -> dict[str, frozenset[str]]:
    """Returns the imports of each module of the Python package in the folder `package`.

    Imports within functions and imports only for types are included.
    """
    files = {_dotted(package, file): file for file in package.rglob("*.py")}
    trees = {name: ast.parse(file.read_text(encoding="utf-8")) for name, file in files.items()}
    bound = {name: dict(_bound(name, tree, files[name].stem == "__init__")) for name, tree in trees.items()}

    def origin(used: str, depth: int = 0) -> str | None:
        """Returns the module that defines `used`, however many modules re-export it."""
        module = used
        while module and module not in files:
            module = module.rpartition(".")[0]
        name, _, rest = used[len(module) + 1 :].partition(".")
        if not module or name not in bound[module] or depth > MAX_STEPS:
            return module or None
        return origin(".".join(filter(None, [bound[module][name], rest])), depth + 1) or module

    def imports(name: str) -> Iterator[str | None]:
        loaded = {node.id for node in ast.walk(trees[name]) if isinstance(node, ast.Name)}
        # A package re-exports names that its `__init__.py` does not use.
        yield from (origin(used) for local, used in bound[name].items() if files[name].stem != "__init__" or local in loaded)
        yield from (origin(used) for used in _attributes(trees[name], bound[name]))

    return {
        name: frozenset(found for found in imports(name) if found and not f"{name}.".startswith(f"{found}.")) for name in files
    }


def _dotted(package: Path, file: Path) -> str:
    parts = [package.name, *file.relative_to(package).with_suffix("").parts]
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _bound(name: str, tree: ast.Module, is_face: bool) -> Iterator[tuple[str, str]]:
    """Yields the names that the imports of a module bind, each with its full dotted name."""
    parents = name.split(".") if is_face else name.split(".")[:-1]
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield (alias.asname, alias.name) if alias.asname else (alias.name.partition(".")[0],) * 2
        elif isinstance(node, ast.ImportFrom):
            base = [*(parents[: len(parents) - node.level + 1] if node.level else []), *filter(None, [node.module])]
            for alias in node.names:
                yield alias.asname or alias.name, ".".join([*base, alias.name])


def _attributes(tree: ast.Module, bound: Mapping[str, str]) -> Iterator[str]:
    """Yields the dotted names of attributes of imported modules."""
    for node in ast.walk(tree):
        names = []
        at: ast.expr | ast.AST = node
        while isinstance(at, ast.Attribute):
            names.append(at.attr)
            at = at.value
        if names and isinstance(at, ast.Name) and at.id in bound:
            yield ".".join([bound[at.id], *reversed(names)])
