"""What surrounds every request: an id for the log, the body read in time, errors turned into statuses."""

import asyncio

import structlog
from aiohttp import web
from aiohttp.http_exceptions import HttpProcessingError
from aiohttp.typedefs import Handler, Middleware

from channels.http.connections import source_of
from channels.http.error_answers import answer_error
from channels.http.penalties import BadRequests
from channels.http.proofs import shown_by
from core.errors import RequestRefused, StoreUnavailable
from core.ids import IdMaker

BODY_SECONDS = 5.0
_NOBODYS_FAULT = frozenset({429, 503})

_log = structlog.get_logger()


def name_requests(make_id: IdMaker) -> Middleware:
    """Bind a fresh request id to every log line of a request, and return it in a header."""

    @web.middleware
    async def middleware(request: web.Request, handler: Handler) -> web.StreamResponse:
        request_id = make_id("req")
        with structlog.contextvars.bound_contextvars(request=request_id):
            response = await handler(request)
        if not response.prepared:
            response.headers["X-Request-Id"] = request_id
        return response

    return middleware


@web.middleware
async def close_after_unread(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Announce that the connection ends after an early answer: the unread rest of a body is not the next request."""
    response = await handler(request)
    if not response.prepared and not request.content.is_eof():
        response.force_close()
    return response


def limit_bad_requests(bad: BadRequests) -> Middleware:
    """Refuse a source that keeps sending bad requests before any handler; stands outside `answer_errors`.

    A proof of ours is refused by what was refused of it. Requests on which we fail count as well, but no outage of a
    store, and no refusal by a limit of its own.
    """

    @web.middleware
    async def middleware(request: web.Request, handler: Handler) -> web.StreamResponse:
        proof, source = shown_by(request), source_of((request.remote or "",))
        if proof != "" and bad.is_beyond(source, proof or ""):
            return answer_error(request, 429, "too many bad requests", retry_after="60")
        response = await handler(request)
        if response.status < 400 or response.status in _NOBODYS_FAULT or response.prepared:
            return response
        beyond = bad.count(source, proof or "")
        if beyond == 1:
            _log.warning("bad_requests_limited")
        return answer_error(request, 429, "too many bad requests", retry_after="60") if beyond else response

    return middleware


@web.middleware
async def answer_errors(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Turn errors into statuses: refused 4xx, no store 503, anything unforeseen 500 with one log line."""
    route = request.match_info.route.resource
    path = route.canonical if route is not None else ""
    try:
        return await handler(request)
    except RequestRefused as error:
        _log.info("request_refused", path=path, status=error.status, reason=error.reason)
        return answer_error(request, error.status, "refused")
    except web.HTTPException as error:
        if error.status < 400:
            raise
        _log.info("request_refused", path=path, status=error.status, reason=error.reason)
        return answer_error(request, error.status, "refused", allow=error.headers.get("Allow", ""))
    except StoreUnavailable as error:
        _log.warning("store_unavailable", path=path, cause=str(error))
        return answer_error(request, 503, "try again later", retry_after="1")
    except ConnectionError:
        raise  # the sender hung up; nobody reads an answer
    except Exception:
        _log.exception("request_failed", path=path)
        return answer_error(request, 500, "internal error")


def read_body(seconds: float = BODY_SECONDS) -> Middleware:
    """Read the whole body before any handler: in time, under the size limit, and as it was signed."""

    @web.middleware
    async def middleware(request: web.Request, handler: Handler) -> web.StreamResponse:
        if request.headers.get("Content-Encoding", "identity").lower() != "identity":
            raise RequestRefused("compressed body", status=415)
        try:
            if request.content.is_eof():  # it came with its headers, as a webhook's does
                await request.read()
            else:
                async with asyncio.timeout(seconds):
                    await request.read()
        except TimeoutError:
            raise RequestRefused("body too slow", status=408) from None
        except (web.RequestPayloadError, HttpProcessingError):
            raise RequestRefused("body cannot be read") from None
        return await handler(request)

    return middleware
