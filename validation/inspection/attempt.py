"""Inspects one capture with all options of output, and records messages and exceptions."""

import contextlib
import io
import json
import tempfile
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

from acklab.cli.inspect import inspect_command
from acklab.errors import AcklabError


def attempt(path: str, with_page: bool) -> dict[str, Any]:
    """Returns the outcome of inspecting a capture.

    The outcome has the report, the error of the command, its messages, tracebacks by form of
    output, and the time in seconds.
    """
    outcome: dict[str, Any] = {"report": None, "error": None, "tracebacks": {}, "page_octets": None}
    began = time.monotonic()
    told = _run("json", outcome, lambda: inspect_command(Path(path), None, True, None))
    outcome["seconds"] = round(time.monotonic() - began, 3)
    if told is not None:
        outcome["report"] = json.loads(told[0])
        outcome["messages"] = told[1]
    table = _run("table", outcome, lambda: inspect_command(Path(path), None, False, None))
    outcome["table"] = None if table is None else table[0] + table[1]
    if with_page:
        with tempfile.TemporaryDirectory() as folder:
            page = Path(folder) / "page.html"
            _run("page", outcome, lambda: inspect_command(Path(path), page, False, None))
            outcome["page_octets"] = page.stat().st_size if page.exists() else None
    return outcome


def _run(form: str, outcome: dict[str, Any], command: Callable[[], None]) -> tuple[str, str] | None:
    out, messages = io.StringIO(), io.StringIO()
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(messages):
            command()
    except AcklabError as error:
        outcome["error"] = str(error)
        return None
    except BaseException:  # A panic of the core is not an `Exception`.
        outcome["tracebacks"][form] = traceback.format_exc()
        return None
    return out.getvalue(), messages.getvalue()
