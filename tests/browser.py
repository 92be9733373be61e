"""A page in a browser, in real time.

Elements that are drawn only in view need frames, which virtual time skips.
"""

import asyncio
import shutil
from pathlib import Path
from typing import Any

import choreographer
import pytest

needs_a_browser = pytest.mark.skipif(shutil.which("chromium") is None, reason="needs a browser")

_LONGEST = 60
"""Maximum seconds until a page shows the awaited content."""


def page_in_a_browser(
    page: Path | str, until: str, find: str = "document.documentElement.outerHTML", height: int = 9000, width: int = 1200
) -> Any:
    """Opens a page: a file or an address.

    Waits until the expression `until` is true, and returns the value of the expression `find`.

    Raises TimeoutError. By default the window is high enough for all figures: those out of view are
    drawn later. A window of less than 600 pixels represents a telephone.
    """
    return asyncio.run(asyncio.wait_for(_open(page, until, find, height, width), _LONGEST))


async def _open(page: Path | str, until: str, find: str, height: int, width: int) -> Any:
    async with choreographer.Browser(path=shutil.which("chromium"), headless=True, enable_sandbox=False) as browser:
        tab = await browser.create_tab()
        window = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}
        await tab.send_command("Emulation.setDeviceMetricsOverride", window)
        await tab.send_command("Page.navigate", {"url": page if isinstance(page, str) else f"file://{page}"})

        async def value(expression: str) -> Any:
            # Until the page is loaded, expressions may fail.
            answer = await tab.send_command("Runtime.evaluate", {"expression": expression, "returnByValue": True})
            return answer["result"]["result"].get("value")

        while await value(f"document.readyState === 'complete' && Boolean({until})") is not True:
            await asyncio.sleep(0.05)
        return await value(find)
