"""Servers of calendars and contacts, by CalDAV and CardDAV, for the abilities that keep either."""

from typing import TYPE_CHECKING

from onevalet.ability import Ability, named

if TYPE_CHECKING:
    pass


ABILITY = Ability(name="dav", trials={"caldav": named("abilities.dav.trial:try_login")})
