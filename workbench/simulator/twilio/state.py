"""The emulated account's state: messages, media, numbers, and people's STOP."""

import secrets
from dataclasses import dataclass, field
from typing import Literal

from workbench.simulator.config import TwilioConfig
from workbench.simulator.keeping import Content
from workbench.simulator.twilio.segments import Segments, count_segments, price_of

type MessageStatus = Literal[
    "accepted", "queued", "sending", "sent", "delivered", "undelivered", "failed", "received", "canceled"
]
"""docs: message-resource, "Message Status Values"."""
FINAL = frozenset[MessageStatus]({"delivered", "undelivered", "failed", "received", "canceled"})


def new_sid(prefix: str) -> str:
    """Return an id that no earlier run can have used: the gateway remembers them."""
    return prefix + secrets.token_hex(16)


@dataclass(frozen=True, slots=True)
class Media:
    """A file of a message: `data` for a person's file, `url` for a file that the gateway told us to fetch.

    Only the person's own phone shows `name`: an MMS has none.
    """

    sid: str
    content_type: str
    data: Content = b""
    url: str = ""
    name: str = ""


@dataclass(slots=True)
class Message:
    """A Message resource. Times are Unix seconds. `webhook` is the outcome of the webhook's call."""

    sid: str
    direction: str
    sender: str
    to: str
    body: str
    status: MessageStatus
    created: float
    media: list[Media] = field(default_factory=list)
    updated: float = 0.0
    sent: float | None = None
    error_code: int | None = None
    error_message: str | None = None
    service_sid: str | None = None
    status_callback: str = ""
    webhook: str = ""
    attempts: int = 0
    form: dict[str, str] = field(default_factory=dict)
    reactions: list[str] = field(default_factory=list)
    """The reactions that the phone shows, by name."""

    @property
    def inbound(self) -> bool:
        return self.direction == "inbound"

    @property
    def segments(self) -> Segments:
        return count_segments(self.body)

    @property
    def price(self) -> str | None:
        """Return the price as Twilio shows it, negative; None before it was sent."""
        if self.sent is None:
            return None
        return f"-{price_of(self.segments.count, inbound=self.inbound, media=len(self.media)):.5f}"

    def form_of(self, account: str) -> dict[str, str]:
        """Return the parameters that every webhook about the message has."""
        form = {
            "AccountSid": account,
            "ApiVersion": "2010-04-01",
            "From": self.sender,
            "MessageSid": self.sid,
            "SmsSid": self.sid,
            "SmsStatus": self.status,
            "To": self.to,
        }
        return form | ({"MessagingServiceSid": self.service_sid} if self.service_sid else {})


@dataclass(slots=True)
class PhoneNumber:
    """An IncomingPhoneNumber resource; `settings` are its parameters by their form names."""

    sid: str
    number: str
    created: float
    updated: float
    settings: dict[str, str]


@dataclass(slots=True)
class Service:
    """A Messaging Service with its senders; `settings` as a number's."""

    sid: str
    numbers: tuple[str, ...]
    created: float
    updated: float
    settings: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Hook:
    """The webhook of a text, its fallback, and the service whose webhook it is."""

    url: str
    method: str
    fallback_url: str
    fallback_method: str
    service_sid: str = ""


@dataclass(slots=True)
class Debug:
    """An entry of the account's debugger: 11200 and its like."""

    at: float
    code: int
    sid: str
    url: str
    detail: str


class Store:
    """The account's memory."""

    def __init__(self, config: TwilioConfig, now: float) -> None:
        self.messages: dict[str, Message] = {}
        self.stopped: set[tuple[str, str]] = set()
        self.debug: list[Debug] = []
        self._default_hook = config.webhook_url
        self.services = {sid: Service(sid, numbers, now, now) for sid, numbers in config.services}
        pool = [number for _, numbers in config.services for number in numbers]
        owned = dict.fromkeys([config.number, *config.numbers, *pool])
        self.numbers = {number: self._number(number, now) for number in owned}

    def newest_first(self) -> list[Message]:
        return list(reversed(self.messages.values()))

    def number_by_sid(self, sid: str) -> PhoneNumber | None:
        return next((number for number in self.numbers.values() if number.sid == sid), None)

    def hook_of(self, number: PhoneNumber, usual: str) -> Hook:
        """Return the webhook of a number, or its service's; `usual` serves if nothing was set.

        docs: messaging/api/service-resource; a service's webhook stands over its numbers' unless it defers.
        """
        usual = self._default_hook or usual
        for service in self.services.values():
            deferred = service.settings.get("UseInboundWebhookOnNumber", "false").lower() == "true"
            if number.number in service.numbers and not deferred:
                given = service.settings
                return Hook(
                    given.get("InboundRequestUrl") or usual,
                    given.get("InboundMethod", "POST"),
                    given.get("FallbackUrl", ""),
                    given.get("FallbackMethod", "POST"),
                    service.sid,
                )
        given = number.settings
        return Hook(
            given.get("SmsUrl") or usual,
            given["SmsMethod"],
            given.get("SmsFallbackUrl", ""),
            given["SmsFallbackMethod"],
        )

    def _number(self, number: str, now: float) -> PhoneNumber:
        settings = {"FriendlyName": number, "SmsMethod": "POST", "SmsFallbackMethod": "POST"}
        # The same number keeps its id over restarts, as an account's does.
        sid = "PN" + number.lstrip("+").rjust(32, "0")
        return PhoneNumber(sid, number, now, now, settings)
