"""Debian's Chromium without its windows, which Playwright drives: just what a person does, and what they see."""

import asyncio
import base64
import re
import threading
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from contextlib import ExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import Any, Concatenate, Literal

from playwright import async_api as playwright

from tests.needs import need
from tests.patience import MOST, PATIENCE, patience

FLAGS = (
    *("--disable-gpu", "--disable-quic", "--disable-dev-shm-usage"),
    # A microphone that beeps, and a person who allows it.
    *("--use-fake-device-for-media-stream", "--use-fake-ui-for-media-stream"),
)
STARTS_WITHIN = 240.0
"""Seconds: on a busy machine a browser is slow to start, which is no fault of the page's, nor of the first test's."""
WIDE, NARROW = (1440, 900), (390, 844)
_CUT = "net::ERR_NETWORK_CHANGED"
type Scheme = Literal["light", "dark"]
_LOOKS_EVERY = 50
"""Milliseconds."""
_TRIES_FOR = 2000
"""Milliseconds."""


def _driven[**P, T](
    method: Callable[Concatenate["Page", P], Coroutine[Any, Any, T]],
) -> Callable[Concatenate["Page", P], Coroutine[Any, Any, T]]:
    """Return a method that may be awaited in any loop, and runs in the browser's."""

    @wraps(method)
    async def call(page: "Page", /, *args: P.args, **kwargs: P.kwargs) -> T:
        running = asyncio.run_coroutine_threadsafe(method(page, *args, **kwargs), page.loop)
        return await asyncio.wrap_future(running)

    return call


class Page:
    """One tab. `problems` holds what the console called an error: exceptions, refusals of the policy.

    It is made in the browser's loop; its methods may be awaited in any.
    """

    def __init__(self, tab: playwright.Page, devtools: playwright.CDPSession, loop: asyncio.AbstractEventLoop) -> None:
        self.problems: list[str] = []
        self.loop = loop
        self._tab, self._devtools = tab, devtools
        tab.set_default_timeout(PATIENCE * MOST * 1000)  # what a machine at its slowest needs
        self._is_cut = False
        tab.on("requestfailed", self._note_cut)
        tab.on("pageerror", lambda error: self.problems.append(error.stack or error.message))
        tab.on("console", self._note)
        tab.on("dialog", _say_yes)

    @_driven
    async def resize(self, size: tuple[int, int]) -> None:
        """Give the window a size in CSS pixels; a narrow one is a phone's, with touch."""
        # Playwright itself can change no more than the size once a tab is open.
        is_phone = size[0] < 600
        metrics = {"width": size[0], "height": size[1], "deviceScaleFactor": 2 if is_phone else 1, "mobile": is_phone}
        await self._devtools.send("Emulation.setDeviceMetricsOverride", metrics)
        await self._devtools.send("Emulation.setTouchEmulationEnabled", {"enabled": is_phone})

    @_driven
    async def colours(self, scheme: Scheme) -> None:
        """Prefer light or dark."""
        await self._tab.emulate_media(color_scheme=scheme)

    @_driven
    async def goto(self, url: str) -> None:
        """Open the page and wait until it is live and shows what was said before."""
        await self._load(url)
        await self.until("document.querySelector('#live').dataset.state === 'live'")
        await self.until("!document.querySelector('#main').ariaBusy")

    @_driven
    async def prepare(self, script: str) -> None:
        """Run a script in each page that is opened from now on, before the page's own."""
        await self._tab.add_init_script(script)

    @_driven
    async def visit(self, url: str) -> None:
        """Open any page and wait until it is there."""
        await self._load(url)

    @_driven
    async def evaluate(self, expression: str) -> Any:
        """Evaluate JavaScript, wait for a promise, and return its value."""
        return await self._tab.evaluate(expression)

    @_driven
    async def until(self, expression: str, seconds: float = PATIENCE) -> None:
        """Wait until something is true in the page; what cannot be evaluated yet is not."""
        holds = f"() => {{ try {{ return Boolean({expression}); }} catch {{ return false; }} }}"
        try:
            await self._tab.wait_for_function(holds, polling=_LOOKS_EVERY, timeout=patience(seconds) * 1000)
        except playwright.TimeoutError as error:
            shown = await self._tab.evaluate("document.body?.innerText")
            raise AssertionError(f"never true: {expression}\n{self.problems}\n{shown}") from error

    @_driven
    async def type(self, selector: str, text: str, *, send: bool = True) -> None:
        """Type into a field as a keyboard does, and press Enter."""
        field = self._tab.locator(selector).first
        await field.click(trial=True)  # a person can get there
        await field.focus()
        await self.insert(text)
        if send:
            await self.press("Enter")

    @_driven
    async def insert(self, text: str) -> None:
        """Type where the cursor is."""
        await self._tab.keyboard.insert_text(text)

    @_driven
    async def press(self, key: str, *, shift: bool = False) -> None:
        """Press a named key."""
        await self._tab.keyboard.press(f"Shift+{key}" if shift else key)

    @_driven
    async def click(self, selector: str, saying: str = "") -> None:
        """Click, with the mouse, the last element that matches and says so, once nothing covers or moves it."""
        await self._seen(selector, saying).last.click()

    @_driven
    async def use(self, message: str, saying: str, tool: str) -> None:
        """Point at the last message that matches and says so, and click a tool that it then shows."""
        item = self._seen(message, saying).last
        async with asyncio.timeout(patience()):
            while True:
                await item.hover()
                try:
                    return await item.locator(".tools button", has_text=tool).click(timeout=_TRIES_FOR)
                except playwright.TimeoutError:
                    continue  # an answer came and moved the message away from under the mouse: it hides its tools

    @_driven
    async def attach(self, button: str, path: Path) -> None:
        """Press a button by keyboard and choose a file in the dialog that it opens."""
        async with self._tab.expect_file_chooser() as opened:
            await self._seen(button).first.press("Enter")
        chooser = await opened.value
        await chooser.set_files(path)

    @_driven
    async def drag(self, selector: str, *paths: Path, drop: bool = True) -> None:
        """Drag files from elsewhere over an element, and let go of them there."""
        box = await self._box(selector)
        middle = {"x": box["x"] + box["width"] / 2, "y": box["y"] + box["height"] / 2}
        data = {"items": [], "files": [str(path) for path in paths], "dragOperationsMask": 1}
        for kind in ("dragEnter", "dragOver", *(["drop"] if drop else [])):
            await self._devtools.send("Input.dispatchDragEvent", {"type": kind, "data": data, **middle})

    @_driven
    async def screenshot(self, path: Path, selector: str = "") -> None:
        """Keep what is seen, of the whole window or of one element."""
        # Playwright's own would take, and leave, a phone's page in the coarse pixels of a desk.
        options: dict[str, Any] = {"format": "png"}
        if selector:
            options["clip"] = {"scale": 1, **await self._box(selector)}
        shot = await self._devtools.send("Page.captureScreenshot", options)
        await asyncio.to_thread(path.write_bytes, base64.b64decode(shot["data"]))

    @_driven
    async def leave(self) -> None:
        """Go to an empty page, before what serves this one ends."""
        await self._tab.goto("about:blank")

    @_driven
    async def close(self) -> None:
        """Close the tab and forget what it stored."""
        await self._tab.context.close()

    async def _load(self, url: str) -> None:
        """Open a page, and again if it came in part."""
        self._is_cut = True
        while self._is_cut:
            self._is_cut = False
            await self._tab.goto(url)

    async def _box(self, selector: str) -> dict[str, float]:
        box = await self._seen(selector).first.bounding_box()
        assert box is not None, selector
        return {"x": box["x"], "y": box["y"], "width": box["width"], "height": box["height"]}

    def _seen(self, selector: str, saying: str = "") -> playwright.Locator:
        # Of a string, Playwright would heed no capitals: "Fails" is not "Model fails".
        return self._tab.locator(selector).filter(has_text=re.compile(re.escape(saying)), visible=True)

    def _note_cut(self, request: playwright.Request) -> None:
        # A test that makes a host of its own changes the machine's network: Chromium then drops what it was loading.
        self._is_cut = self._is_cut or request.failure == _CUT

    def _note(self, message: playwright.ConsoleMessage) -> None:
        # A 400 of the control API is a person being told what cannot be done; a 503, that the store is away.
        url = message.location["url"]
        is_told = "status of 400" in message.text or ("status of 503" in message.text and "/bench/" in url)
        if message.type == "error" and not is_told and _CUT not in message.text:
            self.problems.append(f"{message.text} {url}")


@dataclass(frozen=True, slots=True)
class Browser:
    """What runs, and the loop in which it is driven."""

    chromium: playwright.Browser
    loop: asyncio.AbstractEventLoop


@contextmanager
def running_browser() -> Iterator[Browser]:
    """Start a browser for all tests of this process; skips where there is none, but never in CI.

    Each test has a loop of its own, and Playwright stays with the loop in which it was started: hence the thread.
    """
    program = need("chromium-headless-shell")
    with ExitStack() as stack:
        loop = stack.enter_context(_loop_in_a_thread())

        def run[T](coroutine: Coroutine[Any, Any, T]) -> T:
            return asyncio.run_coroutine_threadsafe(coroutine, loop).result()

        driver = run(playwright.async_playwright().start())
        stack.callback(lambda: run(driver.stop()))
        chromium = run(
            driver.chromium.launch(executable_path=program, args=FLAGS, timeout=STARTS_WITHIN * 1000),
        )
        stack.callback(lambda: run(chromium.close()))
        yield Browser(chromium, loop)


@asynccontextmanager
async def open_page(browser: Browser) -> AsyncIterator[Page]:
    """Yield one tab of a running browser, with storage of its own."""
    page = await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(_open(browser), browser.loop))
    try:
        await page.resize(WIDE)
        yield page
    finally:
        await page.close()


async def _open(browser: Browser) -> Page:
    # What pulses while a turn is under way would be drawn sixty times a second, for nobody.
    context = await browser.chromium.new_context(no_viewport=True, reduced_motion="reduce")
    tab = await context.new_page()
    return Page(tab, await context.new_cdp_session(tab), browser.loop)


@contextmanager
def _loop_in_a_thread() -> Iterator[asyncio.AbstractEventLoop]:
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, name="browser", daemon=True)
    thread.start()
    try:
        yield loop
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


async def _say_yes(question: playwright.Dialog) -> None:
    await question.accept()
