"""Looking for a text in Twilio's list when the answer to its call was lost."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from core.errors import Unavailable
from core.messaging.channels import Part, Receipt, Target
from notify.sms.mms import instead_of, media_of
from providers.sms.client import TwilioApi
from providers.sms.errors import FAILURES
from providers.sms.wire import is_service

if TYPE_CHECKING:
    from twilio.rest.api.v2010.account.message import MessageInstance

SKEW = timedelta(seconds=5)
"""The time by which Twilio's clock may be behind ours; its times are whole seconds."""
SCAN_LIMIT = 500

_TRIAL_PREFIX = "Sent from your Twilio trial account - "


async def find_part(
    api: TwilioApi, listed_from: Mapping[str, str], sender: str, part: Part, to: Target, since: datetime
) -> Receipt | None:
    """Look through Twilio's list, newest first, for this text to this person since then.

    `since` is the beginning of the attempt. Only ask once the lost request must have ended: a request still on its way
    is not in the list. Raises `Unavailable` if the list is not conclusive.
    """
    start = since.astimezone(UTC) - SKEW
    try:
        # Not narrowed by DateSent, which messages in Twilio's queue lack.
        messages = await api.client.messages.stream_async(
            to=to.address.peer, limit=SCAN_LIMIT, page_size=100, **listed_from
        )
        seen = 0
        async for message in messages:
            seen += 1
            if message.date_created is not None and message.date_created < start - timedelta(hours=1):
                return None  # the list goes by time of sending, which may be a little off
            if _is_part(message, part, start, sender):
                return Receipt(provider_id=message.sid or "")
    except FAILURES as error:
        raise Unavailable(f"message list cannot be read: {type(error).__name__}") from error
    if seen >= SCAN_LIMIT:
        raise Unavailable("message list is longer than what is read")
    return None


def _is_part(message: "MessageInstance", part: Part, start: datetime, sender: str) -> bool:
    if not str(message.direction or "").startswith("outbound"):
        return False
    if message.date_created is None or message.date_created < start:
        return False
    if is_service(sender) and message.messaging_service_sid != sender:
        return False
    body, files = (message.body or "").removeprefix(_TRIAL_PREFIX).strip(), int(message.num_media or 0)
    instead = instead_of(part)
    return (body, files) == (part.text.strip(), len(media_of(part))) or (bool(instead) and body == instead.strip())
