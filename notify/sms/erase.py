"""Deleting a message at Twilio, with its files."""

from twilio.base.exceptions import TwilioException

from providers.sms.client import TwilioApi
from providers.sms.errors import to_delivery_error

_GONE = 404
_NOT_FINAL = 20009
"""Only delivered, failed or received messages can be deleted (twilio.com/docs/api/errors/20009)."""


async def erase(api: TwilioApi, sid: str) -> bool:
    """Delete a message; return True if it is gone. Raises `DeliveryError`."""
    try:
        await api.client.messages(sid).delete_async()
    except TwilioException as error:
        if getattr(error, "status", None) == _GONE:
            return True
        if getattr(error, "code", None) == _NOT_FINAL:
            return False
        raise to_delivery_error(error) from error
    return True
