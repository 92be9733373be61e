"""Commands in this process.

Runs commands as a user types them, without the seconds in which Python starts and imports. Tests of
signals, descriptors and imports start a separate process.
"""

import contextlib
import io
import sys
from dataclasses import dataclass
from pathlib import Path
from unittest import mock

from acklab.cli import main

ROOT = Path(__file__).parents[1]


@dataclass(frozen=True)
class Done:
    """The outcome of a command."""

    returncode: object
    stdout: str
    stderr: str


def acklab(*words, cwd: Path = ROOT) -> Done:
    """Runs a command as if from the folder `cwd`."""
    # As strict with encodings as the streams of a process.
    out = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
    err = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", errors="backslashreplace")
    with (
        mock.patch.object(sys, "argv", ["acklab", *map(str, words)]),
        contextlib.chdir(cwd),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        code: object = None
        try:
            main()
        except SystemExit as done:
            code = done.code
    texts = []
    for stream in (out, err):
        stream.flush()
        texts.append(stream.buffer.getvalue().decode())
    return Done(code, *texts)
