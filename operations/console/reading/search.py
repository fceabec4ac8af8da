"""Messages by their words, as the viewer may read them."""

from collections import defaultdict
from dataclasses import dataclass
from datetime import datetime

from core.messaging.search import FoundAfter, SaidMessage, excerpt, find_said, read_said
from operations.console.access import Viewer
from operations.console.reading.conversations import Cursor
from operations.console.rendering import plain
from operations.console.texts import Texts
from operations.console.visits import Visit

PAGE = 30


@dataclass(frozen=True, slots=True)
class FoundMessage:
    """A message in the list. `excerpt`: the text before the found word, the word, and the text after it."""

    tenant_id: str
    person: str
    said: SaidMessage
    excerpt: tuple[str, str, str]

    @property
    def writer(self) -> str:
        return self.person if self.said.inward else "OneValet"

    @property
    def reader(self) -> str:
        """Return the recipient of a message that we sent; empty for a message that we received."""
        return "" if self.said.inward else self.said.recipient or self.person

    @property
    def cursor(self) -> Cursor:
        return Cursor(self.said.at, self.said.id)

    @property
    def address(self) -> str:
        """Return the page of the message: its turn, or its conversation if it had no turn."""
        if self.said.turn_id:
            return f"/console/turns/{self.said.turn_id}"
        return f"/console/conversations/{self.tenant_id}/{self.said.conversation_id}"


@dataclass(frozen=True, slots=True)
class ConsoleSearch:
    """Search the messages that the viewer may read: all people's for operators who are shown texts, else their own."""

    texts: Texts

    def everybody(self, viewer: Viewer) -> bool:
        """Return whether the viewer searches in all people's messages."""
        return viewer.operator and self.texts.for_operators

    async def find(self, visit: Visit, words: str, after: Cursor | None, now: datetime) -> list[FoundMessage]:
        """Return a page of messages, the newest first."""
        viewer = visit.viewer
        if self.everybody(viewer):
            return await self._of_everybody(visit, words, after, now)
        place = FoundAfter(after.at, after.id) if after else None
        async with visit.scope.tenant(viewer.tenant_id) as connection:
            found = await find_said(connection, viewer.tenant_id, words, PAGE, place)
        return [FoundMessage(viewer.tenant_id, viewer.name or "You", said, _excerpt(said, words)) for said in found]

    async def _of_everybody(self, visit: Visit, words: str, after: Cursor | None, now: datetime) -> list[FoundMessage]:
        rows = await visit.scope.everybody().rows(
            "select tenant_id, message_id from console_messages($1, $2, $3, $4)",
            words,
            after.at if after else None,
            after.id if after else "",
            PAGE,
        )
        ids = defaultdict(list)
        for row in rows:
            ids[row["tenant_id"]].append(row["message_id"])
        shown = []
        for tenant_id, wanted in ids.items():
            async with visit.scope.tenant(tenant_id) as connection:
                if not await self.texts.look(connection, visit, tenant_id, "search", ",".join(wanted), now):
                    continue
                name = await connection.fetchval("select name from tenants where tenant_id = $1", tenant_id)
                shown += [
                    FoundMessage(tenant_id, name or "Somebody", said, _excerpt(said, words))
                    for said in await read_said(connection, tenant_id, wanted)
                ]
        return sorted(shown, key=lambda found: (found.said.at, found.said.id), reverse=True)


def _excerpt(said: SaidMessage, words: str) -> tuple[str, str, str]:
    return excerpt(said.text if said.inward else plain(said.text), words)
