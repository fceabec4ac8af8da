"""Servers of calendars and contacts, by CalDAV and CardDAV, for the abilities that keep either."""

from typing import TYPE_CHECKING

from onevalet.ability import Ability

if TYPE_CHECKING:
    from core.credentials.trial import Trial


def _trial() -> "Trial":
    from abilities.dav.trial import try_login

    return try_login


ABILITY = Ability(name="dav", trials={"caldav": _trial})
