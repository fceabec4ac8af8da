"""The rules for the tables of groups when people are merged, part, take their data along, or are deleted."""

from core.people.table_rules import Archived, Archiving, Belonging, Merge, PersonTable

_TOLD = Archiving(Archived.TOLD)

TABLES = (
    PersonTable("group_chats", Belonging(Merge.FIRST), follows=None, archive=_TOLD),
    PersonTable("group_words", Belonging(Merge.FIRST), follows=None, archive=Archiving(Archived.LEFT_OUT)),
    PersonTable("group_askers", Belonging(Merge.FIRST), follows=None, archive=_TOLD),
    PersonTable("group_requests", Belonging(Merge.MOVE), (("inbound_id", "inbound", "id"),), _TOLD),
)
