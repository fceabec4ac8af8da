"""Telegram's refusals and the failures of the wire as our errors. Its descriptions are the only codes it has.

Source: core.telegram.org/bots/api#making-requests and the Bot API server's `fail_query_with_error`; PTB writes
some with another first letter, so case does not count.
"""

import re

from telegram.error import BadRequest, Conflict, Forbidden, InvalidToken, NetworkError, TelegramError

from core.errors import (
    Ambiguous,
    CredentialsRejected,
    DeliveryError,
    RateLimited,
    Rejected,
    Unavailable,
    Unreachable,
)
from core.http.provider_session import retry_after

_BAD_TOKEN = "Telegram refuses the bot token"  # noqa: S105 - a sentence
_FORMATTING = re.compile(
    r"can't parse (?!reply|inline|keyboard)|entit(y|ies)|ENTITY_|ENTITIES_|text_link", re.IGNORECASE
)
_KEYBOARD = re.compile(r"button|keyboard|reply.?markup", re.IGNORECASE)
_FILE = re.compile(r"photo|image|voice|wrong file|file must be|too big|too large|HTTP 413", re.IGNORECASE)
_UNCHANGED = re.compile("message is not modified|MESSAGE_NOT_MODIFIED", re.IGNORECASE)
_GONE = re.compile(
    r"chat not found|user not found|user_id_invalid|peer_id_invalid|chat_id is empty|input_user_deactivated"
    r"|user_is_blocked|chat_write_forbidden|have no rights to send|group chat was deactivated",
    re.IGNORECASE,
)


class NotSent(NetworkError):
    """The request never left, or the answer did not come from Telegram."""


class AnswerLost(NetworkError):
    """The request left, and Telegram failed or its answer cannot be read. `status` is HTTP's, if there was any."""

    def __init__(self, message: str, status: int | None = None) -> None:
        super().__init__(message)
        self.status = status


class FloodControl(TelegramError):
    """Telegram refuses a call and asks to wait. `seconds` is None if it does not say how long."""

    def __init__(self, seconds: int | None) -> None:
        super().__init__("Too Many Requests")
        self.seconds = seconds


def to_delivery_error(error: TelegramError) -> DeliveryError:
    """Return the delivery error of a part. Any 5xx of Telegram's own is ambiguous: it has no idempotency key."""
    match error:
        case FloodControl():
            return RateLimited("too many requests", "429", retry_after(error.seconds))
        case NotSent():
            return Unavailable(error.message)
        case AnswerLost():
            return Ambiguous(error.message, str(error.status or ""))
        case InvalidToken():
            return CredentialsRejected(_BAD_TOKEN, "401")
        case Forbidden():
            return Unreachable(brief(error), "403")
        case Conflict():
            return Rejected(brief(error), "409")
        case BadRequest():
            return (Unreachable if _GONE.search(error.message) else Rejected)(brief(error), "400")
    return Ambiguous(type(error).__name__)


def describe(error: TelegramError) -> str:
    """Return an error in a few words, without the address that was called."""
    match error:
        case FloodControl():
            return f"too many requests; wait {error.seconds or 'a few'} s"
        case InvalidToken():
            return _BAD_TOKEN
    return error.message.removeprefix("Conflict: ")


def refuses_formatting(error: BadRequest) -> bool:
    """Return whether Telegram refuses the entities, not the text."""
    return _FORMATTING.search(error.message) is not None


def refuses_keyboard(error: BadRequest) -> bool:
    """Return whether Telegram refuses the buttons, not the text."""
    return _KEYBOARD.search(error.message) is not None


def refuses_file(error: BadRequest) -> bool:
    """Return whether Telegram refuses the file, not the chat."""
    return _FILE.search(error.message) is not None


def is_unchanged(error: BadRequest) -> bool:
    """Return whether a message is already as it should become."""
    return _UNCHANGED.search(error.message) is not None


def brief(error: TelegramError) -> str:
    """Return a description's first words: text after a colon may be a quote."""
    head, _, tail = error.message.partition(": ")
    return tail.partition(":")[0][:80] if head in ("Forbidden", "Unauthorized") else head[:80]
