"""Mapping providers' errors to ours by kind, status and words, without repeating the words."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import Any

from core.errors import (
    ContextOverflow,
    ModelAuthError,
    ModelError,
    ModelOutOfQuota,
    ModelRateLimited,
    ModelRejected,
    ModelTimeout,
    ModelUnavailable,
)

# How OpenAI-compatible providers say that a request is too long; litellm knows only some.
_OVERFLOW_WORDS = (
    "context_length_exceeded",
    "context length",
    "context window",
    "prompt is too long",
    "input is too long",
    "too many tokens",
    "maximum number of tokens",
    "input token count",
    "exceed_context_size",
    "reduce the length of the messages",
)
# A spent account, which OpenAI-compatible providers answer as a rate limit, and Anthropic as a bad request. "Exceeded
# your current quota" is not among them: Gemini says it of its limits a minute.
_SPENT_WORDS = ("insufficient_quota", "billing_hard_limit_reached", "credit balance is too low")
# 404 is "no such model, or your key may not see it" at OpenAI: the operator must fix either.
_KEY_STATUSES = (401, 402, 403, 404)


@asynccontextmanager
async def whole_within(seconds: float) -> AsyncIterator[None]:
    """Bound a whole call. Raises `ModelTimeout`.

    A client's own timeout is for the next byte: a provider that sends a byte now and then would never exceed it.
    """
    try:
        async with asyncio.timeout(seconds):
            yield
    except TimeoutError as error:
        raise ModelTimeout(f"no whole answer within {seconds:.1f} s") from error


def our_error(error: Any) -> ModelError:
    """Map litellm's typed exceptions, which derive from openai's, without their text."""
    # The error of a broken stream is wrapped.
    error = getattr(error, "original_exception", None) or error
    status = getattr(error, "status_code", None)
    summary = f"{getattr(error, 'model', '') or 'model'}: {type(error).__name__} {status or ''}".strip()
    kinds = {kind.__name__ for kind in type(error).__mro__}
    if "ContextWindowExceededError" in kinds or _is_overflow(error, status):
        return ContextOverflow(summary)
    if _is_spent(error, status):
        return ModelOutOfQuota(f"{summary}: no quota left")
    if "RateLimitError" in kinds or status == 429:
        return ModelRateLimited(summary, _retry_after(error))
    if kinds & {"APITimeoutError", "Timeout"} or status == 408:
        return ModelTimeout(summary)
    if status in _KEY_STATUSES or kinds & {"AuthenticationError", "PermissionDeniedError", "NotFoundError"}:
        return ModelAuthError(summary)
    if kinds & {"BadRequestError", "UnprocessableEntityError"}:
        return ModelRejected(summary)
    return ModelUnavailable(summary)


def is_providers(error: Exception) -> bool:
    """Return whether an untyped error means that litellm could not read an answer."""
    if type(error).__module__.split(".")[0] in ("httpx", "httpcore"):
        return True
    unread = ValueError | KeyError | TypeError | AttributeError | IndexError | OSError
    # Deep nesting and huge numbers are only found when they are written again.
    return isinstance(error, unread | RecursionError | ArithmeticError)


def _is_overflow(error: Any, status: int | None) -> bool:
    if status not in (400, 413, 422, 500):
        return False
    text = str(error).lower()
    return status == 413 or any(words in text for words in _OVERFLOW_WORDS)


def _is_spent(error: Any, status: int | None) -> bool:
    if status not in (400, 402, 403, 429):
        return False
    told = (getattr(error, "code", ""), getattr(error, "type", ""), getattr(error, "body", ""), error)
    text = " ".join(str(part) for part in told).lower()
    return any(words in text for words in _SPENT_WORDS)


def _retry_after(error: Any) -> timedelta | None:
    """Parse Retry-After, in seconds or as a date (RFC 9110 10.2.3), or OpenAI's retry-after-ms."""
    response = getattr(error, "response", None)
    sources = [getattr(error, "litellm_response_headers", None), getattr(response, "headers", None)]
    for headers in sources:
        if not isinstance(headers, Mapping):
            continue
        if value := headers.get("retry-after-ms") or headers.get("Retry-After-Ms"):
            return seconds(value, 0.001)
        if value := headers.get("retry-after") or headers.get("Retry-After"):
            return seconds(value, 1.0)
    return None


def seconds(value: str, unit: float) -> timedelta | None:
    """Parse a number of units, `unit` seconds each, or a date; None for neither."""
    try:
        return timedelta(seconds=max(float(value) * unit, 0.0))
    except (ValueError, OverflowError):
        pass
    try:
        return max(parsedate_to_datetime(value) - datetime.now(UTC), timedelta())
    except (ValueError, TypeError):
        return None
