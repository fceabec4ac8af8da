"""The pooled connections to models: one session for each event loop, opened when it is first needed."""

import asyncio
import urllib.request
from weakref import WeakKeyDictionary

import aiohttp

from core.http.provider_session import open_session
from core.llm import litellm_library

_CONNECT = 20.0
_MAX_CONNECTIONS = 512


class Sessions:
    """Sessions that follow no redirect, keep no cookie, and verify servers and use proxies as litellm does."""

    def __init__(self) -> None:
        self._open: WeakKeyDictionary[asyncio.AbstractEventLoop, aiohttp.ClientSession] = WeakKeyDictionary()

    def get(self) -> aiohttp.ClientSession:
        """Return the session of the running loop."""
        loop = asyncio.get_running_loop()
        session = self._open.get(loop)
        if session is None or session.closed:
            session = self._open[loop] = open_session(
                aiohttp.ClientTimeout(total=None, sock_connect=_CONNECT),
                connector=aiohttp.TCPConnector(limit=_MAX_CONNECTIONS, ssl=litellm_library.tls_context()),
                # Looking for a proxy at each request is not free.
                trust_env=bool(urllib.request.getproxies()),
            )
        return session

    async def close(self) -> None:
        """Close the running loop's session."""
        if session := self._open.pop(asyncio.get_running_loop(), None):
            await session.close()
