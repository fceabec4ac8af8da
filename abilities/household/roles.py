"""The roles in a household, and how much of their calendars a member shows to the others."""

from enum import StrEnum

from core.language.catalogue import gettext_noop


class HouseholdRole(StrEnum):
    """A member's role in a household."""

    OWNER = gettext_noop("owner")
    ADULT = gettext_noop("adult")
    CHILD = gettext_noop("child")


class ShownCalendar(StrEnum):
    """How much of their calendars a member shows to the others."""

    NOTHING = ""
    BUSY = "busy"
    TITLES = "titles"
