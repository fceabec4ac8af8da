"""The rules for memory's tables when people are merged, part, take their data along, or are deleted."""

from core.language.catalogue import ngettext_noop
from core.people.table_rules import Archived, Archiving, Belonging, Merge, PersonTable

_LEFT_OUT = Archiving(Archived.LEFT_OUT)
_TOLD = Archiving(Archived.TOLD)
_LEASE = Archiving(ended={"owner": {None: None}, "lease_until": {None: None}})
_MEMORIES = ngettext_noop("{number} memory", "{number} memories")

TABLES = (
    PersonTable("memory_versions", Belonging(Merge.FIRST), follows=None),
    PersonTable("memory_sessions", Belonging(Merge.FIRST), follows=None),
    PersonTable("memory_messages", Belonging(Merge.FIRST), follows=None),
    PersonTable("memories", Belonging(Merge.MOVE, _MEMORIES)),  # `merge` renumbers them
    PersonTable("memory_vectors", Belonging(Merge.MOVE), (("memory_id", "memories", "id"),), _LEFT_OUT),
    PersonTable("memory_terms", Belonging(Merge.FIRST), follows=None, archive=_LEFT_OUT),
    PersonTable("memory_jobs", Belonging(Merge.MOVE), archive=_LEASE),
    PersonTable("memory_forgettings", Belonging(Merge.MOVE), archive=_TOLD),
    PersonTable("memory_recalls", Belonging(Merge.MOVE), (("turn_id", "turns", "id"),)),
    PersonTable("memory_members", Belonging(Merge.FIRST), follows=None, archive=_TOLD),
)
