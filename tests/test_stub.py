"""The stub of the core equals the compiled module: names, parameters and defaults."""

import ast
import inspect
from pathlib import Path

import pytest

from acklab import _core

STUB = ast.parse((Path(_core.__file__).parent / "_core.pyi").read_text(encoding="utf-8")).body
FUNCTIONS = {node.name: node for node in STUB if isinstance(node, ast.FunctionDef)}
CLASSES = {node.name: node for node in STUB if isinstance(node, ast.ClassDef)}
CONSTANTS = {node.target.id for node in STUB if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name)}


def parameters_of(signature: inspect.Signature) -> list[tuple[str, str, object]]:
    """Returns the names, kinds and defaults of the parameters other than `self` and `cls`."""
    return [
        (name, parameter.kind.name, parameter.default)
        for name, parameter in signature.parameters.items()
        if name not in ("self", "cls")
    ]


def declared(node: ast.FunctionDef) -> inspect.Signature:
    """Returns the signature of a function of the stub, without its types."""
    bare = ast.parse(ast.unparse(node)).body[0]
    assert isinstance(bare, ast.FunctionDef)
    bare.returns, bare.decorator_list = None, []
    for argument in (*bare.args.posonlyargs, *bare.args.args, *bare.args.kwonlyargs):
        argument.annotation = None
    names: dict[str, object] = {}
    exec(ast.unparse(bare), names)
    made = names[node.name]
    assert callable(made)
    return inspect.signature(made)


def is_property(node: ast.FunctionDef) -> bool:
    return any(isinstance(mark, ast.Name) and mark.id == "property" for mark in node.decorator_list)


def test_the_stub_declares_each_name_of_the_core_and_no_other():
    public = {name for name in vars(_core) if not name.startswith("_")}
    assert {*FUNCTIONS, *CLASSES, *(name for name in CONSTANTS if not name.startswith("_"))} == public


# `inspect.signature` reads `__text_signature__`, which PyO3 generates from the Rust signature.
@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_of_the_stub_has_the_signature_of_the_core(name):
    assert parameters_of(declared(FUNCTIONS[name])) == parameters_of(inspect.signature(getattr(_core, name)))


@pytest.mark.parametrize("name", CLASSES)
def test_a_class_of_the_stub_has_the_attributes_of_the_core(name):
    kind, body = getattr(_core, name), CLASSES[name].body
    methods = {node.name: node for node in body if isinstance(node, ast.FunctionDef)}
    fields = {node.target.id for node in body if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name)}
    constructor = next((methods.pop(made) for made in ("__new__", "__init__") if made in methods), None)
    own = {attribute for attribute in vars(kind) if not attribute.startswith("__")}
    assert {attribute for attribute in (*methods, *fields) if not attribute.startswith("__")} == own
    for attribute, node in methods.items():
        if is_property(node):
            assert inspect.isdatadescriptor(getattr(kind, attribute)), attribute
        else:
            assert parameters_of(declared(node)) == parameters_of(inspect.signature(getattr(kind, attribute))), attribute
    if constructor is None:
        with pytest.raises(TypeError, match=r"^cannot create .* instances"):
            kind()
    else:
        assert parameters_of(declared(constructor)) == parameters_of(inspect.signature(kind))
