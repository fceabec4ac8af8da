"""The membership and the limits of two people who become one, or part."""

from typing import override

from core.db.database import Connection
from core.language.catalogue import gettext
from core.messaging.visible_text import literal, plain_words
from core.people.merge import MergeHook, MergeRefused, Parting


class HouseholdMerge(MergeHook):
    """Keep the membership of the one who stays, or else that of the other, and the limits of a child."""

    @override
    async def before(self, connection: Connection, kept: str, gone: str) -> None:
        if (household := await connection.fetchval("select merge_members($1,$2)", kept, gone)) is not None:
            raise MergeRefused(
                gettext(
                    "I cannot link the two: “{household}” would be left without an adult, and end with all that is "
                    "shared in it. First let another adult in, or leave or end one of the households.",
                    household=literal(plain_words(household)),
                )
            )

    @override
    async def after(self, connection: Connection, kept: str, gone: str) -> None:
        await connection.execute("select settle_limits($1)", kept)

    @override
    async def before_parting(self, connection: Connection, parting: Parting) -> None:
        await connection.execute("select forget_limits($1)", parting.tenant_id)

    @override
    async def after_parting(self, connection: Connection, parting: Parting) -> None:
        for person in (parting.tenant_id, parting.other_id):
            await connection.execute("select settle_limits($1)", person)
