"""The rules for the table of joint consents when people are merged, part, take their data along, or are deleted."""

from core.people.table_rules import Archived, Archiving, Belonging, Merge, PersonTable

TABLES = (
    PersonTable(
        "joint_consents",
        Belonging(Merge.MOVE),
        (("approval_id", "approvals", "id"),),
        Archiving(Archived.TOLD),
    ),
)
