"""A command imports no more than it uses.

Modules are counted, because seconds depend on the machine.
"""

import subprocess
import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

import acklab

ROOT = Path(__file__).parents[1]
SHORT = ["studies/ack_compression/experiment_55.toml", "--set", "duration=1s", "--set", "flow.0.stop=1s"]
HEAVY = {"numpy", "pandas", "polars", "pyarrow", "duckdb", "plotly", "scipy", "jinja2", "markdown"}

COMMAND = """
import sys
from importlib import import_module
sys.argv = ["acklab", *{words!r}]
from acklab.cli import main
try:
    main()
except SystemExit as done:
    assert not done.code, done.code
print("MODULES", *{{name.split(".")[0] for name in sys.modules}})
"""


def imported(program: str) -> set[str]:
    """Returns the top-level modules that a program imports."""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=ROOT)
    return set(done.stdout.splitlines()[-1].split()[1:])


@pytest.mark.parametrize(
    ("words", "allowed"),
    [
        (["--help"], set()),
        (["run", "--help"], set()),
        (["--version"], set()),
        (["schema"], set()),
        (["new"], set()),
        (["check", SHORT[0]], set()),
        (["run", *SHORT], {"numpy", "pyarrow"}),
        (["run", *SHORT, "--json"], {"numpy", "pyarrow"}),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_a_command_imports_what_it_uses(words, allowed):
    assert imported(COMMAND.format(words=words)) & HEAVY <= allowed


@pytest.mark.parametrize(
    ("program", "allowed"),
    [
        ("import acklab", set()),
        ("import acklab; acklab.run", set()),
        ("import acklab; acklab.AckPolicy", set()),
        ("import acklab; acklab.load_result", set()),
    ],
)
def test_the_package_imports_what_is_asked_for(program, allowed):
    assert (
        imported(f"import sys; {program}; print('MODULES', *{{name.split('.')[0] for name in sys.modules}})") & HEAVY <= allowed
    )


def test_all_that_the_package_lists_exists():
    for name in dir(acklab):
        assert getattr(acklab, name) is not None
    for line in (acklab.__doc__ or "").splitlines():
        for name in line[:20].replace(",", " ").split() if line and line[0].isalpha() and "  " in line else []:
            assert hasattr(acklab, name), name
    assert "core" not in dir(acklab)
    assert (Path(acklab.__file__).parent / "py.typed").exists()


PUBLIC = [
    "advice",
    "errors",
    "figures",
    "fitting",
    "inspection",
    "packetdrill",
    "report",
    "statistics",
    "strategies",
    "studies",
    "studies.closed_form",
    "studies.emulated",
    "sweeps",
]


def test_every_module_that_the_package_lists_is_public():
    listed = {name for name in acklab.__all__ if isinstance(getattr(acklab, name), ModuleType)}
    assert listed <= set(PUBLIC)


@pytest.mark.parametrize("name", PUBLIC)
def test_completion_offers_what_users_call(name):
    # Imported names and submodules are not offered. Some submodules have the name of a function.
    module = import_module(f"acklab.{name}")
    offered = {word for word in dir(module) if not word.startswith("__")}
    assert offered == set(getattr(module, "__all__", offered))
    assert offered
    assert not any(isinstance(getattr(module, word), ModuleType) for word in offered)
