"""Twilio's refusals as our errors. Source of the codes: twilio.com/docs/api/errors."""

from twilio.base.exceptions import TwilioException

from core.errors import (
    Ambiguous,
    CredentialsRejected,
    DeliveryError,
    OptedOut,
    RateLimited,
    Rejected,
    Unreachable,
)

_KINDS: dict[int, type[DeliveryError]] = {
    20003: CredentialsRejected,  # authentication error
    20005: CredentialsRejected,  # account not active
    20008: CredentialsRejected,  # test credentials
    20404: CredentialsRejected,  # the path holds nothing but our account
    20429: RateLimited,
    14107: RateLimited,  # send rate of this sender
    21611: RateLimited,  # queue of this sender full
    63017: RateLimited,  # rate of the account
    63018: RateLimited,  # rate of the channel
    21212: CredentialsRejected,  # From invalid
    21603: CredentialsRejected,  # no From
    21606: CredentialsRejected,  # From is not ours or cannot send texts
    21659: CredentialsRejected,  # From is not a Twilio number
    21660: CredentialsRejected,  # From belongs to another account
    21701: CredentialsRejected,  # no such Messaging Service
    21703: CredentialsRejected,  # Messaging Service without numbers
    21705: CredentialsRejected,  # Messaging Service SID invalid
    21211: Unreachable,  # To invalid
    21214: Unreachable,  # To cannot be reached
    21217: Unreachable,  # To looks wrong
    21614: Unreachable,  # To is no mobile number
    21635: Unreachable,  # To is a landline
    30004: Unreachable,  # blocked by the person or the carrier
    30005: Unreachable,  # no such person
    30006: Unreachable,  # landline or unreachable carrier
    21610: OptedOut,
    21408: Rejected,  # texts to that country are not switched on
    21612: Rejected,  # From cannot reach To
    30003: Rejected,  # handset off: may pass
}


FAILURES = (TwilioException, DeliveryError, ValueError, KeyError, TypeError, AttributeError)
"""Errors of a call through the client; the last four come from unreadable answers."""


def to_delivery_error(error: TwilioException) -> DeliveryError:
    """Return the delivery error of a part.

    Any 5xx is ambiguous: Twilio has no idempotency key, and a proxy's 503 may follow an acceptance.
    """
    status = _status(error)
    number = _number(getattr(error, "code", None))
    code = str(number) if number and number != status else ""
    message = f"HTTP {status}, code {code}" if code else f"HTTP {status}"
    if status == 0 or status == 408 or status >= 500:
        return Ambiguous(message, code)
    if number in _KINDS:
        return _KINDS[number](message, code)
    if status in (401, 403):
        return CredentialsRejected(message, code)
    if status == 429:
        return RateLimited(message, code)
    return Rejected(message, code)


def describe(error: Exception) -> str:
    """Return an error in a few words, without people's numbers or addresses."""
    if isinstance(error, DeliveryError):
        return str(error)
    name = type(error).__name__
    return f"{name}, {to_delivery_error(error)}" if isinstance(error, TwilioException) else name


def _status(error: TwilioException) -> int:
    status = getattr(error, "status", None)
    if status is None and len(error.args) > 1:  # a page of a list that could not be read
        status = getattr(error.args[1], "status_code", None)
    return int(status or 0)


def _number(code: object) -> int:
    return int(str(code)) if str(code).isascii() and str(code).isdigit() else 0
