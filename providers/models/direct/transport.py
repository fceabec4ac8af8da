"""Calls to models over our own connections: a request by its plan, and the answer, whole or as it is written."""

import asyncio
import urllib.request
from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Mapping
from contextlib import aclosing, asynccontextmanager, contextmanager
from dataclasses import replace
from weakref import WeakKeyDictionary

import aiohttp

from core.errors import ModelTimeout, ModelUnavailable
from core.http.provider_session import UnreadableBody, open_session
from core.http.provider_session import read_body as read_bytes
from core.json_types import JsonObject
from core.llm.types import ModelAnswer, ModelChunk
from providers.models import litellm_library
from providers.models.direct.types import Plan, ProviderRefused
from providers.models.direct.whole import read_body
from providers.models.provider_errors import is_providers, our_error
from providers.models.streamed_answer import CUT, bounded, is_too_long, read_object, texts_of

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


@contextmanager
def errors_made_ours(plan: Plan) -> Iterator[None]:
    """Convert every error of a call to a `core.errors.ModelError`, without the provider's words."""
    try:
        yield
    except ProviderRefused as refused:
        error = plan.config.get_error_class(refused.text, refused.status, refused.headers)
        typed = litellm_library.typed_error(error, plan.call.model, plan.call.provider)
        raise our_error(typed) from typed
    except TimeoutError as error:  # aiohttp's are among them
        raise ModelTimeout(f"{plan.call.name}: {type(error).__name__}") from error
    except aiohttp.ClientError as error:
        raise ModelUnavailable(f"{plan.call.name}: {type(error).__name__}") from error
    except Exception as error:
        if not is_providers(error):
            raise
        raise ModelUnavailable(f"{plan.call.name}: {type(error).__name__}") from error


_MAX_REFUSAL = 64 * 1024
_REFUSAL_SECONDS = 5.0
"""Seconds for the words of a refusal, whose status is known."""


class Transport:
    """Makes calls, each once, by their plans."""

    def __init__(self) -> None:
        self._sessions = Sessions()

    async def answer(
        self, plan: Plan, messages: list[JsonObject], timeout: float, max_tokens: int | None
    ) -> ModelAnswer:
        """Return a whole answer. Raises a `core.errors.ModelError`."""
        with errors_made_ours(plan):
            async with self._sent(plan, messages, timeout) as response:
                body = read_object((await response.read()).decode())
                return bounded(_read_whole(plan, body, response.headers), max_tokens)

    async def stream(
        self, plan: Plan, messages: list[JsonObject], timeout: float, max_tokens: int | None
    ) -> AsyncGenerator[ModelChunk]:
        """Yield an answer's text as it is written, then the answer. Raises a `core.errors.ModelError`."""
        with errors_made_ours(plan):
            async with self._sent(plan, messages, timeout) as response:
                if "json" in response.content_type:  # a server that does not stream
                    whole = _read_whole(plan, read_object((await response.read()).decode()), response.headers)
                    yield ModelChunk(answer=bounded(whole, max_tokens))
                    return
                body = plan.family.body()
                async with aclosing(texts_of(response, body, max_tokens)) as texts:
                    async for text in texts:
                        yield ModelChunk(text, begun=body.characters > 0)
                cut = is_too_long(body.characters, body.pieces, max_tokens)
                if not body.finished and not cut:
                    raise ValueError("the stream ended in the middle")
                answer = bounded(body.answer(plan, messages, _lower(response.headers)), max_tokens)
        yield ModelChunk(answer=replace(answer, finish_reason=CUT) if cut else answer)

    async def close(self) -> None:
        """Close the connections of the running loop."""
        await self._sessions.close()

    @asynccontextmanager
    async def _sent(
        self, plan: Plan, messages: list[JsonObject], timeout: float
    ) -> AsyncIterator[aiohttp.ClientResponse]:
        # litellm sends no field that is null: some providers refuse it.
        full: list[JsonObject] = [
            {name: value for name, value in message.items() if value is not None} for message in messages
        ]
        headers, body = plan.family.request(plan, full)
        # A safety net: the caller keeps the time.
        times = aiohttp.ClientTimeout(total=None, sock_connect=timeout, sock_read=timeout)
        async with self._sessions.get().post(
            plan.endpoint.url, data=body.encode(), headers=headers, timeout=times
        ) as response:
            if response.status >= 400:
                raise ProviderRefused(response.status, await _words_of(response), _lower(response.headers))
            yield response


async def _words_of(response: aiohttp.ClientResponse) -> str:
    """Return the beginning of a refusal's text; empty if it cannot be read in time."""
    try:
        async with asyncio.timeout(_REFUSAL_SECONDS):
            encoding = response.headers.get("Content-Encoding", "")
            told, _ = await read_bytes(response.content.iter_any(), encoding, _MAX_REFUSAL)
    except (TimeoutError, UnreadableBody):
        return ""
    return told.decode(errors="replace")


def _read_whole(plan: Plan, body: JsonObject, headers: Mapping[str, str]) -> ModelAnswer:
    if error := body.get("error"):
        raise ProviderRefused(500, str(error))
    return read_body(plan, body, _lower(headers))


def _lower(headers: Mapping[str, str]) -> dict[str, str]:
    return {name.lower(): value for name, value in headers.items()}
