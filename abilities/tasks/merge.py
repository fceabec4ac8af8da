"""Reminders for others when their sender or recipient is merged with another person."""

from typing import override

from core.db.database import Connection
from core.people.merge import MergeHook


class WishMerge(MergeHook):
    """Move a person's requests to others, and permissions, to the person who stays."""

    @override
    async def before(self, connection: Connection, kept: str, gone: str) -> None:
        await connection.execute("select merge_wishes($1,$2)", kept, gone)
