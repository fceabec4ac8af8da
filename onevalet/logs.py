"""Logs: one line an event, ids only, never text or secrets."""

import logging
import sys
from collections.abc import Iterable

import structlog
from structlog.typing import EventDict, WrappedLogger

QUIET = ("arq", "aiohttp.access", "httpx", "httpcore", "LiteLLM", "openai", "slack_bolt", "slack_sdk", "telegram")
"""Libraries that log requests, arguments or addresses at INFO (Telegram's URLs hold the token)."""


def set_up_logs(style: str, secrets: Iterable[str] = ()) -> None:
    """Send everything to standard error, with every known secret blotted out, tracebacks included."""
    blot = _Blot(secrets)
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_BlottingFormatter("%(asctime)s %(levelname)s %(name)s: %(message)s", blot))
    logging.basicConfig(level=logging.INFO, handlers=[handler], force=True)
    for name in QUIET:
        logging.getLogger(name).setLevel(logging.WARNING)
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info,
            blot,
            structlog.processors.JSONRenderer() if style == "json" else structlog.dev.ConsoleRenderer(colors=False),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(logging.INFO),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
        cache_logger_on_first_use=False,
    )


class _Blot:
    """Replaces known secrets wherever a string of an event holds one."""

    def __init__(self, secrets: Iterable[str]) -> None:
        # Longest first: one secret may hold another. Shorter ones would blot out innocent text.
        self._secrets = sorted((s for s in secrets if len(s) >= 8), key=len, reverse=True)

    def __call__(self, _logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
        return {key: self.text(value) if isinstance(value, str) else value for key, value in event.items()}

    def text(self, text: str) -> str:
        for secret in self._secrets:
            text = text.replace(secret, "[secret]")
        return text


class _BlottingFormatter(logging.Formatter):
    def __init__(self, layout: str, blot: _Blot) -> None:
        super().__init__(layout)
        self._blot = blot

    def format(self, record: logging.LogRecord) -> str:
        return self._blot.text(super().format(record))
