"""The tables of events with rows of people, and their rules for merge, export and deletion."""

from core.language.catalogue import ngettext_noop
from core.people.table_rules import Archived, Archiving, Belonging, Merge, PersonTable

_OF_A_SOURCE = (("source", "event_sources", "name"),)

TABLES = (
    PersonTable(
        "event_sources",
        Belonging(Merge.MOVE, ngettext_noop("{number} event source", "{number} event sources")),
        archive=Archiving(Archived.TOLD, ("secret_hash", "key_version", "sealed")),
    ),
    PersonTable("events", Belonging(Merge.FIRST), _OF_A_SOURCE),
    PersonTable("event_work", Belonging(Merge.FIRST), _OF_A_SOURCE, Archiving(Archived.LEFT_OUT)),
)
