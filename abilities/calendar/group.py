"""The group of its tools, and the words that open it."""

from onevalet import ToolGroup, gettext_noop

GROUP = ToolGroup(
    "calendar", gettext_noop("calendar, meeting, meetings, appointment, appointments, event, events, invitation")
)
