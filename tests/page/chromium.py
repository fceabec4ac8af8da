"""Headless Chromium over its DevTools protocol: just what a person does, and what they see."""

import asyncio
import base64
import itertools
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from tests.patience import PATIENCE

FLAGS = (
    *("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-dev-shm-usage"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync", "--hide-scrollbars"),
    "--remote-debugging-port=0",
    # A microphone that beeps, and a person who allows it.
    *("--use-fake-device-for-media-stream", "--use-fake-ui-for-media-stream"),
)
STARTS_WITHIN = 240.0
"""Seconds: on a busy machine a browser is slow to start, which is no fault of the page's, nor of the first test's."""
WIDE, NARROW = (1440, 900), (390, 844)
_KEYS = {"Enter": (13, "\r"), "Escape": (27, ""), "Tab": (9, "")}


class Page:
    """One tab. `problems` holds what the console called an error: exceptions, refusals of the policy."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        self.problems: list[str] = []
        self._socket = socket
        self._session = self._context = ""
        self._numbers = itertools.count(1)
        self._answers: dict[int, asyncio.Future[dict[str, Any]]] = {}
        self._choosers: asyncio.Queue[int] = asyncio.Queue()

    async def listen(self) -> None:
        """Take answers and events until the browser ends."""
        async for frame in self._socket:
            message = frame.json()
            waiting = self._answers.pop(message.get("id", 0), None)
            if waiting is not None and not waiting.done():
                waiting.set_result(message)
            self._note(message.get("method", ""), message.get("params", {}))

    async def open(self) -> None:
        """Take a tab of one's own."""
        self._context = (await self._call("Target.createBrowserContext"))["browserContextId"]
        target = await self._call("Target.createTarget", url="about:blank", browserContextId=self._context)
        attached = await self._call("Target.attachToTarget", targetId=target["targetId"], flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            await self._call(f"{domain}.enable")
        await self.resize(WIDE)

    async def resize(self, size: tuple[int, int]) -> None:
        """Give the window a size in CSS pixels; a narrow one is a phone's, with touch."""
        is_phone = size[0] < 600
        await self._call(
            "Emulation.setDeviceMetricsOverride",
            width=size[0],
            height=size[1],
            deviceScaleFactor=2 if is_phone else 1,
            mobile=is_phone,
        )

    async def colours(self, scheme: str) -> None:
        """Prefer light or dark."""
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        await self._call("Emulation.setEmulatedMedia", features=features)

    async def goto(self, url: str) -> None:
        """Open the page and wait until it is live and shows what was said before."""
        await self._call("Page.navigate", url=url)
        await self.until("document.querySelector('#live').dataset.state === 'live'")
        await self.until("!document.querySelector('#main').ariaBusy")

    async def prepare(self, script: str) -> None:
        """Run a script in each page that is opened from now on, before the page's own."""
        await self._call("Page.addScriptToEvaluateOnNewDocument", source=script)

    async def visit(self, url: str) -> None:
        """Open any page and wait until it is there."""
        await self._call("Page.navigate", url=url)
        await self.until(f"location.href === {url!r} && document.readyState === 'complete'")

    async def evaluate(self, expression: str) -> Any:
        """Evaluate JavaScript, waiting for a promise, and give its value."""
        result = await self._call("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in result:
            raise AssertionError(result["exceptionDetails"].get("exception", {}).get("description", expression))
        return result["result"].get("value")

    async def until(self, expression: str, seconds: float = PATIENCE) -> None:
        """Wait until something is true in the page; what cannot be evaluated yet is not."""
        end = time.monotonic() + seconds
        while await self.evaluate(f"(() => {{ try {{ return !({expression}); }} catch {{ return true; }} }})()"):
            if time.monotonic() > end:
                shown = await self.evaluate("document.body?.innerText")
                raise AssertionError(f"never true: {expression}\n{self.problems}\n{shown}")
            await asyncio.sleep(0.05)

    async def type(self, selector: str, text: str, *, send: bool = True) -> None:
        """Type into a field as a keyboard does, and press Enter."""
        await self.until(f"document.querySelector({selector!r})")
        await self.evaluate(f"document.querySelector({selector!r}).focus()")
        await self.insert(text)
        if send:
            await self.press("Enter")

    async def insert(self, text: str) -> None:
        """Type where the cursor is."""
        await self._call("Input.insertText", text=text)

    async def press(self, key: str, *, shift: bool = False) -> None:
        """Press one of a few named keys."""
        code, text = _KEYS[key]
        common = {"key": key, "code": key, "windowsVirtualKeyCode": code, "modifiers": 8 if shift else 0}
        await self._call("Input.dispatchKeyEvent", type="keyDown", text=text, **common)
        await self._call("Input.dispatchKeyEvent", type="keyUp", **common)

    async def click(self, selector: str, saying: str = "") -> None:
        """Click, with the mouse, the last element that matches and says so."""
        says = f"one.checkVisibility() && one.innerText.includes({saying!r})"
        pick = f"[...document.querySelectorAll({selector!r})].findLast((one) => {says})"
        await self.until(pick)
        spot = await self.evaluate(
            f"(() => {{ const one = {pick}; one.scrollIntoView({{ block: 'nearest' }});"
            " const box = one.getBoundingClientRect(); return [box.x + box.width / 2, box.y + box.height / 2]; })()"
        )
        for kind in ("mouseMoved", "mousePressed", "mouseReleased"):
            button = "none" if kind == "mouseMoved" else "left"
            await self._call(
                "Input.dispatchMouseEvent",
                type=kind,
                x=spot[0],
                y=spot[1],
                button=button,
                clickCount=int(kind != "mouseMoved"),
            )

    async def attach(self, button: str, path: Path) -> None:
        """Press a button by keyboard and choose a file in the dialog that it opens."""
        await self._call("Page.setInterceptFileChooserDialog", enabled=True)
        await self.until(f"document.querySelector({button!r})?.checkVisibility()")
        await self.evaluate(f"document.querySelector({button!r}).focus()")
        await self.press("Enter")
        field = await asyncio.wait_for(self._choosers.get(), PATIENCE)
        await self._call("DOM.setFileInputFiles", files=[str(path)], backendNodeId=field)

    async def drag(self, selector: str, *paths: Path, drop: bool = True) -> None:
        """Drag files over an element, and let go of them there."""
        await self.until(f"document.querySelector({selector!r})?.checkVisibility()")
        x, y = await self.evaluate(
            f"(() => {{ const box = document.querySelector({selector!r}).getBoundingClientRect();"
            " return [box.x + box.width / 2, box.y + box.height / 2]; })()"
        )
        data = {"items": [], "files": [str(path) for path in paths], "dragOperationsMask": 1}
        for kind in ("dragEnter", "dragOver", *(["drop"] if drop else [])):
            await self._call("Input.dispatchDragEvent", type=kind, x=x, y=y, data=data)

    async def screenshot(self, path: Path, selector: str = "") -> None:
        """Keep what is seen, of the whole page or of one element."""
        clip: dict[str, object] = {}
        if selector:
            box = await self.evaluate(f"document.querySelector({selector!r}).getBoundingClientRect().toJSON()")
            clip["clip"] = {"scale": 1} | {name: box[name] for name in ("x", "y", "width", "height")}
        shot = await self._call("Page.captureScreenshot", format="png", **clip)
        await asyncio.to_thread(path.write_bytes, base64.b64decode(shot["data"]))

    async def leave(self) -> None:
        """Go to an empty page, before what serves this one ends."""
        await self._call("Page.navigate", url="about:blank")

    async def close(self) -> None:
        """Close the tab and forget what it stored."""
        self._session = ""
        await self._call("Target.disposeBrowserContext", browserContextId=self._context)

    async def _call(self, method: str, **params: object) -> dict[str, Any]:
        number = next(self._numbers)
        self._answers[number] = asyncio.get_running_loop().create_future()
        session = {"sessionId": self._session} if self._session else {}
        await self._socket.send_json({"id": number, "method": method, "params": params, **session})
        answer = await asyncio.wait_for(self._answers[number], PATIENCE)
        if "error" in answer:
            raise AssertionError(f"{method}: {answer['error']}")
        result: dict[str, Any] = answer["result"]
        return result

    def _note(self, method: str, params: dict[str, Any]) -> None:
        if method == "Page.fileChooserOpened":
            self._choosers.put_nowait(params["backendNodeId"])
        if method == "Runtime.exceptionThrown":
            details = params["exceptionDetails"]
            self.problems.append(details.get("exception", {}).get("description") or details["text"])
        entry = params.get("entry", {})
        # A 400 of the control API is a person being told what cannot be done.
        if method == "Log.entryAdded" and entry["level"] == "error" and "status of 400" not in entry["text"]:
            self.problems.append(f"{entry['text']} {entry.get('url', '')}")


@contextmanager
def running_browser() -> Iterator[str]:
    """Start a browser with an empty profile and give its address; skips where there is none, but never in CI."""
    program = shutil.which("chromium") or shutil.which("chromium-browser")
    if program is None:
        if "CI" in os.environ:
            pytest.fail("Chromium is missing: apt-get install chromium")
        pytest.skip("Chromium is missing: apt-get install chromium")
    with tempfile.TemporaryDirectory(prefix="page-", ignore_cleanup_errors=True) as profile:
        process = subprocess.Popen(
            [program, *FLAGS, f"--user-data-dir={profile}", "about:blank"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            yield _address(Path(profile), process)
        finally:
            process.terminate()
            try:
                process.wait(PATIENCE)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


@asynccontextmanager
async def open_page(address: str) -> AsyncIterator[Page]:
    """Yield one tab of a running browser, with storage of its own."""
    async with aiohttp.ClientSession() as http, http.ws_connect(address, max_msg_size=0) as socket:
        page = Page(socket)
        listening = asyncio.create_task(page.listen())
        try:
            await page.open()
            yield page
            await page.close()
        finally:
            listening.cancel()
            await asyncio.wait([listening])


def _address(profile: Path, process: subprocess.Popen[bytes]) -> str:
    file, end = profile / "DevToolsActivePort", time.monotonic() + STARTS_WITHIN
    while not file.exists() or len(file.read_text().split()) < 2:
        if process.poll() is not None or time.monotonic() > end:
            raise AssertionError(f"Chromium did not start; it ended with {process.returncode}.")
        time.sleep(0.05)
    port, path = file.read_text().split()
    return f"ws://127.0.0.1:{port}{path}"
