"""The last news that a new task on events would have sent: the events of a source, the newest mail of a mailbox."""

from collections.abc import Callable
from functools import partial
from typing import Protocol

from abilities.events.past_mail import PastMail
from abilities.tasks.kinds.event import EventTrigger, is_about_mail
from abilities.tasks.kinds.schedule import TriggerError
from abilities.tasks.known_sources import read_sources
from abilities.tasks.store import TaskStore
from abilities.tasks.trials import last_event
from core.clock import zone_or_utc
from core.errors import AccountMissing, ToolFailed
from core.language.catalogue import gettext


class Trying(Protocol):
    """The access of a trial to everybody's tasks."""

    store: TaskStore

    async def in_thread[Result](self, work: Callable[[], Result]) -> Result:
        """Evaluate people's expressions in a thread of its own."""
        ...


async def try_event(tasks: Trying, tenant_id: str, trigger: EventTrigger, mail: PastMail | None) -> str:
    """Return the last news that a task would have sent, in words; raises `TriggerError` if none could ever come.

    `mail` looks into the person's mailboxes, if there can be any. Raises `AccountMissing` for a task on new mail
    of a person without a mailbox.
    """
    if mail is not None and is_about_mail(trigger):
        zone = zone_or_utc((await tasks.store.person(tenant_id))[0])
        try:
            return await mail.last_match(
                tenant_id, lambda event: tasks.in_thread(partial(trigger.matches, event)), zone
            )
        except AccountMissing:
            raise
        except ToolFailed as error:
            raise TriggerError(gettext("I tried it, and it does not work: {error}", error=error)) from error
    known = await read_sources(tasks.store.database, tenant_id)
    connected = mail is not None and await mail.is_connected(tenant_id)
    return last_event(trigger, known.with_mail() if connected else known)
