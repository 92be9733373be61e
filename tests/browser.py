"""A page in a browser, in real time: what is drawn only when it comes into view needs frames, which virtual time skips."""

import asyncio
import shutil
from pathlib import Path
from typing import Any

import choreographer
import pytest

needs_a_browser = pytest.mark.skipif(shutil.which("chromium") is None, reason="needs a browser")

_LONGEST = 60
"""Seconds until a page must show what is waited for."""


def page_in_a_browser(page: Path, until: str, find: str = "document.documentElement.outerHTML", height: int = 9000) -> Any:
    """Opens a page, waits until the expression `until` is true, and gives the value of the expression `find`.

    Raises TimeoutError. By default the window is high enough for all figures: those out of view are drawn later.
    """
    return asyncio.run(asyncio.wait_for(_open(page, until, find, height), _LONGEST))


async def _open(page: Path, until: str, find: str, height: int) -> Any:
    async with choreographer.Browser(path=shutil.which("chromium"), headless=True, enable_sandbox=False) as browser:
        tab = await browser.create_tab()
        window = {"width": 1200, "height": height, "deviceScaleFactor": 1, "mobile": False}
        await tab.send_command("Emulation.setDeviceMetricsOverride", window)
        await tab.send_command("Page.navigate", {"url": f"file://{page}"})

        async def value(expression: str) -> Any:
            # Before the page is there, an expression about it may fail.
            answer = await tab.send_command("Runtime.evaluate", {"expression": expression, "returnByValue": True})
            return answer["result"]["result"].get("value")

        while await value(f"document.readyState === 'complete' && Boolean({until})") is not True:
            await asyncio.sleep(0.05)
        return await value(find)
