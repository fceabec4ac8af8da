"""Limits of the answers to litellm's own calls: its transport is counted like other peers.

litellm has no documented hook that all of its clients pass, and a bound on its streams would miss data that it drops
(comments, empty events, packed bytes). All of them pass the class of its transport: `providers.models.litellm_library`
leaves them no other.

The answers to a cloud's own library when it fetches a token pass `providers.models.cloud_tokens`.
"""

from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import wraps
from typing import TYPE_CHECKING, Any

from core.http.peer import Allowance, Hearing
from core.http.provider_session import ENCODINGS, MAX_ANSWER, bound_interim
from providers.models.streamed_answer import ALLOWANCE
from providers.provider_httpx import hear

if TYPE_CHECKING:
    import httpx

type _Send = Callable[[Any, "httpx.Request"], Coroutine[Any, Any, "httpx.Response"]]

_MOST_OF_AN_ERROR = 32 * 1024
"""Bytes of an answer that is an error: litellm searches its words some sixty times, on the event loop."""
_MOST_WORDS = 200
"""Characters of a transport's own error, which quotes the server's words in place of HTTP."""

_current: ContextVar["_Call | None"] = ContextVar("litellm_hearing", default=None)


class _Call:
    """The count of a call, whose requests litellm may repeat."""

    def __init__(self, most: int = MAX_ANSWER, *, streamed: bool = False) -> None:
        self._all = Hearing(ALLOWANCE)
        self._most = most
        self._streamed = streamed

    def of(self, response: "httpx.Response") -> Hearing:
        """Return the count of a response: only a streamed response may exceed a whole answer."""
        media = response.headers.get("Content-Type", "").partition(";")[0].strip().lower()
        if self._streamed and response.status_code < 400 and media != "application/json":
            return self._all
        most = min(self._most, _MOST_OF_AN_ERROR) if response.status_code >= 400 else self._most
        return Hearing(Allowance(most, ALLOWANCE.pieces, ALLOWANCE.seconds), self._all)


@contextmanager
def hearing(most: int = MAX_ANSWER, *, streamed: bool = False) -> Iterator[None]:
    """Count the requests made here as a single call. `most`: bytes of a whole answer."""
    token = _current.set(_Call(most, streamed=streamed))
    try:
        yield
    finally:
        _current.reset(token)


def attend(transport: type) -> None:
    """Count and limit all that an httpx transport receives; a repeat changes nothing."""
    send: _Send = transport.handle_async_request  # type: ignore[attr-defined]
    if not hasattr(send, "__wrapped__"):
        transport.handle_async_request = _heard(send)  # type: ignore[attr-defined]


def _heard(send: _Send) -> _Send:
    @wraps(send)
    async def handle_async_request(self: Any, request: "httpx.Request") -> "httpx.Response":
        request.headers["Accept-Encoding"] = ENCODINGS
        import httpx  # litellm has loaded it

        if connector := self.get_valid_client_session().connector:
            bound_interim(connector)
        try:
            response = await send(self, request)
        except httpx.RequestError as error:
            raise type(error)(str(error)[:_MOST_WORDS], request=request) from None
        await hear(response, (_current.get() or _Call()).of(response), redirects=request.method == "GET")
        return response

    return handle_async_request
