"""Diagnostics of editors: of scenarios by the schema that `acklab schema --for` writes, and of the
strategies of the guide by their types.
"""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from acklab.templates import templates
from commands import ROOT, acklab

TAPLO, PYRIGHT = (shutil.which(name, path=str(Path(sys.executable).parent)) for name in ("taplo", "pyright"))


def lint(file: Path) -> tuple[int, list[str]]:
    """Runs taplo, which editors use, on a file.

    Returns its status, and each message with the line and the marked text.
    """
    assert TAPLO is not None
    done = subprocess.run(
        [TAPLO, "lint", "--colors", "never", file], capture_output=True, text=True, cwd=file.parent, check=False
    )
    return done.returncode, re.findall(r"^error: (.*)$", done.stderr, re.M)


@pytest.mark.skipif(TAPLO is None, reason="needs taplo")
def test_taplo_finds_nothing_wrong_with_the_templates(tmp_path):
    for kind in templates():
        assert acklab("new", kind, cwd=tmp_path).returncode == 0
        assert acklab("schema", "--for", f"{kind}.toml", cwd=tmp_path).returncode == 0
        assert lint(tmp_path / f"{kind}.toml") == (0, []), kind


@pytest.mark.skipif(TAPLO is None, reason="needs taplo")
@pytest.mark.parametrize(
    ("right", "wrong", "said"),
    [
        ('superframe = "2ms"', 'superfram = "2ms"', "('superfram' was unexpected)"),
        ('discipline = "ack-filter"', 'discipline = "ack-filtre"', '"ack-filtre" is not one of ["fifo","codel",'),
        ('limit = "100packets"', "limit = 100", '100 is not of type "string"'),
        ('congestion = "cubic"', 'congestion = "cubik"', '"cubik" is not one of ["newreno","cubic",'),
        ('policy = "linux"', 'policy = "delayed", segmnts = 3', "('segmnts' was unexpected)"),
    ],
)
def test_taplo_names_the_key_or_value_that_is_wrong(right, wrong, said, tmp_path):
    assert acklab("new", "cable", cwd=tmp_path).returncode == 0
    file = tmp_path / "cable.toml"
    text = file.read_text(encoding="utf-8")
    assert right in text
    file.write_text(text.replace(right, wrong, 1), encoding="utf-8")
    assert acklab("schema", "--for", file.name, cwd=tmp_path).returncode == 0
    status, messages = lint(file)
    assert status == 1
    assert any(said in message for message in messages), messages
    assert not any("oneOf" in message or "anyOf" in message for message in messages)


# Without an installed Node, pyright would download one.
@pytest.mark.skipif(PYRIGHT is None or shutil.which("node") is None, reason="needs pyright and Node")
def test_the_strategies_of_the_guide_have_the_types_that_they_say(tmp_path):
    text = (ROOT / "docs" / "guide" / "strategies.md").read_text(encoding="utf-8")
    example = re.findall(r"^```python\n(.*?)^```", text, re.M | re.S)[0]
    assert "class ByBytes" in example
    careless = example.replace(" or ledger.since is None", "")
    assert careless != example
    found: dict[str, list[str]] = {}
    for name, code in (("guide.py", example), ("careless.py", careless)):
        (tmp_path / name).write_text(code, encoding="utf-8")
    assert PYRIGHT is not None
    words = [PYRIGHT, "--outputjson", "--pythonpath", sys.executable, *(str(path) for path in sorted(tmp_path.glob("*.py")))]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    for one in json.loads(done.stdout)["generalDiagnostics"]:
        found.setdefault(Path(one["file"]).name, []).append(one["message"])
    assert list(found) == ["careless.py"], found
    assert 'Operator "+" not supported for "None"' in found["careless.py"][0]
