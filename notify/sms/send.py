"""The way out over SMS: a call to Twilio and a receipt for each part."""

import re
from collections.abc import Collection, Mapping
from datetime import datetime, timedelta
from typing import Self

from twilio.base.exceptions import TwilioException

from core.errors import Ambiguous, Rejected, Unavailable
from core.messaging.capabilities import Reached, SegmentBudget
from core.messaging.channels import Part, Receipt, Target
from core.messaging.messages import Address, Media, OutboundMessage
from notify.sms.erase import erase
from notify.sms.look_up import find_part
from notify.sms.mms import Mms, send_files
from notify.sms.render import render
from providers.sms.client import CONNECT_SECONDS, TOTAL_SECONDS, TwilioApi
from providers.sms.errors import to_delivery_error
from providers.sms.wire import REAL_API_URL, is_service, status_url


class SmsNotification:
    """Send texts from a Twilio number or Messaging Service.

    `connect_seconds` and `total_seconds` bound each call.
    """

    name = "sms"
    can_find = True
    plays = "audio/mpeg"
    resend_unknown = False
    told_after = 25.0
    erases_theirs = True
    erases_within: timedelta | None = None

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
        plain_letters: bool = False,
    ) -> None:
        self._plain_letters = plain_letters
        self._mms = Mms((), sender)
        self.budget = budget or SegmentBudget()
        self._sender = sender
        self._from = {"messaging_service_sid" if is_service(sender) else "from_": sender}
        self._listed_from = {} if is_service(sender) else self._from
        self._public_url = public_url.rstrip("/")
        self._api = TwilioApi(
            account_sid=account_sid,
            auth_token=auth_token,
            api_url=api_url,
            connect=connect_seconds,
            total=total_seconds,
        )

    async def reach(self, key: str) -> Reached:
        if not re.fullmatch(r"\+[1-9][0-9]{6,14}", key):
            raise Rejected("no number of E.164")
        return Reached(Address(self.name, self._sender, key), key)

    def render(self, message: OutboundMessage) -> tuple[Part, ...]:
        return render(message, self.budget.message, plain_letters=self._plain_letters)

    def portions(self, message: OutboundMessage, first: int | None = None) -> tuple[Part, ...]:
        return render(message, first and self.budget.message, first, plain_letters=self._plain_letters)

    def with_mms(self, countries: Collection[str]) -> Self:
        """Return this channel with files as MMS in these countries, by two letters; elsewhere a link is sent."""
        self._mms = Mms(countries, self._sender)
        return self

    def carries(self, file: Media, to: Address) -> bool:
        return self._mms.carries(file, to.peer)

    async def send(self, part: Part, to: Target) -> Receipt:
        return await (send_files(part, to, self._send) if part.data else self._send({"body": part.text}, to))

    async def _send(self, content: Mapping[str, object], to: Target) -> Receipt:
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
            # It was a success, but the answer cannot be read.
            raise Ambiguous(f"answer cannot be read: {type(error).__name__}") from error
        if not message.sid:
            raise Unavailable("no answer of Twilio's: it has no sid")
        return Receipt(provider_id=message.sid)

    async def find(self, part: Part, to: Target, since: datetime) -> Receipt | None:
        return await find_part(self._api, self._listed_from, self._sender, part, to, since)

    async def erase(self, to: Address, provider_id: str) -> bool:
        return await erase(self._api, provider_id)

    async def show_working(self, to: Address) -> None: ...

    def unseen(self, to: Address) -> bool:
        return True

    async def close(self) -> None:
        await self._api.close()
