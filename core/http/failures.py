"""Sentences about a server without a usable answer: with its name if it is a person's own server.

The hosts of web pages and of our services mean nothing to a person; of two calendars they have to know which failed.
"""

from enum import Enum

from core.errors import ToolFailed
from core.language.catalogue import gettext, gettext_noop


class Failure(Enum):
    """The reason why there is no answer."""

    UNREACHABLE = "unreachable"
    TIMEOUT = "timeout"
    INSECURE = "insecure"
    UNREADABLE = "unreadable"


_UNNAMED = {
    Failure.UNREACHABLE: gettext_noop("The server cannot be reached."),
    Failure.TIMEOUT: gettext_noop("The server took too long."),
    Failure.INSECURE: gettext_noop("No secure connection to the server could be made."),
    Failure.UNREADABLE: gettext_noop("The server's answer cannot be read."),
}
_NAMED = {
    Failure.UNREACHABLE: gettext_noop("{host} cannot be reached."),
    Failure.TIMEOUT: gettext_noop("{host} took too long."),
    Failure.INSECURE: gettext_noop("No secure connection to {host} could be made."),
    Failure.UNREADABLE: gettext_noop("The answer of {host} cannot be read."),
}


class NoAnswer(ToolFailed):
    """A server gave no usable answer; the message is a plain sentence, with the host if it is given."""

    def __init__(self, failure: Failure, host: str = "") -> None:
        super().__init__(gettext((_NAMED if host else _UNNAMED)[failure], host=host))
        self.failure = failure

    def of(self, host: str) -> "NoAnswer":
        """Return the same failure with the name of a person's own server."""
        return type(self)(self.failure, host)
