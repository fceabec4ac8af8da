"""Limits of the answers when a cloud's own library (boto3, azure-identity, requests) fetches a token for litellm's
calls.

They receive by urllib3, and litellm itself by httpx's client for threads, on which our time-outs have no effect; they
read each answer whole, and unpack it.
"""

import asyncio
import inspect
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from functools import wraps
from typing import Any

from core.http.peer import Hearing, PeerExceeded
from core.http.provider_session import ENCODINGS, UnreadableBody
from core.http.threaded_answers import ALLOWANCE, bound_answers, unpacked
from providers.provider_httpx import bound_interim

_THREADS = ThreadPoolExecutor(2, "cloud_tokens")
"""Threads of their own, so that a slow server delays no other work."""


def bound_tokens() -> None:
    """Bound the bytes and time of every response received in threads of this process; repeatable."""
    import httpx
    from openai.lib.azure import AsyncAzureOpenAI

    bound_answers()
    if not hasattr(AsyncAzureOpenAI._get_azure_ad_token, "__wrapped__"):
        AsyncAzureOpenAI._get_azure_ad_token = _in_a_thread(AsyncAzureOpenAI._get_azure_ad_token)  # type: ignore[method-assign]
    if not hasattr(httpx.HTTPTransport.handle_request, "__wrapped__"):
        httpx.HTTPTransport.handle_request = _heard_by_httpx(httpx.HTTPTransport.handle_request)  # type: ignore[method-assign]
    bound_interim()


def _heard_by_httpx(send: Callable[[Any, Any], Any]) -> Any:
    """Return `handle_request` for httpx's client for threads: its answers have been read, and are plain."""

    @wraps(send)
    def handle_request(self: Any, request: Any) -> Any:
        import httpx  # litellm has loaded it

        # Litellm never closes these clients, and asks again in an hour.
        request.headers["Connection"], request.headers["Accept-Encoding"] = "close", ENCODINGS
        response = send(self, request)
        stream, hearing, received = response.stream, Hearing(ALLOWANCE), bytearray()
        try:
            for chunk in stream:
                hearing.count(len(chunk), 1)
                received += chunk
            plain = unpacked(response.headers.get("Content-Encoding", ""), [bytes(received)])
        except (UnreadableBody, PeerExceeded) as error:
            raise httpx.ReadError(str(error), request=request) from error
        finally:
            stream.close()
        response.headers.pop("Content-Encoding", None)
        response.stream = httpx.ByteStream(plain)
        return response

    return handle_request


def _in_a_thread(fetch: Callable[[Any], Awaitable[str | None]]) -> Any:
    """Return how Azure's client fetches a token, which would ask azure-identity on the event loop."""

    @wraps(fetch)
    async def fetched(self: Any) -> str | None:
        ask = self._azure_ad_token_provider
        if ask is not None and not inspect.iscoroutinefunction(ask):

            async def beside() -> Any:
                return await asyncio.get_running_loop().run_in_executor(_THREADS, ask)

            self._azure_ad_token_provider = beside
        return await fetch(self)

    return fetched
