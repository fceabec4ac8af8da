"""Errors of MCP servers."""

from core.errors import OneValetError


class ServerAway(OneValetError):
    """The server cannot be reached; no tool was called."""


class Unreadable(ServerAway):
    """The server's answer cannot be read, or is not an answer of MCP; no tool was called."""


class Silent(ServerAway):
    """The server did not answer in time; no tool was called."""


class ServerLost(OneValetError):
    """The connection ended during a request: its outcome is unknown."""


class AnswerUnreadable(ServerLost):
    """The answer to a request cannot be read: its outcome is unknown."""


class NoAnswer(ServerLost):
    """A request was not answered in time: its outcome is unknown."""


class AnswerTooLarge(ServerLost):
    """The server exceeded its limits during a request: its outcome is unknown."""


class ErrorAnswered(OneValetError):
    """The server answered a request with an error, whose message is the server's. Its effects are unknown."""


class LoginRefused(OneValetError):
    """A remote server does not accept our proof of identity (401)."""


class DefinitionChanged(OneValetError):
    """The server describes a tool in other words than those that the operator accepted."""


class ToolGone(OneValetError):
    """The server does not offer a tool any more."""
