"""The commands in the headers of templates run unchanged, on shorter runs."""

import re
import shlex

import pytest

from acklab.templates import new, templates
from commands import acklab

SHORT = ["--set", "duration=2s", "--set", "measure.from=0s"]
"""Options that shorten a run.

The rest of the command is unchanged, because a header may have wrong keys, values or units.
"""


@pytest.mark.parametrize("kind", templates())
def test_the_commands_of_its_header_run(kind, tmp_path):
    file = tmp_path / f"{kind}.toml"
    new(kind, file)
    header = re.findall(r"^#   acklab (.+)$", file.read_text(encoding="utf-8"), re.M)
    assert header, "a template shows its command"
    for line in header:
        for command in line.split("&&"):
            words = shlex.split(command, comments=True)
            words = words[1:] if words[0] == "acklab" else words
            if words[0] in ("run", "sweep"):
                words += SHORT
            if words[0] == "sweep":
                words += ["--seeds", "2", "--jobs", "1"]
            done = acklab(*words, cwd=tmp_path)
            assert done.returncode == 0, f"{command}: {done.stderr}"
