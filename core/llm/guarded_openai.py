"""A client of servers of OpenAI's shape for litellm's own calls: it follows no redirect and reads no endless answer."""

from collections.abc import AsyncIterator
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import Any

from core.llm import litellm_library


def guarded_client(model: str, key: str, url: str, most: int) -> Any:
    """Return a client for a model's provider, or for the server at `url`; None where litellm has no such client.

    `most`: bytes of an answer. Raises openai's own error where the provider needs a key and there is none.
    """
    found = litellm_library.openai_server(model, key, url)
    if found is None:
        return None
    import httpx
    import openai

    class Bounded(httpx.AsyncByteStream):
        def __init__(self, stream: httpx.AsyncByteStream) -> None:
            self._stream = stream

        async def __aiter__(self) -> AsyncIterator[bytes]:
            taken = 0
            async for chunk in self._stream:
                taken += len(chunk)
                if taken > most:
                    raise httpx.RemoteProtocolError("longer than an answer of the provider")
                yield chunk

        async def aclose(self) -> None:
            await self._stream.aclose()

    async def bound(response: httpx.Response) -> None:
        if isinstance(response.stream, httpx.AsyncByteStream):
            response.stream = Bounded(response.stream)

    http = httpx.AsyncClient(
        verify=litellm_library.tls_context(),
        follow_redirects=False,
        cookies=CookieJar(DefaultCookiePolicy(allowed_domains=[])),
        event_hooks={"response": [bound]},
    )
    server, told_key = found
    return openai.AsyncOpenAI(api_key=told_key, base_url=server, http_client=http, max_retries=0)
