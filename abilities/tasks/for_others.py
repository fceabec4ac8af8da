"""Reminders for others of the household: one person wants them, the other is asked once, and may end them by a word."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

import asyncpg
import structlog

from abilities.tasks.chat_words import typed
from abilities.tasks.codec import trigger_from_json
from abilities.tasks.kinds.schedule import TriggerError
from abilities.tasks.service import TaskService
from core.clock import zone_or_utc
from core.db.database import Connection, Database
from core.errors import OneValetError
from core.language.catalogue import gettext, speaking
from core.language.times import moment_in_words
from core.messaging.visible_text import literal
from core.notifications.types import Notification, Notifier, Urgency
from core.people.chat_names import places_in_words, places_of
from core.people.pairing import LETTERS
from core.queue.rounds import take_each

DUE = "wishes"
"""The kind of work that `sql/due.sql` names if a person must be asked, or a reminder set."""
MOST_A_DAY = 20
"""Reminders that a person may want of another in a day."""
_AT_ONCE = 50
_CATEGORY = "household"

_log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Permit:
    """Somebody who has asked to set reminders. `open`: the person was asked about them, and has not answered.

    `mark`: letters behind the name, by which the person may tell them from another of that name.
    """

    from_id: str
    name: str
    open: bool = False
    mark: str = ""

    @property
    def marked(self) -> str:
        """Return the name with the mark."""
        return f"{self.name} {self.mark}"


@dataclass(frozen=True, slots=True)
class RemindersForOthers:
    """A person's part: their requests to others, and the permission that others have to make requests to them."""

    tasks: TaskService
    tenant_id: str

    @property
    def _database(self) -> Database:
        return self.tasks.store.database

    async def wish(self, other: str, key: str, name: str, text: str, at: datetime) -> str:
        """Keep a reminder for another; return `allowed`, `asked`, `refused` or `limited`."""
        wish = {"id": key, "name": name, "text": text, "at": at.isoformat()}
        row = await self._database.one(
            "select wish_reminder($1,$2,$3,$4,$5) as state",
            self.tenant_id,
            other,
            wish,
            self.tasks.clock.now(),
            MOST_A_DAY,
        )
        return str(row["state"])

    async def take_back(self, other: str, key: str) -> bool:
        """End a reminder for another; return False if it rang already."""
        row = await self._database.one("select drop_wish($1,$2,$3) as task", self.tenant_id, other, key)
        if row["task"]:
            await self.tasks.delete_task(other, row["task"])
        return row["task"] is not None

    async def permits(self) -> list[Permit]:
        """Return who has asked to set reminders for this person."""
        rows = await self._database.tenant_rows(
            self.tenant_id,
            "select from_id, from_name, told and state = 'asked' as open from reminder_permits where tenant_id = $1"
            " order by asked_at",
        )
        return [permit_of(self.tenant_id, row["from_id"], row["from_name"], open=row["open"]) for row in rows]

    async def places(self, permits: Sequence[Permit]) -> list[str]:
        """Return a place of each."""
        return [await place_of(self._database, permit) for permit in permits]

    async def decide(self, permits: Sequence[Permit], *, allowed: bool) -> None:
        """Allow or refuse these people's reminders; refusing ends those that are set."""
        whose, state = [one.from_id for one in permits], "allowed" if allowed else "refused"
        ended = await self._database.rows("select * from decide_permits($1,$2,$3)", self.tenant_id, whose, state)
        for row in ended:
            await self.tasks.delete_task(self.tenant_id, row["task_id"])


def permit_of(tenant_id: str, from_id: str, name: str, *, open: bool = False) -> Permit:
    """Return a permit with its mark, which tells no id, and stays as long as both people do."""
    digest = hashlib.sha256(f"{tenant_id} {from_id}".encode()).digest()
    return Permit(from_id, name, open, "".join(LETTERS[byte % len(LETTERS)] for byte in digest[:4]))


async def place_of(database: Database, permit: Permit) -> str:
    """Return the first place of a person who has asked, as others may see it."""
    async with database.tenant(permit.from_id) as connection:
        return places_in_words((await places_of(connection, permit.from_id))[:1])


async def settle_wishes(tasks: TaskService, notifier: Notifier) -> None:
    """Ask people whether somebody may set reminders for them, and set those that are allowed. Repeatable."""
    database, now = tasks.store.database, await tasks.clock.sound_now()
    if now is None:
        return

    async def take(due: asyncpg.Record) -> None:
        tenant_id, wish_id = due["tenant_id"], due["wish_id"]
        if wish_id:
            await _settle(tasks, tenant_id, wish_id)
            await _tell(database, notifier, tenant_id, wish_id)
        else:
            await _ask(database, notifier, tenant_id, due["from_id"])

    await take_each(await database.rows("select * from claim_wishes($1,$2)", now, _AT_ONCE), take, "wish_failed")


async def _ask(database: Database, notifier: Notifier, tenant_id: str, from_id: str) -> None:
    row = await database.tenant_row(
        tenant_id,
        "select p.from_name, t.language, has_namesake(p.tenant_id, p.from_id, p.from_name) as namesake"
        " from reminder_permits p join tenants t on t.tenant_id = p.tenant_id"
        " where p.tenant_id = $1 and p.from_id = $2 and not p.told",
        from_id,
    )
    if row is None:
        return
    permit = permit_of(tenant_id, from_id, row["from_name"])
    with speaking(row["language"]):
        place = f" ({await place_of(database, permit)})" if row["namesake"] else ""
        name = permit.marked if row["namesake"] else permit.name
        text = gettext(
            "{who} would like to set reminders for you. If they may, write: {allow}\nIf not: {refuse}",
            who=literal(permit.name) + place,
            allow=typed("allow", name),
            refuse=typed("refuse", name),
        )
    await notifier.notify(
        tenant_id, Notification(text, _CATEGORY, dedupe_key=f"permit {tenant_id} {from_id}", outside=True)
    )
    await database.tenant_rows(
        tenant_id, "update reminder_permits set told = true where tenant_id = $1 and from_id = $2", from_id
    )


async def _settle(tasks: TaskService, tenant_id: str, wish_id: str) -> None:
    """Make a task of a reminder that is allowed, and end one that is not, or whose time is over."""
    database = tasks.store.database
    wish = await database.tenant_row(
        tenant_id,
        "select w.*, p.state as permit, t.language from reminder_wishes w"
        " left join reminder_permits p on p.tenant_id = w.tenant_id and p.from_id = w.from_id"
        " join tenants t on t.tenant_id = w.tenant_id where w.tenant_id = $1 and w.id = $2 and w.state = 'waiting'",
        wish_id,
    )
    if wish is None:
        return
    if wish["permit"] == "allowed" and not await _is_impossible(tasks, tenant_id, wish):
        return
    await database.tenant_rows(
        tenant_id,
        "update reminder_wishes set state = 'over', untold = true where tenant_id = $1 and id = $2"
        " and state = 'waiting'",
        wish_id,
    )


class _Changed(OneValetError):
    """A reminder was decided otherwise, or taken back, while it was being set."""


async def _is_impossible(tasks: TaskService, tenant_id: str, wish: asyncpg.Record) -> bool:
    """Set a reminder; return whether none is possible, since its time is over or the person has too many tasks."""

    async def record(connection: Connection, task_id: str) -> None:
        # With the task: nothing that ends a reminder comes between them.
        if not await connection.fetchval("select set_wish($1,$2,$3)", tenant_id, wish["id"], task_id):
            raise _Changed

    try:
        with speaking(wish["language"]):
            await tasks.create_task(
                tenant_id=tenant_id,
                trigger=trigger_from_json("schedule", {"at": wish["at"].isoformat()}),
                action={"text": wish["text"], "from": wish["from_name"]},
                executor="tell",
                output={"category": "reminder", "urgency": Urgency.URGENT.value},
                title=gettext("Reminder from {who}", who=wish["from_name"]),
                key=wish["id"],
                also=record,
            )
    except _Changed:
        _log.info("wish_changed", wish=wish["id"])  # it comes again as it is now
    except TriggerError:
        return True
    return False


async def _tell(database: Database, notifier: Notifier, tenant_id: str, wish_id: str) -> None:
    """Tell both the outcome of a reminder."""
    wish = await database.tenant_row(
        tenant_id,
        "select w.*, t.language, t.timezone, t.name as their_name,"
        " has_namesake(w.tenant_id, w.from_id, w.from_name) as namesake, exists (select from tasks k"
        " where k.tenant_id = w.tenant_id and k.id = w.task_id and k.deleted_at is null) as is_set"
        " from reminder_wishes w join tenants t on t.tenant_id = w.tenant_id"
        " where w.tenant_id = $1 and w.id = $2 and w.untold",
        wish_id,
    )
    if wish is None:
        return
    if wish["is_set"]:
        permit = permit_of(tenant_id, wish["from_id"], wish["from_name"])
        with speaking(wish["language"]):
            text = gettext(
                "{who} has set a reminder for you, on {moment}: {text}\nTo have none of theirs, write: {refuse}",
                who=literal(wish["from_name"]),
                moment=moment_in_words(wish["at"], zone_or_utc(wish["timezone"])),
                text=literal(wish["text"]),
                refuse=typed("refuse", permit.marked if wish["namesake"] else permit.name),
            )
        told = Notification(text, _CATEGORY, dedupe_key=f"wish {wish_id}", outside=True)
        await notifier.notify(tenant_id, told)
    if wish["waited"] or not wish["is_set"]:
        await _tell_wisher(database, notifier, wish["from_id"], wish["their_name"], wish_id, is_set=wish["is_set"])
    await database.tenant_rows(
        tenant_id,
        "update reminder_wishes set untold = false, text = '' where tenant_id = $1 and id = $2",
        wish_id,
    )


async def _tell_wisher(
    database: Database, notifier: Notifier, from_id: str, name: str, wish_id: str, *, is_set: bool
) -> None:
    """Tell the person who wanted a reminder its outcome, unless they are gone."""
    row = await database.tenant_row(from_id, "select language from tenants where tenant_id = $1")
    if row is None:
        return
    with speaking(row["language"]):
        who = literal(name) or gettext("The other person")
        text = (
            gettext("{who} agrees: the reminder that you wanted for them is set.", who=who)
            if is_set
            else gettext("The reminder that you wanted for {who} is not set.", who=who)
        )
    await notifier.notify(from_id, Notification(text, _CATEGORY, dedupe_key=f"wisher {wish_id}", outside=True))
