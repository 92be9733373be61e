"""Reads which modules of a Rust crate import each other.

A module is a file. An import is attributed to the module that defines the imported item, even if
other modules re-export the item. So a module that only re-exports items of its children imports
nothing.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

MAX_STEPS = 16
"""Maximum number of re-exports that are followed from an import to its item.

Chosen: the limit stops circular re-exports.
"""

NOISE = re.compile(
    r"""//[^\n]*                                  # comments, with those of documentation
    | /\*.*?\*/
    | \bb?r(?P<hashes>\#*)".*?"(?P=hashes)        # strings
    | b?"(?:[^"\\]|\\.)*"
    | b?'(?:[^'\\\n]|\\(?:u\{\w+\}|x\w\w|.))'     # characters, and no lifetimes
    """,
    re.VERBOSE | re.DOTALL,
)
TESTED = re.compile(
    r"""^(?P<indent>\ *)\#\[cfg\(test\)\]\n
    (?:(?P=indent)\#\[.*\]\n)*
    (?P=indent)(?:(?:pub(?:\(.*?\))?\ )?mod\ (?P<file>\w+);|.*[;,}]\n|.*\n(?:(?:(?P=indent)[\ )].*)?\n)*?(?P=indent)}.*\n)""",
    re.VERBOSE | re.MULTILINE,
)
USE = re.compile(r"^\s*(pub(?:\(.*?\))?\s+)?use\s([^;]+);", re.MULTILINE)
DEFINITION = re.compile(
    r"^(?:pub(?:\(.*?\))? )?(?:const (?=fn|unsafe)|async |unsafe |extern (?:\"\" )?)*"
    r"(?:fn|struct|enum|trait|type|const|static|union|macro_rules!|mod(?= \w+ \{)) (\w+)",
    re.MULTILINE,
)
CHILD = re.compile(r"^(?:pub(?:\(.*?\))? )?mod (\w+);", re.MULTILINE)
QUALIFIED = re.compile(r"(?<![\w:])(?:\$?crate|[a-z_]\w*)(?:\s*::\s*\w+)+")
WORD = re.compile(r"\w+")


@dataclass
class RustModule:
    """Definitions and imports of a file of a crate, without its tests."""

    path: tuple[str, ...]
    """Names of the nested modules from the root of the crate, without `crate`."""
    body: str
    """Text of the file without comments, strings and imports."""
    children: frozenset[str]
    definitions: frozenset[str]
    names: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """The imported names, with their paths."""
    public: set[str] = field(default_factory=set)
    """The names in `names` that the module exports."""
    globs: list[tuple[str, ...]] = field(default_factory=list)


def rust_modules(source: Path) -> dict[tuple[str, ...], RustModule]:
    """Returns the modules below `source`, which is the `src` of a crate."""
    found: dict[tuple[str, ...], RustModule] = {}
    root = source / ("lib.rs" if (source / "lib.rs").exists() else "main.rs")
    waiting: list[tuple[tuple[str, ...], Path]] = [((), root)]
    while waiting:
        path, file = waiting.pop()
        if not file.exists():
            continue
        module = read_rust(path, file.read_text(encoding="utf-8"))
        found[path] = module
        folder = source.joinpath(*path)
        waiting += [((*path, child), folder / f"{child}.rs") for child in module.children]
    return found


def read_rust(path: tuple[str, ...], text: str) -> RustModule:
    """Returns the module with this text."""
    text = NOISE.sub(lambda noise: "" if noise[0][0] == "/" else '""', text)
    text = TESTED.sub("", text)
    body = USE.sub("", text)
    module = RustModule(
        path=path,
        body=body,
        children=frozenset(CHILD.findall(text)),
        definitions=frozenset(DEFINITION.findall(body)),
    )
    for visibility, tree in USE.findall(text):
        for name, used in _leaves(tree):
            if name == "*":
                module.globs.append(used)
                continue
            module.names[name] = used
            if visibility:
                module.public.add(name)
    return module


def _leaves(tree: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yields the names that the tree of a `use` introduces, with their paths."""
    tokens = re.findall(r"\w+|[{},*]", tree)
    prefixes: list[tuple[str, ...]] = [()]
    path: tuple[str, ...] = ()
    alias: str | None = None

    def leaf() -> Iterator[tuple[str, tuple[str, ...]]]:
        if len(path) > len(prefixes[-1]):
            whole = path[:-1] if path[-1] in {"self", "*"} and len(path) > 1 else path
            yield ("*" if path[-1] == "*" else alias or whole[-1]), whole

    words = iter(tokens)
    for token in words:
        match token:
            case "{":
                prefixes.append(path)
            case ",":
                yield from leaf()
                path, alias = prefixes[-1], None
            case "}":
                yield from leaf()
                prefixes.pop()
                path, alias = prefixes[-1], None
            case "as":
                alias = next(words)
            case _:
                path = (*path, token)
    yield from leaf()


Place = tuple[RustModule | None, tuple[str, ...]]
"""A module, and the rest of a path within it.

The rest is empty if the path names the module itself.
"""


@dataclass(frozen=True)
class Crate:
    """The modules of a crate."""

    modules: Mapping[tuple[str, ...], RustModule]

    def graph(self) -> dict[str, frozenset[str]]:
        """Returns the imports of each module, without imports from enclosing modules.

        A module contains its children. A child may implement a trait of its parent, or methods of
        the parent's type. This is not a circle, although the parent uses the child.
        """
        return {
            _name(module.path): frozenset(_name(path) for path in self._imports(module) if path != module.path[: len(path)])
            for module in self.modules.values()
        }

    def _imports(self, module: RustModule) -> Iterator[tuple[str, ...]]:
        """Yields the modules that define the items that `module` uses."""
        words = set(WORD.findall(module.body))
        for name, path in module.names.items():
            if name not in module.public or name in words:
                yield from self._one(module, path)
        for glob in module.globs:
            target, rest = self._walk(module, glob)
            if target is not None and not rest:
                for name in words & (target.definitions | target.names.keys()) - module.definitions - module.names.keys():
                    yield from self._one(target, (name,))
        for qualified in set(QUALIFIED.findall(module.body)):
            yield from self._one(module, tuple(WORD.findall(qualified)))

    def _one(self, module: RustModule, path: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
        definer = self._definer(module, path)
        if definer is not None:
            yield definer

    def _definer(self, module: RustModule, path: tuple[str, ...]) -> tuple[str, ...] | None:
        """Returns the module that defines the item of this path; None for a module's path."""
        where, rest = self._walk(module, path)
        return where.path if where is not None and rest else None

    def _walk(self, module: RustModule, path: tuple[str, ...], depth: int = 0) -> Place:
        """Returns the module in which the walk along `path` ends, and the rest of the path."""
        at, rest = self._start(module, path, depth)
        while at is not None and rest:
            name, *after = rest
            if name == "super":
                at, rest = self.modules.get(at.path[:-1]), tuple(after)
            elif name in at.children:
                # A file with only tests is not a module.
                at, rest = self.modules.get((*at.path, name)), tuple(after)
            elif name in at.definitions:
                break
            elif name in at.names and at.names[name] != (name,):
                return self._walk(at, (*at.names[name], *after), depth + 1)
            elif (target := self._by_glob(at, name, depth + 1)) is not None:
                return self._walk(target, rest, depth + 1)
            else:
                # A macro defines the item.
                break
        return at, rest

    def _start(self, module: RustModule, path: tuple[str, ...], depth: int) -> Place:
        """Returns the module in which `path` begins, or None for a path into another crate."""
        first = path[0]
        roots = {"crate": (), "self": module.path, "super": module.path[:-1]}
        if depth > MAX_STEPS:
            return None, path
        if first in roots:
            return self.modules.get(roots[first]), path[1:]
        known = first in module.children | module.definitions | module.names.keys()
        return (module if known or self._by_glob(module, first, depth + 1) else None), path

    def _by_glob(self, module: RustModule, name: str, depth: int) -> RustModule | None:
        """Returns the module from which a glob import of `module` takes `name`."""
        for glob in module.globs:
            target, rest = self._walk(module, glob, depth)
            if target is None or rest or target is module:
                continue
            if name in target.definitions or name in target.names or name in target.children:
                return target
        return None


def _name(path: Iterable[str]) -> str:
    return "::".join(path) or "lib"


def crate_graph(source: Path) -> dict[str, frozenset[str]]:
    """Returns the imports of each module of the crate below `source`."""
    return Crate(rust_modules(source)).graph()
