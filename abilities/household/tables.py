"""The rules for the tables of households when people are merged, part, take their data along, or are deleted."""

from core.people.table_rules import Archived, Archiving, Belonging, Merge, PersonTable

_LEFT_OUT = Archiving(Archived.LEFT_OUT)
_TOLD = Archiving(Archived.TOLD)

TABLES = (
    PersonTable("household_members", Belonging(Merge.FIRST), archive=_TOLD),  # `merge` leaves one of two
    PersonTable("household_limits", Belonging(Merge.FIRST), archive=_TOLD),
    PersonTable("household_invitations", Belonging(Merge.FIRST), follows=None, archive=_LEFT_OUT),
    PersonTable("household_deeds", Belonging(Merge.FIRST), follows=None, archive=_TOLD),
    PersonTable("household_news", Belonging(Merge.FIRST), follows=None, archive=_LEFT_OUT),
)
