"""Messages that are recorded and not acted upon."""

from dataclasses import dataclass

import structlog

from core.db.database import Database
from core.ids import IdMaker
from core.inbox.arrival import from_address
from core.inbox.groups import takers_in_groups
from core.inbox.languages import language_at
from core.language.catalogue import gettext, speaking
from core.messaging.channels import Received
from core.messaging.messages import IgnoredMessage
from core.people.access_policy import Access
from core.queue.wakeups import Wakeups

_log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Ignored:
    """Record messages that are not acted upon, with the reason."""

    database: Database
    wakeups: Wakeups
    make_id: IdMaker
    access: Access

    async def record(self, message: IgnoredMessage) -> Received:
        """Record a message once; if it has a reply, queue that if its sender is a known person."""
        for take in takers_in_groups() if message.group is not None else ():
            if taken := await take(self.database, self.wakeups, self.make_id, self.access, message):
                return taken
        address = message.address
        row = await self.database.call(
            "select ignore_message($1,$2,$3,$4) as added",
            address.channel,
            address.account,
            message.keys,
            message.reason.value,
        )
        _log.info("message_ignored", channel=address.channel, reason=message.reason.value)
        added = bool(row and row["added"])
        if added and message.reply and message.sender:
            await self._say_once(message)
        return Received(message.keys[0] if message.keys else None, duplicate=not added)

    async def _say_once(self, message: IgnoredMessage) -> None:
        """Queue a sentence about it to a known person, once per place, reason and kind."""
        with speaking(await language_at(self.database, message.address, message.sender)):
            reply = gettext(message.reply)
        row = await self.database.call(
            "select say_once($1,$2,$3,$4) as conversation",
            from_address(message, message.sender, self.make_id),
            message.reason.value,
            reply,
            message.kind,
        )
        if row and row["conversation"]:
            self.wakeups.wake_delivery(row["conversation"])
