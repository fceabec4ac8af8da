"""Middlewares of every request: an id for the log, timing, checked text, the body read, errors as statuses.

A webhook's time is measured until its provider may forget. A POST begins a trace; a sender's own `traceparent` is
ignored: no outsider may write into our traces.

Only this module handles malformed text. Otherwise a NUL, a lone surrogate or bytes that are not UTF-8 would fail in an
encoder or in Postgres, each in a different place. In headers, to which other programs of the same host add theirs
(cookies), such letters are replaced; in an address or a form, which only we create, the request is refused. Handlers
read the rest by its functions: forms, JSON, and headers that occur once.
"""

import asyncio
import re
import time
from http import HTTPStatus
from urllib.parse import parse_qsl

import structlog
from aiohttp import web
from aiohttp.http_exceptions import HttpProcessingError
from aiohttp.typedefs import Handler, Middleware
from multidict import CIMultiDict, MultiDict

from channels.http.connections import shown_by, source_of
from channels.http.error_answers import answer_error
from channels.http.penalties import BadRequests
from core import metrics, tracing
from core.errors import RequestRefused, StoreUnavailable
from core.ids import IdMaker
from core.json_types import JsonObject, read_json
from core.tracing import SpanKind


@web.middleware
async def measure_requests(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Time an answer. A stream, whose end says nothing, and a sender who hung up are left out."""
    if request.method != "POST" or not tracing.is_on():
        return await _measured(request, handler)
    route = _route(request)
    attributes = {"http.request.method": request.method, "http.route": route}
    with tracing.span(f"POST {route}", SpanKind.SERVER, attributes):
        return await _measured(request, handler)


async def _measured(request: web.Request, handler: Handler) -> web.StreamResponse:
    began = time.monotonic()
    try:
        response = await handler(request)
    except web.HTTPException as answer:
        _observe(request, answer.status, began)
        raise
    if not response.prepared:
        _observe(request, response.status, began)
    return response


def _observe(request: web.Request, status: int, began: float) -> None:
    metrics.ACKNOWLEDGEMENT_SECONDS.labels(_route(request), str(status)).observe(time.monotonic() - began)
    tracing.note(
        {"http.response.status_code": status}, error=str(status) if status >= HTTPStatus.INTERNAL_SERVER_ERROR else ""
    )


def _route(request: web.Request) -> str:
    # The pattern of the route, never the path: that may be a link with a secret, or anything that a stranger makes up.
    resource = request.match_info.route.resource
    return resource.canonical if resource is not None else metrics.UNKNOWN


FORM_TYPE = "application/x-www-form-urlencoded"
MAX_FIELDS = 1000
_UNSOUND = re.compile("[\x00\ud800-\udfff]")
_CHARSETS = frozenset({"utf-8", "utf8", "us-ascii"})


@web.middleware
async def sound_requests(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Refuse malformed text in an address, a charset other than UTF-8, and parts; replace malformed text in headers."""
    check_address(request)
    if (charset := _charset(request)) is None or charset not in _CHARSETS:
        raise RequestRefused("not UTF-8", status=415)
    if request.content_type.startswith("multipart/"):
        raise RequestRefused("body in parts", status=415)
    if any(_UNSOUND.search(value) for value in request.headers.values()):
        request = request.clone(
            headers=CIMultiDict((name, _UNSOUND.sub("\ufffd", value)) for name, value in request.headers.items())
        )
    return await handler(request)


def check_address(request: web.Request) -> None:
    """Raise `RequestRefused` for malformed text in an address."""
    if any(_UNSOUND.search(value) for value in (request.path, *request.match_info.values())):
        raise RequestRefused("address is no text")
    if request.query_string and any(_UNSOUND.search(part) for pair in request.query.items() for part in pair):
        raise RequestRefused("query is no text")


async def read_form(request: web.Request) -> MultiDict[str]:
    """Return the fields of a form; none if the body is not a form. Raises `RequestRefused`."""
    if request.content_type != FORM_TYPE:
        return MultiDict()
    try:
        pairs = parse_qsl(
            (await request.read()).decode(), keep_blank_values=True, errors="strict", max_num_fields=MAX_FIELDS
        )
    except ValueError:  # not UTF-8, or too many fields
        raise RequestRefused("form cannot be decoded") from None
    if any(_UNSOUND.search(part) for pair in pairs for part in pair):
        raise RequestRefused("form is no text")
    return MultiDict(pairs)


def only_header(request: web.Request, name: str) -> str | None:
    """Return a header that must occur exactly once, else None."""
    values = request.headers.getall(name, [])
    return values[0] if len(values) == 1 else None


def check_type(request: web.Request, *content_types: str) -> None:
    """Raise `RequestRefused` (415) unless the body has a content type from the list, and is UTF-8."""
    if request.content_type not in content_types:
        raise RequestRefused(f"content type is not {' or '.join(content_types)}", status=415)
    if (request.charset or "utf-8").lower() != "utf-8":
        raise RequestRefused("not UTF-8", status=415)


def json_object(raw: bytes) -> JsonObject:
    """Return the JSON object of a body, strictly in UTF-8. Raises `RequestRefused`."""
    try:
        value = read_json(raw.decode())
    except ValueError:  # no JSON, not UTF-8, or nested too deeply; the error would quote the text
        raise RequestRefused("JSON cannot be decoded") from None
    if not isinstance(value, dict):
        raise RequestRefused("JSON is not an object")
    return value


def _charset(request: web.Request) -> str | None:
    try:
        return (request.charset or "utf-8").lower()
    except ValueError:
        return None


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
    """Refuse a source that keeps sending bad requests before any handler; wraps `answer_errors`.

    A request that presents one of our tokens counts by that token. Requests on which we fail count as well; an outage
    of a store, and a refusal by a limit of its own, do not.
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
    """Turn errors into statuses: refused 4xx, no store 503, any other error 500 with a log line."""
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
        raise  # the sender hung up; no answer is read
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
