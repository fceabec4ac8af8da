"""The way out over SMS: one part, one call to Twilio, one receipt; and the lookup when the answer was lost."""

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from twilio.base.exceptions import TwilioException

from core.errors import Ambiguous, Rejected, Unavailable
from core.messaging.channels import Part, Receipt, Target
from core.messaging.messages import Address, OutboundMessage
from core.messaging.segments import SegmentBudget
from notify.sms.render import render
from providers.sms.client import CONNECT_SECONDS, TOTAL_SECONDS, TwilioApi
from providers.sms.errors import FAILURES, to_delivery_error
from providers.sms.wire import REAL_API_URL, is_service, status_url

if TYPE_CHECKING:
    from twilio.rest.api.v2010.account.message import MessageInstance

SKEW = timedelta(seconds=5)
"""How far Twilio's clock may be behind ours; its times are whole seconds."""
SCAN_LIMIT = 500

_TRIAL_PREFIX = "Sent from your Twilio trial account - "


class SmsNotification:
    """Send texts from one Twilio number or Messaging Service.

    `connect_seconds` and `total_seconds` bound each call.
    """

    name = "sms"
    can_find = True
    resend_unknown = False
    told_after = 25.0

    def __init__(
        self,
        *,
        account_sid: str,
        auth_token: str,
        sender: str,
        public_url: str,
        api_url: str = REAL_API_URL,
        connect_seconds: float = CONNECT_SECONDS,
        total_seconds: float = TOTAL_SECONDS,
        budget: SegmentBudget | None = None,
    ) -> None:
        self.budget = budget or SegmentBudget()
        self._sender = sender
        self._is_service = is_service(sender)
        self._from = {"messaging_service_sid" if self._is_service else "from_": sender}
        self._listed_from = {} if self._is_service else self._from
        self._public_url = public_url.rstrip("/")
        self._api = TwilioApi(
            account_sid=account_sid,
            auth_token=auth_token,
            api_url=api_url,
            connect=connect_seconds,
            total=total_seconds,
        )

    def render(self, message: OutboundMessage) -> tuple[Part, ...]:
        return render(message, self.budget.message)

    async def send(self, part: Part, to: Target) -> Receipt:
        media = _media(part)
        content: dict[str, object] = {"body": part.text} if part.text else {}
        if media:
            content["media_url"] = media
        try:
            message = await self._api.client.messages.create_async(
                to=to.address.peer,
                status_callback=status_url(self._public_url, to.ref),
                **self._from,
                **content,
            )
        except TwilioException as error:
            raise to_delivery_error(error) from error
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            # It was a success, but what it says cannot be read.
            raise Ambiguous(f"answer cannot be read: {type(error).__name__}") from error
        if not message.sid:
            raise Unavailable("no answer of Twilio's: it has no sid")
        return Receipt(provider_id=message.sid)

    async def find(self, part: Part, to: Target, since: datetime) -> Receipt | None:
        """Look through Twilio's list, newest first, for this text to this person since then.

        `since` is when the attempt began. Only ask once the lost request must have ended: a request still on
        its way is not in the list. Raises `Unavailable` when the list cannot tell.
        """
        start = since.astimezone(UTC) - SKEW
        try:
            # Not narrowed by DateSent: what still waits in Twilio's queue has none.
            messages = await self._api.client.messages.stream_async(
                to=to.address.peer, limit=SCAN_LIMIT, page_size=100, **self._listed_from
            )
            seen = 0
            async for message in messages:
                seen += 1
                if message.date_created is not None and message.date_created < start - timedelta(hours=1):
                    return None  # the list goes by time of sending, which may be a little off
                if self._is_part(message, part, start):
                    return Receipt(provider_id=message.sid or "")
        except FAILURES as error:
            raise Unavailable(f"message list cannot be read: {type(error).__name__}") from error
        if seen >= SCAN_LIMIT:
            raise Unavailable("message list is longer than what is read")
        return None

    async def show_working(self, to: Address) -> None: ...

    def unseen(self, to: Address) -> bool:
        return True

    async def close(self) -> None:
        await self._api.close()

    def _is_part(self, message: "MessageInstance", part: Part, start: datetime) -> bool:
        if not str(message.direction or "").startswith("outbound"):
            return False
        if message.date_created is None or message.date_created < start:
            return False
        if self._is_service and message.messaging_service_sid != self._sender:
            return False
        body = (message.body or "").removeprefix(_TRIAL_PREFIX)
        return body.strip() == part.text.strip() and int(message.num_media or 0) == len(_media(part))


def _media(part: Part) -> list[str]:
    urls = part.data.get("media", [])
    if not isinstance(urls, list):
        raise Rejected("media is not a list")
    return [str(url) for url in urls]
