"""The rules for the tables of follow-ups when people are merged, part, take their data along, or are deleted."""

from core.language.catalogue import ngettext_noop
from core.people.table_rules import Archiving, Belonging, Merge, PersonTable

TABLES = (
    PersonTable("followup_choices", Belonging(Merge.FIRST), follows=None),
    PersonTable(
        "followups",
        Belonging(Merge.MOVE, ngettext_noop("{number} follow-up", "{number} follow-ups")),
        follows=(("turn_id", "turns", "id"),),
        archive=Archiving(),
    ),
)
