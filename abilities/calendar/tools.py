"""Keep the person's calendars: events, free time, and events made, moved, cancelled and answered."""

from abilities.calendar.answering import AnswerInvitation
from abilities.calendar.cancelling import CancelEvent
from abilities.calendar.changing import ChangeEvent
from abilities.calendar.creating import CreateEvent
from abilities.calendar.free_time import find_free_time
from abilities.calendar.from_files import AddEventsFromFile
from abilities.calendar.reading import find_events, list_calendars, list_events
from abilities.calendar.reminding import EventReminder, remind_before_event
from abilities.calendar.together import household_agenda
from abilities.calendar.undoing import undo_event

__all__ = [
    "AddEventsFromFile",
    "AnswerInvitation",
    "CancelEvent",
    "ChangeEvent",
    "CreateEvent",
    "EventReminder",
    "find_events",
    "find_free_time",
    "household_agenda",
    "list_calendars",
    "list_events",
    "remind_before_event",
    "undo_event",
]
