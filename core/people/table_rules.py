"""The rules for a table with rows of people: for the merge of two people, their parting, export and deletion."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

type NewValues = Mapping[str | None, str | bool | None]
type Parent = tuple[str, str, str]
"""A column, the table that it refers to, and the column there."""
type Led = tuple[str, str, str]
"""A table of the spine's, the column there that refers to a row, and the column of the row to which it refers."""


class Merge(StrEnum):
    """The way in which a table's rows move to another person (`merge_people`)."""

    MOVE = "move"
    """Every row; its keys must be unique across people, as our ids are."""
    FIRST = "first"
    """Rows whose primary key the person who stays does not have."""
    NUMBER = "number"
    """Every row, numbered after the highest number of the person who stays."""
    DROP = "drop"
    ADD = "add"
    VALUES = "values"
    SEALED = "sealed"
    PERSON = "person"
    """ADD, VALUES, SEALED and PERSON: the function has code of its own for these tables."""


@dataclass(frozen=True, slots=True)
class Belonging:
    """The rule for merging a table. `counted` names a number of its rows to the person; None: they are not mentioned.

    Two people who both have rows in a table with names are asked before they are merged.
    """

    how: Merge
    counted: tuple[str, str] | None = None
    """The sentence for a single row and for many (`ngettext`)."""


class Archived(StrEnum):
    """Whether an archive has a table's rows, and whether an import takes them in."""

    MOVED = "moved"
    """They are exported, and imported elsewhere."""
    TOLD = "told"
    """They are exported to be read: elsewhere they would mean nothing."""
    LEFT_OUT = "left_out"
    """Secrets, rows that end in minutes or are computed again, and copies that are kept to find faults."""


@dataclass(frozen=True, slots=True)
class Archiving:
    """A table's rule. `secret` columns are in no archive.

    `ended` gives the states of imported rows that are under way: the first installation finishes them.
    It maps a column's old values to new values; None stands for every value.
    """

    how: Archived = Archived.MOVED
    secret: tuple[str, ...] = ()
    ended: Mapping[str, NewValues] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class PersonTable:
    """A table of an ability's with rows of people. Deleting a person deletes them.

    `follows` names the parents with which a row goes when a link is undone, besides those rows that came with the link;
    None: no row goes. The table comes after those to which it refers, and those of other abilities that are needed.
    `leads` names the rows of the spine's tables that go with a row of this table then.
    """

    name: str
    merge: Belonging
    follows: tuple[Parent, ...] | None = ()
    archive: Archiving = Archiving()
    leads: tuple[Led, ...] = ()
