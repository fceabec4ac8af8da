"""Which tasks an event matches. Pure."""

from collections.abc import Iterable

from abilities.events.types import Event
from abilities.tasks.codec import UnreadableTrigger
from abilities.tasks.kinds.event import EventTrigger
from abilities.tasks.kinds.schedule import TriggerError
from abilities.tasks.reasons import Reason
from abilities.tasks.types import Task


def matching(tasks: Iterable[Task], event: Event) -> list[tuple[Task, str | Exception]]:
    """Return the tasks that an event matches, and those that cannot be evaluated, with the reason or the error."""
    found: list[tuple[Task, str | Exception]] = []
    for task in tasks:
        try:
            if isinstance(task.trigger, UnreadableTrigger):
                found.append((task, TriggerError(task.trigger.why)))
            elif isinstance(task.trigger, EventTrigger) and task.trigger.matches(event):
                found.append((task, ""))
        except TriggerError:
            found.append((task, Reason.FILTER_UNCLEAR))
        except Exception as error:
            found.append((task, error))
    return found
