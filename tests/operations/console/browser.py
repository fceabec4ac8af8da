"""A browser for the console's pages: no scripts, and no redirect followed by itself."""

import re
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from html import unescape

import aiohttp


@dataclass
class Browser:
    """A browser with one cookie jar, which follows no redirect by itself."""

    session: aiohttp.ClientSession
    url: str
    page: str = ""
    status: int = 0
    headers: str = ""
    location: str = ""
    """Where the last answer led."""

    async def get(self, path: str, headers: Mapping[str, str] | None = None) -> int:
        async with self.session.get(self._at(path), headers=headers, allow_redirects=False) as answer:
            return await self._kept(answer)

    async def post(
        self, path: str, fields: Mapping[str, str] | None = None, headers: Mapping[str, str] | None = None
    ) -> int:
        async with self.session.post(self._at(path), data=fields, headers=headers, allow_redirects=False) as answer:
            return await self._kept(answer)

    async def sign_in(self, link: str) -> int:
        """Open a link and press its button."""
        await self.get(link)
        return await self.post(link)

    @property
    def proof(self) -> str:
        """Return the proof in the form of the last page."""
        match = re.search(r'name="proof" value="(\w+)"', self.page)
        assert match is not None
        return match[1]

    @property
    def text(self) -> str:
        """Return what the last page says, without its markup."""
        return " ".join(unescape(re.sub(r"<[^>]+>", " ", self.page)).split())

    def links(self, part: str) -> list[str]:
        """Return the addresses on the last page that contain a text."""
        return [unescape(href) for href in re.findall(r'href="([^"]+)"', self.page) if part in href]

    def inputs(self, name: str) -> list[str]:
        """Return the values of the last page's hidden fields of a name."""
        return [unescape(value) for value in re.findall(rf'name="{name}" value="([^"]*)"', self.page)]

    @property
    def version(self) -> str:
        """Return the version of the last page; empty if it is not live."""
        match = re.search(r'data-live="(\w+)"', self.page)
        return match[1] if match else ""

    async def told(self, path: str) -> str:
        """Return the version of which an open page is told first."""
        async with self.session.get(self._at("/console/live"), params={"page": path, "version": ""}) as stream:
            async for line in stream.content:
                if line.startswith(b"data: "):
                    return line.removeprefix(b"data: ").decode().strip()
        return ""

    def _at(self, path: str) -> str:
        return path if path.startswith("http") else f"{self.url}{path}"

    async def _kept(self, answer: aiohttp.ClientResponse) -> int:
        self.page, self.status = await answer.text(), answer.status
        self.headers = str(answer.headers)
        self.location = answer.headers.get("Location", "")
        return self.status

    @property
    def form(self) -> dict[str, str]:
        """Return what each form of the last page sends: its proof and its key."""
        match = re.search(r'name="key" value="(\w+)"', self.page)
        assert match is not None
        return {"proof": self.proof, "key": match[1]}


@asynccontextmanager
async def open_browser(url: str) -> AsyncIterator[Browser]:
    """Yield a browser with a cookie jar of its own."""
    async with aiohttp.ClientSession(cookie_jar=aiohttp.CookieJar(unsafe=True)) as session:
        yield Browser(session, url)
