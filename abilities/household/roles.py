"""The roles in a household."""

from enum import StrEnum

from core.language.catalogue import gettext_noop


class HouseholdRole(StrEnum):
    """A member's role in a household."""

    OWNER = gettext_noop("owner")
    ADULT = gettext_noop("adult")
    CHILD = gettext_noop("child")
