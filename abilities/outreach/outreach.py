"""Write to other people on a person's behalf: to permitted recipients, once, and without giving them access."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from abilities.outreach.types import ANSWERS_WITHIN
from core.clock import Clock
from core.db.database import Database
from core.errors import DeliveryError, Rejected, ToolFailed, ToolRetry
from core.ids import IdMaker
from core.language.catalogue import gettext
from core.messaging.capabilities import Reached, Reaching
from core.messaging.channels import NotificationChannel
from core.messaging.messages import OutboundKind, OutboundMessage
from core.messaging.states import IdentityState
from core.messaging.visible_text import literal
from core.notifications.ways import way_in_words
from core.queue.wakeups import Wakeups
from core.tools.message_access import Addressee, Answer

_BLOCK = re.compile(r"^(\s*)(?:([#>+=|-])|(\d+)([.)]))", re.MULTILINE)
"""Marks that Markdown reads as a heading, a quotation, a list or a table at the beginning of a line."""
_ANSWERS = """
select title, notice_channel, text, at from notifications
where tenant_id = $1 and notice = 'answered' order by at desc limit 20
"""


@dataclass(frozen=True, slots=True)
class Outreach:
    """Messages of all people to others. `channels`: the active notification channels by name."""

    database: Database
    wakeups: Wakeups
    make_id: IdMaker
    clock: Clock
    channels: Mapping[str, NotificationChannel]

    def for_turn(self, tenant_id: str, turn_id: str) -> "TenantMessages":
        """Return a person's messages to others."""
        return TenantMessages(self, tenant_id, turn_id)


@dataclass(frozen=True, slots=True)
class TenantMessages:
    """Messages of a person to others. Implements `core.tools.message_access.MessageAccess`."""

    outreach: Outreach
    tenant_id: str
    turn_id: str

    @property
    def channels(self) -> Sequence[str]:
        return [name for name, channel in self.outreach.channels.items() if isinstance(channel, Reaching)]

    async def find(self, channel: str, key: str) -> Addressee:
        reached = await self._reach(channel, key)
        found = await self._look_up(reached)
        way = way_in_words(channel)
        if found["own"]:
            raise ToolFailed(gettext("Nothing was sent: that is your own address."))
        if IdentityState(found["state"]) is not IdentityState.ACTIVE:
            raise ToolFailed(
                gettext("Nothing was sent: {address} wants no messages from me {way}.", address=key, way=way)
            )
        if found["known"]:
            return Addressee(channel, reached.user_key, reached.name)
        if not found["name"]:
            raise ToolFailed(
                gettext("Nothing was sent: tell me your name first, so that I can say on whose behalf I write."),
                note="Keep the name with set_preference.",
            )
        opening = gettext("This is the assistant of {name}:", name=found["name"])
        return Addressee(channel, reached.user_key, reached.name, opening, _closing(channel, found["name"]))

    async def as_sent(self, channel: str, text: str) -> str:
        parts = self._way(channel).render(OutboundMessage("", OutboundKind.OUTREACH, exactly(text)))
        if len(parts) != 1:
            raise ToolRetry(gettext("This is too long for one message {way}.", way=way_in_words(channel)))
        # Without formatting, the channel may write a text with letters of its own (GSM).
        return text if parts[0].data else parts[0].text

    async def send(self, to: Addressee, name: str, text: str, key: str) -> None:
        reached, outreach = await self._reach(to.channel, to.key), self.outreach
        await self.as_sent(to.channel, text)
        address = reached.address
        row = await outreach.database.one(
            "select send_outreach($1,$2,$3,$4,$5,$6) as conversation",
            self.tenant_id,
            self.turn_id,
            {
                "channel": address.channel,
                "account": address.account,
                "peer": address.peer,
                "user_key": reached.user_key,
                "name": name,
            },
            {
                "recipient": outreach.make_id("rcp"),
                "conversation": outreach.make_id("cv"),
                # The same for the same call, so that a repeat after a crash sends nothing more.
                "outbound": f"out_{sha256(f'{self.tenant_id} {key}'.encode()).hexdigest()[:26]}",
            },
            exactly(text),
            outreach.clock.now(),
        )
        outreach.wakeups.wake_delivery(row["conversation"])

    async def answers(self) -> Sequence[Answer]:
        rows = await self.outreach.database.tenant_rows(self.tenant_id, _ANSWERS)
        return [Answer(row["title"], row["notice_channel"], row["text"], row["at"]) for row in rows]

    def _way(self, channel: str) -> NotificationChannel:
        way = self.outreach.channels.get(channel)
        if way is None or not isinstance(way, Reaching):
            raise ToolFailed(gettext("I cannot write to people {way} here.", way=way_in_words(channel)))
        return way

    async def _reach(self, channel: str, key: str) -> Reached:
        way = self._way(channel)
        try:
            return await way.reach(key) if isinstance(way, Reaching) else _nobody(key)
        except Rejected as error:
            raise ToolFailed(_why_not(channel, key)) from error
        except DeliveryError as error:
            raise ToolFailed(
                gettext("Nothing was sent: nobody can be looked up {way} now.", way=way_in_words(channel)),
                note="Try again later.",
            ) from error

    async def _look_up(self, reached: Reached) -> Mapping[str, Any]:
        address = reached.address
        row = await self.outreach.database.one(
            "select * from find_recipient($1,$2,$3,$4,$5)",
            self.tenant_id,
            address.channel,
            address.account,
            reached.user_key,
            self.outreach.clock.now() - ANSWERS_WITHIN,
        )
        return dict(row)


def exactly(text: str) -> str:
    """Return a text as Markdown that reads as the text itself, line by line."""
    lines = "\n".join(literal(line) for line in text.splitlines())
    return _BLOCK.sub(
        lambda start: f"{start[1]}\\{start[2]}" if start[2] else f"{start[1]}{start[3]}\\{start[4]}", lines
    )


def _closing(channel: str, name: str) -> str:
    stop = gettext("Reply STOP to get no more of these messages.")
    if channel == "sms":
        return stop
    return f"{gettext('To answer {name}, reply to this message.', name=name)} {stop}"


def _why_not(channel: str, key: str) -> str:
    if channel == "telegram":
        return gettext(
            "Nothing was sent: on Telegram I can write only to people who have started this bot themselves, and "
            "{address} has not.",
            address=key,
        )
    return gettext(
        "Nothing was sent: nobody can be reached {way} as {address}.", way=way_in_words(channel), address=key
    )


def _nobody(key: str) -> Reached:
    raise Rejected(f"nobody can be reached as {key}")
