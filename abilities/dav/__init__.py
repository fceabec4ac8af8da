"""Calendars and address books by CalDAV and CardDAV."""
