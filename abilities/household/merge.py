"""The membership of two people who become one."""

from typing import override

from core.db.database import Connection
from core.people.merge import MergeHook


class HouseholdMerge(MergeHook):
    """Keep the membership of the one who stays, or else that of the other."""

    @override
    async def before(self, connection: Connection, kept: str, gone: str) -> None:
        await connection.execute("select merge_members($1,$2)", kept, gone)
