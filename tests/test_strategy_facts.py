"""Compares the arguments of strategies in Rust with those in Python and the table of the guide.

The sources are read as text, so that a field that is added in Rust alone fails here.
"""

import ast
import re
import textwrap
from pathlib import Path

from acklab import _core, strategies

ROOT = Path(__file__).parents[1]
TRANSPORT = ROOT / "crates/transport/src"
GUIDE = ROOT / "docs/guide/strategies.md"

STRUCTS = {
    "ack::Start": ("ack.rs", "Start"),
    "ack::Packet": ("ack/ledger.rs", "Packet"),
    "ack::Ledger": ("ack/ledger.rs", "Ledger"),
    "ack::Held": ("ack/held.rs", "Held"),
    "cc::Start": ("cc.rs", "Start"),
    "cc::Window": ("cc/window.rs", "Window"),
    "cc::Ack": ("cc/input.rs", "Ack"),
    "cc::Sent": ("cc/input.rs", "Sent"),
    "cc::Lost": ("cc/input.rs", "Lost"),
    "Sample": ("recovery/delivery_rate.rs", "Sample"),
    "Stamp": ("recovery/delivery_rate.rs", "Stamp"),
    "Transmission": ("recovery/transmission.rs", "Transmission"),
    "ask::Start": ("quic/ask.rs", "Start"),
    "ask::Path": ("quic/ask.rs", "Path"),
    "ask::Request": ("quic/ask.rs", "Request"),
}
TRAITS = {
    "AckPolicy": ("ack.rs", "AckPolicy"),
    "TcpEvents": ("ack/tcp.rs", "TcpEvents"),
    "CongestionControl": ("cc.rs", "CongestionControl"),
    "AskRule": ("quic/ask.rs", "AskRule"),
}
ARGUMENTS = {
    "Ack",
    "AckRequest",
    "Arrival",
    "AskPath",
    "AskStart",
    "ControllerStart",
    "Ledger",
    "Lost",
    "PolicyStart",
    "RateSample",
    "Sent",
    "Transmission",
    "Window",
}
STRATEGIES = {"AckPolicy", "CongestionController", "AskRule"}


def _body(file, head):
    text = (TRANSPORT / file).read_text()
    found = re.search(rf"^( *)pub {head}\b[^\n]*\{{\n(.*?)^\1\}}", text, re.MULTILINE | re.DOTALL)
    # A contract is indented: it stands in a macro.
    assert found, f"{file}: `pub {head}` is missing"
    return textwrap.dedent(found[2])


def _in_rust():
    """Every public field of the arguments and every method of the contracts."""
    fields = {
        f"{name}.{field}"
        for name, (file, struct) in STRUCTS.items()
        for field in re.findall(r"^pub (\w+):", _body(file, f"struct {struct}"), re.MULTILINE)
    }
    methods = {
        f"{name}.{method}"
        for name, (file, trait) in TRAITS.items()
        for method in re.findall(r"^(?:@inline )?fn (\w+)", _body(file, f"trait {trait}"), re.MULTILINE)
    }
    return fields | methods | {"ack::Arrival"}


def _members(path, classes):
    tree = ast.parse(path.read_text())
    named = [node for node in tree.body if isinstance(node, ast.ClassDef) and node.name in classes]
    assert {node.name for node in named} == classes
    return {f"{node.name}.{member}" for node in named for member in _names(node) if not member.startswith("_")}


def _names(node):
    for child in node.body:
        if isinstance(child, ast.FunctionDef):
            yield child.name
        elif isinstance(child, ast.AnnAssign) and isinstance(child.target, ast.Name):
            yield child.target.id


def _in_python():
    """Every attribute of the arguments and of the base classes, as they are typed."""
    arguments = _members(ROOT / "python/acklab/_core.pyi", ARGUMENTS)
    return arguments | _members(ROOT / "python/acklab/strategies.py", STRATEGIES)


def _rows():
    section = GUIDE.read_text().split("## What each language sees")[1].split("\n## ")[0]
    lines = [line for line in section.splitlines() if line.startswith("| `")]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return [(set(re.findall(r"`([^`]+)`", rust)), set(re.findall(r"`([^`]+)`", python)), why) for rust, python, why in cells]


def test_the_guide_names_what_rust_sees():
    assert set().union(*(rust for rust, _, _ in _rows())) == _in_rust()


def test_the_guide_names_what_python_sees():
    assert set().union(*(python for _, python, _ in _rows())) == _in_python()


def test_python_lacks_nothing_without_a_reason():
    assert [rust for rust, python, why in _rows() if len(python) < len(rust) and not why] == []


def test_the_core_has_what_is_typed():
    for member in _in_python():
        kind, name = member.split(".")
        assert hasattr(getattr(_core, kind, None) or getattr(strategies, kind), name), member
