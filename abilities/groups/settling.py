"""Admission to a group: may its member decide that there, and does the owner allow it?"""

from collections.abc import Mapping
from dataclasses import dataclass

import asyncpg
import structlog

from abilities.groups import sentences
from abilities.groups.taking import shown_name
from core.db.database import Database
from core.errors import Ambiguous, DeliveryError
from core.ids import make_id
from core.language.catalogue import gettext, speaking
from core.messaging.capabilities import Grouping
from core.messaging.channels import NotificationChannel
from core.messaging.messages import Address
from core.notifications.types import Notification, Notifier
from core.queue.rounds import take_each
from core.queue.wakeups import Wakeups

DUE = "groups"
"""The kind of work that `sql/due.sql` names if there is any."""
CATEGORY = "groups"
_AT_ONCE = 20
_READ = (
    "select channel, account, peer, title, asked_by, asked_key, asked_at, owner_ok from group_chats"
    " where tenant_id = $1 and state = 'asked'"
)
_LANGUAGE = "select language from tenants where tenant_id = $1"
_log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Settling:
    """The work on groups that asked for us; any number of workers may do it."""

    database: Database
    wakeups: Wakeups
    channels: Mapping[str, NotificationChannel]
    notifier: Notifier

    async def once(self) -> None:
        """Settle each group that asked, and delete others' words that are too old."""
        rows = await self.database.rows("select * from claim_asked_groups($1)", _AT_ONCE)
        await take_each(rows, self._settle, "group_not_settled")
        await self.database.call("select prune_group_words()")

    async def _settle(self, asked: asyncpg.Record) -> None:
        group_id = str(asked["tenant_id"])
        group = await self.database.tenant_row(group_id, _READ)
        if group is None:
            return
        channel = self.channels.get(group["channel"])
        address = Address(group["channel"], group["account"], group["peer"])
        may, name = False, ""
        if isinstance(channel, Grouping):
            try:
                may, name = await channel.may_invite(address, group["asked_key"])
            except DeliveryError as error:
                _log.info("group_not_asked", group=group_id, cause=type(error).__name__)
                # Otherwise we are not in it, or may not ask there.
                if error.retryable or isinstance(error, Ambiguous):
                    return
        allowed = await self._owns(group["asked_by"])
        if may and not (allowed or group["owner_ok"]):
            title = shown_name(name) or group["title"]
            await self._tell_owners(group_id, title, group["channel"], str(group["asked_at"]))
        told = {
            "on": sentences.in_all(lambda: gettext(sentences.ON)),
            "waiting": sentences.in_all(lambda: gettext(sentences.WAITING)),
            "off": sentences.in_all(lambda: gettext(sentences.MAY_NOT)),
        }
        row = await self.database.one(
            "select settle_group($1,$2,$3,$4,$5,$6,$7) as conversation",
            group_id,
            group["asked_at"],
            may,
            allowed,
            told,
            make_id("out"),
            shown_name(name),
        )
        if row["conversation"]:
            self.wakeups.wake_delivery(row["conversation"])

    async def _owns(self, tenant_id: str) -> bool:
        row = await self.database.one("select owns_installation($1) as owns", tenant_id)
        return bool(row["owns"])

    async def _tell_owners(self, group_id: str, title: str, channel: str, asked_at: str) -> None:
        for owner in await self.database.rows("select * from find_owners()"):
            row = await self.database.tenant_row(owner["tenant_id"], _LANGUAGE)
            with speaking(row["language"] if row else ""):
                text = sentences.wanted(title, channel)
            # The group's name is its members' words.
            news = Notification(text, CATEGORY, dedupe_key=f"group {group_id} {asked_at}", outside=True)
            await self.notifier.notify(owner["tenant_id"], news)
