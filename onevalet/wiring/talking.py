"""What a program says to its assistant, and what it is answered."""

import asyncio
from collections import defaultdict
from collections.abc import AsyncGenerator
from contextlib import suppress

from core.approvals.exact_replies import Verb, button
from core.approvals.types import PendingApproval
from core.errors import ConfigError
from core.ids import make_id
from core.inbox.inbox import Inbox
from core.language.written import language_written
from core.messaging.messages import Address, DeliveryStatus, Inbound, InboundMessage, Press, StatusUpdate
from core.notifications.addresses import AddressBook, AddressRefused
from core.people.access_policy import Access, Policy
from core.turns.event_stream import StreamEvent, StreamEventType
from core.turns.types import TurnResult, TurnState
from onevalet.embedded import Reply
from onevalet.wiring.embedding import known_person
from onevalet.wiring.own_channels import only_sending
from onevalet.wiring.program import ACCOUNT, CHANNEL, ProgramNotification, ProgramTalk, Spoken
from onevalet.wiring.worker_parts import WorkerParts

LOOK = 0.05
"""Seconds between two looks at the database for an answer; what is sent in this process ends the wait sooner."""


class Talking:
    """People's conversations with the program, one message at a time in each."""

    def __init__(self, parts: WorkerParts, channel: ProgramNotification) -> None:
        self._parts = parts
        self._channel = channel
        connections = parts.connections
        access = Access(Policy.ALLOWLIST)  # whoever writes has been let in before
        self._inbox = Inbox(connections.database, connections.wakeups, make_id, access, clock=parts.clock)
        self._one_by_one: defaultdict[Address, asyncio.Lock] = defaultdict(asyncio.Lock)

    async def person(self, tenant: str, timezone: str | None = None) -> str:
        """Return a person's id; let them in where they are new."""
        return (await known_person(self._parts, tenant, timezone))[0]

    async def say(self, text: str, tenant: str, conversation: str) -> Reply:
        """Take in a message, and return what is answered."""
        talk, key = await self._talk(tenant, conversation)
        message_id = make_id("said")
        message = InboundMessage(
            talk.address,
            key,
            (message_id,),
            text,
            sender_language=language_written(text) or None,
            provider_id=message_id,
        )
        return await self._answered(talk, message)

    async def stream(self, text: str, tenant: str, conversation: str) -> AsyncGenerator[StreamEvent]:
        """Do as `say`, and yield the turn's events; the last one is EXECUTION_END, also where the turn failed."""
        talk, _ = await self._talk(tenant, conversation)
        events: asyncio.Queue[StreamEvent | None] = asyncio.Queue()
        with self._channel.watching(talk.address, events.put):
            answering = asyncio.create_task(self.say(text, tenant, conversation), name="program stream")
            answering.add_done_callback(lambda _: events.put_nowait(None))
            try:
                while event := await events.get():
                    yield event
            finally:
                answering.cancel()
                await asyncio.wait([answering])
        if error := answering.exception():
            told = error if isinstance(error, Exception) else RuntimeError("cancelled")
            yield StreamEvent(StreamEventType.EXECUTION_END, "", success=False, error=told)
            raise error
        reply = answering.result()
        result = TurnResult(reply.state, reply.text, reply.reason)
        succeeded = reply.state in (TurnState.DONE, TurnState.WAITING)
        yield StreamEvent(
            StreamEventType.EXECUTION_END, reply.turn_id or "", text=reply.text, success=succeeded, result=result
        )

    async def unread(self, tenant: str, conversation: str) -> list[str]:
        """Return what was sent and not read yet."""
        talk, _ = await self._talk(tenant, conversation)
        spoken = await talk.spoken(unread=True)
        await self._mark_read(spoken)
        return [message.text for message in spoken]

    async def add_address(self, tenant: str, channel: str, address: str) -> None:
        """Add an address for a person's notifications. Raises `ConfigError`."""
        connections = self._parts.connections
        book = AddressBook(connections.database, make_id, only_sending(connections.settings))
        try:
            await book.add(await self.person(tenant), channel, address)
        except AddressRefused as error:
            raise ConfigError(str(error)) from error

    async def decide(self, tenant: str, code: str, verb: Verb) -> Reply:
        """Decide an approval as the person's own press does; raise `ConfigError` where none of that code waits."""
        talk, key = await self._talk(tenant, "")
        approval = await self._parts.assistant.approvals.find(talk.tenant_id, code)
        if approval is None:
            raise ConfigError(f"No {code.upper()} waits for a decision.")
        press = Press(talk.address, key, (make_id("press"),), button(verb, approval.token))
        return await self._answered(talk, press)

    async def pending(self, tenant: str) -> list[PendingApproval]:
        """Return what waits for a person's consent, wherever it was asked."""
        return await self._parts.assistant.approvals.list_pending(await self.person(tenant))

    async def _answered(self, talk: ProgramTalk, inbound: Inbound) -> Reply:
        async with self._one_by_one[talk.address]:
            before = await talk.newest()
            received = await self._inbox.accept(inbound)
            while await talk.busy():
                self._channel.news.clear()
                with suppress(TimeoutError):
                    await asyncio.wait_for(self._channel.news.wait(), LOOK)
            spoken = await talk.spoken(after=before)
            await self._mark_read(spoken)
        text = "\n\n".join(message.text for message in spoken)
        state, reason, turn_id = await talk.ended(received.id or "")
        waiting = await self._parts.assistant.approvals.list_pending(talk.tenant_id)
        return Reply(text or received.said or "", state, turn_id, reason, tuple(waiting))

    async def _mark_read(self, spoken: list[Spoken]) -> None:
        for message in spoken:
            provider_id = f"program-{message.ref}"
            await self._inbox.accept(StatusUpdate(CHANNEL, ACCOUNT, provider_id, message.ref, DeliveryStatus.READ))

    async def _talk(self, tenant: str, conversation: str) -> tuple[ProgramTalk, str]:
        tenant_id, key = await known_person(self._parts, tenant)
        address = Address(CHANNEL, ACCOUNT, peer=key, thread=conversation)
        return ProgramTalk(self._parts.connections.database, tenant_id, address), key
