"""Keep the person's calendars: what is on, when they are free, and events made, moved, cancelled and answered."""

from agents.calendar.answering import AnswerInvitation
from agents.calendar.cancelling import CancelEvent
from agents.calendar.changing import ChangeEvent
from agents.calendar.creating import CreateEvent
from agents.calendar.free_time import find_free_time
from agents.calendar.from_files import AddEventsFromFile
from agents.calendar.reading import find_events, list_calendars, list_events
from agents.calendar.reminding import EventReminder, remind_before_event
from agents.calendar.undoing import undo_event

__all__ = [
    "AddEventsFromFile",
    "AnswerInvitation",
    "CancelEvent",
    "ChangeEvent",
    "CreateEvent",
    "EventReminder",
    "find_events",
    "find_free_time",
    "list_calendars",
    "list_events",
    "remind_before_event",
    "undo_event",
]
