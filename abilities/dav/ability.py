"""Servers of calendars and contacts, by CalDAV and CardDAV, for the abilities that keep either."""

from onevalet.ability import Ability

ABILITY = Ability(name="dav")
