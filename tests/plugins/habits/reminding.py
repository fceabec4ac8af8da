"""Reminders of habits, which any number of workers send: a reminder of one moment is sent once."""

from datetime import timedelta

from core.clock import Clock
from core.db.database import Database
from core.language.catalogue import gettext
from core.notifications.types import Notification, Notifier
from tests.plugins.habits.habits import next_moment

EVERY = timedelta(minutes=1)
_AT_ONCE = 50


async def remind(database: Database, clock: Clock, notifier: Notifier) -> None:
    """Remind people of what is due."""
    now = await clock.sound_now()
    if now is None:
        return
    for due in await database.rows("select * from find_due_habits($1,$2)", now, _AT_ONCE):
        habit = await database.tenant_row(
            due["tenant_id"],
            "select * from habits where tenant_id = $1 and id = $2 and next_at <= $3",
            due["habit_id"],
            now,
        )
        if habit is None:
            continue
        key = f"habit {habit['id']} {habit['next_at'].isoformat()}"
        text = gettext("Time for: {habit}", habit=habit["name"])
        await notifier.notify(due["tenant_id"], Notification(text, "habit", dedupe_key=key))
        await database.tenant_rows(
            due["tenant_id"],
            "update habits set next_at = $3 where tenant_id = $1 and id = $2 and next_at <= $4",
            habit["id"],
            next_moment(habit["remind_at"], habit["zone"], now),
            now,
        )
