"""A person's browser, which connects an account by the link in their chat, and once more where that broke off."""

import asyncio
import re
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass

import aiohttp

from tests.abilities.accounts.connect.harness import Browser
from tests.faults.accounts.house import House
from tests.faults.harness import PUBLIC_URL
from tests.faults.sends import sends
from tests.servers.rotating import STRICT
from workbench.simulator.config import Person

_TRIES = 20
_LINK = re.compile(r"/connect/[0-9a-f]{32}")


@dataclass(frozen=True, slots=True)
class ConnectingBrowser:
    """A browser that connects one person's account. The public address leads to the only web process."""

    browser: Browser
    house: House
    person: Person

    @classmethod
    async def open(cls, house: House, person: Person) -> "ConnectingBrowser":
        """Return one that has gone as far as the server let it."""
        headers = {"Host": PUBLIC_URL.removeprefix("https://")}
        session = aiohttp.ClientSession(cookie_jar=aiohttp.DummyCookieJar(), headers=headers)
        opened = cls(Browser(session), house, person)
        with suppress(aiohttp.ClientError):
            await opened.connect()
        return opened

    async def connect(self) -> None:
        """Open the link and go through the pages, unless the link is over."""
        url = self.house.harness.webs[0].url
        told = sends(self.house.harness.folder / "providers.jsonl")
        link = next(found[0] for send in told if send.peer == self.person.phone and (found := _LINK.search(send.text)))
        await self._patiently(lambda: self.browser.get(url + link))
        if self.browser.status != 200:
            return
        # A jar would keep the cookie of an https address from http, by which the test reaches it.
        self.browser.session.headers["Cookie"] = self.browser.headers["Set-Cookie"].partition(";")[0]
        await self._patiently(lambda: self.browser.submit(url + link, go="", service=STRICT))
        away = await self._patiently(lambda: self.browser.submit(url + link, mail="on"))
        assert self.browser.status == 303, self.browser.page
        back = self.house.issuer.agree(away, f"{self.person.key}@example.org")
        await self._patiently(lambda: self.browser.get(back.replace(PUBLIC_URL, url)))

    async def _patiently(self, send: Callable[[], Awaitable[str]]) -> str:
        """Send, and once more each second while the server says that it is busy, as a person would."""
        page, answer = self.browser.page, ""
        for _ in range(_TRIES):
            self.browser.page = page
            answer = await send()
            if self.browser.status != 503:
                break
            await asyncio.sleep(1)
        return answer

    async def close(self) -> None:
        """Go through the pages once more, and be closed."""
        await self.connect()
        await self.browser.session.close()
