"""Logs: a line an event, ids only, never text or secrets."""

import logging
import sys
import time
from collections.abc import Callable, Iterable
from typing import TextIO

import structlog
from structlog.typing import EventDict, ExcInfo, WrappedLogger

from core.turns.library_logs import log_to_program
from onevalet.wiring.log_errors import format_error, print_uncaught

QUIET = (
    "arq",
    "aiohttp.access",
    "httpx",
    "httpcore",
    "LiteLLM",
    "openai",
    "slack_bolt",
    "slack_sdk",
    "telegram",
    "twilio",
)
"""Libraries that log requests, arguments or addresses at INFO: the token (Telegram), the numbers of people (Twilio)."""


def set_up_logs(style: str, secrets: Iterable[str] = (), out: TextIO | None = None, level: int = logging.INFO) -> None:
    """Send everything to standard error, or to `out`, with every known secret redacted, also in tracebacks.

    The traceback of a database error has its kind and place only; a repeated warning is counted.
    """
    out = out or sys.stderr
    redact = _Redactor(secrets)
    handler = logging.StreamHandler(out)
    handler.setFormatter(_RedactingFormatter("%(asctime)s %(levelname)s %(name)s: %(message)s", redact))
    logging.basicConfig(level=level, handlers=[handler], force=True)
    print_uncaught(redact.text)
    for name in QUIET:
        logging.getLogger(name).setLevel(max(level, logging.WARNING))
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            Repeats(),
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.ExceptionRenderer(format_error),
            redact,
            structlog.processors.JSONRenderer() if style == "json" else structlog.dev.ConsoleRenderer(colors=False),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(level),
        logger_factory=structlog.PrintLoggerFactory(out),
        cache_logger_on_first_use=False,
    )


def log_inside(secrets: Iterable[str]) -> None:
    """Send the lines of an assistant inside a program to the program's logging, with every known secret redacted."""
    log_to_program(Repeats(), structlog.processors.ExceptionRenderer(format_error), _Redactor(secrets))
    for name in QUIET:
        if (logger := logging.getLogger(name)).level == logging.NOTSET:
            logger.setLevel(logging.WARNING)


class Repeats:
    """Pass a warning with a cause once in `SECONDS`, with the number of repeats left out since.

    In an outage every call, poll and request logs the same: the first of each is logged, the rest counted.
    """

    SECONDS = 60.0
    MAX_KINDS = 1000
    """Kinds of warnings that are counted at a time."""

    def __init__(self, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._monotonic = monotonic
        self._seen: dict[tuple[str, ...], tuple[float, int]] = {}

    def __call__(self, _logger: WrappedLogger, method: str, event: EventDict) -> EventDict:
        if method != "warning" or "cause" not in event:
            return event
        key = tuple(f"{name}={value}" for name, value in event.items() if name != "request")
        now = self._monotonic()
        since, left_out = self._seen.get(key, (now - self.SECONDS, 0))
        if now - since < self.SECONDS:
            self._seen[key] = (since, left_out + 1)
            raise structlog.DropEvent
        if len(self._seen) >= self.MAX_KINDS:
            self._seen.clear()
        self._seen[key] = (now, 0)
        return {**event, "left_out": left_out} if left_out else event


class _Redactor:
    """Redact known secrets in the strings of an event."""

    def __init__(self, secrets: Iterable[str]) -> None:
        # Longest first: a secret may hold another. Short secrets would redact innocent text.
        self._secrets = sorted((s for s in secrets if len(s) >= 8), key=len, reverse=True)

    def __call__(self, _logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
        return {key: self.text(value) if isinstance(value, str) else value for key, value in event.items()}

    def text(self, text: str) -> str:
        for secret in self._secrets:
            text = text.replace(secret, "[secret]")
        return text


class _RedactingFormatter(logging.Formatter):
    def __init__(self, layout: str, redactor: _Redactor) -> None:
        super().__init__(layout)
        self._redact = redactor

    def format(self, record: logging.LogRecord) -> str:
        return self._redact.text(super().format(record))

    def formatException(self, ei: ExcInfo) -> str:  # type: ignore[override]
        return format_error(ei)
