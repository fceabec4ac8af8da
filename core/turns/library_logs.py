"""The log of an assistant inside a program: shown by the program's own logging, if the program wants it."""

import logging

import structlog
from structlog.typing import Processor

NAME = "onevalet"
"""The name of the logger, as `logging.getLogger` knows it."""


def log_to_program(*processors: Processor) -> None:
    """Send lines to `logging` if the program's logging wants them; `processors` change each line before.

    One of our processes, or a program that uses structlog, has configured its logging: then nothing is done.
    """
    if structlog.is_configured() and structlog.get_config()["logger_factory"] is not _program_logger:
        return
    structlog.configure(
        processors=[
            structlog.stdlib.filter_by_level,
            structlog.contextvars.merge_contextvars,
            *(processors or (structlog.processors.format_exc_info,)),
            structlog.processors.KeyValueRenderer(key_order=["event"]),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(logging.NOTSET),
        logger_factory=_program_logger,
        cache_logger_on_first_use=False,
    )


def _program_logger(*_args: object) -> logging.Logger:
    logger = logging.getLogger(NAME)
    if not logger.handlers:
        # Python prints warnings of loggers without any handler by itself.
        logger.addHandler(logging.NullHandler())
    return logger
