"""Output suits any stream: encodings other than UTF-8, narrow terminals, and lines of help."""

import contextlib
import io
import re
import sys
import tomllib
from unittest import mock

import pytest
from rich.console import Console

import commands
from acklab import citation, core, terminal
from acklab.cli import main
from acklab.fallback import similar
from acklab.tables import Table

SHORT = ["studies/ack_compression/experiment_55.toml", "--set", "duration=1s", "--set", "flow.0.stop=1s"]


def output(words, encoding, tmp_path):
    """Returns the standard output of a command on a stream with this encoding."""
    out = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
    with (
        mock.patch.object(sys, "argv", ["acklab", *words]),
        contextlib.chdir(commands.ROOT),
        contextlib.redirect_stdout(out),
        pytest.raises(SystemExit) as done,
    ):
        main()
    assert not done.value.code
    out.flush()
    buffer = out.buffer
    assert isinstance(buffer, io.BytesIO)
    return buffer.getvalue().decode(encoding)


# The text of the first has an arrow, and that of the second Greek letters.
@pytest.mark.parametrize("words", [["run", *SHORT], ["studies"]], ids=" ".join)
@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
def test_every_encoding_has_all_numbers(words, encoding, tmp_path):
    whole, plain = output(words, "utf-8", tmp_path), output(words, encoding, tmp_path)
    assert not whole.isascii()
    numbers = r"\d+(?:[.,]\d+)*"
    assert re.findall(numbers, plain) == re.findall(numbers, whole)


@pytest.mark.parametrize(
    ("character", "expected"),
    [
        ("→", "->"),
        ("−", "-"),
        ("…", ".."),
        ("±", "+-"),
        ("β", "beta"),
        ("Δ", "Delta"),
        ("µ", "u"),
        ("⁹", "^9"),
        ("é", "e"),
        ("漢", "?"),
    ],
)
def test_missing_characters_have_similar_ones(character, expected):
    assert similar(character) == expected


@pytest.mark.parametrize("width", [60, 40, 24])
def test_numbers_are_never_broken(width, monkeypatch):
    numbers = ["18,100,000", "7.75e-06", "1,206,908 ± 9,199"]
    rows = [(f"total_delivered_bytes_of_a_long_name_{index}", "packets", number) for index, number in enumerate(numbers)]
    file = io.StringIO()
    monkeypatch.setattr(terminal, "_console", lambda to_stderr: Console(file=file, width=width))
    terminal.show_table(Table(("metric", "unit", "bulk"), rows, numeric_from=2))
    for number in numbers:
        assert number in file.getvalue()


@pytest.mark.parametrize("group", [[], ["kernel"], ["proxy"]], ids=" ".join)
def test_summaries_of_commands_fit_their_line(group, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    commands_listed = commands.acklab(*group, "--help").stdout.partition("Commands:\n")[2]
    assert commands_listed
    assert "..." not in commands_listed


def test_the_citation_is_that_of_the_file():
    stated = dict(re.findall(r'^(\w+): "?(.*?)"?$', (commands.ROOT / "CITATION.cff").read_text(), flags=re.MULTILINE))
    workspace = tomllib.loads((commands.ROOT / "Cargo.toml").read_text())["workspace"]["package"]
    assert (stated["title"], stated["version"]) == (citation.TITLE, workspace["version"])
    assert f"name: {citation.AUTHORS}" in (commands.ROOT / "CITATION.cff").read_text()


def test_the_version_comes_with_its_citation():
    lines = commands.acklab("--version", "--cite").stdout.splitlines()
    assert lines[0] == f"acklab {core.version()} ({core.revision()})"
    assert "\n".join(lines[1:]) == citation.bibtex()
    assert commands.acklab("--version").stdout.splitlines() == lines[:1]
    assert commands.acklab("--cite").stdout.splitlines() == lines[1:]
