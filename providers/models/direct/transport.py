"""Calls to models over our own connections: a request by its plan, and the answer, whole or as it is written.

A stream consists of server-sent events, in the format of the HTML standard: lines `data: …`, of which a blank line ends
an event.
"""

import asyncio
import urllib.request
from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager, contextmanager
from dataclasses import replace
from itertools import batched
from weakref import WeakKeyDictionary

import aiohttp

from core.errors import ModelTimeout, ModelUnavailable
from core.http.peer import TURN_BYTES, TURN_PIECES, Hearing
from core.http.provider_session import Unpacker, UnreadableBody, open_session
from core.http.provider_session import read_body as read_bytes
from core.json_types import JsonObject, storable
from core.llm.types import ModelAnswer, ModelChunk
from providers.models import litellm_library
from providers.models.direct.types import Plan, ProviderRefused, StreamedBody, read_object
from providers.models.direct.whole import read_body
from providers.models.provider_errors import is_providers, our_error
from providers.models.streamed_answer import ALLOWANCE, CUT, bounded, is_too_long

MAX_LINE = 1024 * 1024
"""Bytes of a line, or of an event's lines: no event is longer than a whole answer may be."""
DONE = "[DONE]"
"""The data by which OpenAI and those who follow it end a stream."""


class EventReader:
    """Cuts a stream into events; a line may come in any number of parts."""

    def __init__(self) -> None:
        self._rest = bytearray()
        self._data: list[str] = []
        self._room = MAX_LINE

    def feed(self, received: bytes) -> list[str]:
        """Return the data of the events that are complete by now.

        Raises `ValueError` for an endless line or event, and for bytes that are not UTF-8.
        """
        end = received.rfind(b"\n")
        if end >= 0:
            received, rest = bytes(self._rest) + received[:end] if self._rest else received[:end], received[end + 1 :]
            self._rest = bytearray(rest)
        else:
            self._rest += received
        if len(self._rest) > MAX_LINE:
            raise ValueError("a line without end")
        if end < 0:
            return []
        events, data = list[str](), self._data
        for line in received.decode().split("\n"):
            if line.startswith("data:"):
                data.append(line[5:].strip())
                self._room -= len(line)
                if self._room < 0:
                    raise ValueError("an event without end")
            elif data and (not line or line == "\r"):
                events.append(data[0] if len(data) == 1 else "\n".join(data))
                data.clear()
                self._room = MAX_LINE
        return events

    def end(self) -> list[str]:
        """Return the data of an event that no blank line ended before the stream did."""
        return self.feed(b"\n\n")


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


_TOLD_EVERY = 0.05
"""Seconds for which text is gathered before it is passed on: people read no faster, and each piece costs all tasks."""
_IN_A_ROW = 0.005
"""Seconds of reading after which others have their turn."""
_LAST_BYTES = 0.2
"""Seconds for the end of a stream whose answer is whole; without it, its connection cannot be used again."""
_CHECKED_EVERY = 16
"""Events of a read after which the answer's length is looked at."""
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
                async with aclosing(_told(_Heard(response), body, max_tokens)) as texts:
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


class _Heard:
    """The unpacked bytes of a stream, within the limits of a streamed answer."""

    def __init__(self, response: aiohttp.ClientResponse) -> None:
        self._content = response.content
        self._unpacker = Unpacker(response.headers.get("Content-Encoding", ""))
        self._hearing = Hearing(ALLOWANCE)

    async def some(self) -> bytes:
        """Return the next bytes; none at the end. May be cancelled, and asked again. Raises `PeerExceeded`."""
        while not (content := self._unpacker.take(TURN_BYTES)):
            received = await self._content.readany()
            if not received:
                if not self._unpacker.whole:
                    raise UnreadableBody("it ended early")
                return b""
            self._hearing.count(pieces=1)
            self._unpacker.feed(received)
        return content

    async def read(self, size: int = 0, events: int = 0) -> None:
        """Count the bytes read, and let other tasks run if they are many. Raises `PeerExceeded`."""
        await self._hearing.heard(size, events)

    async def end(self) -> None:
        """Read the end of the stream, for a moment, and ignore errors."""
        if self._content.at_eof():
            return
        try:
            async with asyncio.timeout(_LAST_BYTES):
                await self._content.readany()
        except (TimeoutError, aiohttp.ClientError):
            return


async def _words_of(response: aiohttp.ClientResponse) -> str:
    """Return the beginning of a refusal's text; empty if it cannot be read in time."""
    try:
        async with asyncio.timeout(_REFUSAL_SECONDS):
            encoding = response.headers.get("Content-Encoding", "")
            told, _ = await read_bytes(response.content.iter_any(), encoding, _MAX_REFUSAL)
    except (TimeoutError, UnreadableBody):
        return ""
    return told.decode(errors="replace")


async def _told(content: _Heard, body: StreamedBody, max_tokens: int | None) -> AsyncGenerator[str]:
    """Read a stream into `body` until it ends or is too long; yield its text, gathered for a moment.

    An empty text means that the model is alive and does something else, which is worth knowing, too.
    """
    loop, events, waiting = asyncio.get_running_loop(), EventReader(), list[str]()
    told = resumed = loop.time()
    while not body.ended:
        limit = asyncio.timeout(told + _TOLD_EVERY - loop.time() if waiting else None)
        try:
            async with limit:
                received = await content.some()
        except TimeoutError:
            if not limit.expired():  # the connection's own
                raise
            received = None
        if received is not None:
            found = events.feed(received) if received else events.end()
            await content.read(len(received))
            for some in batched(found, TURN_PIECES):
                _add(some, body, waiting, max_tokens)
                await content.read(events=len(some))
                if body.ended or is_too_long(body.characters, body.pieces, max_tokens):
                    break
            if not received or is_too_long(body.characters, body.pieces, max_tokens):
                break
        now = loop.time()
        if waiting and now - told >= _TOLD_EVERY:
            yield storable("".join(waiting))
            waiting.clear()
            told = loop.time()
        elif now - resumed > _IN_A_ROW:
            await asyncio.sleep(0)
        resumed = now if now - resumed > _IN_A_ROW else resumed
    if waiting:
        yield storable("".join(waiting))
    if body.ended:
        await content.end()


def _add(found: Sequence[str], body: StreamedBody, waiting: list[str], max_tokens: int | None) -> None:
    """Add events to the body and queue their text."""
    add, told = body.add, waiting.append
    for number, data in enumerate(found):
        if data == DONE:
            body.ended = True
            return
        told(add(read_object(data)))
        if not number % _CHECKED_EVERY and is_too_long(body.characters, body.pieces, max_tokens):
            return


def _read_whole(plan: Plan, body: JsonObject, headers: Mapping[str, str]) -> ModelAnswer:
    if error := body.get("error"):
        raise ProviderRefused(500, str(error))
    return read_body(plan, body, _lower(headers))


def _lower(headers: Mapping[str, str]) -> dict[str, str]:
    return {name.lower(): value for name, value in headers.items()}
