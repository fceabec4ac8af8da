"""News for a running turn, as Postgres has it: stops and new messages."""

import time
from collections.abc import Sequence
from datetime import datetime
from typing import cast

from core.db.database import Database
from core.journal.postgres import Lease, PostgresJournal, TurnNews
from core.json_types import JsonObject
from core.loop.control import InterruptSignal, TurnMessage
from core.messaging.messages import Origin
from core.messaging.pointed import pointed_of

NEWS_HOLD = 0.1
"""Seconds for which the news of a write stay valid: after a slow recall or judge, the person may have written more."""


class PostgresControl:
    """The person's stop and the messages they wrote while the turn ran. Implements `TurnControl`."""

    def __init__(self, database: Database, lease: Lease, turn_id: str, journal: PostgresJournal) -> None:
        self._database = database
        self._lease = lease
        self._turn_id = turn_id
        self._journal = journal
        self._looked: TurnNews | None = None
        self.signal = InterruptSignal()

    async def stopped(self) -> str | None:
        self._looked = await self._look()
        return self._looked.stop

    async def absorb(self) -> Sequence[TurnMessage]:
        # The loop asks for a stop first: the same look serves both.
        news, self._looked = self._looked or await self._look(), None
        return [turn_message(row) for row in news.waiting]

    async def _look(self) -> TurnNews:
        news, self._journal.news = self._journal.news, None
        if news is not None and time.monotonic() - news.heard_at < NEWS_HOLD:
            return news
        row = await self._database.one("select turn_news($1,$2) as news", self._lease.tenant_id, self._turn_id)
        return TurnNews.of(row["news"])


def turn_message(row: JsonObject) -> TurnMessage:
    """Return an inbound row as the turn sees it."""
    return TurnMessage(
        id=str(row["id"]),
        text=str(row["text"]),
        received_at=datetime.fromisoformat(str(row["received_at"])),
        media_count=cast(int, row["media_count"]),
        about=cast("str | None", row["about"]) or None,
        origin=Origin(str(row["origin"])),
        points=pointed_of(row.get("points")),
        goes_on=cast("str | None", row.get("goes_on")),
        continues=bool(row.get("continues")),
    )
