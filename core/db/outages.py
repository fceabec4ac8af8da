"""Recognise the errors of a store that cannot serve now, log when an outage begins and ends, and repeat its claims."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import asyncpg
import structlog

from core.errors import StoreUnavailable
from core.ids import IdMaker

# Classes of SQLSTATE for errors of the server itself, not of a statement: a repeat may succeed.
# Source: postgresql.org/docs/current/errcodes-appendix.html
_PASSING_CLASSES = frozenset(
    {
        "08",  # the connection broke
        "28",  # our user is not let in: someone is changing it
        "40",  # two transactions met
        "53",  # a full disk, no memory, too many connections
        "55",  # a lock that is not to be had, an object in use
        "57",  # cancelled, shutting down, starting up
        "58",  # the disk or the operating system failed
        "72",  # a snapshot that is too old
    }
)
_PASSING_STATES = frozenset(
    {
        "25006",  # a standby, or a provider that made a full database read-only
        "25P03",  # idle in a transaction for too long
        "25P04",  # a transaction that took too long
    }
)
_PASSING = (
    OSError,
    TimeoutError,
    asyncpg.InterfaceError,
    asyncpg.InternalClientError,  # a connection that broke between two of its own states
    asyncpg.InvalidCachedStatementError,  # a table changed under a prepared statement, which is then prepared again
)
# Errors in the values of a statement: data, a constraint, a size that no row can have.
_VALUE_CLASSES = frozenset({"22", "23", "54"})
_WRITES_FAIL = frozenset({"53", "58"})

WELL_AFTER = 5.0
"""Seconds without a failure after which a success ends the trouble: reads go on while a full disk refuses writes."""

_log = structlog.get_logger()


class NotConnected(OSError):
    """The server refused a connection, for any reason: no statement is to blame for that."""


def is_passing(error: BaseException) -> bool:
    """Return whether the store cannot serve now, so that a repeat of the same statement may succeed."""
    if isinstance(error, asyncpg.PostgresError) and not isinstance(error, asyncpg.InvalidCachedStatementError):
        state = error.sqlstate or ""
        return state[:2] in _PASSING_CLASSES or state in _PASSING_STATES or _was_replaced(error)
    return isinstance(error, _PASSING)


def _was_replaced(error: asyncpg.PostgresError) -> bool:
    """Return whether a call met a function while an update replaced it.

    A call that had begun may also look for a function with the arguments of before.
    """
    if isinstance(error, asyncpg.UndefinedFunctionError):
        return True
    return isinstance(error, asyncpg.InternalServerError) and "cache lookup failed for function" in str(error)


def is_store_error(error: BaseException) -> bool:
    """Return whether an error is the store's own, and no fault of the values that it was given."""
    if isinstance(error, asyncpg.PostgresError):
        return (error.sqlstate or "")[:2] not in _VALUE_CLASSES
    return isinstance(error, asyncpg.InterfaceError | asyncpg.InternalClientError)


def cause_of(error: BaseException) -> str:
    """Return the kind of an error for the log: never its text, which may quote values."""
    if isinstance(error, NotConnected) and error.__cause__ is not None:
        return type(error.__cause__).__name__
    return type(error).__name__


class StoreTrouble:
    """Log each cause of an outage once, and its end once, however many calls fail."""

    def __init__(self, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._monotonic = monotonic
        self._causes: set[str] = set()
        self._failures = 0
        self._began = self._last = 0.0
        self.writes_fail = False
        """Whether the server refused a write for a reason of its own, and no write is known to have succeeded since."""

    def failed(self, error: BaseException) -> None:
        """Count a failure; log the first of each cause."""
        now, cause = self._monotonic(), cause_of(error)
        if not self._causes:
            self._began = now
        self._last = now
        self._failures += 1
        if _is_of_writing(error):
            self.writes_fail = True
        if cause not in self._causes:
            self._causes.add(cause)
            _log.warning("store_trouble", cause=cause, sqlstate=getattr(error.__cause__ or error, "sqlstate", None))

    def worked(self) -> None:
        """Log the end of an outage, if any, once nothing has failed for a while."""
        if not self._causes or self._monotonic() - self._last < WELL_AFTER:
            return
        _log.info("store_well", failures=self._failures, seconds=round(self._last - self._began, 1))
        self._causes.clear()
        self._failures = 0


class Owners:
    """The names under which a process claims rows, a new one for each claim.

    A claim that was not answered may have been made: asking again by its name gives it to us.
    """

    def __init__(self, make_id: IdMaker) -> None:
        self._make_id = make_id
        self._unanswered: list[str] = []

    @contextmanager
    def claiming(self, worker: str) -> Iterator[str]:
        """Yield the name for the claim inside the block."""
        owner = self._unanswered.pop() if self._unanswered else f"{worker}/{self._make_id('own')}"
        try:
            yield owner
        except StoreUnavailable:
            self._unanswered.append(owner)
            raise


def _is_of_writing(error: BaseException) -> bool:
    if not isinstance(error, asyncpg.PostgresError) or isinstance(error, asyncpg.TooManyConnectionsError):
        return False
    state = error.sqlstate or ""
    return state[:2] in _WRITES_FAIL or state == "25006"
