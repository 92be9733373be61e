"""Refuses modules of a crate, or of the Python package, that import each other in a circle.

`scripts/circles.toml` lists the permitted circles. The list must not grow.
"""

import tomllib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from scripts.python_modules import package_graph
from scripts.rust_modules import crate_graph

ROOT = Path(__file__).parents[1]
REMAINING = Path(__file__).with_suffix(".toml")

Graph = Mapping[str, frozenset[str]]
"""The modules that each module imports."""


def faults() -> list[str]:
    """Returns the unlisted circles of this tree, and listed circles that do not exist."""
    remaining = tomllib.loads(REMAINING.read_text(encoding="utf-8"))
    return [fault for name, graph in _graphs() for fault in compare(name, graph, map(frozenset, remaining.pop(name, [])))] + [
        f"{REMAINING.name}: found {name}, expected a crate or `acklab`" for name in remaining
    ]


def _graphs() -> Iterator[tuple[str, Graph]]:
    for source in sorted(ROOT.glob("crates/*/src")):
        yield source.parent.name, crate_graph(source)
    yield "acklab", package_graph(ROOT / "python" / "acklab")


def compare(name: str, graph: Graph, remaining: Iterable[frozenset[str]]) -> Iterator[str]:
    """Yields the differences between the circles of the graph of `name` and the listed circles."""
    listed = set(remaining)
    found = set(circles(graph))
    for circle in sorted(found, key=sorted):
        if not any(circle <= known for known in listed):
            arrows = "; ".join(f"{module} imports {', '.join(sorted(graph[module] & circle))}" for module in sorted(circle))
            yield f"{name}: found a circle of modules, expected none: {arrows}"
    for known in sorted(listed - found, key=sorted):
        smaller = [sorted(circle) for circle in sorted(found, key=sorted) if circle <= known]
        yield f"{REMAINING.name}: {name}: found {sorted(known)}, expected {smaller or 'no entry'}: the circle is smaller now"


def circles(graph: Graph) -> list[frozenset[str]]:
    """Returns the sets of modules that import each other (Tarjan's strong components)."""
    index: dict[str, int] = {}
    lowest: dict[str, int] = {}
    stack: list[str] = []
    found: list[frozenset[str]] = []
    for root in sorted(graph):
        if root in index:
            continue
        walk = [(root, iter(sorted(graph[root])))]
        index[root] = lowest[root] = len(index)
        stack.append(root)
        while walk:
            module, imports = walk[-1]
            for imported in imports:
                if imported not in index:
                    index[imported] = lowest[imported] = len(index)
                    stack.append(imported)
                    walk.append((imported, iter(sorted(graph[imported]))))
                    break
                if imported in stack:
                    lowest[module] = min(lowest[module], index[imported])
            else:
                walk.pop()
                if walk:
                    lowest[walk[-1][0]] = min(lowest[walk[-1][0]], lowest[module])
                if lowest[module] == index[module]:
                    at = stack.index(module)
                    if len(stack) - at > 1:
                        found.append(frozenset(stack[at:]))
                    del stack[at:]
    return found
