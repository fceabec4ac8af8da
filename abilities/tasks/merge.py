"""Reminders for others when somebody who wants them, or for whom they are, becomes one with another."""

from typing import override

from core.db.database import Connection
from core.people.merge import MergeHook


class WishMerge(MergeHook):
    """Let what somebody wants of others, and may, be that of the one who stays."""

    @override
    async def before(self, connection: Connection, kept: str, gone: str) -> None:
        await connection.execute("select merge_wishes($1,$2)", kept, gone)
