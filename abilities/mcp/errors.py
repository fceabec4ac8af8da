"""What goes wrong with MCP servers."""

from core.errors import OneValetError


class ServerAway(OneValetError):
    """The server cannot be reached; nothing was asked of it."""


class Unreadable(ServerAway):
    """What the server answered cannot be read, or is not what a server of MCP answers; nothing was asked of it."""


class Silent(ServerAway):
    """The server did not answer in time; nothing of consequence was asked of it."""


class ServerLost(OneValetError):
    """The connection ended while a request was under way: what became of it is not known."""


class AnswerUnreadable(ServerLost):
    """A request was answered by what cannot be read: what became of it is not known."""


class NoAnswer(ServerLost):
    """A request was not answered in time: what became of it is not known."""


class AnswerTooLarge(ServerLost):
    """The server sent more than it may while a request was under way: what became of it is not known."""


class ErrorAnswered(OneValetError):
    """The server answered a request with an error: the message is its own, and only it knows what it did before."""


class LoginRefused(OneValetError):
    """A remote server does not accept what it was sent to prove who asks (401)."""


class DefinitionChanged(OneValetError):
    """The server describes a tool in other words than those that the operator accepted."""


class ToolGone(OneValetError):
    """The server does not offer a tool any more."""
