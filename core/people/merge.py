"""Hooks for the owners of tables: two people are merged, or part again."""

from dataclasses import dataclass
from datetime import datetime

from core.db.database import Connection
from core.errors import OneValetError


@dataclass(frozen=True, slots=True)
class Parting:
    """A link that is undone: `link_id` of `tenant_id`, from whom `other_id` parts; `now` is people's time."""

    tenant_id: str
    other_id: str
    link_id: str
    now: datetime


class MergeRefused(OneValetError):
    """Two people cannot become one now; the message is a sentence for the person who agreed."""


class MergeHook:
    """The work of an owner of tables besides the moving of rows.

    All methods are called inside a single transaction, with deferred foreign keys; an exception rolls everything back.
    """

    async def before(self, connection: Connection, kept: str, gone: str) -> None:
        """Prepare the move of `gone`'s rows to `kept`: reseal, rename. The connection sees `gone`'s rows.

        Raise `MergeRefused` if something would be lost.
        """

    async def after(self, connection: Connection, kept: str, gone: str) -> None:
        """Clean up the merged rows. The connection sees `kept`'s rows, and `gone` has none."""

    async def before_parting(self, connection: Connection, parting: Parting) -> None:
        """Prepare the rows that return to the other person; all rows are still this person's."""

    async def after_parting(self, connection: Connection, parting: Parting) -> None:
        """Clean up the rows of both people."""
