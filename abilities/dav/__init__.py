"""Servers of calendars and contacts, by CalDAV and CardDAV."""
