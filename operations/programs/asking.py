"""A program's requests to the assistant: taken in like any message, answered within a bounded wait or later, by id."""

import asyncio
import time
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Literal

from core.db.database import Database
from core.errors import OneValetError
from core.ids import make_id
from core.messaging.channels import InboundSink
from core.messaging.messages import Address, InboundMessage, Origin
from core.messaging.programs import ACCOUNT, CHANNEL
from operations.programs.tokens import Client

_LOOK, _SLOWEST_LOOK = 0.1, 1.0
"""Seconds between two looks for an answer: at first, and after a while."""
_OVER = ("done", "failed", "interrupted", "poison")


type Status = Literal["working", "waiting", "answered", "not_answered"]


class NotAsked(OneValetError):
    """A request cannot be taken; the message is a plain sentence for the program."""


@dataclass(frozen=True, slots=True)
class Standing:
    """The state of a request; `waiting`: for the person, or for the program's answer to as many questions as `asks`."""

    id: str
    status: Status
    answer: str = ""
    reason: str = ""
    approvals: int = 0
    asks: int = 0


@dataclass(frozen=True, slots=True)
class ProgramRequests:
    """Requests of programs: hand them to the inbox and read their answers.

    Once `stopping` is set no call waits any more; accepted requests are still answered.
    """

    database: Database
    sink: InboundSink
    stopping: asyncio.Event = field(default_factory=asyncio.Event)

    async def ask(
        self, client: Client, text: str, conversation: str, request_id: str | None, seconds: float
    ) -> Standing:
        """Receive a request, once for each `request_id`, and wait for its answer; `seconds` at most."""
        found = await self.database.call(
            "select tenant_id from find_identity($1,$2,$3)", CHANNEL, ACCOUNT, client.token_id
        )
        if found is None or found["tenant_id"] != client.tenant_id:
            raise NotAsked("This token can ask nothing any more: its person has to make a new one.")
        message = InboundMessage(
            Address(CHANNEL, ACCOUNT, client.token_id, conversation),
            client.token_id,
            (f"{client.token_id} {request_id or make_id('ask')}",),
            text,
            origin=Origin.CLIENT,
        )
        received = await self.sink.accept(message)
        if received.id is None:
            raise NotAsked("The request was not taken in.")
        return await self.answer(client, received.id, seconds)

    async def answer(self, client: Client, id: str, seconds: float) -> Standing:
        """Wait for the answer to a request of this program; `seconds` at most."""
        until, pause = time.monotonic() + seconds, _LOOK
        while True:
            standing = await self._standing(client, id)
            left = until - time.monotonic()
            if standing.status != "working" or left <= 0 or self.stopping.is_set():
                return standing
            with suppress(TimeoutError):
                await asyncio.wait_for(self.stopping.wait(), min(pause, left))
            pause = min(pause * 1.5, _SLOWEST_LOOK)

    async def _standing(self, client: Client, id: str) -> Standing:
        row = await self.database.call("select * from client_answer($1,$2,$3)", client.tenant_id, client.token_id, id)
        if row is None:
            raise NotAsked(f"This program has asked nothing with the id {id[:80]!r}.")
        text, state = "\n\n".join(row["said"]), row["turn_state"]
        if row["message_state"] == "ignored" or (state is None and row["message_state"] == "done"):
            return Standing(id, "not_answered", text, row["message_reason"])
        if row["unsent"] or not (state in _OVER or (state == "waiting" and not row["turn_ready"])):
            return Standing(id, "working")
        if state == "waiting":
            return Standing(id, "waiting", text, approvals=row["cards"], asks=row["asks"])
        return Standing(id, "answered" if text else "not_answered", text, row["turn_reason"])
