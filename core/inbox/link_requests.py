"""Strangers who type the link code of a person: they confirm first, and are then let in as that person."""

from enum import StrEnum

import asyncpg
import structlog

from core.clock import Clock
from core.db.database import Connection, Database, fetch_one
from core.ids import IdMaker
from core.inbox.arrival import from_address
from core.json_types import JsonObject
from core.language.catalogue import speaking
from core.messaging.channels import Received
from core.messaging.messages import InboundMessage
from core.people.chat_names import language_in, places_of, tell_places
from core.people.link_codes import GUESSES_WITHIN, MAX_GUESSES_PER_SENDER, link_code_hash, read_code
from core.people.link_messages import link_question, linked_with, now_linked
from core.queue.wakeups import Wakeups

_log = structlog.get_logger()


class StrangerLink(StrEnum):
    """The outcome of a link code that a stranger typed."""

    ASK = "ask"
    """The stranger has to confirm first, in another message."""
    LINKED = "linked"
    DUPLICATE = "duplicate"
    WRONG = "wrong"
    USED = "used"
    EXPIRED = "expired"
    LIMITED = "limited"


_COUNTS = (StrangerLink.ASK, StrangerLink.LINKED, StrangerLink.DUPLICATE)


class LinkStrangers:
    """Link a stranger's address to the person whose code the stranger types."""

    def __init__(self, database: Database, wakeups: Wakeups, make_id: IdMaker, clock: Clock) -> None:
        self._database = database
        self._wakeups = wakeups
        self._make_id = make_id
        self._clock = clock

    async def take(self, message: InboundMessage, sender: str) -> Received | None:
        """Ask or link, in a transaction; return None if the message has no valid code.

        Raises `StoreUnavailable` if nothing was stored.
        """
        command = message.command
        if command is None or command.name != "link" or not command.argument:
            return None
        code, agreed = read_code(command.argument)
        rung: list[str] = []
        async with self._database.tenant("") as connection:
            row = await self._link(connection, message, sender, code, agreed=agreed)
            outcome = StrangerLink(row["outcome"])
            if outcome is StrangerLink.ASK:
                rung = await self._ask(connection, message, sender, code, row["tenant_id"], row["identity_id"])
            elif outcome is StrangerLink.LINKED:
                rung = await self._tell(connection, row["tenant_id"], row["identity_id"])
        for conversation in rung:
            self._wakeups.wake_delivery(conversation)
        _log.info("link_code_typed", channel=message.address.channel, outcome=outcome.value)
        if outcome not in _COUNTS:
            return None
        return Received(message.keys[0] if message.keys else None, duplicate=outcome is StrangerLink.DUPLICATE)

    async def _link(
        self, connection: Connection, message: InboundMessage, sender: str, code: str, *, agreed: bool
    ) -> asyncpg.Record:
        return await fetch_one(
            connection,
            "select * from link_stranger($1,$2,$3,$4,$5,$6)",
            self._arrival(message, sender),
            link_code_hash(code),
            agreed,
            self._clock.now(),
            MAX_GUESSES_PER_SENDER,
            GUESSES_WITHIN,
        )

    def _arrival(self, message: InboundMessage, sender: str) -> JsonObject:
        told = {
            "name": message.sender_name,
            "timezone": message.sender_timezone or "",
            "language": message.sender_language or "",
        }
        return from_address(message, sender, self._make_id) | told

    async def _ask(
        self, connection: Connection, message: InboundMessage, sender: str, code: str, tenant_id: str, identity_id: str
    ) -> list[str]:
        """Queue the question to the stranger; return its conversation, or none if they said STOP."""
        places = sorted(await places_of(connection, tenant_id), key=lambda place: place.id != identity_id)
        # The sender of a person's code is most likely that person.
        with speaking(message.sender_language or await language_in(connection, tenant_id)):
            question = link_question(places, code)
        rows = await connection.fetch(
            "select conversation_id from tell_stranger($1,$2)",
            self._arrival(message, sender),
            question,
        )
        return [row["conversation_id"] for row in rows]

    async def _tell(self, connection: Connection, tenant_id: str, identity_id: str) -> list[str]:
        """Record the link, and queue the news of it to every address of the person; return the conversations."""
        places = await places_of(connection, tenant_id)
        new = [place for place in places if place.id == identity_id]
        old = [place for place in places if place.id != identity_id]
        await connection.execute(
            "select note_link_of_stranger($1,$2,$3,$4,$5)",
            tenant_id,
            identity_id,
            self._make_id("lnk"),
            self._make_id("tn"),
            self._clock.now(),
        )
        with speaking(await language_in(connection, tenant_id)):
            here, elsewhere = linked_with(old), now_linked(new)
        queued = await tell_places(connection, tenant_id, new, here, self._make_id)
        return [*queued, *await tell_places(connection, tenant_id, old, elsewhere, self._make_id)]
